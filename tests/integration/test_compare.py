"""``--kb-compare``: a session that must not fall behind an earlier one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from judged import Judge, judging

from pytest_kernelbench.build.extension import Extension
from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.cli import main
from pytest_kernelbench.engine.devices import find_device

PLACED = """
from dataclasses import replace

class PlacedEngine(FakeEngine):
    def judge(self, pair, extension):
        with open("earlier", "a") as file:
            path = pair.earlier.path if pair.earlier else "-"
            file.write(f"{pair.problem.number} {path}\\n")
        verdict = super().judge(pair, extension)
        name = pair_device()
        return replace(verdict, device=name, device_uuid="u", size="smoke", dtype="fp32")

def pair_device():
    from pytest_kernelbench.engine.devices import find_device
    return os.environ.get("FAKE_DEVICE") or find_device("cpu").name

def pytest_kernelbench_engine(settings):
    return PlacedEngine(settings)
"""


@pytest.fixture
def based(tree):
    """Records of three solutions, all at 2x."""
    path = tree.path / "conftest.py"
    path.write_text(path.read_text() + PLACED)
    for number in (1, 2, 3):
        tree.problem(f"level1/{number:03d}_p")
        tree.solution(f"ann/level1/{number:03d}_p", "fast 2 1.98 2.02")
    tree.run("solutions", "--kb-device=cpu", "--kb-json=base.jsonl")
    (tree.path / "earlier").unlink()
    return tree


ARGS = ["solutions", "--kb-device=cpu", "--kb-compare=base.jsonl"]


def test_nothing_changed(based) -> None:
    result = based.run(*ARGS)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["gate passed: slower than in base.jsonl *0 of 0, *; 3 unchanged"])
    assert (based.path / "earlier").read_text() == "1 -\n2 -\n3 -\n"


def test_a_slower_one_fails_the_session_but_not_its_item(based) -> None:
    based.solution("ann/level1/002_p", "right 1.5 1.48 1.52")
    result = based.run(*ARGS, "--kb-json=now.jsonl")
    result.assert_outcomes(passed=3)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "gate FAILED: speed of level1/002_p by ann: 0.75x (0.73 to 0.77) of before, below *",
            "gate FAILED: slower than in base.jsonl by more than 5 %: 1 of 1, *; 2 unchanged",
        ]
    )
    told = dict(line.split() for line in (based.path / "earlier").read_text().splitlines())
    assert "fast 2" in Path(told["2"]).read_text(), "the earlier source is judged against"
    assert based.run(*ARGS, "--kb-max-slowdown=40%").ret == 0
    assert based.run(*ARGS, "-n2").ret == pytest.ExitCode.TESTS_FAILED


def test_gone_on_with_and_compared_with(based) -> None:
    """One file for both: what has changed is held against what it was."""
    based.solution("ann/level1/002_p", "right 1.5 1.48 1.52")
    result = based.run(*ARGS, "--kb-resume=base.jsonl", "--kb-json=now.jsonl")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "gate FAILED: speed of level1/002_p by ann: 0.75x (0.73 to 0.77) of before, below *",
            "gate FAILED: slower than in base.jsonl by more than 5 %: 1 of 1, *; 2 unchanged",
            "* verdicts are of base.jsonl*",
        ]
    )


def test_the_same_from_records(based, capsys) -> None:
    based.solution("ann/level1/002_p", "right 1.5 1.48 1.52")
    based.run(*ARGS, "--kb-json=now.jsonl")
    now, base = (str(based.path / f"{name}.jsonl") for name in ("now", "base"))
    capsys.readouterr()
    assert main(["report", now, "--compare", base]) == 1
    assert "gate FAILED: speed of level1/002_p by ann: 0.75x" in capsys.readouterr().out
    assert main(["report", now, "--compare", base, "--max-slowdown", "40%"]) == 0
    assert main(["report", now, "--max-slowdown", "40%"]) == 2
    records = [json.loads(line) for line in Path(base).read_text().splitlines()]
    for record in records:
        record["device"] = "A100"
    Path(base).write_text("\n".join(map(json.dumps, records)))
    assert main(["report", now, "--compare", base]) == 2
    assert "its device was A100, and is" in capsys.readouterr().err


def test_an_earlier_source_that_is_gone_is_no_hindrance(based) -> None:
    records = [json.loads(line) for line in (based.path / "base.jsonl").read_text().splitlines()]
    for record in records:
        record.pop("source")
    (based.path / "base.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n")
    based.solution("ann/level1/002_p", "right 1.5 1.48 1.52")
    assert based.run(*ARGS).ret == pytest.ExitCode.TESTS_FAILED
    assert "2 -" in (based.path / "earlier").read_text()


def test_an_earlier_source_that_still_lies_elsewhere(based) -> None:
    (based.path / "solutions").rename(based.path / "old")
    text = (based.path / "base.jsonl").read_text()
    (based.path / "base.jsonl").write_text(text.replace("/solutions/ann", "/old/ann"))
    for number in (1, 2, 3):
        based.solution(f"ann/level1/{number:03d}_p", "fast 2.1 2.0 2.2")
    assert based.run(*ARGS).ret == 0
    assert f"2 {based.path}/old/ann/level1/002_p.py" in (based.path / "earlier").read_text()


REFUSED = [
    (["--kb-dtype=bf16"], "*base.jsonl cannot be compared with: its dtype was fp32, and is bf16*"),
    (["--kb-size=full"], "*cannot be compared with: its size was smoke, and is full now*"),
    (["--kb-build-only"], "--kb-build-only and --kb-compare exclude each other*"),
    (["--kb-max-slowdown=5"], "--kb-max-slowdown: '5' is neither a percentage, as in 5%, nor *"),
]


@pytest.mark.parametrize(("args", "message"), REFUSED)
def test_refused(based, args: list[str], message: str) -> None:
    result = based.run(*ARGS, *args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])


def test_refused_on_another_device_or_torch(based) -> None:
    text = (based.path / "base.jsonl").read_text()
    device = find_device("cpu").name
    (based.path / "base.jsonl").write_text(text.replace(device, "NVIDIA A100"))
    result = based.run(*ARGS)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *its device was NVIDIA A100, and is *"])
    records = [json.loads(line) for line in text.splitlines()]
    for record in records:
        record["provenance"]["torch"] = "1.0"
    (based.path / "base.jsonl").write_text("\n".join(map(json.dumps, records)))
    based.run(*ARGS).stderr.fnmatch_lines(["ERROR: *its torch was 1.0, and is *"])


TWICE = """
import time
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        time.sleep(0.05)
        return x * 2
def get_inputs():
    return [torch.randn(128, 128)]
def get_init_inputs():
    return []
"""
NEW = TWICE.replace("class Model(", "class ModelNew(").split("def get_inputs")[0]
SLOW = NEW.replace("return", "time.sleep(0.2)\n        return")
GONE = NEW.replace("return x * 2", "raise RuntimeError('no more')")


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    folder = tmp_path_factory.mktemp("judge")
    with judging(folder, correctness_only=False, budget_s=0.05, seeds=1) as made:
        made.referee._controlled = True  # no A/A control: it is slow where others are at work
        yield made


@pytest.mark.parametrize(
    ("now", "earlier", "built"), [(SLOW, NEW, True), (NEW, GONE, True), (NEW, SLOW, False)]
)
def test_timed_in_turns_with_its_earlier_source(
    judge: Judge, tmp_path: Path, now: str, earlier: str, *, built: bool
) -> None:
    """For real, on the CPU."""
    for name, text in (("problem", TWICE), ("now", now), ("earlier", earlier)):
        (tmp_path / f"{name}.py").write_text(text)
    nothing = Extension(tmp_path, tmp_path / "log", 0.0, cached=True)
    (tmp_path / "manifest.json").write_text('{"calls": {}}')
    pair = Pair(
        Problem(tmp_path / "problem.py", 1, 1, "twice"),
        Solution(tmp_path / "now.py", "ann"),
        Solution(tmp_path / "earlier.py", "ann"),
    )
    extension = replace(nothing, earlier=tmp_path) if built else nothing
    verdict = judge.referee.judge(pair, extension)
    assert verdict.status.right, verdict.reasons
    if (now, built) == (SLOW, True):
        assert verdict.previous is not None
        assert verdict.previous.high < 0.9
    else:
        assert verdict.previous is None
        (note,) = [note for note in verdict.notes if note.startswith("not timed against its ea")]
        assert ("no more" in note) is built
