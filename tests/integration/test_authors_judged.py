"""The whole loop on this processor: answers over the wire, judged for real, down to the tables.

Nothing is compiled: the answers are PyTorch programs that are right, wrong, broken or empty.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scripted_server import Answer, Step, serve

from pytest_kernelbench.authors.feedback import KINDS, feedback
from pytest_kernelbench.authors.texts import Texts
from pytest_kernelbench.cli import main
from pytest_kernelbench.library import Judge
from pytest_kernelbench.question import Question
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Status

pytest.importorskip("openai")
pytestmark = pytest.mark.slow

PROBLEM = """
import torch
from torch import nn

ROWS, COLS = 64, 256


class Model(nn.Module):
    def forward(self, x):
        return {expression}


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return []
"""
ANSWER = """Here you are.

```python
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        return {expression}
```
"""
STUDY = """
problem_roots = ["problems"]
[judge]
device = "cpu"
size = "smoke"
seeds = 2
correctness_only = true
[[model]]
name = "scripted"
base_url = "{url}"
concurrency = 2
[[arm]]
name = "sampled"
samples = 2
examples = "none"
[[arm]]
name = "repaired"
turns = 2
until = "right"
examples = "none"
"""
RIGHT = ANSWER.format(expression="x.clamp(min=0)")
WRONG = ANSWER.format(expression="x.clamp(min=0) + 0.5")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    # No time is asserted, so nobody who times on this processor needs to be waited for.
    monkeypatch.setenv("KB_LEASE_DIR", str(tmp_path / "leases"))
    for name, expression in (("001_relu", "torch.relu(x)"), ("002_square", "x * x")):
        path = Path(f"problems/level1/{name}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PROBLEM.format(expression=expression))
    return tmp_path


class Model:
    """Does not know squares at first; mends a wrong ReLU once it is told where it differs."""

    def __init__(self) -> None:
        self.answers = 0

    def __call__(self, request: dict[str, Any], _: int) -> Step:
        messages = request["messages"]
        told = messages[-1]["content"] if len(messages) > 1 else ""
        if "x * x" in messages[0]["content"]:
            return Answer(
                "I would rather not." if not told else ANSWER.format(expression="x.pow(2)")
            )
        if told:
            assert "elements differ" in told
            assert "expected" not in told
            return Answer(RIGHT)
        self.answers += 1
        return Answer(RIGHT if self.answers == 1 else WRONG)


DUE = "4242"
SIGNS = PROBLEM.format(expression="torch.where(x > 0, 4242.5, -4242.5)")
SOLUTION = """
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        {body}
"""
AS_DUE = "torch.where(x > 0, 4000.5, -4000.5) * (8485 / 8001)"
FAULTS = {
    Status.WRONG_VALUE: "return torch.where(x > 0, 4000.5, -4000.5)",
    Status.WRONG_SHAPE: "return torch.where(x > 0, 4000.5, -4000.5).flatten()",
    Status.WRONG_DTYPE: "return torch.where(x > 0, 4000.5, -4000.5).double()",
    Status.ALTERED_INPUTS: f"y = {AS_DUE}; x.neg_(); return y",
    Status.RAISED: "raise ValueError(x.shape)",
    Status.CRASHED: "import os; os.abort()",
    Status.NOT_A_KERNEL: f"return {AS_DUE}",
}


def test_no_feedback_holds_what_is_due(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_LEASE_DIR", str(tmp_path / "leases"))
    settings = Settings(cache_dir=tmp_path, device="cpu", seeds=2, correctness_only=True)
    with Judge(settings) as judge:
        ended = {
            status: judge.judge(Question(SIGNS, SOLUTION.format(body=body)))
            for status, body in FAULTS.items()
        }
    assert {status: verdict.status for status, verdict in ended.items()} == {s: s for s in FAULTS}
    wrong = ended[Status.WRONG_VALUE]
    assert DUE in "".join((*wrong.reasons, wrong.detail)), "the judge itself knows"
    for verdict in ended.values():
        text = feedback(verdict, KINDS, Texts())
        assert DUE not in text
        assert "expected" not in text
        assert "seed" not in text
    assert "got" in feedback(wrong, KINDS, Texts())
    assert "| aten::where |" in feedback(ended[Status.NOT_A_KERNEL], ("profile",), Texts())


def test_sample_judge_refine_and_sum_up(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(Model()) as server:
        (home / "loop.toml").write_text(STUDY.format(url=server.url))
        assert main(["study", "loop.toml"]) == 0
        asked = len(server.requests)
        first = json.loads(Path("loop/report.json").read_text())
        assert main(["study", "loop.toml"]) == 0
        assert len(server.requests) == asked
    assert json.loads(Path("loop/report.json").read_text()) == first
    out = capsys.readouterr().out
    assert "execution: it was built" in out

    scores, right, _, _, ends = first["tables"]
    by_arm = {row[1]: row for row in scores["rows"]}
    assert by_arm["scripted/sampled"][2:4] == ["2", "0.250"]
    assert by_arm["scripted/repaired"][2:4] == ["2", "1.000"]
    assert right["rows"] == [
        ["scripted/sampled", "0.250", "0.500"],
        ["scripted/repaired", "0.000", "1.000"],
    ]
    columns = dict(zip(ends["header"], ends["rows"][0], strict=True))
    assert (columns["not built"], columns["wrong result"]) == ("2", "1")
    lines = Path("loop/solutions/scripted/repaired/.turns/level1/002_square_sample0.jsonl")
    _, unbuilt, built = [json.loads(line) for line in lines.read_text().splitlines()]
    assert "the answer holds no code" in unbuilt["verdict"]["reasons"][0]
    assert "the answer holds no code" in unbuilt["feedback"]
    assert built["verdict"]["agreed"]
