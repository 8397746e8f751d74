"""``--kb-json``: a line of strict JSON for each verdict, on disk as soon as it is known."""

from __future__ import annotations

import fcntl
import math
import os
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.reports.plain import json_bytes
from pytest_kernelbench.reports.sources import source_of
from pytest_kernelbench.verdict import SCHEMA_VERSION, Measurement, Roofline, Verdict


@dataclass(frozen=True)
class Asked:
    """What a session knows beside its verdicts."""

    problems: int
    """How many problems of the verdict's level were asked: what shares are shares of."""
    families: dict[str, int] = field(default_factory=dict)
    """The same by family of operators."""
    selftest: str = ""
    """What the last selftest on the verdict's device said."""
    scored: bool = True
    """False for a solution that is there to fail."""


@dataclass(frozen=True)
class Record:
    """A verdict with what it takes to sum it up elsewhere."""

    nodeid: str
    asked: int
    """How many problems of its level were asked: the denominator of the level's shares."""
    verdict: Verdict
    families: dict[str, int] = field(default_factory=dict)
    """The same by family of operators."""
    selftest: str = ""
    """What the last selftest on the verdict's device said; empty if there was none."""
    scored: bool = True
    """False for a solution that is there to fail (``--kb-expect-failure``)."""
    source: str = ""
    """The solution's text, as far as it is short enough to be handed around."""


def record(nodeid: str, verdict: Verdict, asked: Asked) -> Record:
    """A verdict as it is written down."""
    beside = (asked.families, asked.selftest, asked.scored, source_of(verdict))
    return Record(nodeid, asked.problems, verdict, *beside)


def encode(record: Record) -> bytes:
    """One line, without its end. What is no number (NaN, infinity) is null."""
    head = {
        "nodeid": record.nodeid,
        "asked": record.asked,
        "families": record.families,
        "selftest": record.selftest,
        "scored": record.scored,
        "source": record.source,
    }
    return json_bytes(head | record.verdict.to_builtins())


def read(path: Path) -> Iterator[Record]:
    """The records of a file; a last line cut short is passed over.

    Raises ``UsageError`` where it cannot be read, or is no file of records.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        message = f"{path}: there is no such file"
        raise UsageError(message) from None
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise UsageError(message) from None
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


def latest(paths: Iterable[Path]) -> dict[str, Record]:
    """By node id. Of records of the same item the last one counts."""
    return {record.nodeid: record for path in paths for record in read(path)}


def _decode(line: bytes) -> Record:
    plain: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
    _restore_numbers(plain, Verdict)
    _restore_numbers(plain.get("roofline"), Roofline)
    more = plain.get("measurements")
    singles = [plain.get("control"), plain.get("previous")]
    for measured in [*(more if isinstance(more, list) else ()), *singles]:
        _restore_numbers(measured, Measurement)
    head = {name: plain.pop(name) for name in _HEAD if name in plain}
    return msgspec.convert({"nodeid": "", "asked": 0, **head, "verdict": plain}, Record)


def _restore_numbers(plain: Any, kind: type) -> None:  # noqa: ANN401 - whatever a file holds
    """Where a number must be and JSON has null, it was none."""
    if not isinstance(plain, dict):
        return
    for each in fields(kind):
        value = plain.get(each.name, 0)
        if each.type == "float" and value is None:
            plain[each.name] = math.nan
        elif each.type == "tuple[float, ...]" and isinstance(value, list):
            plain[each.name] = [math.nan if number is None else number for number in value]
        elif each.type == "dict[str, float]" and isinstance(value, dict):
            plain[each.name] = {k: math.nan if v is None else v for k, v in value.items()}


_HEAD = ("nodeid", "asked", "families", "selftest", "scored", "source")


class RecordWriter:
    """A plugin that hears verdicts and writes them down.

    With ``resume``, what the file holds stays: a half-written last line is cut off, and a record
    that is there already is not written again.
    """

    def __init__(
        self, path: Path, asked: Callable[[Verdict, str], Asked], *, resume: bool = False
    ) -> None:
        self._asked = asked
        self._written = {encode(each) for each in read(path)} if resume and path.exists() else set()
        # Not "wb": another session may be writing to it, which is known once it is claimed.
        self._file: BinaryIO = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), "r+b")
        self._claim(path)
        if resume:
            _mend(self._file)
        else:
            self._file.truncate()

    def _claim(self, path: Path) -> None:
        """Two sessions that write to one file would lose each other's records."""
        try:
            # By process: a child that outlives a killed session does not hold it.
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            message = f"{path} is being written by another session: wait for it, or name another"
            raise UsageError(message) from None

    def pytest_kernelbench_verdict(self, verdict: Verdict, nodeid: str) -> None:
        """Write a line and hand it to the system at once."""
        line = encode(record(nodeid, verdict, self._asked(verdict, nodeid)))
        if self._written and encode(_decode(line)) in self._written:
            return
        self._file.write(line + b"\n")
        self._file.flush()

    def pytest_unconfigure(self) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; there is nothing left to write."""
        self._file.close()


def _mend(file: BinaryIO) -> None:
    """Go to the end; a last line that was cut short goes, one that only lacks its end gets it."""
    data = file.read()
    start = data.rfind(b"\n") + 1
    tail = data[start:]
    file.seek(0, 2)
    if not tail:
        return
    try:
        _decode(tail)
    except msgspec.MsgspecError:
        file.seek(start)
        file.truncate()
    else:
        file.write(b"\n")
        file.flush()
