"""A filter of system calls: what files, namespaces and capabilities leave open.

- A socket with a name in the file system belongs to no network namespace, and Landlock says nothing
  of connecting to it: a container engine, an agent of keys or a cluster's object store would listen
  to whoever has the right user id. A process behind the walls has nobody to call.
- In a user namespace of its own it would have all capabilities, and the kernel would work for it:
  a network that passes one frame round for ever keeps the processors busy while every process of
  it stands still.
- Keys outlive who made them, and everybody of a user finds them.
- Who holds a lease on a file makes the next one to open it wait for 45 seconds.
- The kernel wakes a stopped process, or ends one and so wakes another, by a signal of that one's
  own choice: when a timer is over, a message or data come, or a child or the parent ends.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import signal
import socket
import struct
from dataclasses import dataclass

from pytest_kernelbench.sandbox import kernel

_LOAD_WORD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16
"""Where the kernel's ``struct seccomp_data`` has the call's number, its ABI and its arguments."""
_SET_MODE_FILTER = 1
_SPEC_ALLOW = 1 << 2
"""Without it, older kernels switch off speculation, and everything is slower than elsewhere."""
_X32 = 0x40000000
_NAMESPACES = 0x7E020080
"""CLONE_NEWCGROUP, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET, _NEWNS and _NEWTIME."""
_F_SETLEASE, _F_SETSIG = 1024, 10
_PR_SET_PDEATHSIG = 1
_EXIT_SIGNAL = 0xFF
"""Of the flags of ``clone``: what the parent is told with when the child ends."""
_KIND = 0xF
"""Of a socket's type, beside flags."""

Line = tuple[int, int, int, int]
"""What to do, how many lines to skip if it holds, and if it does not, and with which number."""


@dataclass(frozen=True)
class _Abi:
    audit: int
    seccomp: int
    connect: int
    socket: int
    socketpair: int
    clone: int
    unshare: int
    setns: int
    fcntl: int
    prctl: int
    keys: tuple[int, ...]
    """add_key, request_key, keyctl."""
    wakers: tuple[int, ...]
    """timer_create, mq_notify."""
    io_uring_setup: int = 425
    clone3: int = 435


_ABIS = {
    "x86_64": _Abi(0xC000003E, 317, 42, 41, 53, 56, 272, 308, 72, 157, (248, 249, 250), (222, 244)),
    "aarch64": _Abi(
        0xC00000B7, 277, 203, 198, 199, 220, 97, 268, 25, 167, (217, 218, 219), (107, 184)
    ),
}


def restrict_calls(*, wakers: bool = False) -> None:
    """No connections, namespaces, keys or leases from here on, as if the kernel had none.

    Nor, unless ``wakers`` are to be left, anything by which the kernel wakes who is stopped. Needs
    ``no_new_privs``, and that there is one thread; raises ``OSError`` where the kernel has no such
    filters.
    """
    abi = _ABIS.get(platform.machine())
    if abi is None:
        raise OSError(errno.ENOSYS, f"no numbers of calls are known for {platform.machine()}")
    program = b"".join(struct.pack("=HBBI", *line) for line in _program(abi, wakers=wakers))
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    kernel.call(
        abi.seccomp,
        ctypes.c_ulong(_SET_MODE_FILTER),
        ctypes.c_ulong(_SPEC_ALLOW),
        ctypes.create_string_buffer(header, len(header)),
    )


def _program(abi: _Abi, *, wakers: bool) -> list[Line]:
    lines = [
        (_LOAD_WORD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, abi.audit),  # 32-bit calls have other numbers
        _UNKNOWN,
        (_LOAD_WORD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        _UNKNOWN,
    ]
    refused = _refused(abi)
    if not wakers:
        refused |= _wakers_refused(abi, refused)
    allowed = (_RETURN, 0, 0, _ALLOW)
    for number, answer in refused.items():
        block = [*answer, allowed]
        lines += [(_EQUAL, 0, len(block), number), *block]
    return [*lines, allowed]


def _refused(abi: _Abi) -> dict[int, list[Line]]:
    """What a call is answered with, by its number."""
    apart = [_argument(0), (_ANY_BIT, 0, 1, _NAMESPACES), _refuse(errno.EPERM)]
    # Who has such a socket can send to any name in the file system without connecting. To the
    # kernel the second kind is the same.
    letters = [
        _argument(0),
        (_EQUAL, 0, 5, socket.AF_UNIX),
        _argument(1),
        (_AND, 0, 0, _KIND),
        (_EQUAL, 1, 0, socket.SOCK_DGRAM),
        (_EQUAL, 0, 1, socket.SOCK_RAW),
        _refuse(errno.EAFNOSUPPORT),
    ]
    return {
        abi.connect: [_refuse(errno.ECONNREFUSED)],
        abi.io_uring_setup: [_UNKNOWN],  # it connects without the call
        abi.socket: letters,
        abi.socketpair: letters,
        abi.clone: apart,
        abi.unshare: apart,
        abi.clone3: [_UNKNOWN],  # its flags lie in memory; libraries then ask for clone
        abi.setns: [_refuse(errno.EPERM)],
        abi.fcntl: [_argument(1), (_EQUAL, 0, 1, _F_SETLEASE), _refuse(errno.EACCES)],
        **{key: [_UNKNOWN] for key in abi.keys},
    }


def _wakers_refused(abi: _Abi, before: dict[int, list[Line]]) -> dict[int, list[Line]]:
    """Likewise, for what wakes who is stopped; the argument is still that of ``before``."""
    no_cont = [(_EQUAL, 0, 1, signal.SIGCONT), _refuse(errno.EINVAL)]
    return {
        abi.fcntl: [*before[abi.fcntl], (_EQUAL, 0, 1, _F_SETSIG), _refuse(errno.EINVAL)],
        abi.clone: [*before[abi.clone], (_AND, 0, 0, _EXIT_SIGNAL), *no_cont],
        abi.prctl: [_argument(0), (_EQUAL, 0, 3, _PR_SET_PDEATHSIG), _argument(1), *no_cont],
        **{waker: [_UNKNOWN] for waker in abi.wakers},
    }


def _refuse(number: int) -> Line:
    return _RETURN, 0, 0, _ERRNO | number


def _argument(index: int) -> Line:
    """The lower half of an argument: all that the kernel heeds of those that are looked at."""
    return _LOAD_WORD, 0, 0, _ARGUMENTS + 8 * index


_UNKNOWN = _refuse(errno.ENOSYS)
