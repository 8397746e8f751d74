"""A filter of system calls: what files and namespaces leave open.

A socket with a name in the file system belongs to no network namespace, and Landlock says nothing
of connecting to it: a container engine, an agent of keys or a cluster's object store would listen
to whoever has the right user id. A process behind the walls has nobody to call.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from dataclasses import dataclass

from pytest_kernelbench.sandbox import kernel

_LOAD_WORD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _ARCH = 0, 4
"""Where the kernel's ``struct seccomp_data`` has the call's number and its ABI."""
_SET_MODE_FILTER = 1
_SPEC_ALLOW = 1 << 2
"""Without it, older kernels switch off speculation, and everything is slower than elsewhere."""
_X32 = 0x40000000


@dataclass(frozen=True)
class _Abi:
    audit: int
    seccomp: int
    connect: int
    io_uring_setup: int = 425


_ABIS = {"x86_64": _Abi(0xC000003E, 317, 42), "aarch64": _Abi(0xC00000B7, 277, 203)}


def forbid_connections() -> None:
    """No ``connect`` from here on, as if nobody listened, and no other way to one.

    Needs ``no_new_privs``, and that there is one thread; raises ``OSError`` where the kernel has no
    such filters.
    """
    abi = _ABIS.get(platform.machine())
    if abi is None:
        raise OSError(errno.ENOSYS, f"no numbers of calls are known for {platform.machine()}")
    program = _program(abi)
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    kernel.call(
        abi.seccomp,
        ctypes.c_ulong(_SET_MODE_FILTER),
        ctypes.c_ulong(_SPEC_ALLOW),
        ctypes.create_string_buffer(header, len(header)),
    )


def _program(abi: _Abi) -> bytes:
    refused, unknown = _ERRNO | errno.ECONNREFUSED, _ERRNO | errno.ENOSYS
    # Each line: what to do, how many lines to skip if it holds, and if it does not.
    lines = [
        (_LOAD_WORD, 0, 0, _ARCH),
        (_EQUAL, 0, 5, abi.audit),  # 32-bit calls have other numbers
        (_LOAD_WORD, 0, 0, _NUMBER),
        (_AT_LEAST, 3, 0, _X32),
        (_EQUAL, 2, 0, abi.io_uring_setup),  # it connects without the call
        (_EQUAL, 2, 0, abi.connect),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, unknown),
        (_RETURN, 0, 0, refused),
    ]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)
