"""Calls that a process behind the walls does without: tried in a child that has given them up."""

from __future__ import annotations

import ctypes
import fcntl
import multiprocessing
import os
import platform
import signal
import socket
import subprocess
import sys
import threading
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
            seccomp.restrict_calls()
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


def call(name: str, *arguments: object) -> Callable[[], str]:
    """The call of that name (or one of the keys' three, by its place), and what came of it."""
    libc, abi = ctypes.CDLL(None, use_errno=True), seccomp._ABIS[platform.machine()]
    number = abi.keys[int(name)] if name.isdecimal() else getattr(abi, name)

    def attempt() -> str:
        given = [ctypes.c_long(x) if isinstance(x, int) else x for x in arguments]
        return "" if libc.syscall(number, *given) >= 0 else os.strerror(ctypes.get_errno())

    return attempt


@pytest.mark.parametrize("flag", [1 << bit for bit in (7, 17, 25, 26, 27, 28, 29, 30)], ids=hex)
def test_no_namespace_of_ones_own(flag: int) -> None:
    """In a user's own, the kernel would work for a process that stands still."""
    assert inside(call("unshare", flag)) == "Operation not permitted"
    if flag != 1 << 7:  # that one is an exit signal to ``clone``
        assert inside(call("clone", flag | signal.SIGCHLD, 0, 0, 0, 0)) == "Operation not permitted"


def test_what_is_no_namespace_may_be_unshared() -> None:
    assert inside(call("unshare", 0x400)) == "done"  # CLONE_FILES


def test_no_other_way_to_a_namespace() -> None:
    assert inside(call("setns", 0, 0)) == "Operation not permitted"
    assert inside(call("clone3", 0, 0)) == "Function not implemented"


@pytest.mark.parametrize("place", "012")
def test_no_keys_are_left_behind(place: str) -> None:
    assert inside(call(place, 0, 0, 0, 0, 0)) == "Function not implemented"


@pytest.mark.parametrize("kind", [socket.SOCK_DGRAM, socket.SOCK_RAW])
@pytest.mark.parametrize("make", [socket.socket, socket.socketpair])
def test_no_letters_to_sockets_in_the_file_system(make: Callable[..., object], kind: int) -> None:
    def attempt() -> str:
        try:
            make(socket.AF_UNIX, kind | socket.SOCK_CLOEXEC)
        except OSError as error:
            return os.strerror(error.errno or 0)
        return ""

    assert inside(attempt) == "Address family not supported by protocol"


def test_letters_of_other_families_are_left() -> None:
    assert inside(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()) == "done"


def test_no_lease_on_a_file_that_others_open(tmp_path: Path) -> None:
    place = tmp_path / "f"
    place.touch()

    def lease() -> None:
        with place.open() as file:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)

    assert inside(lease) == "PermissionError"

    def lock() -> None:
        with place.open("w") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)

    assert inside(lock) == "done"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the other ABI of this processor")
def test_no_call_by_another_number() -> None:
    libc = ctypes.CDLL(None, use_errno=True)

    def getpid_of_x32() -> str:
        libc.syscall(0x40000000 | 39)
        return os.strerror(ctypes.get_errno())

    assert inside(getpid_of_x32) == "Function not implemented"


def test_what_processes_need_of_each_other_is_left() -> None:
    def talk() -> str:
        threading.Thread(target=print).start()
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


def by_number(*arguments: int) -> None:
    call = ctypes.CDLL(None, use_errno=True).syscall
    if call(*map(ctypes.c_long, arguments)) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


ABI = seccomp._ABIS.get(platform.machine(), seccomp._ABIS["x86_64"])
WAKERS: dict[str, Callable[[], object]] = {
    "a timer": lambda: by_number(ABI.wakers[0], 1, 0, 0),
    "a message": lambda: by_number(ABI.wakers[1], 0, 0),
    "data": lambda: fcntl.fcntl(0, 10, signal.SIGCONT),
    "a child's end": lambda: by_number(ABI.clone, signal.SIGCONT, 0, 0, 0, 0),
    "the parent's end": lambda: by_number(ABI.prctl, 1, signal.SIGCONT, 0, 0, 0),
}


@pytest.mark.parametrize("attempt", WAKERS.values(), ids=WAKERS.keys())
def test_nothing_wakes_who_is_stopped(attempt: Callable[[], object]) -> None:
    def refused() -> str:
        try:
            attempt()
        except OSError as error:
            return os.strerror(error.errno or 0)
        return "done"

    assert inside(refused) in ("Function not implemented", "Invalid argument")


def test_other_signals_of_children_and_parents_are_left() -> None:
    assert inside(lambda: by_number(ABI.prctl, 1, signal.SIGKILL, 0, 0, 0)) == "done"
    assert inside(lambda: os.waitpid(os.fork() or os._exit(0), 0) and None) == "done"
