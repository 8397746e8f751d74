"""Builds in real child processes; nothing here compiles more than a line of C++."""

from __future__ import annotations

import os
import stat
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import psutil
import pytest
from waiting import ends, wait_until

from pytest_kernelbench.build import builder as builder_module
from pytest_kernelbench.build import child, nursery
from pytest_kernelbench.build.builder import Builder
from pytest_kernelbench.build.driver import PRECOMPILED
from pytest_kernelbench.build.job import Job
from pytest_kernelbench.build.precompiled import Precompiled
from pytest_kernelbench.errors import BuildError, MachineError, MissingNeedError
from pytest_kernelbench.sandbox import landlock
from pytest_kernelbench.sandbox.walls import pid_namespace_refusal
from pytest_kernelbench.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_kernelbench.build.extension import Extension

MODEL = "class ModelNew:\n    pass\n"
NO_DRIVER = """\
try:
    raise RuntimeError("0 active drivers ([]). There should only be one.")
except RuntimeError as error:
    raise ValueError("no target") from error
"""
TINY = (
    "from torch.utils.cpp_extension import load_inline\n"
    "made = load_inline('tiny', 'extern \"C\" int one() { return 1; }', is_python_module=False,\n"
    "                   no_implicit_headers=True, verbose=True)\n" + MODEL
)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Builder]]:
    """Builders that share one cache."""
    made: list[Builder] = []

    def build(arch: str | None = None, **settings: Any) -> Builder:
        settings.setdefault("cache_dir", tmp_path / "cache")
        made.append(Builder(Settings(**settings), arch))
        return made[-1]

    yield build
    for builder in made:
        builder.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builder]:
    """A builder for the tests that need no cache of their own."""
    builder = Builder(Settings(cache_dir=tmp_path_factory.mktemp("cache")))
    yield builder
    builder.close()


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a solution."""

    def solution(text: str, name: str = "s.py") -> Path:
        path = tmp_path / "solutions" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return solution


def fails(builder: Builder, solution: Path, **kwargs: Any) -> BuildError:
    with pytest.raises(BuildError) as caught:
        builder.build(solution, **kwargs)
    return caught.value


def test_a_solution_without_extensions(shared: Builder, write: Any) -> None:
    extension: Extension = shared.build(write("from __future__ import annotations\n" + MODEL))
    assert (extension.folder / "manifest.json").is_file()
    assert extension.log.is_file()
    assert not extension.cached
    assert extension.deferred == ""


@pytest.mark.skipif(bool(pid_namespace_refusal()), reason="no mount namespace to be had")
def test_a_module_body_cannot_change_what_lies_beside_it(shared: Builder, write: Any) -> None:
    solution = write("import os\nos.chmod(__file__, 0o711)\n" + MODEL, "closes.py")
    before = solution.stat()
    assert "Read-only file system" in str(fails(shared, solution))
    assert solution.stat() == before


def test_the_interpreter_is_mended_when_a_build_has_changed_it(shared: Builder, write: Any) -> None:
    """It can be reached by a mount from before there were walls."""
    before = Path(sys.executable).stat()
    if before.st_uid != os.getuid():
        pytest.skip("the interpreter is not this user's")
    mode = before.st_mode ^ stat.S_ISVTX  # does nothing to whoever runs it meanwhile
    changes = f"import os\nos.chmod('/proc/self/exe', {mode})\n"
    proves = f"assert os.stat('/proc/self/exe').st_mode == {mode}\n"
    shared.build(write(changes + proves + MODEL, "changes.py"))
    assert Path(sys.executable).stat().st_mode == before.st_mode


def test_the_second_session_builds_nothing(make: Any, write: Any, monkeypatch: Any) -> None:
    solution = write(MODEL)
    first = make().build(solution)
    monkeypatch.setattr(builder_module, "run_child", _no_child)
    again = make().build(solution)
    assert (again.folder, again.cached, again.seconds) == (first.folder, True, 0.0)


def _no_child(*_: object) -> None:
    pytest.fail("a child was started")


def test_a_syntax_error_is_told_without_a_child(make: Any, write: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(builder_module, "run_child", _no_child)
    error = fails(make(), write("x = 1\ndef f(:\n"))
    assert str(error).startswith("s.py:2: SyntaxError: ")
    assert "def f(:" in str(error)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"x = '\xff\xfe'\n", "s.py"),
        (b"x = 1\0\n", "s.py"),
        (b"(" * 5000, "s.py"),
        (b"x = " + b"-" * 20_000 + b"1\n", "Error, as where it is nested too deep"),
        (b"# -*- coding: nonsense -*-\n", "s.py: SyntaxError: unknown encoding: nonsense"),
    ],
)
def test_what_is_no_python_source(shared: Builder, write: Any, content: bytes, words: str) -> None:
    path = write("")
    path.write_bytes(content)
    error = str(fails(shared, path))
    assert words in error
    assert not error.startswith(("s.py:None", "s.py:0"))
    assert not error.endswith(": ")


def test_what_no_report_can_hold_is_spelled_out(tmp_path: Path) -> None:
    job = Job(str(tmp_path / "s.py"), "ModelNew", str(tmp_path), {}, {}, memory_bytes=1 << 30)
    nothing_missing: Any = SimpleNamespace(missing="")
    report = child._failure(ValueError("half a pair \ud83d"), job, nothing_missing)
    assert report.error == r"ValueError: half a pair \ud83d"
    msgspec.json.encode(report)


def test_a_file_that_is_not_there(shared: Builder, tmp_path: Path) -> None:
    assert "cannot be read" in str(fails(shared, tmp_path / "none.py"))


def test_what_is_no_file_is_not_waited_for(shared: Builder, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    with (tmp_path / "sparse.py").open("wb") as file:
        file.truncate(60 << 30)
    assert "pipe.py cannot be read: it is a named pipe" in str(fails(shared, tmp_path / "pipe.py"))
    assert "zero.py cannot be read: it is a device" in str(fails(shared, tmp_path / "zero.py"))
    assert "it has more than 4,194,304 bytes" in str(fails(shared, tmp_path / "sparse.py"))


def test_no_entry(shared: Builder, write: Any) -> None:
    solution = write(MODEL)
    assert "defines no custom_kernel" in str(fails(shared, solution, entry="custom_kernel"))
    assert shared.build(solution, entry="ModelNew")


def test_a_module_body_that_raises_is_told_by_its_own_lines(shared: Builder, write: Any) -> None:
    solution = write("def f():\n    raise RuntimeError('boom at import')\n\nf()\n" + MODEL)
    error = fails(shared, solution)
    lines = str(error).splitlines()
    assert lines[-1] == "RuntimeError: boom at import"
    assert any("line 4" in line for line in lines)
    assert all("importlib" not in line for line in lines)
    assert "boom at import" in Path(error.log).read_text()


def test_a_failure_is_told_of_whoever_asks(make: Any, write: Any, monkeypatch: Any) -> None:
    source = "def f():\n    raise RuntimeError(__file__)\n\nf()\n" + MODEL
    first, second = write(source, "ann/022_tanh.py"), write(source, "bob/tanh/solution.py")
    before, now = str(fails(make(), first)), fails(make(), second)
    assert f'File "{first}", line 4' in before
    assert str(now) == before.replace(str(first), str(second))
    first.unlink()
    monkeypatch.setattr(nursery.Nursery, "spawn", _no_child)
    assert str(fails(make(), second)) == str(now)


def test_a_failure_beside_other_files_says_nothing_of_the_same_source(
    make: Any, write: Any
) -> None:
    """What a build looked at is its own word: here it looks without reading."""
    body = "import os\nassert not os.path.exists('broken.h')\n" + MODEL
    evil, honest = write(body, "ann/019_relu.py"), write(body, "bob/019_relu.py")
    (evil.parent / "broken.h").write_text("#error")
    assert "AssertionError" in str(fails(make(), evil))
    assert not make().build(honest).cached
    assert make().build(honest).cached
    (evil.parent / "broken.h").unlink()
    assert make().build(evil).cached, "a library is the source's"


def test_a_failure_is_cached_with_its_words(make: Any, write: Any, monkeypatch: Any) -> None:
    solution = write("raise RuntimeError('boom')\n")
    first = fails(make(), solution)
    monkeypatch.setattr(builder_module, "run_child", _no_child)
    assert str(fails(make(), solution)) == str(first)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("import sys\nsys.exit(0)\n", "the module body called sys.exit(0)"),
        ("import os\nos._exit(0)\n", "ended its process (exit status 0)"),
        ("import ctypes\nctypes.string_at(0)\n", "was ended by SIGSEGV"),
        ("raise KeyboardInterrupt\n", "KeyboardInterrupt"),
    ],
)
def test_a_module_body_that_ends_its_process(
    shared: Builder, write: Any, body: str, words: str
) -> None:
    assert words in str(fails(shared, write(body)))


def test_a_missing_dsl_is_a_need_and_not_a_fault(shared: Builder, write: Any) -> None:
    with pytest.raises(MissingNeedError, match="environment: module tilelang missing") as caught:
        shared.build(write("import tilelang.language as T\n" + MODEL))
    assert caught.value.need == "module tilelang"


def test_a_missing_module_that_nobody_knows_is_a_fault(shared: Builder, write: Any) -> None:
    error = fails(shared, write("import my_helpers_xyz\n"))
    assert not isinstance(error, MissingNeedError)
    assert "No module named 'my_helpers_xyz'" in str(error)


@pytest.mark.parametrize(
    "body",
    [
        "import torch\ntorch.zeros(1, device='cuda')\n",
        "import torch\ntorch.cuda.get_device_properties(0)\n",
        NO_DRIVER,
    ],
)
def test_a_body_that_needs_a_device_is_put_off(make: Any, write: Any, body: str) -> None:
    extension = make("9.0").build(write(body + MODEL))
    assert extension.deferred


def test_a_child_is_told_of_the_device_it_builds_for(make: Any, write: Any) -> None:
    body = (
        "import os, torch\n"
        "assert torch.cuda.is_available() and torch.cuda.device_count() == 1\n"
        "assert torch.cuda.get_device_capability() == (8, 0)\n"
        "assert os.environ['CUDA_VISIBLE_DEVICES'] == ''\n"
    )
    assert make("8.0").build(write(body + MODEL)).deferred == ""
    assert "AssertionError" in str(fails(make(), write(body + MODEL)))


def test_the_time_limit_ends_all_that_was_started(make: Any, write: Any) -> None:
    seconds = f"300.{os.getpid()}"
    solution = write(
        "import subprocess, time\n"
        f"subprocess.Popen(['sleep', '{seconds}'], start_new_session=True)\n"
        "print('started', flush=True)\n"
        "time.sleep(300)\n"
    )
    started = time.monotonic()
    error = fails(make(build_timeout_s=6.0), solution)
    assert "took longer than 6 s (--kb-build-timeout)" in str(error)
    assert time.monotonic() - started < 30
    assert "started" in Path(error.log).read_text()
    running = [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
    assert ["sleep", seconds] not in running


def test_a_flood_of_output_is_cut_off(shared: Builder, write: Any) -> None:
    solution = write("import sys\nwhile True:\n    sys.stdout.write('x' * 100_000 + chr(10))\n")
    error = fails(shared, solution)
    assert "it printed more than 64 MiB" in str(error)
    assert Path(error.log).stat().st_size < 3 << 20


def test_a_pipe_holder_holds_nobody_up(shared: Builder, write: Any) -> None:
    solution = write("import subprocess\nsubprocess.Popen(['sleep', '60'])\n" + MODEL)
    started = time.monotonic()
    shared.build(solution)
    assert time.monotonic() - started < 40


def test_files_beside_the_solution_are_part_of_what_is_built(make: Any, write: Any) -> None:
    solution = write(
        "from helper import VALUE\nprint(open(__file__[:-4] + 'k.cu').read())\n" + MODEL
    )
    helper, kernel = write("VALUE = 1\n", "helper.py"), write("int a;\n", "k.cu")
    first = make().build(solution)
    assert make().build(solution).cached
    kernel.write_text("int b;\n")
    second = make().build(solution)
    assert not second.cached
    helper.write_text("VALUE = 2\n")
    assert make().build(solution).folder not in {first.folder, second.folder}
    assert not (solution.parent / "__pycache__").exists()


def test_a_module_body_may_write_in_its_current_folder(shared: Builder, write: Any) -> None:
    solution = write(
        "import os\nos.makedirs('./build', exist_ok=True)\n"
        "open('build/s.cpp', 'w').write('x')\nprint('it is ' + open('build/s.cpp').read())\n"
        + MODEL,
        "writes/s.py",
    )
    assert "it is x" in shared.build(solution).log.read_text()
    assert os.listdir(solution.parent) == ["s.py"]


def test_what_lies_beside_is_found_in_the_current_folder(make: Any, write: Any) -> None:
    solution = write(f"print(open('k.cu').read(), open('sub/k.cuh').read())\n{MODEL}")
    kernel, header = write("int a;\n", "k.cu"), write("int b;\n", "sub/k.cuh")
    builder = make()
    built = [builder.build(solution)]
    for changed in (kernel, header):
        assert make().build(solution).cached
        changed.write_text("int c;\n")
        built.append(make().build(solution))
    assert len({each.folder for each in built}) == 3
    names = builder.store.input_names(builder.base_key(solution, "ModelNew"))
    assert names == ["k.cu", "sub/k.cuh"]


def test_compilers_find_what_lies_beside(make: Any, write: Any) -> None:
    including = TINY.replace("'extern", "'#include <k.h>\\nextern").replace("return 1", "return K")
    solution = write(including.replace("True)", "True, extra_include_paths=['include'])"))
    header = write("#define K 1\n", "include/k.h")
    builder = make()
    first = builder.build(solution)
    names = builder.store.input_names(builder.base_key(solution, "ModelNew"))
    assert names == ["include/k.h"]
    header.write_text("#error no K\n")
    failed = fails(make(), solution)
    assert "k.h:1: #error no K" in str(failed)
    assert "/desk/" not in str(failed)
    header.write_text("#define K 1\n")
    assert make().build(solution).folder == first.folder


@pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock")
@pytest.mark.parametrize("place", ["'k.cu'", "__file__ + '.log'", "os.path.abspath('sub') + '/x'"])
def test_what_lies_beside_is_not_a_builds_to_change(
    shared: Builder, write: Any, place: str
) -> None:
    kernel, header = write("int a;\n", "k.cu"), write("int b;\n", "sub/k.cuh")
    solution = write(f"import os\nopen({place}, 'w').write('x')\n{MODEL}")
    said = str(fails(shared, solution))
    assert "write to the current folder" in said
    assert "/desk/" not in said
    assert kernel.read_text() + header.read_text() == "int a;\nint b;\n"
    assert sorted(os.listdir(solution.parent)) == ["k.cu", "s.py", "sub"]


@pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock")
def test_a_folder_by_a_fixed_name_is_told_of(shared: Builder, write: Any) -> None:
    solution = write(f"import os\nos.makedirs('/tmp/kernelbench-nobodys')\n{MODEL}")
    error = fails(shared, solution)
    assert "'/tmp/kernelbench-nobodys'; a solution may write to the current folder" in str(error)
    assert not Path("/tmp/kernelbench-nobodys").exists()  # noqa: S108 - a name of nobody's


def test_another_error_of_a_file_says_nothing_of_folders(shared: Builder, write: Any) -> None:
    assert "current folder" not in str(fails(shared, write("open('no.cu')\n" + MODEL)))


def test_a_torch_py_beside_a_solution_is_not_torch(shared: Builder, write: Any) -> None:
    write("raise RuntimeError('not torch')\n", "torch.py")
    assert shared.build(write("import torch\ntorch.nn.Module\n" + MODEL))


def test_spaces_and_other_scripts_in_every_path(make: Any, write: Any, tmp_path: Path) -> None:
    solution = write("x = 'é'\n" + TINY, "level 1/019 rélu λ.py")
    extension = make(cache_dir=tmp_path / "my cäche").build(solution)
    assert list(extension.folder.glob("calls/*/tiny.so"))


def test_a_tiny_library_is_in_the_manifest(shared: Builder, write: Any) -> None:
    extension = shared.build(write(TINY))
    text = (extension.folder / "manifest.json").read_text()
    assert '"name":"tiny"' in text
    entry = shared._store.lookup(extension.folder.name)
    assert entry is not None
    assert 0 < entry.cpu_s < 60
    assert '"kind":"operators"' in text
    assert not list(extension.folder.rglob("*.o"))


def test_two_solutions_may_call_their_library_alike(shared: Builder, write: Any) -> None:
    builder = shared
    one = builder.build(write(TINY, "one.py"))
    other = builder.build(write(TINY.replace("return 1", "return 2"), "other.py"))
    libraries = [next(e.folder.glob("calls/*/tiny.so")).read_bytes() for e in (one, other)]
    assert libraries[0] != libraries[1]


def test_many_workers_build_the_same_source_once(make: Any, write: Any, monkeypatch: Any) -> None:
    started: list[str] = []
    real = builder_module.run_child

    def count(nursery: Any, job: Any, *args: Any) -> Any:
        started.append(job.solution)
        return real(nursery, job, *args)

    monkeypatch.setattr(builder_module, "run_child", count)
    copies = [write(MODEL, f"copy{n}.py") for n in range(4)]
    builders = [make(), make()]
    for builder in builders:
        builder.ahead((copy, "ModelNew") for copy in copies)
    folders = {builder.build(copy).folder for builder in builders for copy in copies}
    assert len(folders) == 1
    assert len(started) == 1


PLANT = """\
import os, shutil
work = os.environ["PYTEST_KERNELBENCH_BUILD"]
print("planted", flush=True)

def plant(name, put):
    path = os.path.join(work, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)
    put(path)

def link(path):
    os.symlink(os.path.join(elsewhere, os.path.basename(path)), path)
"""
HARMLESS = "for name in ('build.log', 'entry.json'): plant(name, link)\n"
"""Nothing of ours has its place there."""
FAULTS = {
    "a folder that is a link": "plant('tools', link)\n",
    "a pipe": "plant('tools/x.log', os.mkfifo)\n",
    "a linked manifest": "plant('manifest.json', link)\n",
    "a linked report": "plant('report.json', link)\nos._exit(0)\n",
    "a closed folder": "os.chmod(work, 0)\n",
}


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Files that a build child may not reach."""
    folder = tmp_path / "elsewhere"
    (folder / "tools").mkdir(parents=True)
    (folder / "tools" / "x.log").write_text("/x.cu(1): error: the key\n")
    for name in ("build.log", "entry.json", "manifest.json", "report.json"):
        (folder / name).write_text(f"the key of {name}" + "x" * (3 << 20))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("ends", [MODEL, "raise ValueError('boom')"], ids=["built", "failed"])
def test_the_builders_own_files_are_out_of_a_builds_reach(
    make: Any, write: Any, elsewhere: Path, ends: str
) -> None:
    """The builder is behind no wall: it would be tricked into reaching where the child cannot."""
    before = contents(elsewhere)
    source = f"elsewhere = {str(elsewhere)!r}\n{PLANT}{HARMLESS}{ends}"
    built = make().submit(write(source), "ModelNew")
    error = built.exception(60)
    assert ("boom" in str(error)) == ("boom" in ends)
    log = Path(built.result().log if error is None else error.log)
    assert "planted" in log.read_text()
    assert not log.is_symlink()
    assert "the key" not in log.read_text() + str(error)
    assert contents(elsewhere) == before


REACHES = """
outside = os.path.dirname(work)
for attack in (
    lambda: os.unlink(outside + "/build.log"),
    lambda: os.rename(work, outside + "/kept"),
    lambda: os.symlink(elsewhere, outside + "/kept"),
    lambda: os.link(work + "/job.json", outside + "/other"),
    lambda: os.listdir(os.path.dirname(outside)),
):
    try:
        attack()
    except OSError:
        continue
    raise AssertionError("reached")
"""


@pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock")
def test_nothing_beside_its_folder_is_a_builds_to_change(
    shared: Builder, write: Any, elsewhere: Path
) -> None:
    assert shared.build(write(f"elsewhere = {str(elsewhere)!r}\n{PLANT}{REACHES}{MODEL}"))


@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_build_puts_in_the_place_of_its_answers_is_its_own_fault(
    make: Any, write: Any, elsewhere: Path, fault: str
) -> None:
    if fault == "a closed folder" and os.geteuid() == 0:
        pytest.skip("no folder is closed to root")
    before = contents(elsewhere)
    source = f"elsewhere = {str(elsewhere)!r}\n{PLANT}{FAULTS[fault]}{MODEL}"
    builder = make()
    error = fails(builder, write(source))
    assert "its build left something that cannot be read" in str(error)
    assert "planted" in Path(error.log).read_text()
    assert "the key" not in str(error)
    assert contents(elsewhere) == before
    assert not list((builder._store.root / "work").iterdir())


def test_a_pipe_among_the_wishes_holds_nobody_up(shared: Builder, write: Any) -> None:
    assert shared.build(write(f"{PLANT}plant('wishes/x.json', os.mkfifo)\n{MODEL}"))


def test_one_log_under_many_names_is_not_read_so_often(shared: Builder, write: Any) -> None:
    many = (
        "plant('tools/0.log', lambda path: open(path, 'w').write('y: error: ' * 100_000))\n"
        "for number in range(1, 3000):\n"
        "    os.link(work + '/tools/0.log', f'{work}/tools/{number}.log')\n"
    )
    assert "second name" in str(fails(shared, write(PLANT + many + MODEL)))


def test_a_build_says_nothing_about_files_that_are_not_its_own(shared: Builder, write: Any) -> None:
    said = '{"kind": "built", "inputs": ["/dev/zero", "../other.py"]}'
    source = f"{PLANT}open(work + '/report.json', 'w').write({said!r})\nos._exit(0)\n{MODEL}"
    solution = write(source)
    shared.build(solution)
    assert shared.store.input_names(shared.base_key(solution, "ModelNew")) == []


def test_what_a_build_has_kept_was_never_its_own(shared: Builder, write: Any) -> None:
    """A process that outlives its build, or a name that it keeps, would change an entry later."""
    source = f"{PLANT}open(work + '/mine', 'w').write('x')\n{TINY}"
    folder = shared.build(write(source)).folder
    kept = sorted(path.name for path in folder.rglob("*") if path.is_file())
    assert [name for name in kept if not name.startswith("cxx-")] == [
        "build.log", "entry.json", "manifest.json", "tiny.so",
    ]  # fmt: skip


HOGS = {
    "memory": "held = b'x' * (2 << 30)\n",
    "processes": "for _ in range(400): os.fork() or (time.sleep(60), os._exit(0))\n",
}


@pytest.mark.parametrize("hog", HOGS)
def test_a_hog_is_ended_and_told_of(make: Any, write: Any, monkeypatch: Any, hog: str) -> None:
    monkeypatch.setattr(builder_module, "memory_bound", lambda *_: 1 << 30)
    source = f"import os, time\n{HOGS[hog]}time.sleep(30)\n{MODEL}"
    error = str(fails(make(), write(source)))
    assert "the module body was ended by SIGKILL" in error
    assert {"memory": "of 1.0 GiB", "processes": "than the 160 allowed"}[hog] in error


def test_a_stream_of_its_own_can_be_opened_again(shared: Builder, write: Any) -> None:
    extension = shared.build(write("open('/dev/stdout', 'a').write('again')\n" + MODEL))
    assert "again" in extension.log.read_text()


def test_closing_ends_what_is_under_way(make: Any, write: Any) -> None:
    builder = make()
    builder.ahead([(write("import time\ntime.sleep(300)\n"), "ModelNew")])
    while builder.progress.running == 0:
        time.sleep(0.01)
    started = time.monotonic()
    builder.close()
    assert time.monotonic() - started < 20
    assert not list((builder._store.root / "work").iterdir())
    assert not list(builder._store.rows())


def test_closing_does_not_wait_until_builds_can_begin(
    make: Any, write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What children are forked from imports torch for seconds: here, for ever."""
    never = ["-I", "-c", "import time; time.sleep(300)"]
    monkeypatch.setattr(nursery, "boot", lambda *_: never)
    builder = make()
    builder.ahead([(write(MODEL, f"copy{n}.py"), "ModelNew") for n in range(4)])
    wait_until(lambda: builder._nursery._process is not None)
    ends(builder.close)
    with pytest.raises(MachineError, match="over"):
        builder.build(write(MODEL, "copy0.py"))


@pytest.mark.parametrize("what", ["slot", "build"])
def test_closing_does_not_wait_for_others_who_build(make: Any, write: Any, what: str) -> None:
    """Another session that has the only slot, or is at the same build."""
    builder, solution = make(build_jobs=1), write(MODEL)
    base = builder.base_key(solution, "ModelNew")
    with builder._slots.hold() if what == "slot" else builder.alone(base):
        building = builder.submit(solution, "ModelNew")
        wait_until(building.running)
        time.sleep(0.1)
        assert not building.done()
        ends(builder.close)
        with pytest.raises(MachineError, match="ended because the session is over"):
            building.result(0)
    assert not list((builder._store.root / "work").iterdir())


def test_closing_does_not_wait_for_a_slot_for_a_header(make: Any, monkeypatch: Any) -> None:
    builder = make(build_jobs=1)
    monkeypatch.setattr(Precompiled, "_text", lambda _: "")
    with builder._slots.hold():
        making = threading.Thread(target=builder._precompiled.make, args=(("-O2",),))
        builder._precompiled._threads.append(making)
        making.start()
        making.join(0.2)
        assert making.is_alive()
        ends(builder.close)
    headers = builder._precompiled._folder / PRECOMPILED
    assert [path.suffix for path in headers.iterdir()] in ([], [".lock"])


def test_the_first_of_many_leaves_slots_to_the_others(
    make: Any, write: Any, monkeypatch: Any
) -> None:
    """On a machine with eight cores and as many builds, each gets one compiler."""
    given: list[int] = []
    real = builder_module.run_child

    def note(nursery: Any, job: Any, *args: Any) -> Any:
        given.append(int(job.environment["MAX_JOBS"]))
        return real(nursery, job, *args)

    monkeypatch.setattr(builder_module, "run_child", note)
    monkeypatch.setattr(builder_module, "usable_slots", lambda _: 8)
    text = "# load('x', ['a.cu', 'b.cu', 'c.cu', 'd.cu'])\n" + MODEL
    many = [write(f"{text}# {n}\n", f"{n}.py") for n in range(8)]
    builder = make()
    builder.ahead((path, "ModelNew") for path in many)
    for path in many:
        builder.build(path)
    assert given[:6] == [1] * 6
    alone = make()
    alone.build(write(f"{text}# alone\n", "alone.py"))
    assert given[8:] == [4]


def test_progress_says_how_many(make: Any, write: Any) -> None:
    builder = make()
    assert str(builder.progress) == "0 built"
    builder.build(write(MODEL, "a.py"))
    fails(builder, write("raise ValueError\n", "b.py"))
    assert str(builder.progress) == "1 built, 1 failed"


def test_ninja_off_the_path_is_found(
    make: Any, write: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("c++", "g++", "cc", "ld", "as", "sh", "env", "uname"):
        for place in ("/usr/bin", "/bin"):
            if Path(place, name).exists() and not (tools / name).exists():
                (tools / name).symlink_to(f"{place}/{name}")
    monkeypatch.setenv("PATH", str(tools))
    assert make().build(write(TINY))


@pytest.mark.parametrize(
    ("missing", "words"), [("ninja", "pip install ninja"), ("cxx", "install g++")]
)
def test_a_missing_tool_is_the_machines_fault_and_not_cached(
    make: Any, write: Any, monkeypatch: Any, missing: str, words: str
) -> None:
    import dataclasses

    found = builder_module.find_toolchain(os.environ)
    lacking = dataclasses.replace(found, **{missing: ""})
    solution = write(TINY)
    with monkeypatch.context() as patch:
        patch.setattr(builder_module, "find_toolchain", lambda _: lacking)
        builder = make()
    with pytest.raises(MachineError, match=words):
        builder.build(solution)
    assert builder.build(write(MODEL, "pure.py"))
    assert make().build(solution)


def test_without_nvcc_a_cuda_source_cannot_be_built_here(
    make: Any, write: Any, monkeypatch: Any
) -> None:
    import dataclasses

    found = builder_module.find_toolchain(os.environ)
    lacking = dataclasses.replace(found, nvcc="", cuda_home="")
    monkeypatch.setattr(builder_module, "find_toolchain", lambda _: lacking)
    body = TINY.replace("is_python_module", "cuda_sources='int x;', is_python_module")
    with pytest.raises(MissingNeedError, match="set CUDA_HOME") as caught:
        make().build(write(body))
    assert caught.value.need == "nvcc (the CUDA toolkit)"


def test_a_compile_error_is_told_by_the_compilers_first_words(shared: Builder, write: Any) -> None:
    solution = write(TINY.replace("return 1;", "return nope;"))
    error = fails(shared, solution)
    first, shown, *_ = str(error).splitlines()
    assert first.startswith("main.cpp:")
    assert "nope" in first
    assert "return nope;" in shown
    log = Path(error.log)
    assert log.is_file()
    assert "ninja" in log.read_text()


def test_a_failure_that_the_solution_caught_is_a_warning(shared: Builder, write: Any) -> None:
    failing = TINY.replace("return 1;", "return nope;").replace("made =", "    made =")
    solution = write(
        failing.replace("    made", "try:\n    made").replace(
            MODEL, "except RuntimeError:\n    made = None\n" + MODEL
        )
    )
    extension = shared.build(solution)
    assert any("tiny was not built" in warning for warning in extension.warnings)
