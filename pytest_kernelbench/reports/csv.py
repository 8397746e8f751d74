"""A table for spreadsheets: a row for each verdict, plain text and numbers."""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_kernelbench.verdict import Verdict

COLUMNS = (
    "level", "number", "problem", "entrant", "sample", "status", "agreed", "speedup",
    "speedup_low", "speedup_high", "baseline", "baseline_us", "time_us", "turns", "calls",
    "device", "size", "dtype", "build_s", "judge_s", "reason", "notes", "solution",
)  # fmt: skip


def write(path: Path, verdicts: Iterable[Verdict]) -> None:
    """Write all verdicts, with a line of headings, as RFC 4180 has it."""
    with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(map(row, verdicts))


def row(verdict: Verdict) -> dict[str, Any]:
    """One verdict; empty where there is nothing to say."""
    measured = verdict.measurement
    found: dict[str, Any] = {
        "level": verdict.level,
        "number": verdict.number,
        "problem": verdict.problem,
        "entrant": verdict.entrant,
        "sample": verdict.sample,
        "status": verdict.status.value,
        "agreed": verdict.agreed,
        "device": verdict.device,
        "size": verdict.size,
        "dtype": verdict.dtype,
        "build_s": verdict.build_s,
        "judge_s": verdict.judge_s,
        "reason": "; ".join(verdict.reasons),
        "notes": "; ".join(verdict.notes),
        "solution": verdict.solution,
    }
    if measured is not None:
        found |= {
            "speedup": measured.speedup,
            "speedup_low": measured.low,
            "speedup_high": measured.high,
            "baseline": measured.baseline,
            "baseline_us": measured.baseline_us,
            "time_us": measured.time_us,
            "turns": measured.turns,
            "calls": measured.calls,
        }
    return {name: _plain(value) for name, value in found.items()}


def _plain(value: object) -> object:
    """No number that is none, and no text that a spreadsheet would take for a formula."""
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return value
