"""Rows of JSON, JSON Lines and parquet files, one at a time, also those that cannot be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from pytest_kernelbench.decoding import decoded
from pytest_kernelbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILE_LIMIT_BYTES = 2 << 30
ROW_LIMIT_BYTES = 32 << 20
_BATCH_ROWS = 64


@dataclass(frozen=True)
class Row:
    """One row of a table."""

    number: int
    """From 1; in JSON Lines the line's, so that an editor finds it."""
    value: object
    key: str = ""
    """What it stood under, in a JSON object of lists: ``level_1``."""
    trouble: str = ""
    """Why it could not be read; then there is no value."""


def rows(path: Path) -> Iterator[Row]:
    """All rows of a file. Raises ``UsageError`` where the file as a whole cannot be read."""
    try:
        size_bytes = path.stat().st_size
        if size_bytes > FILE_LIMIT_BYTES:
            message = f"{path} has {size_bytes:,} bytes, more than {FILE_LIMIT_BYTES:,}: split it"
            raise UsageError(message)
        if path.suffix == ".parquet":
            yield from _parquet(path)
        elif path.suffix == ".json":
            yield from _json(path)
        else:
            yield from _lines(path)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        raise UsageError(message) from error


def _lines(path: Path) -> Iterator[Row]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(ROW_LIMIT_BYTES + 1):
            number += 1
            if len(line) > ROW_LIMIT_BYTES:
                yield Row(number, None, trouble=f"longer than {ROW_LIMIT_BYTES:,} bytes")
                while line and not line.endswith(b"\n"):
                    line = file.readline(ROW_LIMIT_BYTES)
            elif line.strip():
                yield _line(number, line)


def _line(number: int, line: bytes) -> Row:
    try:
        return Row(number, decoded(line, object))
    except msgspec.MsgspecError as error:
        return Row(number, None, trouble=f"no JSON: {error}")


def _json(path: Path) -> Iterator[Row]:
    data = path.read_bytes()
    try:
        value = decoded(data, object)
    except msgspec.MsgspecError as error:
        lines = data.split(b"\n", 2)
        if len(lines) > 1 and isinstance(_line(1, lines[0]).value, dict):
            # JSON Lines that somebody called .json.
            yield from _lines(path)
            return
        message = f"{path} is no JSON: {error}"
        raise UsageError(message) from None
    yield from _flat(value)


def _flat(value: object) -> Iterator[Row]:
    """A list of rows; an object of lists of rows or of rows; or one row alone."""
    if isinstance(value, list):
        yield from (Row(number, each) for number, each in enumerate(value, start=1))
    elif isinstance(value, dict) and value and all(map(_is_group, value.values())):
        number = 0
        for key, group in value.items():
            for each in group if isinstance(group, list) else [group]:
                number += 1
                yield Row(number, each, str(key))
    else:
        yield Row(1, value)


def _is_group(value: object) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and all(isinstance(each, dict) for each in value)
    )


def _parquet(path: Path) -> Iterator[Row]:
    try:
        from pyarrow import ArrowException, parquet
    except ModuleNotFoundError:
        message = (
            f"{path} needs pyarrow, which is not installed: "
            "pip install 'pytest-kernelbench[parquet]'"
        )
        raise UsageError(message) from None
    try:
        with parquet.ParquetFile(path) as file:
            unpacked_bytes = sum(
                file.metadata.row_group(group).total_byte_size
                for group in range(file.metadata.num_row_groups)
            )
            if unpacked_bytes > 4 * FILE_LIMIT_BYTES:
                message = f"{path} unpacks to {unpacked_bytes:,} bytes, which is too much: split it"
                raise UsageError(message)
            number = 0
            for batch in file.iter_batches(_BATCH_ROWS):
                for value in batch.to_pylist():
                    number += 1
                    yield Row(number, value)
    except ArrowException as error:
        message = f"{path} is no parquet file that can be read: {error}"
        raise UsageError(message) from None
