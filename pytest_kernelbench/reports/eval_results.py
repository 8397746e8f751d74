"""KernelBench's own ``eval_results.json``: what its analysis scripts read, milliseconds and all.

A file there is one run's on one level. With several entrants or levels, each gets a file of its own
beside the one that was asked for.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import statistics
from collections import Counter
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.catalog.material import readable
from pytest_kernelbench.verdict import UNJUDGED, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pytest_kernelbench.verdict import Measurement, Verdict

EXCESSIVE_SPEEDUP = 10.0
"""Above it KernelBench asks for a second look."""
_NO_RUNTIME = -1.0
_LARGEST = re.compile(r"largest difference ([0-9.e+-]+)")
"""In the words of the comparison, which say it once: of the round that failed."""


def write(path: Path, verdicts: Iterable[Verdict]) -> list[Path]:
    """Write the file, or one for each entrant and level; gives what was written.

    The file that was asked for never keeps an earlier session's results. Raises ``OSError``.
    """
    groups: dict[tuple[str, int], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.status not in UNJUDGED:  # KernelBench leaves out what it could not evaluate
            groups.setdefault((verdict.entrant, verdict.level), []).append(verdict)
    if len(groups) <= 1:
        _write(path, next(iter(groups.values()), []))
        return [path]
    if path.is_file():
        _write(path, [])
    names = _names({entrant for entrant, _ in groups})
    written = []
    for (entrant, level), group in sorted(groups.items()):
        place = path.with_stem(f"{path.stem}_{names[entrant]}_level{level}")
        _write(place, group)
        written.append(place)
    return written


def _write(path: Path, verdicts: Iterable[Verdict]) -> None:
    text = json.dumps(results(verdicts), indent=4, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _names(entrants: Iterable[str]) -> dict[str, str]:
    """What each entrant's file is called: no two the same.

    Its own name where a file can bear it, for that is what the run is called. Of the others, those
    that would share one also bear a hash, after a sign that no readable name has.
    """
    names = {entrant: readable(entrant) for entrant in entrants}
    uses = Counter(names.values())
    for entrant, name in names.items():
        if uses[name] > 1 and name != entrant:
            digest = hashlib.sha256(entrant.encode("utf-8", "surrogatepass")).hexdigest()
            names[entrant] = f"{name}~{digest[:16]}"
    return names


def results(verdicts: Iterable[Verdict]) -> dict[str, list[dict[str, Any]]]:
    """The content for one entrant and level: samples by problem number."""
    found: dict[str, list[dict[str, Any]]] = {}
    for verdict in sorted(verdicts, key=lambda each: (each.number, each.sample)):
        found.setdefault(str(verdict.number), []).append(result(verdict))
    return found


def result(verdict: Verdict) -> dict[str, Any]:
    """One sample."""
    measured = verdict.measurement
    if measured is not None and not math.isfinite(measured.time_us):
        measured = None  # JSON has no word for it.
    return {
        "sample_id": verdict.sample,
        "compiled": verdict.status is not Status.NOT_BUILT,
        "correctness": verdict.agreed or verdict.status.right,
        "metadata": _metadata(verdict),
        "runtime": _NO_RUNTIME if measured is None else measured.time_us / 1e3,
        "runtime_stats": {} if measured is None else _stats(verdict, measured),
    }


def _metadata(verdict: Verdict) -> dict[str, Any]:
    status, reason = verdict.status, "; ".join(verdict.reasons)
    told: dict[str, Any] = {"hardware": verdict.device, "device": verdict.device_uuid}
    told["kernelbench_status"] = status.value
    text = f"{reason}\n{verdict.detail}".strip()
    if status is Status.NOT_BUILT:
        told |= {"compilation_error_name": "BuildError", "compilation_error": text}
    elif status.right or verdict.agreed:
        told["correctness_trials"] = f"({verdict.rounds} / {verdict.rounds})"
        if not status.right:
            told["error_during_performance"] = text
    elif status.value.startswith("wrong_") or status is Status.UNSTABLE:
        told["correctness_issue"] = _issue(verdict, reason)
        told["correctness_issue_name"] = status.value
        told["correctness_trials"] = f"({verdict.rounds} / {verdict.rounds + 1})"
        if largest := largest_difference(verdict):
            told["max_difference"] = [largest]
    else:
        told |= {"runtime_error_name": status.value, "runtime_error": reason}
        if verdict.detail:
            told["runtime_error_traceback"] = verdict.detail
    if verdict.measurement is not None and verdict.measurement.speedup > EXCESSIVE_SPEEDUP:
        told["excessive_speedup"] = True
    return told


def largest_difference(verdict: Verdict) -> str:
    """Of the round in which the outputs differed, as it was told; empty where it was not."""
    found = _LARGEST.search("; ".join(verdict.reasons))
    return found[1] if found else ""


def _issue(verdict: Verdict, reason: str) -> str:
    """In the words that scripts look for, and ours."""
    heads: Mapping[Status, str] = {
        Status.WRONG_SHAPE: "Output shape mismatch",
        Status.WRONG_VALUE: "Output mismatch",
        Status.UNSTABLE: "Output mismatch",
    }
    head = heads.get(verdict.status)
    return f"{head}: {reason}" if head else reason


def _stats(verdict: Verdict, measured: Measurement) -> dict[str, Any]:
    times_ms = [time_us / 1e3 for time_us in measured.times_us if math.isfinite(time_us)]
    times_ms = times_ms or [measured.time_us / 1e3]
    return {
        "mean": statistics.fmean(times_ms),
        "std": statistics.stdev(times_ms) if len(times_ms) > 1 else 0.0,
        "min": min(times_ms),
        "max": max(times_ms),
        "num_trials": measured.calls,
        "hardware": verdict.device,
        "device": verdict.device_uuid,
    }
