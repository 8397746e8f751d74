"""Builds where the machine is not as one would like: full, shared, cut short, oddly set up."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from pytest_kernelbench.build.builder import Builder
from pytest_kernelbench.build.store import Store
from pytest_kernelbench.build.toolchain import find_toolchain
from pytest_kernelbench.settings import Settings

TOOLS = find_toolchain(os.environ)
pytestmark = pytest.mark.skipif(not TOOLS.cxx, reason="no C++ compiler")
MODEL = "class ModelNew:\n    pass\n"
TINY = (
    "from torch.utils.cpp_extension import load_inline\n"
    "made = load_inline('tiny', 'extern \"C\" int one() { return 1; }', is_python_module=False,\n"
    "                   no_implicit_headers=True)\n" + MODEL
)
BUILD = """
import sys
from pathlib import Path
from pytest_kernelbench.build.builder import Builder
from pytest_kernelbench.errors import KernelbenchError
from pytest_kernelbench.settings import Settings

cache, *solutions = map(Path, sys.argv[1:])
builder = Builder(Settings(cache_dir=cache))
try:
    for solution in solutions:
        try:
            print("built", builder.build(solution).folder, flush=True)
        except KernelbenchError as error:
            print(type(error).__name__, error, flush=True)
finally:
    builder.close()
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    def solution(text: str, name: str = "s.py") -> Path:
        path = tmp_path / "solutions" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return solution


@pytest.fixture
def builder(tmp_path: Path) -> Iterator[Builder]:
    made = Builder(Settings(cache_dir=tmp_path / "cache"))
    yield made
    made.close()


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        list(map(str, command)), env={**os.environ, **environment}, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    return done.stdout + done.stderr


# Cut short


def test_a_builder_that_is_killed_leaves_nothing_that_blocks(
    tmp_path: Path, write: Callable[..., Path], builder: Builder
) -> None:
    seconds = f"200.{os.getpid()}"
    solution = write(
        "import os, subprocess\n"
        f"if not os.path.exists({str(tmp_path / 'solutions' / 'go')!r}):\n"
        f"    subprocess.run(['sleep', {seconds!r}])\n" + MODEL
    )
    first = subprocess.Popen([sys.executable, "-c", BUILD, str(tmp_path / "cache"), str(solution)])
    try:
        deadline = time.monotonic() + 60
        while not sleeping(seconds):
            assert time.monotonic() < deadline, "the build never began"
            time.sleep(0.05)
        left = list((tmp_path / "cache/build/work").iterdir())
        assert left
        first.send_signal(signal.SIGKILL)
    finally:
        first.wait()
    write("", "go")
    assert not builder.build(solution).cached
    deadline = time.monotonic() + 10
    while sleeping(seconds):
        assert time.monotonic() < deadline, "the build outlives its builder"
        time.sleep(0.05)
    days_ago = time.time() - 2 * 86_400
    for path in left:
        os.utime(path, (days_ago, days_ago))
    builder.close()
    assert not [path for path in left if path.exists()]


def sleeping(seconds: str) -> bool:
    running = (process.info["cmdline"] for process in psutil.process_iter(["cmdline"]))
    return ["sleep", seconds] in running


# Full


FULL = """
set -e
mount -t tmpfs -o size=4m none "$1"
"$2" -c "$3" "$1/cache" "$4"
mount -o remount,size=256m none "$1"
"$2" -c "$3" "$1/cache" "$4"
"""


@pytest.mark.skipif(not shutil.which("unshare"), reason="no unshare to mount a small disk with")
def test_a_full_disk_is_told_and_the_next_session_builds(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    big = TINY.replace("int one()", 'char big[8 << 20] = {1}; extern "C" int one()')
    solution = write(big.replace('extern \\"C\\" char', "char"))
    (tmp_path / "disk").mkdir()
    names = ("--user", "--map-root-user") if os.getuid() else ()
    told = run(
        "unshare", "--mount", *names, "sh", "-c", FULL, "sh",
        tmp_path / "disk", sys.executable, BUILD, solution,
    )  # fmt: skip
    if "unshare failed" in told or "mount:" in told:
        pytest.skip(f"no disk can be mounted here: {told.strip()}")
    first, second = (line for line in told.splitlines() if line.startswith(("Machine", "built")))
    assert first.startswith("MachineError ")
    assert "free some space" in first
    assert second.startswith("built ")


# Set up in other ways


def test_a_home_that_cannot_be_written(tmp_path: Path, write: Callable[..., Path]) -> None:
    told = run(sys.executable, "-c", BUILD, tmp_path / "cache", write(TINY), HOME="/proc/none")
    assert told.startswith("built ")
    assert not Path("/proc/none").exists()


CUDA = (
    "from torch.utils.cpp_extension import load_inline\n"
    "made = load_inline('tiny', 'extern \"C\" int one() { return 1; }',\n"
    "    cuda_sources='__global__ void k(float* x) { x[threadIdx.x] *= 2.0f; }',\n"
    "    is_python_module=False, no_implicit_headers=True, with_cuda=True)\n" + MODEL
)


@pytest.mark.skipif(not TOOLS.nvcc, reason="no nvcc")
def test_of_several_toolkits_the_one_that_cuda_home_names(
    tmp_path: Path, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "another-cuda"
    (home / "bin").mkdir(parents=True)
    for part in ("include", "lib64", "nvvm", "targets"):
        if (place := Path(TOOLS.cuda_home) / part).exists():
            (home / part).symlink_to(place)
    script = home / "bin" / "nvcc"
    script.write_text(f'#!/bin/sh\nexec {TOOLS.nvcc} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("CUDA_HOME", str(home))
    builder = Builder(Settings(cache_dir=tmp_path / "cache"), arch="9.0")
    extension = builder.build(write(CUDA))
    builder.close()
    assert list(extension.folder.glob("calls/*/tiny.so"))
    logs = [path.read_text() for path in extension.folder.glob("tools/nvcc-*.log")]
    assert logs
    assert all(f"{home}/include" in log.replace("'", "") for log in logs)
    config = json.loads((Path(builder._wrappers) / "driver.json").read_text())
    assert config["nvcc"] == str(script)


@pytest.mark.skipif(not TOOLS.ccache, reason="ccache is not installed")
def test_ccache_saves_the_compiler_where_only_the_python_changed(
    write: Callable[..., Path], builder: Builder
) -> None:
    first = builder.build(write(TINY, "one.py"))
    second = builder.build(write(TINY + "# the same C++\n", "one.py"))
    assert (first.cached, second.cached) == (False, False)
    (store,) = Path(builder._store.root / "ccache").iterdir()
    counted = run(TOOLS.ccache, "--print-stats", CCACHE_DIR=str(store))
    hits = {
        name: int(count)
        for name, count in (line.split("\t") for line in counted.splitlines())
        if name.endswith("cache_hit")
    }
    assert sum(hits.values()) >= 1, counted
    libraries = [next(each.folder.glob("calls/*/tiny.so")).read_bytes() for each in (first, second)]
    assert libraries[0] == libraries[1]


@pytest.mark.skipif(not TOOLS.ccache, reason="ccache is not installed")
def test_no_solution_says_how_others_are_compiled(
    write: Callable[..., Path], builder: Builder
) -> None:
    """Nor how a later source in its own place is."""
    spoils = (
        "import os, pathlib\n"
        "conf = pathlib.Path(os.environ['CCACHE_DIR'], 'ccache.conf')\n"
        "conf.write_text('prefix_command = /nonexistent\\n')\n"
    )
    builder.build(write(spoils + MODEL, "one.py"))
    assert builder.build(write(TINY, "two.py"))
    assert builder.build(write(TINY, "one.py"))
    (found,) = (builder._store.root / "ccache").glob("*/ccache.conf")
    assert "/nonexistent" in found.read_text()
    assert builder.build(write(TINY.replace("return 1", "return 2"), "one.py"))


# What is part of the key


CHANGES = {
    "another source": {"text": MODEL + "#"},
    "another entry": {"entry": "run"},
    "another architecture": {"arch": "8.0"},
    "flags in the environment": {"NVCC_APPEND_FLAGS": "-lineinfo"},
    "another compiler": {"CXX": "other-c++"},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_key_changes_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, str]
) -> None:
    other = tmp_path / "tools" / "other-c++"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\necho other 1.0\n")
    other.chmod(0o755)

    def key(text: str = MODEL, entry: str = "ModelNew", arch: str = "9.0", **more: str) -> str:
        with monkeypatch.context() as patch:
            patch.setenv("PATH", f"{other.parent}{os.pathsep}{os.environ['PATH']}")
            for name, value in more.items():
                patch.setenv(name, value)
            builder = Builder(Settings(cache_dir=tmp_path / "cache"), arch)
            try:
                return builder._base_key(text.encode(), entry)
            finally:
                builder.close()

    assert key() == key()
    assert key(**change) != key()


def test_the_least_used_builds_go_when_the_cache_is_full(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    made = [write(f"{MODEL}# {n}\n", f"{n}.py") for n in range(3)]
    builder = Builder(Settings(cache_dir=tmp_path / "cache"))
    keys = [builder.build(solution).folder.name for solution in made]
    builder.close()
    store = Store(tmp_path / "cache/build")
    for hours, name in zip((3, 9, 5), keys, strict=True):
        then = time.time() - hours * 3600
        os.utime(store.entries / name / "entry.json", (then, then))
    sizes = {name: entry.size_bytes for name, entry, _ in store.rows()}
    left_gb = (sizes[keys[0]] + sizes[keys[2]]) / 1e9
    Builder(Settings(cache_dir=tmp_path / "cache", cache_limit_gb=left_gb)).close()
    assert {name for name, _, _ in store.rows()} == {keys[0], keys[2]}


# Many at once


@pytest.mark.slow
def test_reported_case_parallel_first_build(tmp_path: Path) -> None:
    """P1: eight like copies and eight of the same name, built by eight workers at once.

    Their C++ has none of torch's headers, so that nine builds take seconds.
    """
    levels = tmp_path / "problems" / "level1"
    levels.mkdir(parents=True)
    (levels / "001_add.py").write_text("class Model: pass\ndef get_inputs(): return []\n")
    for n in range(8):
        for kind, number in (("same", 0), ("diff", n + 1)):
            path = tmp_path / f"solutions/{kind}_{n}/level1/001_add.py"
            path.parent.mkdir(parents=True)
            path.write_text(TINY.replace("return 1", f"return {number}"))
    told = run(
        sys.executable, "-m", "pytest", tmp_path / "solutions", "-n8", "--kb-build-only", "-q",
        "-p", "no:cacheprovider", f"--rootdir={tmp_path}", f"--kb-cache={tmp_path / 'cache'}",
        f"--kb-problems={tmp_path / 'problems'}", f"--kb-json={tmp_path / 'v.jsonl'}",
    )  # fmt: skip
    assert "built 16 of 16" in told, told
    rows = list(Store(tmp_path / "cache/build").rows())
    assert len(rows) == 9
    assert all(entry.outcome == "built" for _, entry, _ in rows)
    assert "Traceback" not in told
    verdicts = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text().splitlines()]
    assert len([v for v in verdicts if v.get("status") == "skipped"]) == 16
