"""Files that other processes may be reading and that a crash must not leave half written."""

from __future__ import annotations

import os
import tempfile
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from pytest_kernelbench.decoding import decoded
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.reports.plain import cut_short
from pytest_kernelbench.texts import json_bytes

if TYPE_CHECKING:
    from pytest_kernelbench.catalog.pair import Problem

_T = TypeVar("_T")


def write_whole(path: Path, text: str) -> None:
    """All of it or nothing. Raises ``UsageError`` where it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".kb-")
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}; give another folder with --to"
        raise UsageError(message) from error


def append_line(path: Path, record: object) -> None:
    """Add a record to a JSON Lines file, in one write. Halves of UTF-16 become question marks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(json_bytes(msgspec.to_builtins(record)) + b"\n")


def read_lines(path: Path, kind: type[_T]) -> list[_T]:
    """The records of such a file; a last line that a crash cut short is dropped.

    Raises ``UsageError`` where any other line is no record.
    """
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(decoded(line, kind))
        except msgspec.MsgspecError as error:
            if number == len(lines) and cut_short(line, error, _beginning(kind)):
                break
            message = f"{path}:{number}: {error}"
            raise UsageError(message) from error
    return found


def cut_short_line_removed(path: Path, *kinds: type) -> None:
    """Drop a last line that a crash cut short, so that the next record starts a line of its own.

    ``kinds`` are those of the file's records. A line that only lacks its end gets it. Raises
    ``UsageError`` where it is neither: the file is somebody else's.
    """
    if not path.exists() or not (data := path.read_bytes()) or data.endswith(b"\n"):
        return
    start = data.rfind(b"\n") + 1
    try:
        decoded(data[start:], object)
    except msgspec.MsgspecError as error:
        if not any(cut_short(data[start:], error, _beginning(kind)) for kind in kinds):
            message = f"{path}: its last line is no record, nor the beginning of one"
            raise UsageError(message) from error
        path.write_bytes(data[:start])
    else:
        path.write_bytes(data + b"\n")


def _beginning(kind: type) -> bytes:
    first = fields(kind)[0].name if is_dataclass(kind) else ""
    return f'{{"{first}'.encode()


def solution_name(problem: Problem, sample: int, *, several: bool = True) -> str:
    """Where a solution lies below its entrant: ``level1/019_relu_sample3.py``."""
    suffix = f"_sample{sample}" if several else ""
    return f"{problem.id}{suffix}.py"
