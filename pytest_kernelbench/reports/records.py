"""``--kb-json``: a line of strict JSON for each verdict, on disk as soon as it is known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    import pytest

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.verdict import SCHEMA_VERSION, Verdict

_NUMBERS = ("speedup", "low", "high", "baseline_us", "time_us", "null_us")
"""Fields of a measurement that are never absent: where JSON has null, they were no number."""


def encode(verdict: Verdict, nodeid: str) -> bytes:
    """One record, without the line's end. What is no number (NaN, infinity) is null."""
    return msgspec.json.encode({"nodeid": nodeid, **verdict.to_builtins()})


def read(path: Path) -> Iterator[tuple[str, Verdict]]:
    """Node ids and verdicts of a file of records; a last line cut short is passed over."""
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


def _decode(line: bytes) -> tuple[str, Verdict]:
    plain: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
    for measured in plain.get("measurements", ()):
        measured.update({name: math.nan for name in _NUMBERS if measured.get(name, 0.0) is None})
    return str(plain.pop("nodeid", "")), Verdict.from_builtins(plain)


class RecordWriter:
    """A plugin that hears verdicts and writes them down."""

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = path.open("wb")

    def pytest_kernelbench_verdict(self, verdict: Verdict, nodeid: str) -> None:
        """Write a line and hand it to the system at once."""
        self._file.write(encode(verdict, nodeid) + b"\n")
        self._file.flush()

    def pytest_unconfigure(self, config: pytest.Config) -> None:  # noqa: ARG002 - pytest's name
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; there is nothing left to write."""
        self._file.close()
