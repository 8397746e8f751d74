"""What ``Path`` does on a kernel without lists of children (``CONFIG_PROC_CHILDREN``)."""

from __future__ import annotations

import errno
import os
from pathlib import Path

_read_text, _exists = Path.read_text, Path.exists


def read_text(path: Path, encoding: str | None = None, errors: str | None = None) -> str:
    """In the place of ``Path.read_text``."""
    if path.name == "children":
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    return _read_text(path, encoding, errors)


def exists(path: Path) -> bool:
    """In the place of ``Path.exists``."""
    return path.name != "children" and _exists(path)
