"""Nobody listens to a process behind the walls: tried from inside a child that has given it up."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_kernelbench.sandbox import kernel, seccomp

# Newer Pythons warn of a fork beside threads, which the child here does not need.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def inside(attempt: Callable[[], object]) -> str:
    """What ``attempt`` says in a forked child behind the filter; ``done`` if it says nothing."""
    read_end, write_end = os.pipe()
    if (child := os.fork()) == 0:
        try:
            kernel.forbid_new_privileges()
            seccomp.forbid_connections()
            said = str(attempt() or "done")
        except OSError as error:
            said = type(error).__name__
        os.write(write_end, said.encode())
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.fixture(scope="module", autouse=True)
def _filters() -> None:
    if inside(lambda: None) != "done":
        pytest.skip("this kernel has no filters of system calls")


def test_no_socket_in_the_file_system(tmp_path: Path) -> None:
    place = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place))
        listening.listen()
        with socket.socket(socket.AF_UNIX) as outside:
            outside.connect(str(place))
        assert inside(lambda: socket.socket(socket.AF_UNIX).connect(str(place))) == (
            "ConnectionRefusedError"
        )


def test_no_socket_by_way_of_a_ring() -> None:
    libc = ctypes.CDLL(None, use_errno=True)

    def ring() -> str:
        libc.syscall(seccomp._ABIS[platform.machine()].io_uring_setup, 4, None)
        return os.strerror(ctypes.get_errno())

    assert inside(ring) == "Function not implemented"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the other ABI of this processor")
def test_no_call_by_another_number() -> None:
    libc = ctypes.CDLL(None, use_errno=True)

    def getpid_of_x32() -> str:
        libc.syscall(0x40000000 | 39)
        return os.strerror(ctypes.get_errno())

    assert inside(getpid_of_x32) == "Function not implemented"


def test_what_processes_need_of_each_other_is_left() -> None:
    def talk() -> str:
        ours, theirs = socket.socketpair()
        ours.sendall(b"hello")
        said = theirs.recv(5).decode()
        parent, child = multiprocessing.Pipe()
        child.send("world")
        end = subprocess.run([sys.executable, "-c", "pass"], check=False).returncode
        return f"{said} {parent.recv()} {end}"

    assert inside(talk) == "hello world 0"


def test_filter_outlives_an_exec(tmp_path: Path) -> None:
    code = (
        "import socket\n"
        f"try: socket.socket(socket.AF_UNIX).connect({str(tmp_path / 's')!r})\n"
        "except ConnectionRefusedError: print('refused')\n"
    )
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        command = [sys.executable, "-c", code]
        said = inside(lambda: subprocess.run(command, capture_output=True, check=True).stdout)
    assert "refused" in said
