"""What a speedup may be measured against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_kernelbench.errors import UsageError

if TYPE_CHECKING:
    from pytest_kernelbench.settings import Settings


@dataclass(frozen=True)
class Baseline:
    """A way to run the problem's own model."""

    name: str
    """What ``--kb-baseline`` calls it."""
    prepare: str = ""
    """``module:function``, imported by the baseline's process and called with the model there.

    It gives back what is called in the model's place; empty means the model as it is.
    """


EAGER = Baseline("eager")
COMPILE = Baseline("compile", "torch:compile")
COMPILE_MAX = Baseline("compile-max", "pytest_kernelbench.judge.inside.compiling:max_autotune")
OURS = (EAGER, COMPILE, COMPILE_MAX)


def preparation(name: str, settings: Settings) -> str:
    """How a baseline is prepared: as the settings say, or else as ours of that name is.

    Raises ``UsageError`` where there is none of that name.
    """
    known = {each.name: each.prepare for each in OURS} | dict(settings.baseline_prepare)
    if name not in known:
        message = f"baseline {name!r} is unknown; there are {', '.join(sorted(known))}"
        raise UsageError(message)
    return known[name]


def check_baselines(settings: Settings) -> None:
    """Refuse names of no baseline, and none at all, before anything runs."""
    if not settings.baselines:
        message = "baselines: speedups are measured against one at least, as eager"
        raise UsageError(message)
    for name in settings.baselines:
        preparation(name, settings)
