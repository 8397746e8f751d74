"""One timed pair at a time on a device, across workers, sessions and users of one host.

A lease is a POSIX record lock on a file named after the device. Such a lock belongs to a process:
it ends with it however it ends, and a forked child does not inherit it. That is why it is neither
``flock`` nor the filelock package, whose locks live on in whatever child holds a copy of the
descriptor; besides, that package creates and truncates the file on opening, which the kernel
refuses to a second user in a shared sticky folder (``fs.protected_regular``).

Those who wait are served in the order in which they came. Each locks one byte of its own, the first
behind all bytes that are locked: its ticket. Its turn has come when no byte before its own is
locked. Whoever gives the device back and wants it again stands at the end, and the ticket of a
process that dies is gone. Bytes far beyond the end of the file can be locked: none is written.
"""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import random
import re
import stat
import struct
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_kernelbench.decoding import decoded
from pytest_kernelbench.errors import MachineError
from pytest_kernelbench.texts import encodable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_FOLDER = "pytest-kernelbench-leases"
_SHORTEST_WAIT_S = 0.002
_LONGEST_WAIT_S = 0.02
_TELL_EVERY_S = 60.0
_NOTE_BYTES = 4096
_DOOR = 1 << 40
"""The byte that is locked while somebody takes a ticket."""
_FIRST_TICKET = _DOOR + 1
_FLOCK = struct.Struct("@hhqqi4x")
"""``struct flock`` of 64-bit Linux: type, whence, start, length, pid."""
# A process may not exclude itself by a POSIX lock, and closing *any* descriptor of the file gives
# the lock up: within a process threads take turns here before they open anything.
_taken: dict[Path, Lock] = {}
_taken_guard = Lock()


@contextmanager
def lease(
    device: str,
    timeout_s: float,
    *,
    on_wait: Callable[[str, int], None] | None = None,
    tell_after_s: float = 0.0,
    folder: Path | None = None,
) -> Iterator[None]:
    """Hold the device (a UUID, or ``cpu``) until the block ends; not re-entrant.

    ``on_wait`` gets a sentence, and the holder's pid, if somebody else holds it for longer than
    ``tell_after_s``, and again each minute from then on. Raises ``MachineError`` when it is not
    free within ``timeout_s`` or the lease file cannot be used. Processes that see different temp
    folders (containers, a private ``TMPDIR`` where ``/tmp`` is closed) do not see each other.
    """
    path = _lease_path(folder or default_folder(), device)
    deadline_s = time.monotonic() + timeout_s
    with _taken_guard:
        thread_lock = _taken.setdefault(path, Lock())
    if not thread_lock.acquire(timeout=max(timeout_s, 0.0)):
        message = (
            f"the device {device} is timed by another thread of this process for longer than "
            f"{timeout_s:g} s; give it more time or use fewer threads"
        )
        raise MachineError(message)
    try:
        handle = _open(path)
        try:
            ticket = _take_ticket(handle, path, deadline_s)
            left_s = deadline_s - time.monotonic()
            _wait(handle, ticket, path, f"the device {device}", left_s, on_wait, tell_after_s)
            _write_note(handle)
            yield
            os.ftruncate(handle, 0)
        finally:
            os.close(handle)  # gives the lock up
    finally:
        thread_lock.release()


def default_folder() -> Path:
    """``/tmp`` before ``TMPDIR``: job systems give each job its own, but the device is shared.

    ``KB_LEASE_DIR`` names another one, as for containers that share a device and a folder.
    """
    if given := os.environ.get("KB_LEASE_DIR"):
        return Path(given)
    shared = Path("/tmp")  # noqa: S108 - opened without following links, checked after opening
    temporary = shared if os.access(shared, os.W_OK) else Path(tempfile.gettempdir())
    return temporary / _FOLDER


def _lease_path(folder: Path, device: str) -> Path:
    try:
        folder.mkdir(mode=0o1777, parents=True)
        folder.chmod(0o1777)  # mkdir's mode is cut by the umask; others must be able to add files
    except FileExistsError:
        if not folder.is_dir() or folder.is_symlink():
            message = f"{folder} is no folder, so no device can be leased; remove it"
            raise MachineError(message) from None
    except OSError as error:
        message = f"{folder} cannot be made, so no device can be leased: {error}; free the path"
        raise MachineError(message) from error
    return folder / (re.sub(r"[^A-Za-z0-9.-]", "_", device) + ".lock")


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        try:
            # Creating only what is not there: O_CREAT on another user's file is refused.
            handle = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
            os.fchmod(handle, 0o666)
        except FileExistsError:
            handle = os.open(path, flags)
    except OSError as error:
        message = f"{path} cannot be opened, so the device cannot be leased: {error}; remove it"
        raise MachineError(message) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        message = f"{path} is no plain file, so the device cannot be leased; remove it"
        raise MachineError(message)
    return handle


def _take_ticket(handle: int, path: Path, deadline_s: float) -> int:
    """Lock the first byte behind all that are locked; the number of that byte."""
    while not _try_lock(handle, _DOOR):
        if time.monotonic() >= deadline_s:
            # It is held for microseconds; an older version of this package locks the whole file.
            message = f"{path} stays locked as a whole; end the other process, or remove the file"
            raise MachineError(message)
        time.sleep(_SHORTEST_WAIT_S)
    try:
        ticket = _FIRST_TICKET
        while (locked := _locked(handle, ticket, 0)) is not None:
            start, length = locked
            if not length:  # to the end: no ticket of ours
                break
            ticket = start + length
        if not _try_lock(handle, ticket):
            message = f"{path} is locked by somebody who took no ticket; end that, or remove it"
            raise MachineError(message)
        return ticket
    finally:
        fcntl.lockf(handle, fcntl.LOCK_UN, 1, _DOOR)


def _wait(  # noqa: PLR0913, PLR0917 - what to wait for, and what to say meanwhile
    handle: int,
    ticket: int,
    path: Path,
    what: str,
    timeout_s: float,
    on_wait: Callable[[str, int], None] | None,
    tell_after_s: float,
) -> None:
    begun_s = time.monotonic()
    wait_s, tell_s = _SHORTEST_WAIT_S, begun_s + tell_after_s
    before = ticket - _FIRST_TICKET
    while before and _locked(handle, _FIRST_TICKET, before) is not None:
        holder, pid = _read_note(handle)
        now_s = time.monotonic()
        if now_s - begun_s >= timeout_s:
            message = (
                f"waited {timeout_s:.3g} s for {what}, held by {holder}; wait until it "
                f"is done, or end it if it hangs (lease file {path})"
            )
            raise MachineError(message)
        if on_wait is not None and now_s >= tell_s:
            on_wait(f"waiting for {what}, held by {holder}", pid)
            tell_s = now_s + _TELL_EVERY_S
        # Uneven steps, so that many waiting workers do not look all at once.
        time.sleep(random.uniform(0.5, 1.0) * wait_s)  # noqa: S311 - no secret
        wait_s = min(2.0 * wait_s, _LONGEST_WAIT_S)


def _try_lock(handle: int, byte: int) -> bool:
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
    except (BlockingIOError, PermissionError):  # POSIX allows either for "held by another"
        return False
    return True


def _locked(handle: int, first: int, length: int) -> tuple[int, int] | None:
    """``(start, length)`` of some other process's lock among these bytes (0: to the end)."""
    asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, first, length, 0)
    kind, _, start, size, _ = _FLOCK.unpack(fcntl.fcntl(handle, fcntl.F_GETLK, asked))
    return None if kind == fcntl.F_UNLCK else (start, size)


def _write_note(handle: int) -> None:
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container without an entry for this uid
        user = str(os.getuid())
    note = {"pid": os.getpid(), "user": user, "command": encodable(_command()[:300])}
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps(note).encode(), 0)


def _command() -> str:
    """How this process was started; one that was started to run a text by whom that was."""
    argv = sys.orig_argv
    if "-c" in argv:
        with suppress(OSError):
            parent = Path(f"/proc/{os.getppid()}/cmdline").read_bytes()
            argv = [os.fsdecode(part) for part in parent.split(b"\0")[:-1]] or argv
    return " ".join(argv)


def _read_note(handle: int) -> tuple[str, int]:
    """Who holds the lease, in words and as a pid (0: unknown).

    Written by a stranger, so it is cut, cleaned and never relied upon.
    """
    try:
        note = decoded(os.pread(handle, _NOTE_BYTES, 0), dict[str, Any])
        pid, user, command = int(note["pid"]), str(note["user"]), str(note["command"])
    except (msgspec.MsgspecError, ValueError, KeyError, TypeError):
        return "a process that has just taken it", 0
    words = f"pid {pid} of {user} ({command})"
    clean = "".join(character if character.isprintable() else "?" for character in words[:400])
    return clean, pid
