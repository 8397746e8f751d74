"""Records of made-up sessions, for tests of what is made of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.reports.html.runs import Run, Runs
from pytest_kernelbench.reports.rebuilt import outcome
from pytest_kernelbench.reports.records import Record
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Measurement, Provenance, Roofline, Status, Verdict

if TYPE_CHECKING:
    from pytest_kernelbench.reports.summary import Outcome

HOSTILE = "</script><script>window.stolen=1</script><img src=x onerror=window.stolen=2>'\"&$a$"


def measured(speedup: float, spread: float = 0.02) -> Measurement:
    """A speedup over 100 us."""
    low, high, time_us = speedup * (1 - spread), speedup * (1 + spread), 100 / speedup
    turns = (time_us, time_us * 1.01)
    return Measurement(
        "eager", speedup, low, high, 100.0, time_us, 5.0, 2, 20, turns, (100.0, 99.0)
    )


def record(
    number: int = 1,
    entrant: str = "ann",
    status: Status = Status.RIGHT,
    speedup: float | None = None,
    source: str = "class ModelNew: pass\n",
    **more: Any,
) -> Record:
    """One record; right and timed if a speedup is given."""
    level, sample = more.pop("level", 1), more.pop("sample", 0)
    name = f"level{level}/{number:03d}_relu"
    known = Verdict(level, number, "relu", entrant, f"solutions/{entrant}/{name}.py", status)
    provenance = Provenance("a" * 64, "b" * 64, {}, "2.11", "t", "0.1", "2026-11-29T20:00:00+00:00")
    verdict = replace(
        known,
        sample=sample,
        agreed=status.right,
        measurements=() if speedup is None else (measured(speedup),),
        device="NVIDIA H200",
        size="full",
        dtype="fp32",
        provenance=provenance,
        **more,
    )
    return Record(f"{known.solution}_{sample}::test_kernel[{name}]", 10, verdict, source=source)


def session(count: int = 40, factor: float = 1.0) -> list[Record]:
    """Two entrants on as many problems as it takes: fast, right and failed in turns."""
    made = []
    for place in range(count):
        number, entrant = place // 2 + 1, ("ann", HOSTILE)[place % 2]
        level = 1 + number % 2
        if place % 5 == 4:
            said = {
                "reasons": (f"differs: {HOSTILE}",),
                "detail": f"{number:03d}_relu.py:1: {HOSTILE}",
            }
            wrong = record(number, entrant, Status.WRONG_VALUE, level=level, source=HOSTILE, **said)
            made.append(wrong)
            continue
        speedup = factor * 2 ** ((place % 7 - 3) / 2)
        roofline = Roofline(10**8, 10.0**9 * (place % 3), 4e12, 5e13)
        status = Status.FAST if speedup > 1.03 else Status.RIGHT
        made.append(record(number, entrant, status, speedup, level=level, roofline=roofline))
    return made


def runs_of(*sessions: list[Record]) -> Runs:
    """A run each, named ``run 1``, ``run 2``, ..."""
    return Runs(tuple(Run(f"run {n}", tuple(each)) for n, each in enumerate(sessions, start=1)))


def outcome_of(runs: Runs, **settings: Any) -> Outcome:
    """What their latest records come to."""
    return outcome(runs.latest, Settings(**settings))
