"""The walls are really up: each is tried from inside; what is missing here is skipped."""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from waiting import ends

INMATES = Path(__file__).with_name("inmates")
sys.path.append(str(INMATES))

import kb_no_lists  # noqa: E402 - likewise
from kb_inmate import Do, Said  # noqa: E402 - found beside this file

from pytest_kernelbench.engine import seat_process  # noqa: E402
from pytest_kernelbench.errors import MachineError, Restless, SandboxError  # noqa: E402
from pytest_kernelbench.sandbox import child as handle  # noqa: E402
from pytest_kernelbench.sandbox import client, kernel, tree, walls  # noqa: E402
from pytest_kernelbench.sandbox import server as server_module  # noqa: E402
from pytest_kernelbench.sandbox.appetite import held_bytes  # noqa: E402
from pytest_kernelbench.sandbox.channel import Closed  # noqa: E402
from pytest_kernelbench.sandbox.child import Child  # noqa: E402
from pytest_kernelbench.sandbox.client import ForkServer  # noqa: E402
from pytest_kernelbench.sandbox.log import Log  # noqa: E402
from pytest_kernelbench.sandbox.plan import ALL_STOPPED, ENDING, STOP_ALL, Plan  # noqa: E402
from pytest_kernelbench.sandbox.tree import alive, cpu_ns, descendants, frozen  # noqa: E402

PIDS = "pid, network, ipc and mount namespaces"
FILES = "files (Landlock)"
ROOT = Path(__file__).parents[1]
Spawn = Callable[..., Child]


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(INMATES))
        patch.setenv("SECRET_TOKEN", "must not be inherited")
        made = ForkServer()
    with made:
        yield made


@pytest.fixture
def spawn(server: ForkServer, tmp_path: Path) -> Iterator[Spawn]:
    born: list[Child] = []

    def make(
        entry: str = "kb_inmate:main",
        *,
        untrusted: bool = True,
        gpu: bool = False,
        tree_bytes: int | None = None,
    ) -> Child:
        scratch = str(tmp_path / f"scratch{len(born)}")
        plan = Plan(entry, scratch, untrusted=untrusted, gpu=gpu, tree_bytes=tree_bytes)
        child = server.spawn(plan, Said)
        born.append(child)
        return child

    yield make
    for child in born:
        child.kill()


@pytest.fixture
def inmate(spawn: Spawn) -> Child:
    return spawn()


def tell(child: Child, code: str, timeout_s: float = 20) -> str:
    child.channel.send(Do(textwrap.dedent(code)))
    answer, _ = child.channel.receive(timeout_s)
    return answer.text


def test_the_temp_folder_is_its_own_though_the_server_was_asked_for_one(tmp_path: Path) -> None:
    (tmp_path / "asks_early.py").write_text("import tempfile\ntempfile.gettempdir()\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join((str(INMATES), str(tmp_path))))
        with ForkServer(("asks_early",)) as server:
            child = server.spawn(Plan("kb_inmate:main", str(tmp_path / "scratch")), Said)
            told = tell(child, "import tempfile; said = tempfile.gettempdir()")
            child.kill()
    assert Path(told).is_relative_to(tmp_path / "scratch")


def need(child: Child, wall: str) -> None:
    if wall not in child.walls:
        pytest.skip(f"not up on this machine: {'; '.join(child.missing_walls)}")


def refused(said: str) -> bool:
    return said.startswith(
        ("PermissionError", "ProcessLookupError", "OSError", "ConnectionRefused")
    )


def test_every_wall_is_up_or_missing_with_a_reason(inmate: Child) -> None:
    assert "own session" in inmate.walls
    assert "resource limits" in inmate.walls
    assert all(": " in missing for missing in inmate.missing_walls)
    named = [missing.partition(": ")[0] for missing in inmate.missing_walls]
    assert walls.READ_ONLY in (*inmate.walls, *named)


def test_nothing_is_inherited_but_what_is_needed(inmate: Child) -> None:
    assert tell(inmate, "import os; said = os.environ.get('SECRET_TOKEN')") == "None"
    fds = "import os; said = [f for f in range(3, 256) if os.path.exists(f'/proc/self/fd/{f}')]"
    assert tell(inmate, fds) == tell(inmate, "said = [sock.fileno()]")
    assert tell(inmate, "import os; said = os.read(0, 10)") == "b''"


PASSED_ON = (
    "PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TZ", "MAX_JOBS", "CC", "CXX", "OMP_NUM_THREADS",
    "CUDA_HOME", "CUDA_VISIBLE_DEVICES", "NVIDIA_TF32_OVERRIDE", "TORCH_CUDA_ARCH_LIST",
    "TRITON_INTERPRET", "PYTORCH_NVCC", "CUTLASS_PATH", "THUNDERKITTENS_ROOT", "ROCM_PATH",
)  # fmt: skip
KEPT_BACK = (
    "CC_TEST_REPORTER_ID", "CCACHE_DIR", "CCACHE_SECRET_STORAGE", "CXXFLAGS", "PATH_TO_KEY",
    "LANGSMITH_API_KEY", "LANGCHAIN_API_KEY", "TZAR", "MAX_JOBS_TOKEN", "NVIDIA_API_KEY",
    "THUNDERKITTENS_ROOT_KEY", "LD_LIBRARY_PATH_ORIG", "TORCHX_TOKEN", "HOME", "PYTHONPATH",
    "LD_PRELOAD",
)  # fmt: skip


@pytest.mark.parametrize("name", [*PASSED_ON, *KEPT_BACK])
def test_of_the_users_environment_only_what_libraries_need_is_passed_on(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A name is no beginning of another: keys of services lie beside what compilers need."""
    given: dict[str, str] = {}

    def note(_: object, *, env: dict[str, str], **__: object) -> None:
        given.update(env)
        message = "not now"
        raise OSError(message)

    monkeypatch.setenv(name, "given")
    monkeypatch.setattr(subprocess, "Popen", note)
    with pytest.raises(SandboxError, match="not now"):
        ForkServer()
    assert (given.get(name) == "given") is (name in PASSED_ON)


def test_a_beginning_is_a_whole_word() -> None:
    assert all(beginning.endswith("_") for beginning in client._PASSED_ON_FROM)


def test_home_and_every_cache_are_its_own(inmate: Child, tmp_path: Path) -> None:
    for name in ("HOME", "TMPDIR", "TORCH_EXTENSIONS_DIR", "TRITON_CACHE_DIR", "XDG_CACHE_HOME"):
        said = tell(inmate, f"import os; said = os.environ[{name!r}]")
        assert said.startswith(str(tmp_path)), name


@pytest.mark.parametrize(
    "path", ["problems/level1/019_relu.py", "tests/test_sandbox.py", "README.md"]
)
def test_files_of_the_project_cannot_be_read(inmate: Child, path: str) -> None:
    need(inmate, FILES)
    assert (ROOT / path).exists()
    assert refused(tell(inmate, f"said = open({str(ROOT / path)!r}).read()[:10]"))


def test_files_of_other_children_cannot_be_read(spawn: Spawn) -> None:
    first, second = spawn(), spawn()
    need(second, FILES)
    path = tell(first, "import os; said = os.path.abspath('mine'); open('mine', 'w').write('x')")
    assert Path(path).exists()
    assert refused(tell(second, f"said = open({path!r}).read()"))


@pytest.mark.parametrize(
    "path",
    ["/tmp/planted", "/dev/shm/planted", "~/planted", "~/.bashrc"],  # noqa: S108 - must be refused
)
def test_nothing_can_be_left_where_others_look(inmate: Child, path: str) -> None:
    need(inmate, FILES)
    said = tell(inmate, f"import os; open(os.path.expanduser({path!r}), 'w').write('x')")
    shared = path.startswith(walls.SHARED_MEMORY) and "own /dev/shm" in inmate.walls
    assert refused(said) or shared, said
    assert not Path(path).exists()


@pytest.mark.parametrize(
    "folder", [".", "~/.cache", "~/.triton", "$TMPDIR", "$TORCH_EXTENSIONS_DIR"]
)
def test_what_compilers_and_libraries_keep_can_be_written(inmate: Child, folder: str) -> None:
    code = f"""
        import os
        path = os.path.expandvars(os.path.expanduser({folder!r}))
        with open(os.path.join(path, "kept"), "w") as file:
            file.write("x")
    """
    assert tell(inmate, code) == "done"


CHANGES = {
    "chmod": "os.chmod(path, os.stat(path).st_mode)",
    "fchmod": "os.fchmod(os.open(path, os.O_RDONLY), os.stat(path).st_mode)",
    "chown": "os.chown(path, os.getuid(), os.getgid())",
    "utime": "os.utime(path, (1, 1))",
    "setxattr": "os.setxattr(path, 'user.kept', b'x')",
}


def looks(path: Path) -> tuple[object, ...]:
    """All of a file that a change would show in."""
    found = path.stat()
    return found.st_mode, found.st_uid, found.st_mtime_ns, found.st_ctime_ns, os.listxattr(path)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("whose", ["judge's", "judge's folder", "another's"])
def test_what_it_may_only_read_keeps_its_mode_owner_times_and_attributes(
    inmate: Child, tmp_path: Path, whose: str, change: str
) -> None:
    need(inmate, walls.READ_ONLY)
    path = {
        "judge's": Path(walls.__file__),
        "judge's folder": Path(walls.__file__).parent,
        "another's": tmp_path / "scratch1" / walls.WORK_FOLDER,
    }[whose]
    path.exists() or path.mkdir(parents=True)
    before = looks(path)
    said = tell(inmate, f"import os; path = {str(path)!r}; {CHANGES[change]}")
    allowed = errno.EACCES if change == "fchmod" and whose == "another's" else errno.EROFS
    assert f"[Errno {allowed}]" in said
    assert looks(path) == before


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("folder", [".", "~/.cache", "$TMPDIR"])
def test_what_is_its_own_it_may_change_in_every_way(
    inmate: Child, folder: str, change: str
) -> None:
    code = f"""
        import os
        path = os.path.join(os.path.expandvars(os.path.expanduser({folder!r})), "made")
        os.mkdir(path)
        {CHANGES[change]}
    """
    assert tell(inmate, code) == "done"


SHARING = {
    "lock": "import multiprocessing; multiprocessing.Lock().acquire()",
    "pool": "from multiprocessing.pool import ThreadPool; ThreadPool(2).close()",
    "tensor": "import torch; said = str(torch.ones(5).share_memory_().sum().item())",
    "file": "open('/dev/shm/made', 'x').write('x'); said = str(os.listdir('/dev/shm'))",
}


@pytest.mark.parametrize("way", SHARING)
def test_it_may_share_memory_with_what_it_starts(inmate: Child, way: str) -> None:
    need(inmate, "own /dev/shm")
    said = tell(inmate, f"import os\n{SHARING[way]}")
    assert said == {"tensor": "5.0", "file": "['made']"}.get(way, "done")
    assert not Path(walls.SHARED_MEMORY, "made").exists()


def test_memory_files_count_as_memory(spawn: Spawn) -> None:
    child = spawn(tree_bytes=256 << 20)
    need(child, "own /dev/shm")
    fill = "with open('/dev/shm/hog', 'wb') as f:\n    for _ in range(300): f.write(bytes(1 << 20))"
    child.channel.send(Do(f"{fill}\nimport time; time.sleep(30)"))
    assert child.ended(wait_s=20) is not None
    assert child.held_bytes > 200 << 20


@pytest.mark.parametrize("to", [".", "~/.cache", "$TORCH_EXTENSIONS_DIR"])
def test_what_is_its_own_can_be_moved_between_its_folders(inmate: Child, to: str) -> None:
    """As who compiles into a temporary folder does."""
    code = f"""
        import os, tempfile
        to = os.path.expandvars(os.path.expanduser({to!r}))
        os.replace(tempfile.mkstemp()[1], os.path.join(to, "moved"))
    """
    assert tell(inmate, code) == "done"


def test_its_folder_can_be_removed_while_it_lives(inmate: Child, tmp_path: Path) -> None:
    """What is mounted for it holds nobody else up."""
    shutil.rmtree(tmp_path / "scratch0")
    assert tell(inmate, "said = 'alive'") == "alive"


def test_who_goes_first_when_memory_runs_out_cannot_have_itself_spared(inmate: Child) -> None:
    need(inmate, walls.READ_ONLY)
    for place in ("self/oom_score_adj", "self/oom_adj", "thread-self/oom_score_adj"):
        assert "[Errno 30]" in tell(inmate, f"open('/proc/{place}', 'w').write('0')")
    assert Path(f"/proc/{inmate.pid}/oom_score_adj").read_text() == "1000\n"


def test_the_interpreter_is_mended_when_a_child_has_changed_it(inmate: Child) -> None:
    """It can be reached by a mount from before there were walls."""
    interpreter = Path(sys.executable)
    before = interpreter.stat()
    if before.st_uid != os.getuid():
        pytest.skip("the interpreter is not this user's")
    mode = before.st_mode ^ stat.S_ISVTX  # does nothing to whoever runs it meanwhile
    assert tell(inmate, f"import os; os.chmod('/proc/self/exe', {mode})") == "done"
    assert interpreter.stat().st_mode == mode
    inmate.kill()
    deadline = time.monotonic() + 10
    while interpreter.stat().st_mode == mode and time.monotonic() < deadline:
        time.sleep(0.01)
    assert interpreter.stat().st_mode == before.st_mode


def test_mounts_are_left_alone_where_there_is_a_device(spawn: Spawn) -> None:
    child = spawn(gpu=True)
    assert walls.READ_ONLY not in child.walls
    assert f"{walls.READ_ONLY}: not where there is a device" in child.missing_walls


def test_mounts_of_the_machine_are_never_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "make_read_only", lambda: pytest.fail("of the whole machine"))
    raised = walls.Walls()
    walls.raise_read_only(raised, [])
    assert raised.missing == [f"{walls.READ_ONLY}: no mount namespace"]


def test_where_mounts_cannot_be_made_read_only_nothing_is_mounted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the kernel has it that does not know the call."""
    monkeypatch.setattr(kernel, "_MOUNT_SETATTR", 4000)
    monkeypatch.setattr(kernel, "keep_writable", lambda _: pytest.fail("mounted"))
    raised = walls.Walls()
    raised.own_mounts = True
    walls.raise_read_only(raised, [tmp_path])
    why = "this kernel has no mount_setattr (Linux 5.12)"
    assert (raised.up, raised.missing) == ([], [f"{walls.READ_ONLY}: {why}"])


@pytest.mark.parametrize("what", ["mem", "environ", "maps", "fd", "root", "cwd"])
def test_parents_cannot_be_looked_into(inmate: Child, what: str) -> None:
    code = f"""
        import os
        path = f"/proc/{{os.getppid()}}/{what}"
        said = os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(16)
        if "{what}" == "fd":
            said = [open(os.path.join(path, name), "wb") for name in said]
    """
    said = tell(inmate, code)
    assert refused(said), said


def test_a_parent_cannot_be_traced(inmate: Child) -> None:
    need(inmate, FILES)
    code = """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.ptrace(16, os.getppid(), 0, 0) < 0:  # PTRACE_ATTACH
            raise PermissionError(os.strerror(ctypes.get_errno()))
    """
    assert refused(tell(inmate, code))


@pytest.mark.parametrize("number", ["SIGSTOP", "SIGKILL", "SIGTERM"])
def test_parents_and_the_judge_live_on_when_they_are_signalled(inmate: Child, number: str) -> None:
    need(inmate, PIDS)
    code = f"""
        import os, signal
        for pid in (os.getppid(), 1, {os.getpid()}, {os.getppid()}):
            try:
                if pid != os.getpid():
                    os.kill(pid, signal.{number})
            except OSError:
                pass
    """
    assert tell(inmate, code) == "done"
    assert tell(inmate, "said = 'still here'") == "still here"
    assert not frozen(inmate.init_pid)


def test_only_its_own_processes_are_to_be_seen(inmate: Child) -> None:
    need(inmate, "own /proc")
    code = "import os; said = len([name for name in os.listdir('/proc') if name.isdigit()])"
    assert int(tell(inmate, code)) <= 3


def test_no_network(inmate: Child) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), timeout=2)"
        assert refused(tell(inmate, code))


def test_no_abstract_socket_of_others(inmate: Child) -> None:
    need(inmate, PIDS)
    name = f"\0kernelbench-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(name)
        listening.listen()
        code = f"import socket; socket.socket(socket.AF_UNIX).connect({name!r})"
        assert refused(tell(inmate, code))


def test_no_capability_is_left(inmate: Child) -> None:
    need(inmate, "no capabilities")
    code = "said = [line for line in open('/proc/self/status') if line.startswith('Cap')]"
    caps = tell(inmate, code)
    assert caps.count("0000000000000000") == 5, caps


DAEMON = """
    import os, time
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 256)
            time.sleep(300)
        os._exit(0)
    os.wait()
"""


def below(child: Child, count: int) -> list[int]:
    """The pids below the init, once there are ``count``."""
    deadline = time.monotonic() + 10
    while len(pids := child.processes()) < count and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(pids) >= count
    return pids


def gone(pids: list[int]) -> bool:
    deadline = time.monotonic() + 10
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(map(alive, pids))


def test_walls_hold_where_the_kernel_keeps_no_lists_of_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """
        import kb_no_lists
        from pathlib import Path
        Path.read_text, Path.exists = kb_no_lists.read_text, kb_no_lists.exists
    """
    (tmp_path / "no_lists.py").write_text(textwrap.dedent(code))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(INMATES), str(tmp_path))))
    monkeypatch.setattr(Path, "read_text", kb_no_lists.read_text)
    monkeypatch.setattr(Path, "exists", kb_no_lists.exists)
    monkeypatch.setattr(tree, "_lists_children", tree._lists_children.__wrapped__)
    with ForkServer(("no_lists",)) as server:
        plan = Plan("kb_inmate:main", str(tmp_path / "scratch"), tree_bytes=200 << 20)
        child = server.spawn(plan, Said)
        assert tell(child, DAEMON) == "done"
        pids = below(child, 3)
        child.stop()
        assert all(frozen(pid) for pid in pids if pid != child.init_pid)
        child.resume()
        child.channel.send(Do(textwrap.dedent(HOGS["of all together"])))
        with pytest.raises(Closed):
            child.channel.receive(15)
        assert child.ended(10) == 9
        assert child.held_bytes > 200 << 20
        assert gone(pids)
        child.kill()


def test_a_daemon_forked_twice_dies_when_the_child_is_killed(inmate: Child) -> None:
    assert tell(inmate, DAEMON) == "done"
    pids = below(inmate, 3)
    inmate.kill()
    assert gone(pids)


def test_a_kill_that_ends_nobody_is_the_machines_failure(
    inmate: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a driver does not let a process go: the next would share the device with it."""
    before = open_files()
    with monkeypatch.context() as patched:
        patched.setattr(handle, "send", lambda *_: None)
        patched.setattr(handle, "_KILL_PATIENCE_S", 0.2)
        with pytest.raises(MachineError, match=rf"2 processes still live .*{inmate.pid}.* dmesg"):
            inmate.kill()
    assert len(open_files()) < len(before), "what belongs to it is closed nonetheless"
    inmate._end()


def test_a_kill_waits_for_who_has_lost_its_init(
    inmate: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a pid namespace an init may be gone before what is below it."""
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    found = [[inmate.init_pid, stranger.pid], []]
    monkeypatch.setattr(inmate, "processes", lambda: found.pop(0) if len(found) > 1 else [])
    inmate._end()
    assert stranger.wait(0) == -signal.SIGKILL
    monkeypatch.undo()


def test_a_daemon_forked_twice_dies_when_the_child_ends_by_itself(inmate: Child) -> None:
    assert tell(inmate, DAEMON) == "done"
    pids = below(inmate, 3)
    inmate.channel.send(Do("import os; os._exit(7)"))
    with pytest.raises(Closed):
        inmate.channel.receive(20)
    assert inmate.ended(20) == 7 << 8
    assert gone(pids)


def test_children_die_with_their_server(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(INMATES))
        other = ForkServer()
    child = other.spawn(Plan("kb_inmate:main", str(tmp_path / "other")), Said)
    assert tell(child, DAEMON) == "done"
    pids = below(child, 3)
    other.close()
    assert gone(pids)
    child.kill()


def test_a_stopped_child_stands_still_with_all_its_daemons(inmate: Child) -> None:
    assert tell(inmate, DAEMON) == "done"
    below(inmate, 3)
    inmate.stop()
    assert all(frozen(pid) for pid in inmate.processes() if pid != inmate.init_pid)
    time.sleep(0.1)
    worked_ns, stopped_ns = inmate.resume()
    assert worked_ns == 0
    assert 100_000_000 <= stopped_ns < 20_000_000_000
    assert tell(inmate, "said = 'awake'") == "awake"
    assert inmate.resume() == (0, 0), "it was not stopped"


def test_a_process_that_one_look_missed_has_not_gone_on(
    inmate: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of children may lack one while another of them ends."""
    assert tell(inmate, DAEMON) == "done"
    below(inmate, 3)
    time.sleep(0.05)  # until it is older than the kernel's ticks tell
    inmate.stop()
    missed = dict(inmate._still)
    inmate._still.popitem()
    assert inmate.resume()[0] == 0
    inmate.stop()
    assert inmate._still.keys() == missed.keys()
    with monkeypatch.context() as patched:
        patched.setattr(handle, "descendants", lambda _: [inmate.pid])
        assert inmate.resume()[0] == 0
    inmate.resume()


def test_one_that_ended_while_it_was_stopped_is_told_as_that(inmate: Child) -> None:
    inmate.stop()
    os.kill(inmate.pid, signal.SIGKILL)
    assert inmate.ended(5) is not None
    assert inmate.resume()[0] == 0


WOKEN_BY_A_TIMER = """
    import ctypes, os, signal, time
    libc = ctypes.CDLL(None, use_errno=True)
    armed, arm = os.pipe()
    if os.fork() == 0:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCONT])
        event = (ctypes.c_int * 16)(0, 0, signal.SIGCONT, 0)
        timer = ctypes.c_void_p()
        assert libc.timer_create(1, event, ctypes.byref(timer)) == 0
        libc.timer_settime(timer, 0, (ctypes.c_long * 4)(0, 50_000_000, 0, 100_000_000), None)
        os.write(arm, b"!")
        while signal.sigwaitinfo([signal.SIGCONT]):
            end = time.perf_counter() + 0.02
            while time.perf_counter() < end:
                pass
            {then}
    os.read(armed, 1)
"""


A_CHILD_GOES_ON = """if os.fork() == 0:
                end = time.perf_counter() + 0.1
                while time.perf_counter() < end:
                    pass
                signal.pause()"""


@pytest.mark.parametrize("then", ["pass", "os._exit(0)", A_CHILD_GOES_ON])
def test_who_goes_on_while_stopped_is_found_out(spawn: Spawn, then: str) -> None:
    """By a timer of the kernel's: no process has to be awake to send the signal."""
    inmate = spawn(gpu=True)  # on a CPU there is no such timer
    assert tell(inmate, WOKEN_BY_A_TIMER.format(then=then)) == "done"
    below(inmate, 2)
    inmate.stop()
    time.sleep(0.3)
    assert inmate.resume()[0] > (50_000_000 if then is A_CHILD_GOES_ON else 1_000_000)


LONG_CALLS = """
    import ctypes, os, threading

    class Piece(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]

    libc, size, count = ctypes.CDLL(None), 2 << 20, 1000
    buffers = [ctypes.create_string_buffer(size) for _ in range(2)]
    here, there = ((Piece * count)(*[Piece(ctypes.addressof(b), size)] * count) for b in buffers)

    def copy():
        while True:  # gigabytes in one call, which no stop interrupts
            libc.process_vm_readv(os.getpid(), here, count, there, count, 0)

    threading.Thread(target=copy, daemon=True).start()
"""
DEAD_LEADER = """
    import ctypes, os, threading, time

    def spin():
        while True:
            pass

    if os.fork() == 0:
        threading.Thread(target=spin).start()
        ctypes.CDLL(None).syscall(60, 0)  # the first thread alone ends: the process is a zombie
    time.sleep(0.2)
"""


@pytest.mark.parametrize("code", [LONG_CALLS, DEAD_LEADER], ids=["long call", "dead leader"])
@pytest.mark.skipif(platform.machine() != "x86_64", reason="its numbers of system calls")
def test_what_stands_still_uses_no_processor(inmate: Child, code: str) -> None:
    assert tell(inmate, code) == "done"
    for _ in range(3):
        inmate.stop(patience_s=5.0)
        pids = [pid for pid in inmate.processes() if pid != inmate.init_pid]
        used_ns = sum(map(cpu_ns, pids))
        time.sleep(0.1)
        assert sum(map(cpu_ns, pids)) - used_ns < 10_000_000
        assert used_ns > 0
        inmate.resume()
        time.sleep(0.05)


def test_a_process_whose_first_thread_is_dead_lives(inmate: Child) -> None:
    assert tell(inmate, DEAD_LEADER) == "done"
    (pid,) = (pid for pid in inmate.processes() if pid not in (inmate.init_pid, inmate.pid))
    assert alive(pid)
    inmate.kill()
    assert gone([pid])


def test_processes_that_live_briefly_are_stopped_too(inmate: Child) -> None:
    code = """
        import subprocess
        for _ in range(24):
            relay = "f() { f & }; f"  # lives just long enough to start its successor
            subprocess.Popen(["/bin/sh", "-c", relay], start_new_session=True)
    """
    need(inmate, PIDS)
    assert tell(inmate, code) == "done"
    for _ in range(3):
        inmate.stop(patience_s=5.0)
        held = set(filter(alive, inmate.processes()))
        time.sleep(0.05)
        assert set(filter(alive, inmate.processes())) == held  # init goes on to bury the dead
        inmate.resume()
        time.sleep(0.02)


def test_it_may_have_fewer_descriptors_than_the_judge(inmate: Child) -> None:
    code = "import resource; said = resource.getrlimit(resource.RLIMIT_NOFILE)"
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    limit = min(1024, hard // 2)
    assert tell(inmate, code) == str((limit, limit))
    assert limit < hard


def test_only_the_referee_has_everything_stopped(inmate: Child) -> None:
    code = """
        import os, signal
        try:
            os.kill(1 if os.getppid() == 1 else os.getppid(), signal.SIGUSR1)
        except OSError:
            pass
    """
    for _ in range(3):
        assert tell(inmate, code) == "done"
    assert tell(inmate, "said = 'awake'") == "awake"
    inmate.stop()
    assert all(frozen(pid) for pid in inmate.processes() if pid != inmate.init_pid)
    inmate.resume()
    assert tell(inmate, "said = 'awake'") == "awake"


def test_a_stop_that_init_does_not_confirm_is_none(
    inmate: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(inmate, PIDS)
    monkeypatch.setattr(handle, "_ACK_PATIENCE_S", 0.3)
    os.kill(inmate.init_pid, signal.SIGSTOP)
    with pytest.raises(Restless, match=r"not known after 0\.3 s"):
        inmate.stop()
    os.kill(inmate.init_pid, signal.SIGCONT)


def test_a_stop_that_is_confirmed_late_accuses_nobody_and_counts_from_then(inmate: Child) -> None:
    """As on a machine where init has to wait for its turn longer than others to stand still."""
    need(inmate, PIDS)
    os.kill(inmate.init_pid, signal.SIGSTOP)
    turn = threading.Timer(1.5, os.kill, (inmate.init_pid, signal.SIGCONT))
    turn.start()
    start_ns = time.perf_counter_ns()
    assert inmate.stop() - start_ns > 1_400_000_000
    turn.join()
    assert inmate._stops_left == 0
    inmate.resume()
    assert tell(inmate, "said = 'awake'") == "awake"


def test_who_has_ended_is_asked_to_stop_by_nobody(inmate: Child) -> None:
    os.kill(inmate.init_pid, signal.SIGKILL)  # without a word
    assert gone([inmate.init_pid, inmate.pid])
    start = time.monotonic()
    inmate.stop()
    assert time.monotonic() - start < handle._ACK_PATIENCE_S


SLOW_LOOKS = """
import time
from pytest_kernelbench.sandbox import appetite
def shares(pid):
    time.sleep(1.0)
    return 0, 0
appetite._shares = shares
"""


def test_a_stop_is_confirmed_while_the_memory_of_many_is_looked_at(tmp_path: Path) -> None:
    """How long a look takes is up to a solution; nobody waits for the whole of it."""
    (tmp_path / "slow_looks.py").write_text(SLOW_LOOKS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join((str(INMATES), str(tmp_path))))
        with ForkServer(("slow_looks",)) as server:
            plan = Plan("kb_inmate:main", str(tmp_path / "scratch"), tree_bytes=1)
            child = server.spawn(plan, Said)
            need(child, PIDS)
            code = "import os, time\nfor _ in range(12): os.fork() or time.sleep(60)"
            assert tell(child, code) == "done"
            time.sleep(0.3)  # a look has begun
            start = time.monotonic()
            child.stop(patience_s=5)
            assert time.monotonic() - start < 6
            assert child._stops_left == 0
            child.kill()


@pytest.mark.parametrize("call", ["os.kill(1, 10)", "libc.syscall(number, 1, 10, info)"])
def test_nobody_inside_can_have_a_stop_confirmed_ahead(inmate: Child, call: str) -> None:
    """Nor by a process that has ended, or says that it is nobody (``rt_sigqueueinfo``)."""
    need(inmate, PIDS)
    code = f"""
        import ctypes, os, platform, time
        libc, info = ctypes.CDLL(None), (ctypes.c_int * 32)(10, 0, -1)
        number = {{"x86_64": 129, "aarch64": 138}}[platform.machine()]
        for _ in range(3):
            if os.fork() == 0:
                try: {call}
                finally: os._exit(0)
            time.sleep(0.1)
    """
    assert tell(inmate, code) == "done"
    assert inmate.ended(0.2) is None
    assert inmate._stops_left == 0
    inmate.stop()
    assert all(frozen(pid) for pid in inmate.processes() if pid != inmate.init_pid)
    inmate.resume()


@pytest.mark.parametrize(
    ("pid", "code", "obeyed"), [(0, 0, True), (57, 0, False), (0, -1, False), (57, -1, False)]
)
def test_only_who_is_outside_is_obeyed(
    monkeypatch: pytest.MonkeyPatch, pid: int, code: int, *, obeyed: bool
) -> None:
    """Landlock may keep others from asking, where the kernel has it."""
    told: list[object] = []
    monkeypatch.setattr(server_module.os, "getpid", lambda: 1)
    monkeypatch.setattr(server_module.os, "kill", lambda *what: told.append(what))
    monkeypatch.setattr(server_module.os, "write", lambda *what: told.append(what))
    heard: Any = SimpleNamespace(si_signo=STOP_ALL, si_pid=pid, si_code=code)
    server_module._Orders(7).obey(heard)
    assert told == ([(-1, signal.SIGSTOP), (7, ENDING.pack(ALL_STOPPED, 0))] if obeyed else [])


def test_processes_that_wake_each_other_are_found_out(inmate: Child) -> None:
    code = """
        import os, signal
        for _ in range(4):
            if os.fork() == 0:
                while True:
                    for name in os.listdir("/proc"):
                        if name.isdigit() and int(name) not in (1, os.getpid()):
                            try:
                                os.kill(int(name), signal.SIGCONT)
                            except OSError:
                                pass
    """
    need(inmate, PIDS)  # elsewhere it would wake strangers
    assert tell(inmate, code) == "done"
    below(inmate, 6)
    # Freezing them may succeed at times; what may not happen is that some run on unnoticed.
    noticed = stood_still = False
    try:
        inmate.stop(patience_s=0.5)
        stood_still = all(map(frozen, set(inmate.processes()) - {inmate.init_pid}))
    except Restless:
        noticed = True
    assert noticed or stood_still


def test_a_core_is_neither_written_nor_piped_anywhere(inmate: Child) -> None:
    code = "import resource; said = resource.getrlimit(resource.RLIMIT_CORE)"
    assert tell(inmate, code) in ("(1, 1)", "(0, 0)")
    inmate.channel.send(Do("import os; os.abort()"))
    with pytest.raises(Closed):
        inmate.channel.receive(20)
    status = inmate.ended(5)
    assert status is not None
    assert os.WTERMSIG(status) == signal.SIGABRT
    assert not os.WCOREDUMP(status)


HOGS = {
    "its own": "hoard = bytearray(b'x') * (300 << 20); import time; time.sleep(20)",
    "of a child": """
        import os, time
        if os.fork() == 0:
            hoard = [bytearray(b'x') * (100 << 20) for _ in range(3)]
        time.sleep(20)
    """,
    "of all together": """
        import os, time
        for _ in range(3):
            if os.fork() == 0:
                break
        hoard = bytearray(b'x') * (100 << 20)
        time.sleep(20)
    """,
    "shared": """
        import mmap, time
        hoard = mmap.mmap(-1, 300 << 20)
        for at in range(0, 300 << 20, 4096):
            hoard[at] = 1
        time.sleep(20)
    """,
    "in a file of memory": """
        import os, time
        fd = os.memfd_create("hoard")
        for _ in range(300):
            os.write(fd, b'x' * (1 << 20))
        time.sleep(20)
    """,
    "hidden": """
        import ctypes, time
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
        hoard = bytearray(b'x') * (300 << 20)
        time.sleep(20)
    """,
    "while processes end all the time": """
        import os, time
        if os.fork() == 0:
            while True:  # leaves orphans for init to reap
                if (middle := os.fork()) == 0:
                    if os.fork() == 0:
                        os._exit(0)
                    os._exit(0)
                os.waitpid(middle, 0)
        time.sleep(0.5)
        hoard = bytearray(b'x') * (300 << 20)
        time.sleep(20)
    """,
}


@pytest.mark.parametrize("whose", HOGS)
def test_memory_is_bounded_for_all_processes_together(spawn: Spawn, whose: str) -> None:
    limit = 200 << 20
    child = spawn(tree_bytes=limit)
    assert "memory of all its processes" in child.walls
    child.channel.send(Do(textwrap.dedent(HOGS[whose])))
    with pytest.raises(Closed):
        child.channel.receive(15)
    assert child.ended(5) == 9
    assert child.held_bytes > limit


def test_what_forked_processes_share_counts_once(spawn: Spawn) -> None:
    child = spawn(tree_bytes=300 << 20)
    code = """
        import os, time
        hoard = bytearray(b'x') * (100 << 20)
        for _ in range(5):
            if os.fork() == 0:
                time.sleep(60)
        time.sleep(1)
    """
    assert tell(child, code) == "done"
    assert child.held_bytes == 0


def test_what_is_looked_at_can_be_interrupted() -> None:
    looked: list[int] = []
    pids = [os.getpid()] * 3
    held_bytes(pids, 1 << 50, lambda: looked.append(1))
    quick = len(looked)
    held_bytes(pids, 0, lambda: looked.append(1))
    assert (quick, len(looked) - quick) == (9, 12)


def test_who_kills_itself_was_not_out_of_memory(spawn: Spawn) -> None:
    child = spawn(tree_bytes=1 << 30)
    child.channel.send(Do("import os; os.kill(os.getpid(), 9)"))
    with pytest.raises(Closed):
        child.channel.receive(15)
    assert child.ended(5) == 9
    assert child.held_bytes == 0
    assert not child.starved()


def test_a_trusted_child_is_not_walled_in(spawn: Spawn) -> None:
    child = spawn(untrusted=False)
    assert child.walls == ("own session",)
    assert not refused(tell(child, f"said = open({__file__!r}).read(10)"))


def test_how_a_child_ended_is_told(spawn: Spawn) -> None:
    child = spawn("no_such_module:main")
    assert child.ended(20) == 1 << 8
    assert "ModuleNotFoundError" in child.log_tail()


def test_why_a_child_cannot_start_is_told(server: ForkServer, tmp_path: Path) -> None:
    (tmp_path / walls.WORK_FOLDER).touch()
    before = open_files()
    told = rf"nothing could not start: FileExistsError: .*{tmp_path}/{walls.WORK_FOLDER}"
    with pytest.raises(SandboxError, match=told) as caught:
        server.spawn(Plan("kb_inmate:nothing", str(tmp_path)), Said)
    cause = caught.value.__cause__
    assert isinstance(cause, OSError)
    assert (cause.errno, cause.filename) == (errno.EEXIST, str(tmp_path / walls.WORK_FOLDER))
    assert open_files() == before


FULL = "OSError(errno.ENOSPC, 'No space left on device', '/small')"
FAILURES = {
    "the child's folders": (f"walls.own_environment = lambda _: fail({FULL})", "OSError: .*/small"),
    "init": (f"signal.pthread_sigmask = lambda *_: fail({FULL})", "OSError: .*/small"),
    "the keeper": (f"os.setsid = lambda: fail({FULL})", "OSError: .*/small"),
    "killed": ("walls.own_environment = lambda _: os.kill(os.getpid(), 9)", "killed before"),
}


@pytest.mark.parametrize("where", FAILURES)
def test_wherever_a_child_fails_to_start_a_full_disk_is_known(tmp_path: Path, where: str) -> None:
    patch, told = FAILURES[where]
    code = f"""
        import errno, os, signal
        from pytest_kernelbench.sandbox import walls
        def fail(error): raise error
        {patch}
    """
    (tmp_path / "failing.py").write_text(textwrap.dedent(code))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", os.pathsep.join((str(INMATES), str(tmp_path))))
        with (
            ForkServer(("failing",)) as server,
            pytest.raises(SandboxError, match=told) as caught,
        ):
            server.spawn(Plan("kb_inmate:nothing", str(tmp_path / "scratch")), Said)
    full = seat_process._full_disk(caught.value)
    assert (full.filename if full else None) == ("/small" if where != "killed" else None)


def test_what_it_prints_goes_to_a_file_and_not_to_us(
    inmate: Child, capfd: pytest.CaptureFixture[str]
) -> None:
    assert tell(inmate, "import os; os.write(1, b'passed'); os.write(2, b' 100x')") == "done"
    assert inmate.log_tail() == "passed 100x"
    assert capfd.readouterr() == ("", "")


def test_a_server_that_cannot_start_says_why() -> None:
    with pytest.raises(SandboxError, match="no_such_module"):
        ForkServer(["no_such_module"]).spawn(Plan("a:b", "/nowhere"), Said)


def open_files() -> list[str]:
    return os.listdir("/proc/self/fd")


def test_a_server_that_was_killed_starts_nothing_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(INMATES))
    plan = Plan("kb_inmate:nothing", str(tmp_path / "scratch"))
    with ForkServer() as server:
        server.spawn(plan, Said).kill()
        server._process.process.kill()
        server._process.process.wait()
        before = open_files()
        for _ in range(2):
            with pytest.raises(SandboxError, match="the fork server died, and starts no"):
                server.spawn(plan, Said)
        assert open_files() == before


@pytest.mark.parametrize("where", ["os.pipe", "socket.socketpair", "tempfile.TemporaryFile"])
def test_a_child_that_cannot_be_started_for_lack_of_files_leaves_none(
    server: ForkServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    server._await_ready()
    before = open_files()
    monkeypatch.setattr(where, fail)
    with pytest.raises(SandboxError, match=r"could not start: .*Too many open files"):
        server.spawn(Plan("kb_inmate:main", str(tmp_path / "scratch")), Said)
    assert open_files() == before


def test_a_server_that_reads_nothing_hangs_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(INMATES))
    monkeypatch.setattr(client, "_START_TIMEOUT_S", 20.0)
    with ForkServer() as server:
        server._await_ready()
        monkeypatch.setattr(client, "_START_TIMEOUT_S", 0.2)
        os.kill(server._process.pid, signal.SIGSTOP)
        much = Plan("a:b", str(tmp_path / "scratch"), environment={"MUCH": "x" * (8 << 20)})
        failures: list[SandboxError] = []

        def spawn() -> None:
            with pytest.raises(SandboxError, match="the fork server hangs") as caught:
                server.spawn(much, Said)
            failures.append(caught.value)

        ends(spawn)
        assert failures


def test_a_read_that_outlives_its_process_is_the_machines_failure(
    inmate: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    monkeypatch.setattr(handle, "_READ_PATIENCE_S", 0.1)
    monkeypatch.setattr(handle, "_KILL_PATIENCE_S", 5.0)
    monkeypatch.setattr(kernel, "read_memory", lambda *_: over.wait())
    failures: list[MachineError] = []

    def read() -> None:
        with pytest.raises(MachineError, match="is still being read") as caught:
            inmate.read(0, 0, 1)
        failures.append(caught.value)

    ends(read)
    over.set()
    assert failures


def test_a_child_that_never_says_who_it_is_is_ended(
    server: ForkServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    born: list[int] = []

    def hear(_: socket.socket) -> int:
        born.extend(descendants(server._process.pid))
        message = "nothing was heard"
        raise TimeoutError(message)

    server._await_ready()
    before = open_files()
    monkeypatch.setattr(client, "_hear_who", hear)
    with pytest.raises(SandboxError, match="nothing was heard"):
        server.spawn(Plan("kb_inmate:main", str(tmp_path / "scratch")), Said)
    assert open_files() == before
    assert len(born) >= 2
    assert gone(born)


@pytest.mark.parametrize("where", ["socket.socketpair", "subprocess.Popen"])
def test_a_server_that_cannot_be_started_leaves_nothing_open(
    monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    before = open_files()
    monkeypatch.setattr(where, fail)
    with pytest.raises(SandboxError, match=r"cannot be started: .*Cannot allocate memory"):
        ForkServer()
    assert open_files() == before


def test_a_server_outlives_the_thread_that_asked_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(INMATES))
    plan = Plan("kb_inmate:nothing", str(tmp_path / "scratch"))
    made: list[ForkServer] = []

    def ask() -> None:
        made.append(ForkServer())
        made[0].spawn(plan, Said).kill()  # the server has begun, and told the kernel of its parent

    asking = threading.Thread(target=ask)
    asking.start()
    asking.join()
    time.sleep(0.1)
    with made[0] as server:
        child = server.spawn(plan, Said)
        assert child.ended(wait_s=10) == 0
        child.kill()


def test_a_log_is_read_whatever_its_writer_does_to_its_file() -> None:
    with Log() as log:
        os.write(log.fileno(), b"so much\n")
        os.lseek(log.fileno(), 0, os.SEEK_SET)
        fcntl.fcntl(log.fileno(), fcntl.F_SETFL, os.O_DIRECT)
        assert log.tail(100) == "so much"
        assert log.tail(5) == "much"
        os.ftruncate(log.fileno(), 0)
        assert log.tail(100) == ""


def test_whether_a_child_can_be_read_at_all(inmate: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    assert inmate.readable()

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "not permitted")

    monkeypatch.setattr(kernel, "read_memory", refuse)
    assert not inmate.readable()
