"""What the rounds of agreement make of a contender that fails on some inputs only."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_kernelbench.judge.progress import Progress
from pytest_kernelbench.judge.rejection import Rejected
from pytest_kernelbench.judge.rounds import agree
from pytest_kernelbench.verdict import Status

SEEDS = 2


class Trial:
    """Agrees on all families but one."""

    def __init__(self, family: str, status: Status) -> None:
        self.family, self.status = family, status
        self.asked: list[str] = []

    def agree(self, family: str) -> bool:
        self.asked.append(family)
        if family == self.family:
            raise Rejected(self.status, "oh")
        return True


def agreed(trial: Any, *, native: bool = False, hidden: str = "") -> Progress:
    prepared = SimpleNamespace(families=("negated", "large"), native=native, hidden=hidden)
    settings = SimpleNamespace(seeds=SEEDS, strict=False)
    bench: Any = SimpleNamespace(settings=settings, prepared=prepared)
    contender: Any = SimpleNamespace(expect_few_processes=lambda: None)
    progress = Progress()
    try:
        agree(trial, bench, contender, progress)
    except Rejected as rejected:
        progress.notes.append(f"{rejected.status.value}: {rejected.reason}")
    return progress


@pytest.mark.parametrize(
    "status", [Status.WRONG_VALUE, Status.UNSTABLE, Status.ALTERED_INPUTS, Status.RAISED]
)
def test_what_a_living_process_answers_on_foreign_problems_is_a_finding(status: Status) -> None:
    trial = Trial("negated", status)
    progress = agreed(trial)
    assert progress.agreed
    assert progress.notes == ["finding: oh"]
    assert trial.asked == ["plain", "plain", "negated", "large"]


@pytest.mark.parametrize(
    "status", [Status.CRASHED, Status.TIMED_OUT, Status.OUT_OF_MEMORY, Status.BAD_PROBLEM]
)
def test_who_does_not_live_to_answer_is_rejected_and_asked_no_more(status: Status) -> None:
    trial = Trial("negated", status)
    progress = agreed(trial)
    assert not progress.agreed
    assert progress.notes == [f"{status.value}: oh (on negated inputs)"]
    assert progress.rounds == SEEDS
    assert trial.asked[-1] == "negated"


@pytest.mark.parametrize(
    ("more", "words"), [({"native": True}, "oh"), ({"hidden": "relu"}, "oh (relu)")]
)
def test_where_families_decide_the_first_disagreement_rejects(
    more: dict[str, Any], words: str
) -> None:
    assert agreed(Trial("large", Status.WRONG_VALUE), **more).notes == [f"wrong_value: {words}"]


def test_a_problem_that_fails_is_in_no_round() -> None:
    assert agreed(Trial("plain", Status.BAD_PROBLEM)).notes == ["bad_problem: oh"]
    assert agreed(Trial("plain", Status.RAISED)).notes == ["raised: round 1 of 2: oh"]
