"""Descriptors: how many may be in flight, and which numbers are nobody's.

Those in flight the kernel counts by user, and asks the sender's own limit.

A solution that fills its own sockets with them would keep the judge, and other sessions of the same
user, from sending any. So a solution's limit lies below what everybody else may raise theirs to.
"""

from __future__ import annotations

import errno
import os
import resource
import socket

_MOST = 1024
"""More than any kernel opens."""
_STANDARD = 3


def hold_standard() -> None:
    """Open ``/dev/null`` in place of standard input, output and error that are closed.

    As in a daemon: a socket would get such a number, and be lost where a child's own output takes
    its place, or have written into it what some library prints.
    """
    while (opened := os.open(os.devnull, os.O_RDWR)) < _STANDARD:
        os.set_inheritable(opened, True)
    os.close(opened)


def bound() -> None:
    """Limit this process, and all below it, to fewer descriptors than others may have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _MOST if hard == resource.RLIM_INFINITY else min(_MOST, hard // 2)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))


def send_with(sock: socket.socket, frame: bytes, fds: tuple[int, ...]) -> int:
    """``socket.send_fds``; where too many are in flight, with all that this process may have."""
    try:
        return socket.send_fds(sock, [frame], list(fds))
    except OSError as error:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if error.errno != errno.ETOOMANYREFS or soft == hard:
            raise
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return socket.send_fds(sock, [frame], list(fds))
