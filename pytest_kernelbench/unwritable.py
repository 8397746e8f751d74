"""What is said to a solution that would write where it may not: told from its exception."""

from __future__ import annotations

import errno
import os
import tempfile

_REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
WHERE_TO_WRITE = (
    "a solution may write to the current folder, by a name that is not taken beside it, below "
    "tempfile.gettempdir(), and to ~/.cache and the like: the judge keeps all else read-only"
)


def advice_on(error: BaseException) -> str:
    """A sentence on where a solution may write; empty where that is not the trouble."""
    if not isinstance(error, OSError) or error.errno not in _REFUSED:
        return ""
    path = error.filename
    if not isinstance(path, (str, bytes)):
        return ""
    try:
        # By its true place: in a build, the current folder has what lies beside it by links.
        place = os.path.realpath(os.fsdecode(path))
        its_own = any(_lies_below(place, own) for own in _own_places())
    except (OSError, ValueError):  # No such folder any more; a name of the solution's invention.
        return ""
    return "" if its_own else WHERE_TO_WRITE


def _own_places() -> list[str]:
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return [os.getcwd(), tempfile.gettempdir(), os.path.expanduser(cache)]


def _lies_below(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(os.path.realpath(folder), ""))
