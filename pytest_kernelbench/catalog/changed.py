"""``--kb-changed``: which files differ from those of a commit, as git tells."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from pytest_kernelbench.catalog.belongings import SOURCES, belongings
from pytest_kernelbench.catalog.fingerprint import WHOLE_FOLDER
from pytest_kernelbench.errors import UsageError

_TIMEOUT_S = 120.0


def changed_since(commit: str, folder: Path) -> frozenset[Path]:
    """Files that differ between where ``commit`` and this branch part, and the working tree.

    By the true places of their folders. Those that were deleted and those that git does not know
    yet are among them. Raises ``UsageError`` where git cannot tell.
    """
    top = Path(_git(folder, "rev-parse", "--show-toplevel").rstrip("\n"))
    base = _git(folder, "merge-base", commit, "HEAD").strip()
    differing = _git(top, "diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", base, "--")
    unknown = _git(top, "ls-files", "--others", "--exclude-standard", "-z")
    return frozenset(top / name for name in (differing + unknown).split("\0") if name)


def is_among(path: Path, changed: frozenset[Path]) -> bool:
    """Whether a file changed, or what it leads to."""
    return _placed(path) in changed or Path(os.path.realpath(path)) in changed


def touches(changed: frozenset[Path], solution: Path) -> bool:
    """Whether a file that changed, or is gone, is part of a solution.

    Told by names, and by what the solution's own text names.
    """
    solution = _placed(solution)
    home = solution.parent
    near = {path for path in changed if path.is_relative_to(home)}
    if not near or solution in near or solution.stem in WHOLE_FOLDER:
        return bool(near)
    if any(path.suffix in SOURCES and home in (path.parent, path.parent.parent) for path in near):
        return True
    return not near.isdisjoint(belongings(solution))


def _placed(path: Path) -> Path:
    """Where git has a file: below its folder's true place, and by its own name if it is a link."""
    return Path(os.path.realpath(path.parent), path.name)


def _git(folder: Path, *arguments: str) -> str:
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - the user's own git
            capture_output=True,
            check=False,
            timeout=_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        message = f"--kb-changed: git cannot be asked what changed: {error}"
        raise UsageError(message) from None
    if answer.returncode:
        said = answer.stderr.decode(errors="replace").strip() or "nothing"
        message = (
            f"--kb-changed: git {arguments[0]} failed in {folder} and said: {said}; "
            "a checkout in CI needs the history of both branches (fetch-depth: 0)"
        )
        raise UsageError(message)
    return answer.stdout.decode("utf-8", "surrogateescape")
