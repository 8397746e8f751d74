"""The steps of an item: what each of them ends in becomes the item's verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pytest_kernelbench.endings import ended_by
from pytest_kernelbench.expectations import expect_judged
from pytest_kernelbench.reporting import deliver
from pytest_kernelbench.state import PAIR

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

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
