"""Source that has no file of its own yet, and the file it becomes before it is built and judged."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.folders import read_file

SOURCE_LIMIT_BYTES = 4 << 20
"""Of one source file: the longest kernels people have written are a hundredth of it."""
_NAME_LIMIT = 80
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


@dataclass(frozen=True)
class Material:
    """One or several files as text. Nothing here has run, and nothing here runs them."""

    files: tuple[tuple[str, str], ...]
    """Relative path and text of each; the first is the one that is imported."""

    @property
    def digest(self) -> str:
        """Of names and texts: the same material lies at the same place in every session."""
        digest = hashlib.sha256()
        for name, text in self.files:
            for part in (name, text):
                data = part.encode("utf-8", "surrogatepass")
                digest.update(b"%d:" % len(data) + data)
        return digest.hexdigest()[:16]


def materialise(material: Material, folder: Path, name: str) -> Path:
    """Write the files below ``folder`` and give the first one's path; what is there is kept.

    The path is made of the content and, for several files, of ``name``: compilers' caches and
    tracebacks of later sessions find the same file.
    """
    home = folder / material.digest
    if len(material.files) > 1:
        home /= readable(name)
    for relative, text in material.files:
        _write(home / relative, text.encode("utf-8", "surrogatepass"))
    with contextlib.suppress(OSError):
        os.utime(folder / material.digest)  # Its last use, for `kb cache prune`.
    return home / material.files[0][0]


def _write(path: Path, data: bytes) -> None:
    """All of it or nothing: other workers may be about to write the same."""
    try:
        if path.read_bytes() == data:
            return
    except OSError:
        pass  # Not there yet.
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        message = (
            f"{path} cannot be written ({error.strerror}): give another folder with --kb-cache"
        )
        raise UsageError(message) from error


def readable(name: str) -> str:
    """A name as a folder can bear it."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("._")[-_NAME_LIMIT:] or "source"


def unsafe(path: str) -> str:
    """Why a path out of an archive must not be laid out in a folder; empty if it may."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts:
        return f"{path!r} leads out of the solution's folder"
    if not all(_PART.fullmatch(part) for part in parts) or len(path) > _NAME_LIMIT * 2:
        return f"{path!r} is no plain relative path of letters, digits and _.+-"
    return ""


def too_large(path: Path) -> str:
    """Why a file is not read as source; empty if it is short enough, or if nobody can tell."""
    try:
        size_bytes = path.stat().st_size
    except OSError:
        return ""  # Whoever builds it will say why.
    if size_bytes > SOURCE_LIMIT_BYTES:
        return f"{path.name} has {size_bytes:,} bytes, more than {SOURCE_LIMIT_BYTES:,}"
    return ""


def source_text(path: Path) -> str:
    """The text of a source that a stranger may have put there. Raises ``OSError``."""
    return read_file(path, SOURCE_LIMIT_BYTES).decode("utf-8", "replace")


def too_long(text: str) -> str:
    """Why a source is not taken; empty if it is short enough."""
    size_bytes = len(text.encode("utf-8", "surrogatepass"))
    if size_bytes > SOURCE_LIMIT_BYTES:
        return f"its source has {size_bytes:,} bytes, more than {SOURCE_LIMIT_BYTES:,}"
    return ""
