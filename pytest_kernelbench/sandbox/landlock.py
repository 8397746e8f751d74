"""Landlock: an unprivileged process gives up what it does not need.

Files, sockets, signals and its view of other processes.

Numbers and meanings are those of the kernel's user-space API (include/uapi/linux/landlock.h, ABI 1
to 7).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

from pytest_kernelbench.sandbox import kernel

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1 << 0, 1 << 1
_RULE_PATH_BENEATH = 1
_ASK_VERSION = 1
# The ABI from which on the kernel knows each.
_ABI_REFER, _ABI_TRUNCATE, _ABI_TCP, _ABI_IOCTL_DEV, _ABI_SCOPES = 2, 3, 4, 5, 6


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def abi() -> int:
    """The kernel's Landlock version; 0 where there is none."""
    try:
        return kernel.landlock_call(0, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION))
    except OSError:
        return 0


def _handled(version: int) -> tuple[int, int, int]:
    files = (1 << 13) - 1
    if version >= _ABI_REFER:
        files |= _REFER
    if version >= _ABI_TRUNCATE:
        files |= _TRUNCATE
    if version >= _ABI_IOCTL_DEV:
        files |= _IOCTL_DEV
    net = _BIND_TCP | _CONNECT_TCP if version >= _ABI_TCP else 0
    scoped = _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS if version >= _ABI_SCOPES else 0
    return files, net, scoped


def restrict(readable: Iterable[Path], writable: Iterable[Path]) -> None:
    """Close to this process, for ever, all files but these.

    ``readable`` may be read and executed, to ``writable`` everything may be done.

    Processes outside its domain can no longer be traced or, from ABI 6 on, signalled; TCP is closed
    from ABI 4 on. Paths that do not exist are passed over. Needs ``no_new_privs``; raises
    ``OSError`` without Landlock.
    """
    version = abi()
    files, net, scoped = _handled(version)
    attributes = _Ruleset(files, net, scoped)
    # Older kernels know a shorter structure and refuse unknown trailing fields that are not zero.
    size = ctypes.sizeof(_Ruleset)
    if version < _ABI_SCOPES:
        size = 16 if version >= _ABI_TCP else 8
    ruleset = kernel.landlock_call(
        0, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0)
    )
    try:
        for path in readable:
            _allow(ruleset, path, _READ & files)
        for path in writable:
            _allow(ruleset, path, files)
        kernel.landlock_call(2, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, access: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError, NotADirectoryError):
        return
    try:
        if not path.is_dir():
            access &= _OF_FILES
        rule = _PathRule(access, fd)
        kernel.landlock_call(
            1,
            ctypes.c_int(ruleset),
            ctypes.c_int(_RULE_PATH_BENEATH),
            ctypes.byref(rule),
            ctypes.c_uint32(0),
        )
    finally:
        os.close(fd)
