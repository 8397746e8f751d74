"""A model's source as its runner finds it: a copy, with the files that belong to it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.fingerprint import WHOLE_FOLDER

if TYPE_CHECKING:
    from pathlib import Path


def staged(source: Path, folder: Path, *, alone: bool) -> Path:
    """Copy ``source`` into the new ``folder``, with its companions unless it is to be ``alone``."""
    folder.mkdir()
    for path in (source, *([] if alone else companions(source))):
        target = folder / path.relative_to(source.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return folder / source.name


def companions(source: Path) -> list[Path]:
    """Files that belong to a solution folder: all that lie beside a ``solution.py``.

    Or beside a ``model_new.py``. See ``lies_in`` for links.
    """
    if source.stem not in WHOLE_FOLDER:
        return []
    folder = source.parent
    return [path for path in sorted(folder.rglob("*")) if path != source and lies_in(folder, path)]


def lies_in(folder: Path, path: Path) -> bool:
    """Whether a file's true place is in the folder. A link to anything else is left behind.

    Who carries files is behind no wall, and would hand a solution what its walls keep from it.
    """
    return path.is_file() and path.resolve().is_relative_to(folder.resolve())
