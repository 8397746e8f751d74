"""One holder at a time: between processes, threads, and after a holder died."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from waiting import wait_until

from pytest_kernelbench.errors import MachineError
from pytest_kernelbench.timing.lease import _FIRST_TICKET, _locked, default_folder, lease

HOLD = """
import os, sys, time
from pathlib import Path
from pytest_kernelbench.timing.lease import lease
with lease("GPU-1", 10.0, folder=Path(sys.argv[1])):
    child = os.fork() if "fork" in sys.argv else -1
    if child == 0:
        time.sleep(30)
        os._exit(0)
    print("held", child, flush=True)
    sys.stdin.readline()
"""


class Holder:
    """Another process that holds the lease until told."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(folder), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        word, child = self.process.stdout.readline().split()
        assert word == "held"
        self.child_pid = int(child)

    def let_go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=10)


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[Holder]:
    other = Holder(tmp_path)
    yield other
    other.end()


def test_waits_for_another_process_and_says_for_whom(tmp_path: Path, holder: Holder) -> None:
    told: list[str] = []

    def hear(text: str, _: int) -> None:
        told.append(text)
        holder.let_go()

    with lease("GPU-1", 20.0, on_wait=hear, folder=tmp_path):
        assert len(told) == 1
    assert f"waiting for the device GPU-1, held by pid {holder.process.pid} of " in told[0]
    assert "pytest" in told[0], "not the text that it runs, but who started it"


def test_those_who_wait_are_served_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    """However often the holder comes back: it stands at the end each time."""
    queue = """
import sys, time
from pathlib import Path
from pytest_kernelbench.timing.lease import lease
folder, name, turns = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
print("begun", flush=True)
for _ in range(turns):
    with lease("GPU-1", 20.0, folder=folder):
        with open(folder / "order", "a") as file:
            file.write(name)
        time.sleep(0.05)
"""

    def start(name: str, turns: int) -> subprocess.Popen[str]:
        arguments = [sys.executable, "-c", queue, str(tmp_path), name, str(turns)]
        return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)

    busy = start("a", 40)
    while not (tmp_path / "order").exists():
        time.sleep(0.005)
    others = [start(name, 3) for name in "bc"]
    for each in (busy, *others):
        each.communicate(timeout=30)
    order = (tmp_path / "order").read_text()
    assert len(order) == 46
    for name in "bc":
        first, last = order.index(name), order.rindex(name)
        # Between two turns of a waiter nobody has two: three queue, each comes once a round.
        assert last - first <= 6, order


def test_a_waiter_that_dies_leaves_its_place(tmp_path: Path, holder: Holder) -> None:
    waiter = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with (tmp_path / "GPU-1.lock").open("r+b") as file:
        waiting = partial(_locked, file.fileno(), _FIRST_TICKET + 1, 0)
        wait_until(lambda: waiting() is not None)
        waiter.kill()
        waiter.communicate(timeout=10)
        assert waiting() is None
    holder.let_go()
    with lease("GPU-1", 5.0, folder=tmp_path):
        pass


def test_is_told_again_only_after_a_while(tmp_path: Path, holder: Holder) -> None:
    told: list[str] = []
    release = threading.Timer(0.3, holder.let_go)
    release.start()
    with lease(
        "GPU-1", 20.0, on_wait=lambda text, _: told.append(text), tell_after_s=5.0, folder=tmp_path
    ):
        release.join()
    assert told == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_another_user_waits_for_it_and_reads_who_holds_it() -> None:
    """Under /tmp, since the folder of a test is closed to others."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        Path(place).chmod(0o755)
        folder = Path(place) / "leases"
        begin_r, begin_w = os.pipe()
        said_r, said_w = os.pipe()
        child = os.fork()  # a child of its own uid: the interpreter may be closed to a stranger
        if child == 0:
            try:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
                os.read(begin_r, 1)
                try:
                    with lease("GPU-1", 0.2, folder=folder):
                        os.write(said_w, b"two users hold one device")
                except MachineError as error:
                    os.write(said_w, str(error).encode())
                with lease("GPU-1", 5.0, folder=folder):
                    os.write(said_w, b"; then it was free")
            finally:
                os._exit(0)
        os.close(said_w)
        with lease("GPU-1", 1.0, folder=folder):
            os.write(begin_w, b"!")
            said = os.read(said_r, 2000).decode()
        assert f"held by pid {os.getpid()} of root" in said
        with os.fdopen(said_r) as rest:
            assert rest.read() == "; then it was free"
        assert os.waitpid(child, 0)[1] == 0


def test_gives_up_after_the_time_out(tmp_path: Path, holder: Holder) -> None:
    with (
        pytest.raises(MachineError, match=rf"waited 0\.\d+ s .*pid {holder.process.pid} .*end it"),
        lease("GPU-1", 0.2, folder=tmp_path),
    ):
        pytest.fail("two processes hold one device")


def test_another_device_is_free(tmp_path: Path, holder: Holder) -> None:
    assert holder.process.poll() is None
    with lease("GPU-2", 0.0, folder=tmp_path):
        assert (tmp_path / "GPU-2.lock").exists()


def test_a_killed_holder_leaves_the_device_free(tmp_path: Path, holder: Holder) -> None:
    holder.process.send_signal(signal.SIGKILL)
    holder.process.wait(timeout=10)
    with lease("GPU-1", 1.0, folder=tmp_path):
        pass


def test_a_child_of_a_killed_holder_does_not_keep_the_device(tmp_path: Path) -> None:
    """A lock on the open file would: the child holds a copy of the descriptor."""
    other = Holder(tmp_path, "fork")
    try:
        other.process.kill()
        other.process.wait(timeout=10)
        os.kill(other.child_pid, 0)
        with lease("GPU-1", 1.0, folder=tmp_path):
            pass
    finally:
        os.kill(other.child_pid, signal.SIGKILL)
        other.process.communicate(timeout=10)


def test_threads_of_one_process_take_turns(tmp_path: Path) -> None:
    inside, most = 0, 0
    guard = threading.Lock()

    def work() -> None:
        nonlocal inside, most
        with lease("GPU-1", 20.0, folder=tmp_path):
            with guard:
                inside += 1
                most = max(most, inside)
            time.sleep(0.01)
            with guard:
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_a_thread_that_gives_up_does_not_free_the_other_threads_lease(tmp_path: Path) -> None:
    """Closing any descriptor of the file would give the whole process's lock up."""
    with lease("GPU-1", 1.0, folder=tmp_path):
        with (
            pytest.raises(MachineError, match="another thread"),
            lease("GPU-1", 0.05, folder=tmp_path),
        ):
            pytest.fail("two threads hold one device")
        probe = subprocess.run(
            [sys.executable, "-c", HOLD.replace("10.0", "0.1"), str(tmp_path)],
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
    assert "MachineError" in probe.stderr
    assert f"held by pid {os.getpid()} of " in probe.stderr


def test_the_note_goes_with_the_lease(tmp_path: Path) -> None:
    file = tmp_path / "GPU-1.lock"
    with lease("GPU-1", 1.0, folder=tmp_path):
        assert json.loads(file.read_text())["pid"] == os.getpid()
    assert file.read_text() == ""


def test_the_note_of_a_text_that_runs_names_who_started_it(tmp_path: Path, holder: Holder) -> None:
    note = json.loads((tmp_path / "GPU-1.lock").read_text())
    assert note["pid"] == holder.process.pid
    ours = Path("/proc/self/cmdline").read_bytes().split(b"\0")[:-1]
    assert note["command"] == " ".join(map(os.fsdecode, ours))[:300]


def test_an_error_in_the_block_frees_the_device(tmp_path: Path) -> None:
    message = "kernel lost"
    with pytest.raises(RuntimeError, match=message), lease("GPU-1", 1.0, folder=tmp_path):
        raise RuntimeError(message)
    with lease("GPU-1", 0.0, folder=tmp_path):
        pass


def test_every_user_of_the_host_may_use_folder_and_file(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    umask = os.umask(0o077)
    try:
        with lease("GPU-1", 1.0, folder=folder):
            pass
    finally:
        os.umask(umask)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o1777
    assert stat.S_IMODE((folder / "GPU-1.lock").stat().st_mode) == 0o666


def test_a_strangers_note_cannot_reach_the_terminal_unclean(tmp_path: Path, holder: Holder) -> None:
    note = {"pid": 7, "user": "eve", "command": "\x1b[31mred\n" + "x" * 1000}
    (tmp_path / "GPU-1.lock").write_text(json.dumps(note))
    assert holder.process.poll() is None
    with pytest.raises(MachineError) as caught, lease("GPU-1", 0.05, folder=tmp_path):
        pytest.fail("two processes hold one device")
    assert "pid 7 of eve (?[31mred?xxx" in str(caught.value)
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize(
    "note",
    [
        "",
        "{",
        "[]",
        '{"pid": "x", "user": 1, "command": 2}',
        '{"pid": 1e999, "user": 1, "command": 2}',
        "[" * 4096,
    ],
)
def test_a_note_that_cannot_be_read_is_no_error(tmp_path: Path, holder: Holder, note: str) -> None:
    (tmp_path / "GPU-1.lock").write_text(note)
    assert holder.process.poll() is None
    with (
        pytest.raises(MachineError, match="just taken it"),
        lease("GPU-1", 0.05, folder=tmp_path),
    ):
        pytest.fail("two processes hold one device")


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("keep")
    (tmp_path / "GPU-1.lock").symlink_to(target)
    with (
        pytest.raises(MachineError, match="cannot be opened"),
        lease("GPU-1", 1.0, folder=tmp_path),
    ):
        pytest.fail("followed a link")
    assert target.read_text() == "keep"


def test_a_file_in_the_folders_place_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "leases"
    place.write_text("")
    with pytest.raises(MachineError, match="is no folder"), lease("GPU-1", 1.0, folder=place):
        pytest.fail("leased in a file")


def test_no_device_name_leaves_the_folder(tmp_path: Path) -> None:
    with lease("../../etc/GPU 1", 1.0, folder=tmp_path):
        assert [file.name for file in tmp_path.iterdir()] == [".._.._etc_GPU_1.lock"]


def test_the_default_folder_is_the_hosts_not_the_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("KB_LEASE_DIR", raising=False)
    assert default_folder() == Path("/tmp/pytest-kernelbench-leases")  # noqa: S108


def test_containers_can_share_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_LEASE_DIR", str(tmp_path / "leases"))
    with lease("GPU-1", 1.0):
        assert (tmp_path / "leases" / "GPU-1.lock").exists()
