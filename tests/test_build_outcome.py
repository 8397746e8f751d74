"""What a build child's end means."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from pytest_kernelbench.build import outcome
from pytest_kernelbench.build.job import Job
from pytest_kernelbench.build.process import End
from pytest_kernelbench.build.recorder import _OF_TORCH
from pytest_kernelbench.build.toolchain import find_toolchain
from pytest_kernelbench.errors import MachineError

if TYPE_CHECKING:
    from pathlib import Path

TOOLS = find_toolchain({"PATH": "/usr/bin"})
ENDED = End(0, 1.0)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A work folder with a manifest and an empty log."""
    solution = tmp_path / "s.py"
    solution.write_text("class ModelNew: pass\n")
    (tmp_path / "build.log").write_text("")
    (tmp_path / "manifest.json").write_text(json.dumps({"calls": {}, "environment": {}}))
    return Job(str(solution), "ModelNew", str(tmp_path), {}, {})


def report(job: Job, **fields: Any) -> None:
    with open(f"{job.folder}/report.json", "w") as file:  # noqa: PTH123
        json.dump(fields, file)


def manifest(job: Job, **call: Any) -> None:
    with open(f"{job.folder}/manifest.json", "w") as file:  # noqa: PTH123
        json.dump({"calls": {"k": {"name": "x", **call}}, "environment": {}}, file)


def judged(job: Job, end: End = ENDED) -> outcome.Outcome:
    return outcome.judge_child(job, end, TOOLS)


def test_built(job: Job, tmp_path: Path) -> None:
    (tmp_path / "x.so").write_bytes(b"elf")
    manifest(job, library="x.so")
    report(job, kind="built", inputs=["k.cu"])
    made = judged(job)
    assert (made.outcome, made.libraries, made.inputs) == ("built", ("x.so",), ("k.cu",))


@pytest.mark.parametrize("library", ["../other/x.so", "/etc/passwd", "none.so"])
def test_a_manifest_that_names_something_else_is_none(job: Job, library: str) -> None:
    manifest(job, library=library)
    report(job, kind="built")
    assert judged(job).outcome == "failed"


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


def test_a_child_that_cries_for_a_full_disk_is_not_believed(job: Job, tmp_path: Path) -> None:
    (tmp_path / "build.log").write_text("No space left on device")
    report(job, kind="raised", traceback="OSError: No space left on device")
    assert judged(job).outcome == "failed"


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


def test_of_many_logs_the_first_are_read(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    for number in range(6):
        text = f"a{number}.cpp:1:1: error: x\n" + "a\n" * (1 << 19)
        (tmp_path / f"tools/c-{number}.log").write_text(text)
    text = outcome._tool_logs(tmp_path)
    assert text.startswith("a0.cpp")
    assert len(text) < (4 << 20) + 10


def test_a_symbol_of_any_length_is_told(job: Job) -> None:
    report(job, kind="raised", error="e", traceback="undefined symbol: " + "_Z" * 200_000)
    assert judged(job).message.startswith("undefined symbol: _Z")
