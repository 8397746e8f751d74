"""``--kb-json``: a line of strict JSON for each verdict, on disk as soon as it is known."""

from __future__ import annotations

import fcntl
import math
import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from pytest_kernelbench.decoding import decoded
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.overwriting import is_stream
from pytest_kernelbench.reports.plain import cut_short
from pytest_kernelbench.reports.sources import source_of
from pytest_kernelbench.reports.unwritten import fail
from pytest_kernelbench.texts import json_bytes, one_line
from pytest_kernelbench.verdict import SCHEMA_VERSION, Measurement, Roofline, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from io import FileIO
    from pathlib import Path

MOST_ASKED = 100_000
"""No level has more problems: each of them has a place in the arithmetic of scores."""


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

    def __post_init__(self) -> None:
        """A file of somebody else's must not command the terminal on which it is shown."""
        object.__setattr__(self, "nodeid", one_line(self.nodeid))
        object.__setattr__(self, "selftest", one_line(self.selftest))


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


def read(path: Path, tell: Callable[[str], None] = lambda _: None) -> Iterator[Record]:
    """The records of a file; a last line cut short is passed over, and ``tell`` hears of it.

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
            if number == len(lines) and cut_short(line, error, _BEGINNING):
                tell(f"{path}: its last line was cut short and is passed over")
                return
            message = f"{path}:{number}: not a record of schema {SCHEMA_VERSION}: {error}"
            raise UsageError(message) from None


def latest(
    paths: Iterable[Path], tell: Callable[[str], None] = lambda _: None
) -> dict[str, Record]:
    """By node id. Of records of the same item the last one counts."""
    return {record.nodeid: record for path in paths for record in read(path, tell)}


def _decode(line: bytes) -> Record:
    """Raises ``msgspec.ValidationError`` where it is JSON, but no record."""
    plain: dict[str, Any] = decoded(line, dict[str, Any])
    _check_schema(plain.get("schema"))
    _restore_numbers(plain, Verdict)
    _restore_numbers(plain.get("roofline"), Roofline)
    more = plain.get("measurements")
    singles = [plain.get("control"), plain.get("previous")]
    for measured in [*(more if isinstance(more, list) else ()), *singles]:
        _restore_numbers(measured, Measurement)
    head = {name: plain.pop(name) for name in _HEAD if name in plain}
    record = msgspec.convert({"nodeid": "", "asked": 0, **head, "verdict": plain}, Record)
    _check_head(record)
    return record


def _check_schema(found: object) -> None:
    if type(found) is int and found > SCHEMA_VERSION:
        message = f"it is of schema {found}, written by a newer version of pytest-kernelbench"
        raise msgspec.ValidationError(message)
    if type(found) is not int or found < 1:
        message = "it has no schema" if found is None else f"there is no schema {found!r}"
        raise msgspec.ValidationError(message)


def _check_head(record: Record) -> None:
    """What an item is called, and a number of problems that somebody can have asked."""
    if not record.nodeid:
        message = "it has no nodeid"
        raise msgspec.ValidationError(message)
    counts = (record.asked, *record.families.values())
    if min(counts) < 0 or max(record.asked, sum(record.families.values())) > MOST_ASKED:
        message = f"a level has 0 to {MOST_ASKED} problems, not as many as were asked"
        raise msgspec.ValidationError(message)


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
_BEGINNING = b'{"nodeid"'
"""What every line begins with."""


class RecordWriter:
    """A plugin that hears verdicts and writes them down.

    What the file held stays until there is a verdict to write: a session that judges nothing loses
    nothing. With ``resume`` it stays for good: a half-written last line is cut off, and a record
    that is there already is not written again. Raises ``UsageError`` where it cannot be opened.
    """

    def __init__(
        self, path: Path, asked: Callable[[Verdict, str], Asked], *, resume: bool = False
    ) -> None:
        self._path = path
        self._asked = asked
        self._resume = resume
        self._written = {encode(each) for each in read(path)} if resume and path.exists() else set()
        self._file, self._keeps = _opened(path)
        self._begun = False
        self._lost: list[str] = []
        """Why each verdict that is not in the file is not."""

    def pytest_kernelbench_verdict(self, verdict: Verdict, nodeid: str) -> None:
        """Write a line and hand it to the system at once; a full disk ends no session."""
        line = encode(record(nodeid, verdict, self._asked(verdict, nodeid)))
        if self._written and encode(_decode(line)) in self._written:
            return
        try:
            self._begin()
            _append(self._file, line + b"\n")
        except OSError as error:
            self._lost.append(error.strerror or str(error))

    def _begin(self) -> None:
        """Before the first line: from here on what the file held is replaced, or gone on with."""
        if self._begun:
            return
        if self._resume:
            _mend(self._file)
        elif not self._keeps:
            self._file.truncate(0)
        self._begun = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Records that are not there are no success: somebody asked for them."""
        if self._lost:
            fail(session)

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say how many verdicts the file lacks."""
        if self._lost:
            told = f"{self._path} lacks {len(self._lost)} verdicts: {self._lost[0]}"
            terminalreporter.write_line(told, red=True)

    def pytest_unconfigure(self) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; there is nothing left to write."""
        self._file.close()


def _opened(path: Path) -> tuple[FileIO, bool]:
    """The file, claimed; and whether it keeps what is in it, as devices and pipes do.

    Where what we print goes into the same file, records go between what is printed.
    """
    try:
        stream = next((number for number in (1, 2) if is_stream(path, number)), None)
        # Not to be emptied: another session may be writing to it, which is known once claimed.
        place = os.open(path, os.O_RDWR | os.O_CREAT, 0o644) if stream is None else os.dup(stream)
    except OSError as error:
        message = f"{path} cannot be opened to write records: {error.strerror}"
        raise UsageError(message) from None
    file = os.fdopen(place, "r+b", buffering=0)
    if stream is not None or not stat.S_ISREG(os.fstat(place).st_mode):
        return file, True
    try:
        # By process: a child that outlives a killed session does not hold it.
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        message = f"{path} is being written by another session: wait for it, or name another"
        raise UsageError(message) from None
    return file, False


def _append(file: FileIO, data: bytes) -> None:
    """All of it or nothing, where the file can be cut."""
    start = file.tell() if file.seekable() else 0
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[file.write(rest) or 0 :]
    except OSError:
        with suppress(OSError):
            file.seek(start)
            file.truncate()
        raise


def _mend(file: FileIO) -> None:
    """Go to the end; a last line that was cut short goes, one that only lacks its end gets it."""
    data = file.read()
    start = data.rfind(b"\n") + 1
    tail = data[start:]
    if not tail:
        return
    try:
        _decode(tail)
    except msgspec.MsgspecError as error:
        if not cut_short(tail, error, _BEGINNING):
            raise OSError("its last line is no record") from None
        file.seek(start)
        file.truncate()
    else:
        _append(file, b"\n")
