"""The walls around an untrusted process: raised where the kernel allows, named either way."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import stat
import struct
import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from pytest_kernelbench.sandbox import descriptors, kernel, landlock, seccomp
from pytest_kernelbench.sandbox.plan import Plan

SYSTEM = (
    "/usr",
    "/lib",
    "/lib64",
    "/bin",
    "/sbin",
    "/etc",
    "/opt",
    "/proc",
    "/sys",
    "/run/nvidia-persistenced",
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
READ_ONLY = "read-only mounts"
DRIVER = Path("/proc/driver/nvidia")
"""There where the CUDA driver is."""
_PROC = "/proc"
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - where the C library looks for it; mounted anew
_GPU_DEVICES = ("nvidia*", "dri", "kfd", "shm/nvidia*")


class Walls:
    """Which walls are up and which could not be raised, with the reason."""

    def __init__(self) -> None:
        self.up: list[str] = []
        self.missing: list[str] = []
        self.own_mounts = False
        """Whether what is mounted from here on is mounted for nobody else."""
        self.shared_memory: Path | None = None
        """The folder of memory files, where it has one of its own."""

    def raise_(self, name: str, build: Callable[[], None]) -> bool:
        """Build one wall; a refusal by the kernel is noted, never passed over in silence."""
        try:
            build()
        except OSError as error:
            self.missing.append(f"{name}: {error.strerror or error}")
            return False
        self.up.append(name)
        return True


@lru_cache(maxsize=1)
def pid_namespace_refusal() -> str:
    """Why a pid namespace with a /proc of its own cannot be had here; empty if it can.

    Tried once, in a process that ends at once: without its own /proc a pid namespace breaks CUDA,
    and what has been unshared cannot be undone.
    """
    read_end, write_end = os.pipe()
    if (probe := os.fork()) == 0:
        try:
            # Ignored, it would hide how ``inner`` ends.
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _leave(_APART | _PIDS)
            if (inner := os.fork()) == 0:
                kernel.mount_own_proc()
                os._exit(0)
            said = b"" if os.waitpid(inner, 0)[1] == 0 else b"/proc cannot be mounted"
        except OSError as error:
            said = str(error.strerror or error).encode()
        os.write(write_end, said)
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        refusal = pipe.read().decode()
    # Where SIGCHLD is ignored the kernel has reaped it.
    with contextlib.suppress(ChildProcessError):
        os.waitpid(probe, 0)
    return refusal


def raise_outer(walls: Walls) -> bool:
    """Namespaces. True if there is a new pid namespace: the caller must fork to be inside it."""
    refusal = pid_namespace_refusal()
    if not refusal:
        walls.own_mounts = walls.raise_(
            "pid, network, ipc and mount namespaces", lambda: _leave(_APART | _PIDS)
        )
        return walls.own_mounts
    walls.missing.append(f"pid and mount namespaces: {refusal}")
    walls.raise_("network and ipc namespaces", lambda: _leave(_APART))
    return False


_APART = kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC
_PIDS = kernel.CLONE_NEWPID | kernel.CLONE_NEWNS


def _leave(flags: int) -> None:
    if os.geteuid() == 0:
        kernel.unshare(flags)
        return
    uid, gid = os.geteuid(), os.getegid()
    kernel.unshare(kernel.CLONE_NEWUSER | flags)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def raise_proc(walls: Walls) -> None:
    """A /proc that shows only the processes of the namespace (called inside it)."""
    walls.raise_("own /proc", kernel.mount_own_proc)


def raise_shared_memory(walls: Walls, size_bytes: int) -> None:
    """A /dev/shm of its own, of at most so many bytes (called inside the namespace, by its init).

    Locks and pools of ``multiprocessing`` need one to write to, and the machine's is everybody's.
    """
    if walls.raise_("own /dev/shm", lambda: kernel.mount_shared_memory(SHARED_MEMORY, size_bytes)):
        walls.shared_memory = Path(SHARED_MEMORY)


def raise_read_only(walls: Walls, writable: Iterable[Path]) -> None:
    """Nothing that is mounted can be changed, but what lies below ``writable``.

    Landlock leaves modes, owners, times and attributes of a file to whoever owns it, and the
    judge's files are this user's. To be called while there are capabilities, and after whatever is
    to be written to /proc: that is closed too, but where there is a CUDA driver. Seen no device or
    not, it names its threads there, and speaks of a broken system where it cannot.
    """
    if not walls.own_mounts:
        walls.missing.append(f"{READ_ONLY}: no mount namespace")
        return
    kept = _outermost(writable)
    if not walls.raise_(READ_ONLY, kernel.make_read_only):
        return
    if DRIVER.exists():
        walls.missing.append(f"{READ_ONLY} of /proc: not where there is a CUDA driver")
        kept.append(_PROC)
    # Not passed over where it fails: it could write nowhere, and would be blamed for that.
    for place in kept:
        kernel.keep_writable(place)
    # The current folder is still the one below what has just been mounted.
    with contextlib.suppress(OSError):
        os.chdir(os.getcwd())


def _outermost(writable: Iterable[Path]) -> list[str]:
    """Folders and files that can be written to now, without those that lie in another.

    Devices need no mount to be written to. Nothing in /proc: a process could have itself spared
    when memory runs out.
    """
    kept = [f"{_PROC}/"]
    for place in sorted(f"{path}/" for path in writable):
        if place.startswith(tuple(kept)):
            continue
        try:
            mode, flags = os.stat(place[:-1]).st_mode, os.statvfs(place[:-1]).f_flag
        except OSError:
            continue
        if (stat.S_ISDIR(mode) or stat.S_ISREG(mode)) and not flags & os.ST_RDONLY:
            kept.append(place)
    return [place[:-1] for place in kept[1:]]


def raise_inner(walls: Walls, plan: Plan) -> None:
    """Limits, capabilities and files: what the process itself gives up, last of all."""
    kernel.forbid_new_privileges()
    _limit(plan)
    walls.up.append("resource limits")
    walls.raise_("first to go when memory runs out", offer_to_oom_killer)
    readable, writable = allowed_paths(plan)
    writable += own_places(walls)
    if plan.gpu:
        # Drivers keep notes of their own in /proc, /dev and /run.
        walls.missing.append(f"{READ_ONLY}: not where there is a device")
    else:
        # In one piece: between two mounts nothing can be renamed. The rest of it Landlock guards.
        raise_read_only(walls, [Path(plan.scratch), *writable])
    walls.raise_("no capabilities", kernel.drop_capabilities)
    # On a device its driver's calls are not ours to choose; what counts there is on the device.
    walls.raise_("system calls (seccomp)", lambda: seccomp.restrict_calls(wakers=plan.gpu))
    if landlock.abi():
        walls.raise_("files (Landlock)", lambda: landlock.restrict(readable, writable))
    else:
        walls.missing.append("files (Landlock): not in this kernel")


def own_places(walls: Walls) -> list[Path]:
    """What else may be written to, since it was made for whoever is inside."""
    return [walls.shared_memory] if walls.shared_memory is not None else []


def allowed_paths(plan: Plan) -> tuple[list[Path], list[Path]]:
    """``(readable, writable)``.

    The system, the interpreter and its packages; the child's own scratch.
    """
    package = Path(__file__).resolve().parents[1]
    readable = [Path(path) for path in (*SYSTEM, sys.prefix, sys.base_prefix, *plan.readable)]
    readable.append(package)
    for entry in (*sys.path, *os.environ.get("LD_LIBRARY_PATH", "").split(":")):
        path = Path(entry)
        # The folder an editable install adds holds the whole project: only the package is needed of
        # it.
        if entry and path.is_absolute() and path.resolve() != package.parent:
            readable.append(path)
    named = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    readable.extend(Path(folder) for folder in named if folder)
    # The CUDA driver names its threads by writing to /proc/self/task/*/comm, and fails where it
    # cannot.
    writable = [Path("/proc/self"), *(Path(device) for device in DEVICES)]
    writable.extend(Path(plan.scratch) / folder for folder in WRITABLE_FOLDERS)
    writable.extend(Path(folder) for folder in plan.writable)
    readable.append(Path(plan.scratch))
    if plan.gpu:
        for pattern in _GPU_DEVICES:
            writable.extend(Path("/dev").glob(pattern))
    return readable, writable


def _limit(plan: Plan) -> None:
    forbid_cores()
    descriptors.bound()
    _lower(resource.RLIMIT_FSIZE, plan.file_bytes)
    _lower(resource.RLIMIT_NPROC, plan.processes)
    if plan.memory_bytes is not None:
        _lower(resource.RLIMIT_DATA, plan.memory_bytes)


def forbid_cores() -> None:
    """No core files, and none to a program: where one takes them, the kernel heeds a limit of 1.

    A limit of 0 is for files alone.
    """
    _lower(resource.RLIMIT_CORE, 1)


def _lower(which: int, limit: int) -> None:
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(which, (limit, limit))


def offer_to_oom_killer() -> None:
    """Have the kernel end this process, and what it starts, before any other."""
    Path("/proc/self/oom_score_adj").write_text("1000")


def own_environment(plan: Plan) -> dict[str, str]:
    """What the child finds in ``os.environ``.

    The server's, with every private folder inside its scratch.
    """
    scratch = Path(plan.scratch)
    environment = dict(os.environ)
    for folder in WRITABLE_FOLDERS:
        (scratch / folder).mkdir(parents=True, exist_ok=True)
    for name, folder in PRIVATE_FOLDERS.items():
        environment[name] = str(scratch / folder)
    if not plan.gpu:
        environment["CUDA_VISIBLE_DEVICES"] = ""
    environment.update(plan.environment)
    return environment


PRIVATE_FOLDERS = {
    "HOME": "home",
    "TMPDIR": "tmp",
    "XDG_CACHE_HOME": "home/.cache",
    "TORCH_EXTENSIONS_DIR": "extensions",
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
    "TRITON_CACHE_DIR": "triton",
    "CUDA_CACHE_PATH": "nv",
}
WORK_FOLDER = "work"
"""The current folder at the start."""
_HOME_FOLDERS = (".cache", ".config", ".local", ".triton", ".tilelang", ".cupy", ".nv", ".cutlass")
WRITABLE_FOLDERS = (
    WORK_FOLDER,
    *(folder for name, folder in PRIVATE_FOLDERS.items() if name != "HOME"),
    *(f"{PRIVATE_FOLDERS['HOME']}/{name}" for name in _HOME_FOLDERS),
)
"""What may be written to, below the scratch folder.

Of the home only what compilers and libraries keep there.
"""


def close_descriptors(keep: set[int]) -> None:
    """Close every descriptor but 0, 1, 2 and ``keep``."""
    low = 3
    for fd in sorted(keep):
        if fd >= low:
            os.closerange(low, fd)
            low = fd + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX") if low < 1 << 16 else low)


def say_who(sock: socket.socket) -> None:
    """Send one byte; the kernel adds our pid as the receiver's namespace counts it."""
    sock.sendmsg(
        [b"!"],
        [
            (
                socket.SOL_SOCKET,
                socket.SCM_CREDENTIALS,
                struct.pack("3i", os.getpid(), os.getuid(), os.getgid()),
            )
        ],
    )


def reset_signals() -> None:
    """Undo what the fork server set for itself."""
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
