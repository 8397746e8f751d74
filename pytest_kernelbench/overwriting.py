"""Files that are read and written, written twice, or must not be: refused before any work."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

Named = tuple[str, Path]
"""What names a file, as ``--kb-json``, and the file."""

_KINDS = {
    "--kb-json": ("records", rb'\{"nodeid"'),
    "--json": ("reports of this command", rb'\[\s*(\]|\{\s*"case")|\{"name"'),
    "--csv": ("table of verdicts", rb"level,number,problem,"),
    "--html": ("page of kernels", rb"(?i)<!doctype html>"),
    "--markdown": ("summary of kernels", rb"## Kernels"),
    "--eval-results": ("results of KernelBench", rb'\{\s*(\}|"[0-9]+"\s*:)'),
    "--trace": ("traces", rb'\{"definition"'),
    "--junit": ("JUnit XML", rb"<(\?xml|testsuite)"),
}
"""By option: what it writes, and how that begins."""
_HEAD_BYTES = 1024


def refuse_overwriting(read: Sequence[Named], written: Sequence[Named]) -> None:
    """Raise ``UsageError`` where a file of ``written`` is in ``read`` too, or there twice."""
    for number, (name, path) in enumerate(written):
        for other, place in read:
            if same_file(path, place):
                message = f"{name} would write over {other} {place}: name another file"
                raise UsageError(message)
        for other, place in written[:number]:
            if same_file(path, place):
                message = f"{other} and {name} would both write {path}: name another file"
                raise UsageError(message)


def refuse_unwritable(written: Sequence[Named]) -> None:
    """Raise ``UsageError`` where a file of ``written`` cannot be: known before it would be lost."""
    for name, path in written:
        refuse_no_file(name, path)
        refuse_other_kind(name, path)
        try:
            _open(path)
        except OSError as error:
            message = f"{name} {path} cannot be written: {error.strerror}"
            raise UsageError(message) from None


def refuse_no_file(name: str, path: Path) -> None:
    """Raise ``UsageError`` where ``path`` is a folder, or in none."""
    try:
        fits = path.parent.is_dir() and not path.is_dir()
    except OSError:  # a folder above it cannot be entered
        fits = False
    if not fits:
        message = f"{name} {path}: not a file in a folder that exists"
        raise UsageError(message)


def refuse_other_kind(name: str, path: Path) -> None:
    """Raise ``UsageError`` where ``path`` holds something else than what the option writes."""
    known = _KINDS.get(name) or _KINDS.get(name.replace("--kb-", "--", 1))
    if known is None:
        return
    kind, beginning = known
    head = _head(path).lstrip()
    if head and not re.match(beginning, head):
        message = f"{name} {path}: it is there and holds no {kind}: name another file"
        raise UsageError(message)


def _head(path: Path) -> bytes:
    """How a file begins; empty where there is nothing to lose, and where our own output goes."""
    with suppress(OSError):
        if path.is_file() and not any(is_stream(path, number) for number in (1, 2)):
            with path.open("rb") as file:
                return file.read(_HEAD_BYTES)
    return b""


def is_stream(path: Path, number: int) -> bool:
    """Whether a file is the one to which descriptor ``number`` of this process leads."""
    with suppress(OSError):
        return os.path.samestat(path.stat(), os.fstat(number))
    return False


def _open(path: Path) -> None:
    """For writing, and leave it as it was; a pipe or a device would take it for its end."""
    place = Path(os.path.realpath(path))
    if place.exists():
        if place.is_file():
            os.close(os.open(place, os.O_WRONLY))
        return
    os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
    place.unlink()


def refuse_comparing_with_itself(compared: Sequence[Named], with_what: Named) -> None:
    """Raise ``UsageError`` where records would be held against themselves: no gate could fail."""
    name, path = with_what
    for other, place in compared:
        if same_file(path, place):
            message = f"{name} and {other} are both {path}: nothing is slower than itself"
            raise UsageError(message)


def same_file(one: Path, other: Path) -> bool:
    """Also by links, and before it is there; what keeps nothing, as ``/dev/null``, is no file."""
    try:
        return one.samefile(other) and one.is_file()
    except OSError:  # one of them is not there
        return os.path.realpath(one) == os.path.realpath(other)
