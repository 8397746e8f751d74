"""Each proof must catch the problem it is about, and pass an honest one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.judge import audit as audit_module
from pytest_kernelbench.judge.audit import Request, audit, reports, run_audit
from pytest_kernelbench.judge.facts import contradictions, read_facts

FACTS = Path(__file__).parent / "data" / "problem_facts.jsonl"
PROBLEM = '''"""{title}."""

import torch
from torch import nn

ROWS = 4000
COLUMNS = 30

SMOKE = {{"ROWS": 50}}
{declarations}

class Model(nn.Module):
    def forward(self, x):
        {forward}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
'''


def problem(
    folder: Path,
    forward: str = "return torch.relu(x)",
    inputs: str = "torch.randn(ROWS, COLUMNS)",
    declarations: str = "",
    name: str = "019_relu",
) -> Path:
    path = folder / "level1" / f"{name}.py"
    path.parent.mkdir(exist_ok=True)
    text = PROBLEM.format(title=name, forward=forward, inputs=inputs, declarations=declarations)
    path.write_text(text)
    return path


def test_an_honest_problem_passes(tmp_path: Path) -> None:
    report = audit(Request(problem(tmp_path)))
    assert report.failures == ()
    assert report.moved is not None
    assert report.moved > 1
    assert report.forward_ms is not None
    assert str(report).startswith("ok    level1/019_relu  ")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"forward": "return torch.ones_like(x)"}, "another input seed moves the output by only 0"),
        ({"forward": "return 1 + 1e-3 * x"}, "another input seed moves the output by only 0.0014"),
        (
            {"forward": "return 1 + 1e-3 * x"},
            "its mean everywhere would pass as the output in fp16",
        ),
        ({"forward": "return 1e-9 + 0 * x"}, "the shuffled output would pass"),
        ({"forward": "return x * 0"}, "zeros would pass as the output in fp32"),
        ({"forward": "return x.clamp(-9, 9)"}, "input 0 itself would pass"),
        ({"forward": "return (x - 1).log()"}, "output is not finite"),
        ({"forward": "return 1e5 * x"}, "fp16 output is not finite"),
        ({"forward": "return 1e36 * x.exp()"}, "output is not finite for large inputs"),
        ({"forward": "return x.relu_()"}, "forward writes to input[0]"),
        (
            {"forward": "import os; return x * float(os.urandom(1)[0])"},
            "two runs under the same seeds disagree",
        ),
        ({"forward": "return (x + 1e5) - 1e5"}, "float32 rounding uses"),
        ({"forward": "return x @ x"}, "forward raised RuntimeError"),
        ({"declarations": 'SHAPES = [{"NONE": 1}]'}, "no constant NONE to override"),
        ({"declarations": 'DTYPES = ("fp8",)'}, "DTYPES holds 'fp8'"),
        ({"declarations": 'FAMILIES = ("huge",)'}, "FAMILIES holds 'huge'"),
        ({"declarations": "import os"}, "imports os"),
        ({"declarations": "half = 2"}, "module-level name half"),
        ({"declarations": "HALF = ROWS // 2"}, "HALF is derived at module level"),
        ({"inputs": "torch.randn(ROWS, COLUMNS).cuda()"}, "line 18: .cuda"),
    ],
)
def test_each_proof_catches_what_it_is_about(
    tmp_path: Path, change: dict[str, str], complaint: str
) -> None:
    report = audit(Request(problem(tmp_path, **change)))
    assert any(complaint in failure for failure in report.failures), report.failures
    assert str(report).startswith("FAIL  level1/019_relu")


def test_small_size_must_be_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_module, "SMOKE_LIMIT_BYTES", 5e6)
    path = problem(tmp_path, "return torch.relu(x.repeat(2_000, 1))[:50]")  # 12 MB
    assert audit(Request(path)).failures == ("SMOKE is too large: it needs over 5 MB",)


def test_random_forward_is_judged_under_its_seed(tmp_path: Path) -> None:
    path = problem(tmp_path, forward="return torch.dropout(torch.relu(x), 0.5, True)")
    assert audit(Request(path)).failures == ()


def test_scalar_output_is_no_constant(tmp_path: Path) -> None:
    loss = "return x.square().mean() * x.flatten()[0].abs().add(1)"
    assert audit(Request(problem(tmp_path, forward=loss))).failures == ()


def test_kernelbench_file_needs_no_layout(tmp_path: Path) -> None:
    path = problem(tmp_path)
    path.write_text(path.read_text().replace('SMOKE = {"ROWS": 50}', "rows = 3"))
    assert audit(Request(path)).failures == ()


def test_facts(tmp_path: Path) -> None:
    facts = read_facts(FACTS)[1, 19]
    found = " | ".join(contradictions(problem(tmp_path, name="019_rely"), facts))
    assert "file name: 019_rely, expected 019_relu" in found
    assert "inputs: [[[4000, 30], 'float32']], expected [[[4096, 393216], 'float32']]" in found
    gelu = problem(tmp_path, "return torch.nn.functional.gelu(x)", "torch.randn(4096, 393216)")
    assert list(contradictions(gelu, facts)) == [
        "operators: gelu runs 1 times, expected 0",
        "operators: relu runs 0 times, expected 1",
    ]


@pytest.mark.slow
def test_a_process_that_dies_fails_its_own_problem_only(tmp_path: Path) -> None:
    dying = problem(tmp_path, forward="import os; os._exit(1)", name="001_dying")
    paths = [dying, problem(tmp_path)]
    found = list(reports([Request(path) for path in paths], jobs=2))
    assert [report.name for report in found] == ["level1/001_dying", "level1/019_relu"]
    assert found[0].failures == ("the process died (signal or out of memory)",)
    assert found[1].failures == ()


def test_a_departure_overrules_the_fact_that_it_names(tmp_path: Path) -> None:
    facts = read_facts(FACTS)[1, 19]
    gelu = problem(tmp_path, "return torch.nn.functional.gelu(x)", "torch.randn(4096, 393216)")
    known = replace(facts, departures={"operators: relu": "another function"})
    assert list(contradictions(gelu, known)) == ["operators: gelu runs 1 times, expected 0"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "cannot read the facts of the problems: .*No such file"),
        ("{\n", "facts.jsonl:1: these are no facts of a problem: Input data was truncated"),
        ('{"level": 1}\n', "facts.jsonl:1: these are no facts of a problem: .*`number`"),
        ("\udcff", "cannot read the facts of the problems: .*utf-8"),
    ],
)
def test_facts_that_cannot_be_read(tmp_path: Path, text: str | None, complaint: str) -> None:
    path = tmp_path / "facts.jsonl"
    if text is not None:
        path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UsageError, match=complaint):
        read_facts(path)


def test_a_line_a_problem_and_a_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [problem(tmp_path), problem(tmp_path, "return x * 0", name="020_zero")]
    written = tmp_path / "reports.jsonl"
    assert run_audit([Request(path) for path in paths], json_path=written) == 1
    output = capsys.readouterr().out.splitlines()
    assert [line[:10] for line in output[:2]] == ["ok    leve", "FAIL  leve"]
    assert output[-1].startswith("2 problems: 1 ok, 1 failed, in ")
    assert len(written.read_text().splitlines()) == 2


def test_nothing_audited_is_nothing_proved(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_audit([]) == 1
    assert "0 problems" in capsys.readouterr().out
