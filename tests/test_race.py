"""A race over a made-up track: what its times may be taken to show."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle

import pytest

from pytest_kernelbench.judge.race import TooShort, race
from pytest_kernelbench.settings import Settings

SETTINGS = Settings(budget_s=0.05)


@dataclass
class Track:
    """Takes no time; ``baseline_us`` and ``solution_us`` with a little noise."""

    baseline_us: float = 2000.0
    solution_us: float = 1000.0
    null_us: float = 10.0
    doubted: str = ""
    least_of_null: float = 0.2
    spoiled: tuple[str, ...] = ()
    state: None = None
    calls: int = 1
    strangers: int = 0

    def __post_init__(self) -> None:
        self._noise = cycle((0.99, 1.01, 1.0, 1.005, 0.995))
        self.firsts: list[bool] = []

    def against(self, baseline: str) -> None:
        self.name = baseline

    def pair(self, *, contender_first: bool) -> tuple[float, float]:
        self.firsts.append(contender_first)
        noise = next(self._noise)
        return self.baseline_us * noise + self.null_us, self.solution_us / noise + self.null_us

    def null(self) -> tuple[float, float]:
        return self.null_us, self.null_us

    def evidence(self) -> None:
        return None

    def remarks(self) -> list[str]:
        return []

    def doubt(self) -> str:
        return self.doubted

    def neighbours(self) -> int:
        return self.strangers


def test_a_speedup_is_shown() -> None:
    measured = race(Track(), SETTINGS, "eager")
    assert measured.speedup == pytest.approx(2.0, rel=0.03)
    assert 1.5 < measured.low < measured.speedup < measured.high
    assert measured.baseline == "eager"


def test_the_sides_take_turns() -> None:
    track = Track()
    race(track, SETTINGS, "eager")
    timed = track.firsts[-8:]
    assert abs(sum(timed) - len(timed) / 2) <= 1


def test_what_is_doubted_shows_nothing() -> None:
    measured = race(Track(doubted="too busy"), SETTINGS, "eager")
    assert measured.low == 0.0
    assert measured.speedup == pytest.approx(2.0, rel=0.03)
    assert "too busy" in measured.notes


def test_strangers_on_the_device_are_told() -> None:
    notes = race(Track(strangers=2), SETTINGS, "eager").notes
    assert "2 other processes were on the device" in notes


def test_what_cannot_be_told_from_the_protocol_is_no_time() -> None:
    with pytest.raises(TooShort, match="the solution is"):
        race(Track(solution_us=1.0, null_us=1000.0, baseline_us=5000.0), SETTINGS, "eager")
