"""The round of mixed inputs that comes when timing is over."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_kernelbench.errors import NoRoomError
from pytest_kernelbench.judge.families import MIXED
from pytest_kernelbench.judge.progress import Progress
from pytest_kernelbench.judge.rejection import Rejected
from pytest_kernelbench.judge.rounds import agree_again
from pytest_kernelbench.verdict import Status


class Trial:
    """Says or does what it was told to."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.asked: list[str] = []

    def settle(self) -> None:
        self.asked.append("settle")

    def agree(self, family: str) -> bool:
        self.asked.append(family)
        if self.error is not None:
            raise self.error
        return True


def again(trial: Trial, *, native: bool = True, families: tuple[str, ...] = (MIXED,)) -> Progress:
    bench: Any = SimpleNamespace(
        prepared=SimpleNamespace(families=families), families_decide=native
    )
    made: Any = trial
    progress = Progress()
    agree_again(made, bench, progress)
    return progress


def test_memory_is_given_back_before_the_round() -> None:
    trial = Trial()
    again(trial)
    assert trial.asked == ["settle", MIXED]


@pytest.mark.parametrize("why", [{"native": False}, {"families": ("negated",)}])
def test_it_is_asked_where_families_decide(why: dict[str, Any]) -> None:
    trial = Trial()
    again(trial, **why)
    assert trial.asked == []


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (Status.WRONG_VALUE, Status.UNSTABLE),
        (Status.CRASHED, Status.CRASHED),
        (Status.OUT_OF_MEMORY, Status.OUT_OF_MEMORY),
    ],
)
def test_what_was_right_before_is_unstable(found: Status, told: Status) -> None:
    with pytest.raises(Rejected, match="after timing: 3 elements; before") as raised:
        again(Trial(Rejected(found, "3 elements", "at 5", ("a note",))))
    assert (raised.value.status, raised.value.detail) == (told, "at 5")
    assert raised.value.notes == ("a note",)


def test_what_the_judge_has_no_room_for_is_nobodys_fault() -> None:
    progress = again(Trial(NoRoomError("5 GiB are missing")))
    assert progress.notes == ["not tried on mixed inputs after timing: 5 GiB are missing"]
