"""``--kb-json``: a line of strict JSON for each verdict, on disk as soon as it is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sized
    from pathlib import Path
    from typing import BinaryIO

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.verdict import SCHEMA_VERSION, Verdict

_NUMBERS = ("speedup", "low", "high", "baseline_us", "time_us", "null_us")
"""Fields of a measurement that are never absent: where JSON has null, they were no number."""


@dataclass(frozen=True)
class Record:
    """A verdict with what it takes to sum it up elsewhere."""

    nodeid: str
    asked: int
    """How many problems of its level were asked: the denominator of the level's shares."""
    verdict: Verdict


def encode(record: Record) -> bytes:
    """One line, without its end. What is no number (NaN, infinity) is null."""
    head = {"nodeid": record.nodeid, "asked": record.asked}
    return msgspec.json.encode(head | record.verdict.to_builtins())


def read(path: Path) -> Iterator[Record]:
    """The records of a file; a last line cut short is passed over."""
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield _decode(line)
        except msgspec.MsgspecError as error:
            if number == len(lines):
                return
            message = f"{path}:{number}: not a record of schema {SCHEMA_VERSION}: {error}"
            raise UsageError(message) from None


def _decode(line: bytes) -> Record:
    plain: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
    for measured in plain.get("measurements", ()):
        measured.update({name: math.nan for name in _NUMBERS if measured.get(name, 0.0) is None})
    nodeid, asked = plain.pop("nodeid", ""), plain.pop("asked", 0)
    return msgspec.convert({"nodeid": nodeid, "asked": asked, "verdict": plain}, Record)


class RecordWriter:
    """A plugin that hears verdicts and writes them down."""

    def __init__(self, path: Path, asked: Callable[[int], Sized]) -> None:
        self._file: BinaryIO = path.open("wb")
        self._asked = asked

    def pytest_kernelbench_verdict(self, verdict: Verdict, nodeid: str) -> None:
        """Write a line and hand it to the system at once."""
        record = Record(nodeid, len(self._asked(verdict.level)), verdict)
        self._file.write(encode(record) + b"\n")
        self._file.flush()

    def pytest_unconfigure(self) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; there is nothing left to write."""
        self._file.close()
