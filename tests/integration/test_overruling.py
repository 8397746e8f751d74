"""What is typed against what stands in the ini file."""

from __future__ import annotations

import pytest

USAGE = pytest.ExitCode.USAGE_ERROR


@pytest.fixture
def project(tree):
    tree.problem("level1/001_relu", "level2/003_mix")
    tree.solution("ann/level1/001_relu", "right 0.9")
    tree.solution("ann/level2/003_mix", "right 0.9")
    return tree


def ini(tree, *lines: str) -> None:
    addopts = 'addopts = ["-p", "no:hypothesispytest"]'
    tree.write("pytest.toml", "\n".join(["[pytest]", addopts, *lines]))


@pytest.mark.parametrize(
    ("lines", "args", "told"),
    [
        (
            ['kb_p = ["2"]'],
            ["--kb-correctness-only"],
            "--kb-correctness-only: kb_p in * is not asked",
        ),
        (
            ['kb_p = ["2"]', "kb_budget = 1.0", 'kb_fail_under = ["1"]'],
            ["--kb-correctness-only"],
            "--kb-correctness-only: kb_p, kb_fail_under and kb_budget in pytest.toml are not asked",
        ),
        (
            ['kb_fail_under = ["1"]', 'kb_compare = "no.jsonl"', 'kb_max_slowdown = "0.1"'],
            ["--kb-correctness-only"],
            "--kb-correctness-only: kb_fail_under and kb_compare in pytest.toml are not asked",
        ),
        (
            ["kb_correctness_only = true"],
            ["--kb-p=0.5"],
            "--kb-p: kb_correctness_only in pytest.toml is not asked",
        ),
        (
            ['kb_level = ["1"]'],
            ["--kb-problem=2/3"],
            "--kb-problem: kb_level in pytest.toml is not asked",
        ),
        (
            ['kb_problem = ["1/1", "2/3"]'],
            ["--kb-level=2"],
            "--kb-level: kb_problem 1/1 in pytest.toml is not asked",
        ),
        (
            ['kb_fail_under = ["1:1", "2:0"]'],
            ["--kb-level=2"],
            "--kb-level: kb_fail_under 1:1 in pytest.toml is not asked",
        ),
        (
            ['kb_p = ["2"]', 'kb_fail_under = ["1:1"]'],
            ["--kb-problem=2/3"],
            "--kb-problem: kb_fail_under 1:1 and kb_p in pytest.toml are not asked",
        ),
    ],
)
@pytest.mark.parametrize("quiet", [[], ["-q"]], ids=["", "quiet"])
def test_what_is_typed_wins_and_the_summary_says_so(
    project, lines: list[str], args: list[str], told: str, quiet: list[str]
) -> None:
    ini(project, *lines)
    result = project.run("solutions", *args, *quiet)
    assert result.ret == 0
    result.stdout.fnmatch_lines([told])


def test_a_build_is_not_timed(project) -> None:
    ini(project, 'kb_p = ["2"]')
    result = project.run("solutions", "--kb-build-only")
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["--kb-build-only: kb_p in pytest.toml is not asked"])


def test_with_xdist(project) -> None:
    ini(project, 'kb_p = ["2"]')
    result = project.run("solutions", "--kb-correctness-only", "-n1")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["--kb-correctness-only: kb_p in pytest.toml is not asked"])


@pytest.mark.parametrize(
    ("lines", "args", "message"),
    [
        ([], ["--kb-correctness-only", "--kb-p=1"], "--kb-correctness-only and --kb-p exclude *"),
        (
            ["kb_correctness_only = true", 'kb_p = ["1"]'],
            [],
            "kb_correctness_only in pytest.toml and kb_p in pytest.toml exclude each other: *",
        ),
        (
            ['kb_level = ["1"]', 'kb_problem = ["2/3"]'],
            [],
            "kb_problem 2/3 in pytest.toml lies outside of kb_level 1 in pytest.toml",
        ),
        (
            ['kb_level = ["1"]', 'kb_fail_under = ["2:1"]'],
            [],
            "kb_fail_under 2:... in pytest.toml: level 2 is not judged",
        ),
        (['kb_baseline = ["x"]'], [], "kb_baseline x in pytest.toml: unknown; there are *"),
        (['kb_engine = "x"'], [], "kb_engine x in pytest.toml: unknown; there are *"),
    ],
)
def test_refused_by_the_names_that_were_given(
    project, lines: list[str], args: list[str], message: str
) -> None:
    ini(project, *lines)
    result = project.run("solutions", *args)
    assert result.ret == USAGE
    result.stderr.fnmatch_lines([f"ERROR: {message}"])


def test_what_is_about_another_option_waits_for_it_in_the_ini_file(project) -> None:
    ini(project, 'kb_max_slowdown = "0.1"', "kb_foreign_baseline = true", 'kb_gpu = "H200"')
    project.run("solutions").assert_outcomes(passed=2)
