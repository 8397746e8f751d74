"""How much of our processors others took while something was timed. Read from /proc, torch-free."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.sandbox.tree import descendants

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

WORTH_TELLING = 0.15
TOO_CROWDED = 0.25
"""With half of the processors gone, copies of a reference measured faster than it; with one of two,
serial code did, since a baseline with a thread for each waits for the last one."""
_IDLE, _IO_WAIT, _COUNTED = 3, 4, 8
"""Columns of a processor's line of /proc/stat; what guests take is in ``user`` already."""
_UTIME, _STIME = 11, 12
"""Columns of /proc/PID/stat behind the name."""


@dataclass(frozen=True)
class Ticks:
    """Clock ticks of the processors we may use, since the machine started, and what ours took."""

    total: int
    busy: int
    ours: int


def ticks(pids: Iterable[int]) -> Ticks:
    """Now; ``pids`` are ours, with all that is below them, and this process itself."""
    times = _times(Path("/proc/stat").read_text(encoding="ascii"), os.sched_getaffinity(0))
    family = {os.getpid(), *pids}
    family.update(*map(descendants, pids))
    spent = sum(map(_spent, family))
    total = sum(times)
    return Ticks(total, total - times[_IDLE] - times[_IO_WAIT], spent)


def others_share(before: Ticks, after: Ticks) -> float:
    """The share of all processors' time that went to others between two looks."""
    total = after.total - before.total
    others = (after.busy - before.busy) - (after.ours - before.ours)
    return min(1.0, max(0.0, others / total)) if total > 0 else 0.0


def remark(share: float) -> str:
    """What to tell a reader; empty if it is not worth telling."""
    if share < WORTH_TELLING:
        return ""
    return f"other processes took {share:.0%} of the processors while this was timed"


def _times(stat: str, processors: Collection[int]) -> list[int]:
    """The columns of these processors' lines, added up."""
    wanted = {f"cpu{number}" for number in processors}
    lines = [line.split() for line in stat.splitlines() if line.startswith("cpu")]
    rows = [line[1 : _COUNTED + 1] for line in lines if line[0] in wanted]
    return [sum(map(int, column)) for column in zip(*rows, strict=True)]


def _spent(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0  # it ended meanwhile: what it took counts with the others
    fields = text.rpartition(")")[2].split()
    return int(fields[_UTIME]) + int(fields[_STIME])
