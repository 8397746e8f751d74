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
    """Files that belong to a solution folder.

    Everything beside a file called ``solution.py`` or ``model_new.py``.
    """
    if source.stem not in WHOLE_FOLDER:
        return []
    return [path for path in sorted(source.parent.rglob("*")) if path.is_file() and path != source]
