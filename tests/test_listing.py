from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kernelbench.catalog.family import family
from pytest_kernelbench.catalog.problems import ProblemCatalog
from pytest_kernelbench.judge import audit
from pytest_kernelbench.judge.census import measure_size
from pytest_kernelbench.judge.facts import read_facts
from pytest_kernelbench.judge.listing import add_arguments, problems_command

PROBLEMS = Path(__file__).parents[1] / "problems"
RELU = PROBLEMS / "level1" / "019_relu.py"
FACTS = Path(__file__).parent / "data" / "problem_facts.jsonl"


def command(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return problems_command(parser.parse_args(arguments))


def test_families_are_those_of_the_facts() -> None:
    facts = read_facts(FACTS)
    found = {
        (each.level, each.number): family(each) for each in ProblemCatalog([PROBLEMS]).problems
    }
    assert found == {key: known.family for key, known in facts.items()}


def test_size_of_a_matrix_product() -> None:
    size = measure_size(PROBLEMS / "level1" / "002_standard_matrix_multiplication.py")
    m, k, n = 2048, 8192, 4096
    assert size.input_shapes == ((m, k), (k, n))
    assert size.output_shapes == ((m, n),)
    assert size.flops == 2 * m * k * n
    assert size.moved_bytes == 4 * (m * k + k * n + m * n)
    assert size.intensity == pytest.approx(585.14, abs=0.01)


def test_parameters_are_moved_too() -> None:
    size = measure_size(PROBLEMS / "level1" / "067_conv_standard_1d.py")
    (batch, channels, length), (_, out, shorter) = *size.input_shapes, *size.output_shapes
    assert size.moved_bytes == 4 * (
        batch * channels * length + size.parameters + batch * out * shorter
    )


def test_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    level = tmp_path / "level1"
    level.mkdir()
    name = "019_relu.py"
    (level / name).write_text((PROBLEMS / "level1" / name).read_text())
    (level / "020_broken.py").write_text("x = 1")
    assert command(str(tmp_path)) == 1
    header, relu, broken, summary = capsys.readouterr().out.splitlines()
    assert header.split()[:3] == ["problem", "family", "parameters"]
    assert relu.split() == [
        "level1/019_relu",
        "activation",
        *("0", "0.0", "12.885", "0.00", "4096x393216", "->", "4096x393216"),
    ]
    assert "does not run" in broken
    assert "defines no Model" in broken
    assert summary == "2 problems, 1 of which do not run"


def test_check_runs_the_proofs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    level = tmp_path / "level1"
    level.mkdir()
    name = "019_relu.py"
    (level / name).write_text((PROBLEMS / "level1" / name).read_text())
    assert command(str(tmp_path), "--check", "--device", "cpu", "--jobs", "1") == 0
    output = capsys.readouterr().out.splitlines()
    assert output[0] == "checking 1 problems at smoke size on cpu"
    assert output[1].startswith("ok    level1/019_relu")
    assert output[-1].startswith("1 problems: 1 ok, 0 failed")


def test_a_single_file_is_checked_and_held_to_the_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[audit.Request] = []

    def note(requests: list[audit.Request], *_: object) -> int:
        asked.extend(requests)
        return 0

    monkeypatch.setattr(audit, "run_audit", note)
    check = (str(RELU), "--check", "--size=smoke", "--device=cpu", "--jobs=1")
    assert command(*check) == command(*check, f"--facts={FACTS}") == 0
    known = audit.Request(RELU, "smoke", "cpu", read_facts(FACTS)[1, 19])
    assert asked == [replace(known, facts=None), known]


def test_two_files_of_one_number_are_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    level = tmp_path / "level1"
    level.mkdir()
    (level / "019_again.py").write_text(RELU.read_text())
    assert command(str(RELU), str(level / "019_again.py")) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 problems"


def test_reports_are_no_facts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = tmp_path / "facts.jsonl"
    facts.touch()
    assert command(str(RELU), "--check", f"--facts={facts}", f"--json={facts}") == 2
    assert f"--json would write over --facts {facts}" in capsys.readouterr().err


def test_reports_are_no_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    level = tmp_path / "level1"
    level.mkdir()
    file = level / "019_relu.py"
    file.write_text("x = 1")
    assert command(str(tmp_path), "--check", "--json", str(file)) == 2
    assert f"--json would write over problem {file}" in capsys.readouterr().err
    assert file.read_text() == "x = 1"


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(str(tmp_path / "none.py")) == 2
    assert "none.py" in capsys.readouterr().err


def test_nothing_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(str(tmp_path)) == 2
    assert "no problem found: searched" in capsys.readouterr().err
