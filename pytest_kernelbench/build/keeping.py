"""What is kept of a build: copied, file by file, into a folder that its child never had."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import msgspec

from pytest_kernelbench.build.job import LOG_FILE, MANIFEST_FILE
from pytest_kernelbench.errors import BuildError

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_kernelbench.build.job import Manifest
    from pytest_kernelbench.build.leavings import Leavings


def keep_logs(left: Leavings, said: bytes, fresh: Path) -> None:
    """Everything that was printed, for a person to read."""
    _write(fresh / LOG_FILE, said)
    with contextlib.suppress(BuildError):  # as the outcome says
        for name, log in left.tool_logs.items():
            _write(fresh / name, log)


def keep_libraries(left: Leavings, manifest: Manifest, fresh: Path) -> dict[str, tuple[int, str]]:
    """What the contender needs; gives the size in bytes and the SHA-256 of each library."""
    _write(fresh / MANIFEST_FILE, msgspec.json.encode(manifest))
    files: dict[str, tuple[int, str]] = {}
    for name in manifest.libraries:
        target = fresh / name
        target.parent.mkdir(parents=True, exist_ok=True)
        files[name] = left.copy(name, target)
    return files


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(data)
