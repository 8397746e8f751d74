"""flashinfer-bench's Trace: a line of JSON for each solution on a workload.

A problem's level, number and name are the definition, the inputs of the problem's file the
workload. What its schema has no word for is left out: pairs that were not judged, and those that
were found right but not timed.
"""

from __future__ import annotations

import json
import math
import uuid
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from pytest_kernelbench import __version__
from pytest_kernelbench.reports.eval_results import largest_difference
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_kernelbench.verdict import Measurement, Verdict

_STATUS = {
    Status.FAST: "PASSED",
    Status.RIGHT: "PASSED",
    Status.NOT_A_KERNEL: "PASSED",
    Status.WRONG_SHAPE: "INCORRECT_SHAPE",
    Status.WRONG_STRUCTURE: "INCORRECT_SHAPE",
    Status.WRONG_DTYPE: "INCORRECT_DTYPE",
    Status.WRONG_VALUE: "INCORRECT_NUMERICAL",
    Status.UNSTABLE: "INCORRECT_NUMERICAL",
    Status.ALTERED_INPUTS: "RUNTIME_ERROR",
    Status.CRASHED: "RUNTIME_ERROR",
    Status.RAISED: "RUNTIME_ERROR",
    Status.OUT_OF_MEMORY: "RUNTIME_ERROR",
    Status.NOT_BUILT: "COMPILE_ERROR",
    Status.TIMED_OUT: "TIMEOUT",
}
_UNKNOWN = "NaN"
"""How the schema writes a number that nobody knows: agreement is no matter of one largest error."""


def write(path: Path, verdicts: Iterable[Verdict], at: datetime | None = None) -> int:
    """Write a trace a line; gives how many verdicts it has no word for."""
    at = at or datetime.now(timezone.utc)
    left_out, lines = 0, []
    for verdict in verdicts:
        told = trace(verdict, at)
        if told is None:
            left_out += 1
        else:
            lines.append(json.dumps(told, allow_nan=False) + "\n")
    path.write_text("".join(lines), encoding="utf-8")
    return left_out


def _is_timed(measured: Measurement | None) -> bool:
    if measured is None:
        return False
    figures = (measured.time_us, measured.baseline_us, measured.speedup)
    return all(math.isfinite(figure) and figure >= 0 for figure in figures)


def trace(verdict: Verdict, at: datetime) -> dict[str, Any] | None:
    """One trace; None where the schema has no word for how the pair ended."""
    status, measured = _STATUS.get(verdict.status), verdict.measurement
    if status is None or (status == "PASSED" and not _is_timed(measured)):
        return None
    definition = f"level{verdict.level}_{verdict.number:03d}_{verdict.problem}"
    workload = f"{definition}/{verdict.size}/{verdict.dtype}"
    evaluation: dict[str, Any] = {
        "status": status,
        "environment": {
            "hardware": verdict.device or "unknown",
            "libs": {"pytest-kernelbench": __version__},
        },
        "timestamp": verdict.provenance.judged_at if verdict.provenance else at.isoformat(),
        "log": "\n".join((*verdict.reasons, verdict.detail)).strip(),
    }
    if status in ("PASSED", "INCORRECT_NUMERICAL"):
        largest = largest_difference(verdict)
        evaluation["correctness"] = {
            "max_relative_error": _UNKNOWN,
            "max_absolute_error": float(largest) if largest else _UNKNOWN,
            "extra": {"status": verdict.status.value, "rounds": verdict.rounds},
        }
    if status == "PASSED" and measured is not None:
        evaluation["performance"] = {
            "latency_ms": measured.time_us / 1e3,
            "reference_latency_ms": measured.baseline_us / 1e3,
            "speedup_factor": measured.speedup,
        }
    return {
        "definition": definition,
        "workload": {
            "axes": {},
            "inputs": {},
            "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, workload)),
        },
        "solution": f"{verdict.entrant}_{definition}_sample{verdict.sample}",
        "evaluation": evaluation,
    }
