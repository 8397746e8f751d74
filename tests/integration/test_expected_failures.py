"""Solutions that are there to fail: passing is their failure."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def sorted_out(tree):
    """As kernelbots lay out their examples: correct/ and wrong/."""
    tree.problem("level1/001_relu", "level1/002_tanh", "level1/003_gelu", "level1/004_elu")
    tree.solution("ann/correct/level1/001_relu", "fast 2")
    tree.solution("ann/wrong/level1/001_relu", "wrong_value")
    tree.solution("ann/wrong/level1/002_tanh", "not_built")
    return tree


@pytest.mark.parametrize("xdist", [[], ["-n2"]], ids=["alone", "xdist"])
def test_what_fails_as_expected_is_no_failure(sorted_out, xdist: list[str]) -> None:
    result = sorted_out.run("solutions", "--kb-expect-failure=wrong", "--kb-json=v.jsonl", *xdist)
    result.assert_outcomes(passed=1, xfailed=2)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        ["meant to fail: 2, of which 0 were right; none of them is scored", "  ann/correct *"]
    )
    result.stdout.no_fnmatch_line("  ann/wrong *")
    records = map(json.loads, (sorted_out.path / "v.jsonl").read_text().splitlines())
    assert sorted(record["status"] for record in records) == ["fast", "not_built", "wrong_value"]


def test_what_is_right_though_it_must_fail_is_a_failure(sorted_out) -> None:
    sorted_out.solution("ann/wrong/level1/003_gelu", "right 1")
    result = sorted_out.run("solutions", "--kb-expect-failure=wrong")
    result.assert_outcomes(passed=1, xfailed=2, failed=1)
    result.stdout.fnmatch_lines(["*--kb-expect-failure*", "meant to fail: 3, of which 1 were *"])


def test_a_machine_that_fails_is_nobodys_expectation(sorted_out) -> None:
    sorted_out.solution("ann/wrong/level1/003_gelu", "not_judged")
    sorted_out.solution("ann/wrong/level1/004_elu", "missing")
    result = sorted_out.run("solutions", "--kb-expect-failure=wrong")
    result.assert_outcomes(passed=1, xfailed=2, errors=1, skipped=1)


def test_in_the_ini_file_and_by_pattern(sorted_out) -> None:
    text = (sorted_out.path / "pytest.toml").read_text()
    sorted_out.write("pytest.toml", text + 'kb_expect_failure = ["wro*", "*_gelu.py"]\n')
    sorted_out.solution("bob/level1/003_gelu", "raised")
    sorted_out.run("solutions").assert_outcomes(passed=1, xfailed=3)


def test_rows_of_an_archive_that_must_fail(sorted_out) -> None:
    row = {"level": 1, "problem_id": 3, "code": "# fake: wrong_shape\nclass ModelNew: pass\n"}
    sorted_out.write("wrong/rows.jsonl", json.dumps(row) + "\n")
    result = sorted_out.run("wrong/rows.jsonl", "--kb-expect-failure=wrong")
    result.assert_outcomes(xfailed=1)
    assert result.ret == pytest.ExitCode.OK
