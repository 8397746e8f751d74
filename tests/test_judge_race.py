"""The race, with a track whose times are known beforehand."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.judge.device_trial import APART, FAR_APART
from pytest_kernelbench.judge.race import TooShort, race
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.timing.floor import Floor
from pytest_kernelbench.timing.stopping import Apart, Rules

if TYPE_CHECKING:
    from collections.abc import Iterator

NULL_US = 50.0


class Track:
    """Turns with a little noise that repeats, so that each test sees the same numbers."""

    least_of_null = 0.0
    apart = APART
    spoiled: tuple[str, ...] = ()
    state = None
    calls = 10
    doubts = ""
    strangers = 0

    def __init__(self, baseline_us: float, ours_us: float, events_us: float | None = None) -> None:
        self.net_us = (baseline_us, ours_us)
        self.events_us = events_us
        self.first: list[bool] = []
        self.against_name = ""
        self._noise: Iterator[float] = itertools.cycle([1.0, 1.003, 0.998, 1.001, 0.997, 1.002])

    def against(self, baseline: str) -> None:
        self.against_name = baseline

    def pair(self, *, contender_first: bool) -> tuple[float, float]:
        self.first.append(contender_first)
        baseline_us, ours_us = self.net_us
        return (
            baseline_us * next(self._noise) + NULL_US,
            ours_us * next(self._noise) + NULL_US,
        )

    def null(self) -> tuple[float, float]:
        return NULL_US, NULL_US

    def evidence(self) -> float | None:
        return self.events_us

    def remarks(self) -> list[str]:
        return []

    def doubt(self) -> str:
        return self.doubts

    def neighbours(self) -> int:
        return self.strangers


SETTINGS = Settings(budget_s=1.0)


def test_a_faster_solution_is_shown_to_be_faster() -> None:
    track = Track(300.0, 200.0)
    measured = race(track, SETTINGS, "eager")
    assert track.against_name == measured.baseline == "eager"
    assert measured.speedup == pytest.approx(1.5, rel=0.01)
    assert 1.4 < measured.low < 1.5 < measured.high < 1.6
    assert measured.null_us == NULL_US
    assert measured.time_us == pytest.approx(200.0, rel=0.01)
    assert measured.calls == measured.turns * track.calls


def test_the_sides_take_turns_at_going_first() -> None:
    track = Track(300.0, 200.0)
    race(track, SETTINGS, "eager")
    timed = track.first[-8:]
    assert abs(sum(timed) - len(timed) / 2) <= 1


# On an H200 processes with one program differ by 0.05 to 0.1 us (one standard deviation) a call
# where each has its own null subtracted, and by 0.2 to 0.5 us where one is subtracted from both.
@pytest.mark.parametrize(
    ("baseline_us", "ours_us", "apart"),
    [
        (60.3, 60.0, APART),
        (5.15, 4.95, APART),
        (1010.0, 1006.0, APART),
        (61.2, 60.0, FAR_APART),
        (5.0, 4.6, FAR_APART),
    ],
)
def test_what_two_processes_differ_by_is_no_speedup(
    baseline_us: float, ours_us: float, apart: Apart
) -> None:
    track = Track(baseline_us, ours_us)
    track.apart = apart
    measured = race(track, SETTINGS, "eager")
    assert measured.speedup > 1.0
    assert measured.low <= 1.0


@pytest.mark.parametrize("ours_us", [60.0, 1000.0])
def test_three_per_cent_are_shown(ours_us: float) -> None:
    measured = race(Track(1.03 * ours_us, ours_us), SETTINGS, "eager")
    assert measured.low > 1.0


def test_two_per_cent_of_a_short_kernel_are_not_where_its_null_is_unknown() -> None:
    track = Track(61.2, 60.0)
    assert race(track, SETTINGS, "eager").low > 1.0
    track.apart = FAR_APART
    assert race(track, SETTINGS, "eager").low <= 1.0


def test_a_busy_host_does_not_measure_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """On an H200 beside other work a pair took 40 s for one second of timed calls."""
    clock = itertools.count(step=0.25)
    monkeypatch.setattr("pytest_kernelbench.judge.race.time.monotonic", lambda: next(clock))
    rules = Rules((1.0,), 1.0, width=0.0)
    assert race(Track(60.0, 60.0), SETTINGS, "eager", rules=rules).turns == 20  # 5 s
    clock = itertools.count()
    measured = race(Track(60.0, 60.0), SETTINGS, "eager", rules=rules)
    assert "stopped: budget" in measured.notes
    assert measured.turns == 12  # of fewer than ten an interval tells little


def test_what_is_lost_in_the_protocol_is_not_timed() -> None:
    track = Track(300.0, 5.0)
    track.least_of_null = 0.2
    with pytest.raises(TooShort, match="the solution is too short to be timed"):
        race(track, SETTINGS, "eager")


def test_events_that_say_otherwise_are_told() -> None:
    measured = race(Track(300.0, 200.0, events_us=350.0), SETTINGS, "eager")
    assert measured.events_us == 350.0
    assert any("measured twice" in note for note in measured.notes)
    assert any("they still do not" in note for note in measured.notes)


def test_where_the_reference_is_below_the_floor_there_is_none() -> None:
    """A gather or a slice reads less of its inputs than is sure to be read of others'."""
    measured = race(Track(50.0, 20.0), SETTINGS, "eager", Floor(floor_us=100.0, roof_us=120.0))
    assert measured.low > 2.0
    assert measured.floor_us is None
    assert not any("impossible" in note for note in measured.notes)


def test_a_time_below_the_floor_is_impossible_and_never_fast() -> None:
    measured = race(Track(300.0, 20.0), SETTINGS, "eager", Floor(floor_us=100.0, roof_us=120.0))
    assert measured.low == 0.0
    assert any("impossible" in note for note in measured.notes)


def test_where_nothing_may_be_concluded_nothing_is_fast() -> None:
    track = Track(300.0, 200.0)
    track.doubts = "the processors were too busy"
    measured = race(track, SETTINGS, "eager")
    assert measured.low == 0.0
    assert track.doubts in measured.notes


def test_strangers_on_the_device_are_told() -> None:
    track = Track(300.0, 200.0)
    track.strangers = 2
    notes = race(track, SETTINGS, "eager").notes
    assert "2 other processes were on the device" in notes


class Disturbed(Track):
    """The second turn that counts is spoiled by this, and again by that."""

    raced: list[bool]

    def null(self) -> tuple[float, float]:
        self.raced = getattr(self, "raced", [])  # the warm-up is over
        return super().null()

    def pair(self, *, contender_first: bool) -> tuple[float, float]:
        if hasattr(self, "raced"):
            self.raced.append(contender_first)
            reasons = {2: ("thermal slowdown",), 3: ("others kept the device busy",)}
            self.spoiled = reasons.get(len(self.raced), ())
        return super().pair(contender_first=contender_first)


def test_a_disturbed_turn_is_repeated_in_its_own_order_and_told() -> None:
    """Whole ABBAs count, whatever has to be measured again."""
    track = Disturbed(300.0, 200.0)
    measured = race(track, SETTINGS, "eager")
    first, second = track.raced[:2]
    assert second is not first
    assert track.raced[1:4] == [second] * 3
    kept = [*track.raced[:1], *track.raced[3:]]
    assert len(kept) == measured.turns >= 4
    assert kept[:4] == [first, second, second, first]
    told = "2 disturbed turns measured again (others kept the device busy, thermal slowdown)"
    assert told in measured.notes
