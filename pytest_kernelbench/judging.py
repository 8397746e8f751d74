"""The steps of an item: what each of them ends in becomes the item's verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, TypeVar

import pytest

from pytest_kernelbench.endings import ended_by
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.expectations import NotJudged, expect_judged
from pytest_kernelbench.reporting import deliver
from pytest_kernelbench.state import PAIR, STATE

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_kernelbench.errors import KernelbenchError
    from pytest_kernelbench.verdict import Verdict

_T = TypeVar("_T")


def reach(item: pytest.Item, verdict: Verdict) -> Verdict:
    """Make ``verdict`` the item's; skip the item, or end it in error, if it was not judged."""
    deliver(item, verdict)
    expect_judged(verdict)
    return verdict


def ended_well(item: pytest.Item, step: Callable[[], _T]) -> _T:
    """Do a step; what it raises becomes the item's verdict, and its skip or error at setup."""
    try:
        return step()
    except Exception as error:  # noqa: BLE001 - a bug of ours must not be held against the solution
        failed = ended_by(error, item.stash[PAIR])
    reached = reach(item, failed)
    message = f"{reached.status} ends no item"
    raise AssertionError(message)


def no_engine(config: pytest.Config, error: KernelbenchError) -> NoReturn:
    """End the session: it holds for every pair, so one sentence says it, not one a pair.

    A worker of xdist's has only its own pairs to speak of.
    """
    if hasattr(config, "workerinput"):
        raise NotJudged(str(error)) from None
    config.stash[STATE].refusal = str(error)
    usage, failed = pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.TESTS_FAILED
    pytest.exit("nothing can be judged here", usage if isinstance(error, UsageError) else failed)
