"""The system calls that Python has no name for.

Each raises ``OSError`` with the kernel's own reason.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_MS_REC_PRIVATE = _MS_REC | _MS_PRIVATE
_MS_NOSUID_NODEV = 2 | 4
_MS_NOSUID_NODEV_NOEXEC = _MS_NOSUID_NODEV | 8
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def unshare(flags: int) -> None:
    """Leave the namespaces named by ``flags``."""
    _check(_libc.unshare(flags))


def mount_own_proc() -> None:
    """Mount a /proc of this pid namespace, seen by this mount namespace alone."""
    _check(_libc.mount(None, b"/", None, _MS_REC_PRIVATE, None))
    _check(_libc.mount(b"proc", b"/proc", b"proc", _MS_NOSUID_NODEV_NOEXEC, None))


def mount_shared_memory(place: str, size_bytes: int) -> None:
    """Mount a file system in memory there, empty and at most so large, for this namespace alone."""
    options = f"size={size_bytes},mode=1777".encode()
    _check(_libc.mount(b"tmpfs", place.encode(), b"tmpfs", _MS_NOSUID_NODEV, options))


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("user_namespace", ctypes.c_uint64),
    )


_MOUNT_SETATTR = 442
"""As all that came after 2019, the same on each kind of processor."""
_MOUNT_READ_ONLY = 1
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000


def make_read_only() -> None:
    """Make all that is mounted read-only: everything or, where that is refused, nothing.

    Only for a process with a mount namespace of its own: elsewhere it is the machine's.
    """
    # Private in the same call: what is mounted from here on is nobody else's.
    wanted = _MountAttributes(set=_MOUNT_READ_ONLY, propagation=_MS_PRIVATE)
    _set_mount(b"/", _AT_RECURSIVE, wanted)


def keep_writable(path: str) -> None:
    """Except ``path`` from what ``make_read_only`` has done; what is mounted below it stays so."""
    place = os.fsencode(path)
    _check(_libc.mount(place, place, None, _MS_BIND | _MS_REC, None))
    _set_mount(place, 0, _MountAttributes(clear=_MOUNT_READ_ONLY))


def _set_mount(place: bytes, flags: int, attributes: _MountAttributes) -> None:
    try:
        call(
            _MOUNT_SETATTR,
            ctypes.c_int(_AT_FDCWD),
            place,
            ctypes.c_uint(flags),
            ctypes.byref(attributes),
            ctypes.c_size_t(ctypes.sizeof(attributes)),
        )
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        message = "this kernel has no mount_setattr (Linux 5.12)"
        raise OSError(errno.ENOSYS, message) from error


def die_with_parent(signal_number: int) -> None:
    """Have the kernel send ``signal_number`` to this process when its parent dies."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0))


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, so that a double fork cannot slip away."""
    _check(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def forbid_new_privileges() -> None:
    """No execve from here on can gain rights."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def hide_memory() -> None:
    """Keep other processes of the same user from reading this one's memory."""
    _check(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))


def drop_capabilities() -> None:
    """Empty the bounding set and every capability set of this process."""
    number = 0
    while _libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) == 0:
        number += 1
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)()
    _check(_libc.capset(header, data))


def signal_thread(pid: int, thread: int, number: int) -> None:
    """Send a signal to one thread of a process."""
    _check(_libc.syscall(_TGKILL[platform.machine()], pid, thread, number))


_TGKILL = {"x86_64": 234, "aarch64": 131}


class _Span(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


_MOST_AT_ONCE = 1 << 30


def read_memory(pid: int, address: int, into: int, size: int) -> None:
    """Copy ``size`` bytes at ``address`` of process ``pid`` to our address ``into``.

    Raises ``OSError``: EFAULT where the other side has no readable memory, EPERM where the kernel
    forbids it.
    """
    done = 0
    while done < size:
        length = min(_MOST_AT_ONCE, size - done)
        local = _Span(into + done, length)
        remote = _Span(address + done, length)
        got = _libc.process_vm_readv(
            pid,
            ctypes.byref(local),
            ctypes.c_ulong(1),
            ctypes.byref(remote),
            ctypes.c_ulong(1),
            ctypes.c_ulong(0),
        )
        if _check(got) == 0:
            raise OSError(errno.EFAULT, "no readable memory at that address")
        done += got


_libc.process_vm_readv.restype = ctypes.c_ssize_t


def equal_memory(first: int, second: int, size: int) -> bool:
    """Whether two spans of our own memory hold the same bytes."""
    return bool(
        _libc.memcmp(ctypes.c_void_p(first), ctypes.c_void_p(second), ctypes.c_size_t(size)) == 0
    )


_LANDLOCK = {"x86_64": (444, 445, 446), "aarch64": (444, 445, 446)}


def landlock_call(which: int, *arguments: object) -> int:
    """Landlock's system calls: 0 create a ruleset, 1 add a rule, 2 restrict this process."""
    numbers = _LANDLOCK.get(platform.machine())
    if numbers is None:
        raise OSError(38, f"no Landlock numbers known for {platform.machine()}")
    return call(numbers[which], *arguments)


def call(number: int, *arguments: object) -> int:
    """A system call by its number on this kind of processor."""
    return _check(int(_libc.syscall(number, *arguments)))
