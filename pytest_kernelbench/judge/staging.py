"""A model's source as its runner finds it: a copy, with the files that belong to it."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.belongings import belongings
from pytest_kernelbench.catalog.fingerprint import WHOLE_FOLDER
from pytest_kernelbench.folders import chunks, lies_in

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 1 << 30
"""Of all files together. A file can claim to have any number, and take no place on the disk."""


def staged(source: Path, folder: Path, *, alone: bool) -> Path:
    """Copy ``source`` into the new ``folder``, with its companions unless it is to be ``alone``.

    Raises ``OSError``: also where they have more than ``MOST_BYTES``.
    """
    folder.mkdir()
    left_bytes = MOST_BYTES
    for path in (source, *([] if alone else companions(source))):
        target = folder / path.relative_to(source.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        left_bytes -= _copy(path, target, left_bytes)
    return folder / source.name


def _copy(source: Path, target: Path, most_bytes: int) -> int:
    """Copy it; gives its size."""
    size_bytes = 0
    with target.open("xb") as file:
        for part in chunks(source, most_bytes + 1):
            size_bytes += file.write(part)
    if size_bytes > most_bytes:
        why = f"it and the files beside it have more than {MOST_BYTES >> 30} GiB"
        raise OSError(errno.EFBIG, why, str(source))
    return size_bytes


def companions(source: Path) -> list[Path]:
    """Files that belong to a solution: all that lie beside a ``solution.py``.

    Or beside a ``model_new.py``; else those that it names, see ``belongings``. See ``lies_in`` for
    links. All of them are part of the solution's hash.
    """
    if source.stem not in WHOLE_FOLDER:
        return belongings(source)
    folder = source.parent
    found = (path for path in sorted(folder.rglob("*")) if path != source)
    # Of another time, maybe of another source.
    own = (path for path in found if "__pycache__" not in path.relative_to(folder).parts)
    return [path for path in own if lies_in(folder, path)]
