"""Times measured elsewhere, entered into pytest-benchmark, so that its reports show them."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_kernelbench.verdict import Measurement, Verdict


class Clock:
    """A timer that reads what it was set to; a round is the difference of two readings."""

    __name__ = "kernelbench"  # as which pytest-benchmark's JSON shows it

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The time that was set, in seconds."""
        return self.now


CLOCK = Clock()


class Benchmark(Protocol):
    """What is used of pytest-benchmark's fixture, which has no types."""

    name: str
    extra_info: dict[str, Any]
    pedantic: Callable[..., Any]


def enter(benchmark: Benchmark, verdict: Verdict) -> None:
    """Give ``benchmark`` a round for each turn that the solution was timed."""
    measured, rounds_s = verdict.measurement, rounds(verdict)
    if measured is None or not rounds_s:
        return
    benchmark.name = name(verdict)
    benchmark.extra_info.update(extra_info(measured))
    left = iter(rounds_s)

    def reset() -> None:
        # Starting each round at 0 makes the difference exact: no rounding against a large reading.
        CLOCK.now = 0.0

    def advance() -> None:
        CLOCK.now = next(left)

    benchmark.pedantic(advance, setup=reset, rounds=len(rounds_s))


def rounds(verdict: Verdict) -> list[float]:
    """The solution's time per call in seconds, one a turn.

    Nothing where one of them is no number: pytest-benchmark's statistics end the session over that.
    """
    times_us = () if verdict.measurement is None else verdict.measurement.times_us
    return [t * 1e-6 for t in times_us] if all(map(math.isfinite, times_us)) else []


def name(verdict: Verdict) -> str:
    """What tables call it: the item's own name is the same for every entrant."""
    sample = f" #{verdict.sample}" if verdict.sample else ""
    return f"{verdict.number:03d}_{verdict.problem} {verdict.entrant}{sample}"


def extra_info(measured: Measurement) -> dict[str, Any]:
    """What pytest-benchmark's JSON says beside the times."""
    return {
        "baseline": measured.baseline,
        "speedup": measured.speedup,
        "speedup_low": measured.low,
        "speedup_high": measured.high,
        "baseline_us": measured.baseline_us,
    }


class Relay:
    """Under xdist: enters what workers measured into the controller's own session of benchmarks.

    pytest-benchmark leaves its fixture idle in workers: several would disturb each other's clocks,
    and none reaches the report. Our times were taken one pair at a time and travel on the report.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_kernelbench_verdict(self, verdict: Verdict, nodeid: str) -> None:
        """Add an entry for a solution that is right and timed."""
        session: Any = self._config.pluginmanager.get_plugin("pytest-benchmark")
        measured, rounds_s = verdict.measurement, rounds(verdict)
        if session is None or measured is None or not rounds_s or not verdict.status.right:
            return
        # Public by name, though not documented; tests/integration/test_benchmarks.py holds it.
        from pytest_benchmark.stats import Metadata

        problem = nodeid.partition("[")[2].rstrip("]")
        source = SimpleNamespace(
            name=name(verdict),
            fullname=nodeid,
            group=f"level {verdict.level}",
            param=problem,
            params={"problem": problem},
            extra_info=extra_info(measured),
            cprofile_stats=None,
            has_error=False,
        )
        entry: Any = Metadata(  # type: ignore[no-untyped-call]
            source, iterations=1, options={"timer": CLOCK}
        )
        for duration_s in rounds_s:
            entry.update(duration_s)
        session.benchmarks.append(entry)


@pytest.fixture
def record_times(benchmark: Benchmark) -> Callable[[Verdict], None]:
    """A function that enters a verdict's times into pytest-benchmark."""
    return lambda verdict: enter(benchmark, verdict)


def disable_fixture(config: pytest.Config) -> None:
    """Disable the fixture as it would itself under xdist, less its warning: there is the relay.

    Must come before pytest-benchmark reads its options: last of all in ``pytest_configure``.
    """
    config.option.benchmark_disable = True
