"""The engine with real processes on two devices that are both the CPU: faults, and how it stops."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from judged import SMALL_PROBLEM

from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.engine.local import LocalEngine
from pytest_kernelbench.judge.device import Device
from pytest_kernelbench.sandbox.tree import descendants
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Status, Verdict

FORWARD = """
    import os, signal, time, torch
    class ModelNew(torch.nn.Module):
        def forward(self, a):
            {body}
            return a * 2 + 1
"""
DEVICES = tuple(Device(f"core {name}", f"cpu-test-{name}", "cpu") for name in "ab")


class Engine:
    """Two seats, and solutions by the first lines of their ``forward``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problem = Problem(folder / "problem.py", 1, 1, "p")
        self.problem.path.write_text(textwrap.dedent(SMALL_PROBLEM))
        settings = Settings(
            cache_dir=folder / "cache", correctness_only=True, seeds=2, timeout_s=20.0
        )
        self.engine = LocalEngine(settings, DEVICES)
        self._made = 0

    def pair(self, body: str = "pass") -> Pair:
        self._made += 1
        path = self.folder / f"solution_{self._made}.py"
        path.write_text(textwrap.dedent(FORWARD).format(body=body))
        return Pair(self.problem, Solution(path, "ann", self._made))

    def judge(self, body: str = "pass") -> Verdict:
        return self.engine.submit(self.pair(body)).result(60)

    def seats(self) -> list[int]:
        """The pids of the processes that judge."""
        found = [seat._process for seat in self.engine._seats if seat._process is not None]
        return [process._process.pid for process in found]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    made = Engine(tmp_path_factory.mktemp("engine"))
    yield made
    made.engine.close()


RIGHT = Status.NOT_A_KERNEL
"""It is right, and torch computed it."""


def test_two_devices_judge_at_once_and_nothing_twice(engine: Engine) -> None:
    other = Problem(engine.folder / "other.py", 1, 2, "other")
    shutil.copyfile(engine.problem.path, other.path)
    pairs = [engine.pair() for _ in range(4)]
    pairs += [Pair(other, pair.solution) for pair in pairs]
    futures = [engine.engine.submit(pair) for pair in pairs]
    verdicts = [future.result(60) for future in futures]
    assert {verdict.status for verdict in verdicts} == {RIGHT}
    assert {verdict.device_uuid for verdict in verdicts} == {"cpu-test-a", "cpu-test-b"}
    judged = [(verdict.number, verdict.solution) for verdict in verdicts]
    assert judged == [(pair.problem.number, str(pair.solution.path)) for pair in pairs]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("os.kill(os.getpid(), signal.SIGTERM)", Status.CRASHED),
        ("os._exit(0)", Status.CRASHED),
    ],
)
def test_a_dead_contender_ends_its_own_pair_alone(
    engine: Engine, body: str, status: Status
) -> None:
    before = engine.seats()
    assert engine.judge(body).status is status
    assert engine.judge().status is RIGHT
    assert engine.seats() == before


def seat_of_sleeper(engine: Engine) -> int:
    """The process that judges what sleeps: the only one with a contender."""
    deadline_s = time.monotonic() + 20
    while time.monotonic() < deadline_s:
        for seat in engine.seats():
            if len(descendants(seat)) >= 7:  # fork server; keeper, init, child of two
                return seat
        time.sleep(0.02)
    pytest.fail("nobody judges the pair that sleeps")


@pytest.mark.parametrize("victim", ["seat", "oracle"])
def test_a_judge_that_is_killed_is_replaced_and_judges_again(engine: Engine, victim: str) -> None:
    judged = engine.engine.submit(engine.pair("time.sleep(1.0)"))
    seat = seat_of_sleeper(engine)
    time.sleep(0.5)
    # The fork server's first keeper is the oracle's; it dies with its child.
    pid = seat if victim == "seat" else psutil.Process(descendants(seat)[0]).children()[0].pid
    os.kill(pid, signal.SIGKILL)
    assert judged.result(60).status is RIGHT
    assert seat not in engine.seats()


def test_a_fork_server_that_is_killed_between_two_pairs_is_replaced(engine: Engine) -> None:
    assert engine.judge().status is RIGHT
    for seat in engine.seats():
        server = psutil.Process(seat).children()[0]
        server.kill()
        psutil.wait_procs([server], timeout=10)
    assert [engine.judge().status for _ in range(2)] == [RIGHT] * 2


def test_a_full_disk_is_no_fault_of_the_solution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(small)]
    if os.getuid() or not shutil.which("mount") or subprocess.call(mount, stderr=-3):
        pytest.skip("needs to mount a small file system")
    monkeypatch.setattr(tempfile, "tempdir", str(small))
    made = Engine(tmp_path)
    try:
        (small / "fill").write_bytes(b"x" * 40_000)
        verdict = made.judge("pass" + "  # long" * 4000)
    finally:
        made.engine.close()
        subprocess.check_call([shutil.which("umount") or "umount", str(small)])
    assert verdict.status is Status.NOT_JUDGED
    assert "disk is full" in verdict.reasons[0], verdict


DAEMON = """
    import os, sys
    from pathlib import Path
    from pytest_kernelbench import Settings, judge
    problem, solution, folder = map(Path, sys.argv[1:])
    settings = Settings(cache_dir=folder, device="cpu", correctness_only=True, seeds=1)
    verdict = judge(problem, solution, settings=settings)
    (folder / "said").write_text("right" if verdict.status.right else str(verdict))
"""


def test_a_daemon_without_standard_input_and_output_judges(tmp_path: Path) -> None:
    (problem := tmp_path / "problem.py").write_text(textwrap.dedent(SMALL_PROBLEM))
    # Not told from its text that there is nothing to build: a child of the builder's looks.
    source = "import torch.utils.cpp_extension\n" + textwrap.dedent(FORWARD)
    (solution := tmp_path / "solution.py").write_text(source.format(body="pass"))
    daemon = [sys.executable, "-c", textwrap.dedent(DAEMON), problem, solution, tmp_path]
    subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *map(str, daemon)],
        timeout=100,
        check=True,
    )
    assert (tmp_path / "said").read_text() == "right"


STOPS = {
    "ctrl-c": ("pass", [], 2, "1 passed"),
    "maxfail": ("a = a + 1", ["--maxfail=1"], 1, "1 failed"),
    "killed": ("pass", [], -signal.SIGKILL, ""),
}
"""What the first pair does, options, pytest's exit status, and what it says at its end."""
WITHIN_S = 5.0
"""The goal is 2 s, and two quiet cores need one; this bound is for hangs. Nobody cleans up after
one who is killed: each process ends when it hears of its parent's end.
"""
SIGNALS = {"ctrl-c": signal.SIGINT, "killed": signal.SIGKILL}
SLOW = "import time\ntime.sleep({seconds})\n"


@pytest.mark.parametrize("how", STOPS)
def test_a_stop_ends_everything_at_once(tmp_path: Path, how: str) -> None:
    """While the second pair hangs in ``forward``, and the third in its build."""
    first, arguments, exit_status, says = STOPS[how]
    write = _writer(tmp_path)
    write("problems/level1/001_p.py", SMALL_PROBLEM)
    write("solutions/ann/level1/001_p_sample0.py", FORWARD.format(body=first))
    # Built after the first, so that it is judged after it.
    slow = SLOW.format(seconds=2) + textwrap.dedent(FORWARD).format(body="time.sleep(300)")
    write("solutions/ann/level1/001_p_sample1.py", slow)
    write("solutions/ann/level1/001_p_sample2.py", SLOW.format(seconds=300))
    write("conftest.py", TELLS)
    command = [sys.executable, "-m", "pytest", "solutions", "-p", "no:cacheprovider"]
    command += ["--kb-correctness-only", "--kb-seeds=1", "-p", "no:hypothesispytest", *arguments]
    with (tmp_path / "said").open("w") as said:
        # Who is killed leaves its folder; here it goes with the test's.
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        run = subprocess.Popen(
            command, cwd=tmp_path, stdout=said, start_new_session=True, env=environment
        )
    deadline_s = time.monotonic() + 60
    while not (tmp_path / "first").exists() and time.monotonic() < deadline_s:
        time.sleep(0.01)
    below = psutil.Process(run.pid).children(recursive=True)
    if how in SIGNALS:
        time.sleep(1.0)
        below = psutil.Process(run.pid).children(recursive=True)
        os.killpg(run.pid, SIGNALS[how])
    start_s = time.monotonic()
    _, left = psutil.wait_procs(below, timeout=20)
    took_s = time.monotonic() - start_s
    status = run.wait(30)
    text = (tmp_path / "said").read_text()
    assert len(below) >= 4, "judge and builds"
    assert left == []
    # Where others leave the processors to it.
    assert took_s < WITHIN_S * max(1.0, os.getloadavg()[0] / len(os.sched_getaffinity(0)))
    assert status == exit_status
    assert says in text
    assert ("2 of 3 pairs collected have no verdict" in text) == (how != "killed")


TELLS = """
    from pathlib import Path
    def pytest_kernelbench_verdict(verdict):
        Path("first").touch()
"""


def _writer(folder: Path) -> Callable[[str, str], None]:
    (folder / "pytest.ini").write_text("[pytest]\n")

    def write(name: str, text: str) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))

    return write
