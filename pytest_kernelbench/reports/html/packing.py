"""What a page's script reads: the rows of its table, and behind each all that is known of a pair.

Both are JSON, deflated and in base64, in elements that no browser takes for markup or script:
nothing that an author wrote stands in the page as it is. Details and sources lie in pieces, so that
opening a row unpacks only a few of them.
"""

from __future__ import annotations

import base64
import math
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.score import sample_of
from pytest_kernelbench.texts import json_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_kernelbench.reports.html.runs import Past, Runs
    from pytest_kernelbench.reports.records import Record
    from pytest_kernelbench.verdict import Measurement, Verdict

PIECE = 32
"""Pairs that are packed together; those of a problem are alike and lie side by side."""
_HEADLINE = 160
_TOLD = ("reasons", "detail", "notes", "walls", "missing_walls", "build_s", "build_cached",
         "judge_s", "log", "kernels", "rounds", "device", "size", "dtype", "solution",
         "provenance")  # fmt: skip


@dataclass(frozen=True)
class Packed:
    """Base64 texts for the page; what is no number is null in them."""

    rows: str
    details: tuple[str, ...]
    sources: tuple[str, ...]
    """In pieces of the same pairs; empty where one was left out."""
    left_out: int
    """Pairs whose source was left out so that the page does not grow too large."""


def pack(runs: Runs, entrants: Sequence[str], room_bytes: int) -> Packed:
    """All pairs of some runs; a row's number is its place among ``runs.latest``.

    ``room_bytes`` is what all of it together may take: sources that find no room are left out.
    """
    histories = list(runs.histories.values())
    numbers = {entrant: number for number, entrant in enumerate(entrants)}
    rows = _text({"entrants": entrants, "runs": [run.label for run in runs.every],
                  "rows": [_row(history, numbers) for history in histories]})  # fmt: skip
    pieces = [histories[start : start + PIECE] for start in range(0, len(histories), PIECE)]
    details = tuple(_text([_detail(history) for history in piece]) for piece in pieces)
    room_bytes -= len(rows) + sum(map(len, details))
    sources, left_out = [], 0
    for piece in pieces:
        texts = [history[-1].record.source for history in piece]
        packed = _text(texts) if room_bytes > 0 else ""
        if len(packed) > room_bytes:
            packed = ""
        left_out += 0 if packed else sum(map(bool, texts))
        room_bytes -= len(packed)
        sources.append(packed)
    return Packed(rows, details, tuple(sources), left_out)


def _text(value: object) -> str:
    deflated = zlib.compressobj(level=6, wbits=-zlib.MAX_WBITS)
    data = deflated.compress(json_bytes(value)) + deflated.flush()
    return base64.b64encode(data).decode("ascii")


def _row(history: Sequence[Past], entrants: Mapping[str, int]) -> list[Any]:
    """In the order that ``table.js`` names: what is sorted by, filtered by and shown."""
    record = history[-1].record
    verdict, measured = record.verdict, record.verdict.measurement
    headline = verdict.reasons[0] if verdict.reasons and not verdict.status.right else ""
    before = history[-2].record.verdict if len(history) > 1 else None
    return [
        verdict.level,
        verdict.number,
        verdict.problem,
        entrants[verdict.entrant],
        verdict.sample,
        verdict.status.value,
        *_figures(verdict, measured),
        headline[:_HEADLINE],
        _change(before, verdict) if before is not None else None,
    ]


def _figures(verdict: Verdict, measured: Measurement | None) -> list[float | None]:
    if measured is None:
        return [None] * 6
    speedups = (measured.speedup, measured.low, measured.high)
    return [
        *(_short(value) if verdict.status.right else None for value in speedups),
        _short(measured.time_us),
        _short(measured.baseline_us),
        _short(measured.percent_of_roof),
    ]


def _short(value: float | None) -> float | None:
    """Four digits, which is more than a measurement has."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.4g}")


def _change(before: Verdict, now: Verdict) -> list[Any]:
    """The status before, and how many times as fast it has become, where that can be told."""
    then, later = sample_of(before), sample_of(now)
    ratio = None
    if then.speedup is not None and later.speedup is not None:
        ratio = later.speedup / then.speedup
    return [before.status.value, _short(ratio), change(before, now)]


def change(before: Verdict, now: Verdict) -> str:
    """``fixed``, ``broke``, ``faster``, ``slower`` (intervals lie apart), or empty."""
    then, later = sample_of(before), sample_of(now)
    if then.agreed != later.agreed:
        return "fixed" if later.agreed else "broke"
    earlier, measured = before.measurement, now.measurement
    if then.speedup is None or later.speedup is None or earlier is None or measured is None:
        return ""
    if measured.low > earlier.high:
        return "faster"
    return "slower" if measured.high < earlier.low else ""


def _detail(history: Sequence[Past]) -> dict[str, Any]:
    record = history[-1].record
    plain = record.verdict.to_builtins()
    found = {name: plain[name] for name in _TOLD if plain.get(name)}
    named = [("", each) for each in plain["measurements"]]
    named += [(name, plain[name]) for name in ("previous", "control") if plain.get(name)]
    return found | {
        "nodeid": record.nodeid,
        "measurements": [{"of": name, **each} for name, each in named],
        "history": [_past(past) for past in history] if len(history) > 1 else [],
    }


def _past(past: Past) -> list[Any]:
    verdict = past.record.verdict
    at = verdict.provenance.judged_at if verdict.provenance is not None else ""
    speedups = _figures(verdict, verdict.measurement)[:3]
    return [past.run, at, verdict.status.value, *speedups, _same_source(past.record)]


def _same_source(record: Record) -> str:
    """Which source it was, as a short hash that can be compared."""
    origin = record.verdict.provenance
    return origin.solution_sha256[:12] if origin is not None else ""


def entrants_of(records: Iterable[Record]) -> list[str]:
    """All of them, by name."""
    return sorted({record.verdict.entrant for record in records})
