"""The cache on disk: a folder for each built solution, named by all that made it what it is.

entries/<key>/      manifest.json, calls/NN-*/NAME.so, build.log, entry.json; never written again
inputs/<base>.json  names of the files beside a solution that its build read
locks/<base>        held (flock) while a solution is being built; a dead holder holds nothing
work/               builds under way: what is kept of each is renamed into entries
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import filelock
import msgspec

from pytest_kernelbench.build import inputs
from pytest_kernelbench.decoding import decoded
from pytest_kernelbench.errors import MachineError
from pytest_kernelbench.folders import owned_folder, remove_tree, sweep_owned

if TYPE_CHECKING:
    from collections.abc import Iterator

ENTRY_FILE = "entry.json"
_IN_USE_S = 3600.0
"""An entry used this recently is never evicted: a contender may be about to load it."""


class Entry(msgspec.Struct, frozen=True):
    """``entry.json``: the outcome of a build, written by the builder, not by the build child."""

    solution: str
    """Where the solution lay when it was built."""
    outcome: str
    """``built``, ``deferred``, ``failed`` or ``missing``."""
    beside: str = ""
    """What lay beside the solution: see ``inputs.surroundings``."""
    message: str = ""
    need: str = ""
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    cpu_s: float = 0.0
    made_at: float = 0.0
    files: dict[str, tuple[int, str]] = {}
    """Each library: its size in bytes and its SHA-256."""
    size_bytes: int = 0
    versions: str = ""


class Store:
    """The cache below one folder. Safe between threads, processes and sessions of one machine."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.entries = root / "entries"
        self._inputs = root / "inputs"
        self._locks = root / "locks"
        self._work = root / "work"

    def prepare(self) -> None:
        """Make the folders. Raises ``MachineError`` where that cannot be done."""
        with disk_errors(self.root):
            for folder in (self.entries, self._inputs, self._locks, self._work):
                folder.mkdir(parents=True, exist_ok=True)
            ignore = self.root.parent / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")

    def lock(self, base: str) -> filelock.FileLock:
        """Held by whoever builds ``base``; the kernel lets go of it when the holder dies."""
        return filelock.FileLock(self._locks / base, thread_local=False, is_singleton=False)

    def key(self, base: str, solution: Path) -> str:
        """The entry's name: ``base`` with the contents of the files that an earlier build read."""
        names = self.input_names(base)
        if not names:
            return base
        shown = inputs.shown(solution.parent, names)
        return hashlib.sha256(json.dumps([base, shown]).encode()).hexdigest()

    def lookup(self, key: str) -> Entry | None:
        """The entry, marked as used now; None where there is none or it is damaged."""
        folder = self.entries / key
        try:
            entry = decoded((folder / ENTRY_FILE).read_bytes(), Entry)
        except (OSError, msgspec.MsgspecError):
            return None
        for name, (size_bytes, _) in entry.files.items():
            library = folder / name
            if not library.is_file() or library.stat().st_size != size_bytes:
                return None
        with contextlib.suppress(OSError):  # A cache that is only read has no last use.
            os.utime(folder / ENTRY_FILE)
        return entry

    def begin(self) -> Path:
        """A new work folder, named after this process so that it can be swept later."""
        with disk_errors(self._work):
            return owned_folder(self._work)

    def adopt(
        self, fresh: Path, base: str, solution: Path, read: tuple[str, ...], entry: Entry
    ) -> str:
        """Move a folder that no build child has written to into the cache; return its key.

        The lock of ``base`` is held.
        """
        with disk_errors(self.root):
            known = inputs.believable({*self.input_names(base), *read})
            if known:
                listed = self._inputs / f"{base}.json"
                written = listed.with_suffix(f".{os.getpid()}")
                written.write_text(json.dumps(known), encoding="utf-8")
                written.replace(listed)
            with (fresh / ENTRY_FILE).open("xb") as file:
                file.write(msgspec.json.encode(entry))
            key = self.key(base, solution)
            target = self.entries / key
            remove_tree(target)  # Only a damaged one can be there: the lock is held.
            fresh.rename(target)
        return key

    def evict(self, limit_bytes: int, used_within_s: float = 0.0) -> list[str]:
        """Remove entries, least recently used first, until the rest is within the limit.

        What was used within ``used_within_s`` or the last hour stays.
        """
        spared_s = max(used_within_s, _IN_USE_S)
        rows = sorted(self.rows(), key=lambda row: row[2])
        total = sum(entry.size_bytes for _, entry, _ in rows)
        gone: list[str] = []
        for key, entry, used_at in rows:
            if total <= limit_bytes or time.time() - used_at < spared_s:
                break
            remove_tree(self.entries / key)
            total -= entry.size_bytes
            gone.append(key)
        return gone

    def rows(self) -> Iterator[tuple[str, Entry, float]]:
        """Every readable entry with its key and the time of its last use."""
        for path in sorted(self.entries.glob(f"*/{ENTRY_FILE}")):
            with contextlib.suppress(OSError, msgspec.MsgspecError):
                used_at = path.stat().st_mtime
                yield path.parent.name, decoded(path.read_bytes(), Entry), used_at

    def sweep(self) -> int:
        """Remove work folders of a day ago whose builder is dead; returns how many."""
        return sweep_owned(self._work)

    def input_names(self, base: str) -> list[str]:
        """Files beside the solution that builds of ``base`` have read, relative to its folder."""
        try:
            names = json.loads((self._inputs / f"{base}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):  # names of files may be no text: not msgspec
            return []
        return inputs.believable(names) if isinstance(names, list) else []


def write_once(path: Path, text: str, mode: int = 0o644) -> None:
    """Write a file that others may be writing or running at the same time."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    fresh = path.with_name(f".{path.name}-{os.getpid()}")
    fresh.write_text(text, encoding="utf-8")
    fresh.chmod(mode)
    fresh.replace(path)


@contextlib.contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Turn a full or read-only disk into a ``MachineError`` that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            advice = "the disk is full: free some space, or `kb cache prune`"
        elif error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            advice = "it cannot be written: choose another folder with --kb-cache"
        else:
            advice = str(error)
        message = f"the build cache in {folder} cannot be used: {advice}"
        raise MachineError(message) from error
