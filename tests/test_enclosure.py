"""Walls around a process that was started in the ordinary way, and what is bounded inside."""

from __future__ import annotations

import errno
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from pytest_kernelbench.sandbox import walls
from pytest_kernelbench.sandbox.import_paths import import_paths

_BOOT = """
import json, os, sys, time
paths = json.loads(sys.argv[1])
sys.path += [path for part in paths for path in part if path not in sys.path]
from pathlib import Path
from pytest_kernelbench.sandbox.enclosure import Bounds, enclose
writable = [Path("/proc/self"), *map(Path, sys.argv[2:])]
raised = enclose([Path("/")], writable, Bounds(256 << 20, 20))
"""


def inside(
    body: str, *writable: Path, cwd: Path | None = None, boot: str = _BOOT
) -> subprocess.CompletedProcess[str]:
    """Run ``body`` in an enclosure of 256 MiB and 20 processes."""
    return subprocess.run(
        [sys.executable, "-c", boot + body, json.dumps(import_paths()), *map(str, writable)],
        capture_output=True,
        check=False,
        timeout=60,
        cwd=cwd,
        encoding="utf-8",
    )


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("os._exit(0)", 0),
        ("os._exit(7)", 7),
        ("os.kill(os.getpid(), 9)", -signal.SIGKILL),
        ("os.abort()", -signal.SIGABRT),
    ],
)
def test_it_ends_as_what_is_inside_does(body: str, status: int) -> None:
    assert inside(body).returncode == status


def test_whoever_kills_the_watch_ends_itself() -> None:
    """If it can be reached at all."""
    kills = "try: os.kill(os.getppid(), 9)\nexcept OSError: pass\n"
    assert inside(f"{kills}time.sleep(0.3)\nos._exit(3)").returncode in {3, -signal.SIGKILL}


def test_what_is_started_inside_ends_with_it() -> None:
    seconds = f"300.{time.monotonic_ns()}"
    start = f"import subprocess; subprocess.Popen(['sleep', '{seconds}'], start_new_session=True)"
    done = inside(f"{start}\nos._exit(0)")
    assert (done.returncode, done.stderr) == (0, "")
    assert ["sleep", seconds] not in [each.info["cmdline"] for each in _running()]


def _running() -> list[psutil.Process]:
    return list(psutil.process_iter(["cmdline"]))


def test_locks_of_several_processes_can_be_made() -> None:
    body = "import multiprocessing; multiprocessing.Lock().acquire(); print(raised.shared_memory)"
    said = inside(body)
    assert (said.returncode, said.stdout, said.stderr) == (0, f"{walls.SHARED_MEMORY}\n", "")


HOGS = {
    "its own": "held = b'x' * (400 << 20)\n",
    "of its children": (
        "for _ in range(4):\n"
        "    if os.fork() == 0: held = b'x' * (100 << 20); time.sleep(60); os._exit(0)\n"
    ),
    "in a memory file": (
        "file = os.memfd_create('hog')\nfor _ in range(400): os.write(file, b'x' * (1 << 20))\n"
    ),
}


@pytest.mark.parametrize("hog", HOGS)
def test_memory_is_bounded_for_all_processes_together(hog: str) -> None:
    done = inside(HOGS[hog] + "time.sleep(30)")
    assert done.returncode == -signal.SIGKILL
    assert "of 0.2 GiB of memory" in done.stdout


def test_the_number_of_processes_is_bounded() -> None:
    storm = "for _ in range(40):\n    if os.fork() == 0: time.sleep(60); os._exit(0)\n"
    done = inside(storm + "time.sleep(30)")
    assert done.returncode == -signal.SIGKILL
    assert "processes at a time are more than the 20 allowed" in done.stdout


def test_it_goes_first_when_memory_runs_out() -> None:
    done = inside("print(open('/proc/self/oom_score_adj').read().strip(), raised.up)")
    score, _, up = done.stdout.partition(" ")
    assert score == "1000"
    assert "first to go when memory runs out" in up
    assert "memory and number of all its processes" in up


CHANGES = {
    "chmod": "os.chmod(path, os.stat(path).st_mode)",
    "chown": "os.chown(path, os.getuid(), os.getgid())",
    "utime": "os.utime(path, (1, 1))",
    "setxattr": "os.setxattr(path, 'user.kept', b'x')",
}


@pytest.mark.parametrize("change", CHANGES)
def test_only_what_is_its_own_can_be_changed(tmp_path: Path, change: str) -> None:
    """Landlock says nothing of modes, owners, times and attributes."""
    work, solution = tmp_path / "work", tmp_path / "solution"
    work.mkdir()
    solution.mkdir()
    paths = Path(walls.__file__), solution, work
    before = [path.stat() for path in paths]
    body = f"""
os.chdir({str(work)!r})
print(*raised.up, *raised.missing, sep="; ")
for path in {[*map(str, paths)]!r}:
    try: {CHANGES[change]}
    except OSError as error: print(error.errno)
    else: print("changed")
"""
    named, *said = inside(body, work).stdout.splitlines()
    assert walls.READ_ONLY in named
    if f"{walls.READ_ONLY}: " in named:
        pytest.skip(f"not up on this machine: {named}")
    assert said == [str(errno.EROFS), str(errno.EROFS), "changed"]
    assert [path.stat() for path in paths][:2] == before[:2]


def test_it_goes_on_in_the_folder_where_it_was_and_may_write_there(tmp_path: Path) -> None:
    body = "open('made', 'w').write('x'); os.chmod('made', 0o600); print(os.getcwd())"
    assert inside(body, tmp_path, cwd=tmp_path).stdout == f"{tmp_path}\n"
    assert (tmp_path / "made").read_text() == "x"


@pytest.mark.parametrize("driver", ["a driver", "no driver"])
def test_the_cuda_driver_may_name_its_threads(tmp_path: Path, driver: str) -> None:
    """Where it may not, asking for a device ends in "OS call failed" in place of "no device"."""
    (tmp_path / "a driver").touch()
    found = f"walls.DRIVER = Path({str(tmp_path / driver)!r})"
    boot = _BOOT.replace(
        "writable =", f"from pytest_kernelbench.sandbox import walls\n{found}\nwritable ="
    )
    body = """
import threading
print(*raised.up, *raised.missing, sep="; ")
def name():
    try: open(f"/proc/self/task/{threading.get_native_id()}/comm", "w").write("cuda")
    except OSError as error: print(error.errno)
    else: print("named")
thread = threading.Thread(target=name); thread.start(); thread.join()
"""
    named, said = inside(body, boot=boot).stdout.splitlines()
    if f"{walls.READ_ONLY}; " not in named:
        pytest.skip(f"not up on this machine: {named}")
    excepted = f"{walls.READ_ONLY} of /proc: not where there is a CUDA driver"
    assert (said, excepted in named) == {
        "a driver": ("named", True),
        "no driver": (str(errno.EROFS), False),
    }[driver]
