"""GPU kernels as pytest tests: each problem/solution pair is one item, judged in processes apart.

For programs: ``judge`` and ``judge_many`` give the same verdicts without pytest, see ``library``.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pytest_kernelbench import judge as _room

if TYPE_CHECKING:
    from pytest_kernelbench.errors import UsageError
    from pytest_kernelbench.library import Judge, judge, judge_many, reward
    from pytest_kernelbench.question import Question
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Status, Verdict

__version__ = "0.1.0"
__all__ = [
    "Judge", "Question", "Settings", "Status", "UsageError", "Verdict", "judge", "judge_many",
    "reward",
]  # fmt: skip

_HOME = {
    "Judge": "library", "Question": "question", "judge_many": "library", "reward": "library",
    "Settings": "settings", "Status": "verdict", "UsageError": "errors",
    "Verdict": "verdict",
}  # fmt: skip


class _Callable(ModuleType):
    """The room ``judge``, which is a function too: both have the name that fits them best."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """See ``library.judge``."""
        return import_module(f"{__name__}.library").judge(*args, **kwargs)


_room.__class__ = _Callable


def __getattr__(name: str) -> object:
    """Import what is asked for, and not before: pytest loads this package in every run."""
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
