"""What a build child's end means."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pytest_kernelbench.build import outcome
from pytest_kernelbench.build.job import Job
from pytest_kernelbench.build.leavings import Leavings, understanding
from pytest_kernelbench.build.process import End
from pytest_kernelbench.build.recorder import _OF_TORCH
from pytest_kernelbench.build.toolchain import find_toolchain
from pytest_kernelbench.errors import BuildError, MachineError

TOOLS = find_toolchain({"PATH": "/usr/bin"})
ENDED = End(0, 1.0)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A work folder with a manifest."""
    solution = tmp_path / "s.py"
    solution.write_text("class ModelNew: pass\n")
    (tmp_path / "manifest.json").write_text(json.dumps({"calls": {}, "environment": {}}))
    return Job(str(solution), "ModelNew", str(tmp_path), {}, {}, 1 << 30)


def report(job: Job, **fields: Any) -> None:
    with open(f"{job.folder}/report.json", "w") as file:  # noqa: PTH123
        json.dump(fields, file)


def manifest(job: Job, **call: Any) -> None:
    with open(f"{job.folder}/manifest.json", "w") as file:  # noqa: PTH123
        json.dump({"calls": {"k": {"name": "x", **call}}, "environment": {}}, file)


def judged(job: Job, end: End = ENDED) -> outcome.Outcome:
    return outcome.judge_child(job, Leavings(Path(job.folder)), end, TOOLS)


def test_built(job: Job, tmp_path: Path) -> None:
    library(tmp_path)
    manifest(job, library="calls/x.so")
    report(job, kind="built", inputs=["k.cu"])
    made = judged(job)
    assert made.manifest is not None
    assert (made.outcome, made.inputs) == ("built", ("k.cu",))
    assert made.manifest.libraries == ("calls/x.so",)


def library(folder: Path) -> Path:
    path = folder / "calls" / "x.so"
    path.parent.mkdir()
    path.write_bytes(b"elf")
    return path


@pytest.mark.parametrize(
    "library", ["../other/x.so", "calls/../x.so", "/etc/passwd", "calls/none.so", "s.py", "."]
)
def test_a_manifest_that_names_something_else_is_none(job: Job, library: str) -> None:
    manifest(job, library=library)
    report(job, kind="built")
    assert judged(job).outcome == "failed"


def test_a_manifest_of_ours_is_not_written_through_a_link(job: Job, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    manifest = tmp_path / "manifest.json"
    manifest.unlink()
    manifest.symlink_to(precious)
    assert judged(job, End(-9, 1.0, stopped="it went on", idle=True)).outcome == "failed"
    assert precious.read_text() == "kept"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"kind": 7}', '{"kind": "built", "more": 1}', '{"error": "x"}']
)
def test_a_report_that_is_none_is_a_death(job: Job, tmp_path: Path, text: str) -> None:
    (tmp_path / "report.json").write_text(text)
    made = judged(job, End(3, 1.0))
    assert (made.outcome, made.message) == (
        "failed",
        "s.py: the module body ended its process (exit status 3)",
    )


def test_a_child_that_cries_for_a_tool_which_is_here_is_not_believed(job: Job) -> None:
    report(job, kind="missing_tool", missing="c++", error="c++ is needed")
    assert judged(job).outcome == "failed"


def test_a_child_that_cries_for_a_full_disk_is_not_believed(job: Job) -> None:
    report(job, kind="raised", traceback="OSError: No space left on device")
    assert judged(job, End(0, 1.0, said=b"No space left on device")).outcome == "failed"


def test_a_full_disk_is_the_machines_fault(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "cxx-1.log").write_text("cc1plus: No space left on device")
    report(job, kind="raised", traceback="RuntimeError: Error building extension")
    usage = outcome.shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    with pytest.raises(MachineError, match="free some space"):
        judged(job)


def test_what_was_stopped_says_why(job: Job) -> None:
    report(job, kind="built")
    assert (
        judged(job, End(-9, 9.0, stopped="the build took longer")).message
        == "s.py: the build took longer"
    )


def test_compilers_words_go_before_pythons(job: Job, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "nvcc-1.log").write_text("a.cu(3): error: no\n  x;\n  ^\n")
    said = "RuntimeError: Error building extension 'x': [1/2] c++ ...\nninja: build stopped"
    report(job, kind="raised", error=said, traceback=f"Traceback:\n  s.py line 1\n{said}")
    assert judged(job).message == "a.cu:3: no\n    x;\nTraceback:\n  s.py line 1"


def test_an_error_after_one_that_was_caught_comes_first(job: Job, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "nvcc-1.log").write_text("a.cu(3): error: no\n  x;\n  ^\n")
    report(job, kind="raised", error="NameError: y", traceback="NameError: y")
    assert judged(job).message == "NameError: y\na.cu:3: no\n    x;"


def test_a_symbol_that_nobody_defines_is_spelled_out(job: Job) -> None:
    said = "ImportError: x.so: undefined symbol: _Z9relu_cudaN2at6TensorE"
    report(job, kind="raised", traceback=said)
    assert "undefined symbol: relu_cuda(at::Tensor) (declared" in judged(job).message


def test_a_symbol_longer_than_any_command_line_is_left_as_it_is(job: Job) -> None:
    said = "ImportError: x.so: undefined symbol: _Z" + "a" * 200_000
    report(job, kind="raised", traceback=said)
    assert judged(job).message == said


def test_a_symbol_that_cannot_be_spelled_out_is_left_as_it_is(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outcome.shutil, "which", lambda _: "/bin/yes")
    monkeypatch.setattr(outcome, "_SPELL_TIMEOUT_S", 0.01)
    report(job, kind="raised", traceback="ImportError: x.so: undefined symbol: _Z1a")
    assert judged(job).message == "ImportError: x.so: undefined symbol: _Z1a"


@pytest.mark.parametrize(
    ("symbol", "torchs"),
    [
        ("_ZN2at6Tensor5indexEv", True),
        ("_ZNK2at6Tensor4itemEv", True),
        ("_ZN3c105ErrorE", True),
        ("_ZTIN5torch8autogradE", True),
        ("_Z9relu_cudaN2at6TensorE", False),
        ("_ZN4mine2atEv", False),
    ],
)
def test_only_for_torchs_own_symbols_is_the_plain_way_tried(symbol: str, *, torchs: bool) -> None:
    assert bool(_OF_TORCH.search(f"x.so: undefined symbol: {symbol}")) is torchs


def test_reports_are_decoded_strictly() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"kind": "built", "x": 1}', type=outcome.Report)


def linked(path: Path) -> None:
    elsewhere = path.parents[1] / "elsewhere"
    elsewhere.write_text("x.cu(1): error: the key\n")
    path.symlink_to(elsewhere)


def doubled(path: Path) -> None:
    linked(path)
    path.unlink()
    path.hardlink_to(path.parents[1] / "elsewhere")


PLANTS = {"link": linked, "pipe": os.mkfifo, "folder": Path.mkdir, "second name": doubled}


@pytest.mark.parametrize("name", ["report.json", "manifest.json", "calls/x.so", "tools/cxx-1.log"])
@pytest.mark.parametrize("plant", PLANTS)
def test_what_lies_in_the_place_of_a_file_is_the_builds_fault(
    job: Job, tmp_path: Path, name: str, plant: str
) -> None:
    """It is not looked into, not waited for, and no excuse."""
    (tmp_path / "tools").mkdir()
    library(tmp_path)
    manifest(job, library="calls/x.so")
    report(job, kind="built")
    (tmp_path / name).unlink(missing_ok=True)
    PLANTS[plant](tmp_path / name)
    made = judged(job)
    assert made.outcome == "failed"
    assert made.message.startswith("s.py: its build left something that cannot be read as")
    assert name in made.message
    assert "the key" not in made.message


@pytest.mark.parametrize("name", ["tools", "calls"])
def test_a_folder_that_is_a_link_is_not_entered(job: Job, tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    library(tmp_path).parent.rename(elsewhere)
    (tmp_path / name).symlink_to(elsewhere)
    manifest(job, library="calls/x.so")
    report(job, kind="built")
    assert judged(job).outcome == "failed"


def test_a_child_that_was_killed_is_not_believed_to_have_built(job: Job) -> None:
    report(job, kind="built")
    made = judged(job, End(-9, 1.0, said=b"too much memory"))
    assert made.outcome == "failed"
    assert made.message == "s.py: the module body was ended by SIGKILL\ntoo much memory"


def test_a_signal_without_a_name_has_a_number(job: Job) -> None:
    assert judged(job, End(-40, 1.0)).message == "s.py: the module body was ended by signal 40"


@pytest.mark.parametrize("error", [IndexError("odd"), ValueError("odd"), RecursionError("odd")])
def test_leavings_on_which_the_builder_fails_are_the_builds_fault(error: Exception) -> None:
    words = f"no sense of what it left .{type(error).__name__}: .*odd"
    with pytest.raises(BuildError, match=words), understanding():
        raise error


def test_a_full_disk_is_not() -> None:
    with pytest.raises(OSError, match="full"), understanding():
        raise OSError("full")


def test_a_build_that_did_not_end_keeps_what_it_made(job: Job, tmp_path: Path) -> None:
    library(tmp_path)
    manifest(job, library="calls/x.so")
    made = judged(job, End(-9, 9.0, stopped="it went on and on", idle=True))
    assert made.outcome == "deferred"
    assert made.manifest is not None
    assert made.manifest.libraries == ("calls/x.so",)


def test_libraries_are_bounded(job: Job, tmp_path: Path) -> None:
    os.truncate(library(tmp_path), 3 << 30)  # of holes
    manifest(job, library="calls/x.so")
    report(job, kind="built")
    assert judged(job).message == "s.py: its libraries take more than 2 GiB"
    assert judged(job, End(-9, 9.0, stopped="it went on", idle=True)).outcome == "failed"


def test_answers_that_are_nested_without_end_are_none(job: Job, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_bytes(b'{"inputs":' + b"[" * 100_000)
    assert judged(job, End(3, 1.0)).outcome == "failed"


@pytest.mark.parametrize(
    ("end", "says"),
    [
        (End(-9, 1.0, starved=True), ""),
        (End(0, 1.0, starved=True), "g++: fatal error: Killed signal terminated program cc1plus"),
    ],
)
def test_whom_the_kernel_killed_for_want_of_memory_is_not_to_blame(
    job: Job, tmp_path: Path, end: End, says: str
) -> None:
    if says:
        (tmp_path / "tools").mkdir()
        (tmp_path / "tools" / "cxx-1.log").write_text(says)
        report(job, kind="raised", traceback="RuntimeError: Error building extension")
    with pytest.raises(MachineError, match="memory ran out"):
        judged(job, end)
    assert judged(job, dataclasses.replace(end, starved=False)).outcome == "failed"


def test_a_failure_of_its_own_stays_one_while_others_starve(job: Job) -> None:
    report(job, kind="raised", error="ValueError: boom", traceback="ValueError: boom")
    assert judged(job, End(0, 1.0, starved=True)).message == "ValueError: boom"


def test_a_symbol_of_any_length_is_told(job: Job) -> None:
    report(job, kind="raised", error="e", traceback="undefined symbol: " + "_Z" * 200_000)
    assert judged(job).message.startswith("undefined symbol: _Z")
