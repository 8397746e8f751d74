"""Gates over the whole session, and sessions in which a verdict is missing."""

from __future__ import annotations

import pytest


@pytest.fixture
def levels(tree):
    """Level 1: two of four are fast (one of them 3x); level 2: none of one."""
    tree.problem(*(f"level1/{n:03d}_p" for n in range(1, 5)), "level2/001_q")
    tree.solution("ann/level1/001_p", "fast 3")
    tree.solution("ann/level1/002_p", "fast 1.5")
    tree.solution("ann/level1/003_p", "right 1.0")
    tree.solution("ann/level2/001_q", "right 0.5")
    return tree


@pytest.mark.parametrize(
    ("args", "ret", "lines"),
    [
        ([], 0, []),
        (
            ["--kb-level=1", "--kb-fail-under=0.5"], 0,
            ["gate passed: fast_1 on level 1, ann: 0.500, at least 0.5 (n = 4)"],
        ),
        (
            ["--kb-level=1", "--kb-fail-under=0.51"], 1,
            ["gate FAILED: fast_1 on level 1, ann: 0.500, below 0.51 (n = 4)"],
        ),
        (["--kb-level=1", "--kb-fail-under=.25", "--kb-p=2"], 0, ["*fast_2 *: 0.250, at least*"]),
        (["--kb-level=1", "--kb-fail-under=.26", "--kb-p=1,2"], 1, ["*fast_2*below 0.26*"]),
        (["--kb-fail-under=0.5"], 1, ["gate passed: *level 1*", "gate FAILED: *level 2, ann*"]),
        (["--kb-fail-under=1:0.5,2:0"], 0, ["gate passed: *level 1*", "gate passed: *level 2*"]),
        (["--kb-fail-under=0", "--kb-fail-under=1:0.9"], 1, ["gate FAILED: *level 1*below 0.9*"]),
        (["--kb-fail-under=2:0", "--kb-level=1,2"], 0, ["gate passed: *level 2*"]),
        (["--kb-problem=1/1", "--kb-fail-under=1"], 0, ["*: 1.000, at least 1 (n = 1)"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("quiet", [[], ["-q"]], ids=["", "q"])
def test_gate(levels, quiet: list[str], args: list[str], ret: int, lines: list[str]) -> None:
    result = levels.run("solutions", *quiet, *args)
    assert result.parseoutcomes().get("failed", 0) == 0, "a slow pair does not fail by itself"
    assert result.ret == ret
    result.stdout.fnmatch_lines(lines)


def test_a_gate_masks_no_other_failure(levels) -> None:
    levels.solution("ann/level1/004_p", "not_built")
    result = levels.run("solutions", "--kb-fail-under=0")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result = levels.run("solutions", "--kb-fail-under=1", "-x")
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_level_asked_for_by_name_counts_for_those_who_left_it_out(levels) -> None:
    levels.solution("bob/level1/001_p", "fast 2")
    result = levels.run("solutions", "--kb-level=1,2", "--kb-fail-under=2:0")
    result.stdout.fnmatch_lines(["level 2*", "  ann*", "  bob * 1 *0/0 *0/0 *", "*missing: 1"])
    result = levels.run("solutions")
    assert sum(line.startswith("  bob") for line in result.outlines) == 1


@pytest.mark.parametrize("quiet", [[], ["-q"], ["-n2"]], ids=["", "q", "n2"])
def test_a_level_that_only_a_gate_names_counts_for_everybody(levels, quiet: list[str]) -> None:
    levels.solution("bob/level1/001_p", "fast 2")
    (levels.path / "solutions/ann/level2/001_q.py").unlink()
    result = levels.run("solutions", *quiet, "--kb-fail-under=2:0.9")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "level 2*", "  ann *1 *0/0*", "*missing: 1", "  bob *1 *0/0*", "*missing: 1",
            "  1 ann *5 *", "  2 bob *5 *",
            "gate FAILED: fast_1 on level 2, ann: 0.000, below 0.9 (n = 1)",
            "gate FAILED: fast_1 on level 2, bob: 0.000, below 0.9 (n = 1)",
        ]
    )  # fmt: skip


@pytest.mark.parametrize("gate", ["0.9", "1:0.9"])
def test_a_gate_says_a_line_though_nobody_is_scored(tree, gate: str) -> None:
    tree.problem("level1/001_p")
    tree.solution("cheats/level1/001_p", "wrong_value")
    result = tree.run("solutions", "--kb-expect-failure=cheats", f"--kb-fail-under={gate}")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["gate FAILED: fast_1*: no solution is scored, at least 0.9 is *"])


def test_gates_under_xdist(levels) -> None:
    result = levels.run("solutions", "-n2", "--kb-level=1", "--kb-fail-under=0.51")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["gate FAILED: fast_1 on level 1, ann: 0.500, below 0.51*"])


LOSING = """
import pytest

@pytest.hookimpl(wrapper=True)
def pytest_runtest_logreport(report):
    if "002_p" in report.nodeid:
        report.__dict__.pop("kernelbench", None)
    return (yield)

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart(nodeid):
    pass
"""


def test_a_pair_without_a_verdict_fails_the_session(levels) -> None:
    path = levels.path / "conftest.py"
    path.write_text(path.read_text() + LOSING)
    result = levels.run("solutions")
    result.assert_outcomes(passed=4)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["1 of 4 pairs collected have no verdict:", "  solutions/ann/level1/002_p.py::test_kernel*"]
    )


def test_an_interrupted_session_says_what_was_not_judged(levels) -> None:
    levels.solution("ann/level1/001_p", "wrong_value")
    result = levels.run("solutions", "-x")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["3 of 4 pairs collected have no verdict:"])


def test_at_k(levels) -> None:
    for sample, fake in enumerate(["raised", "raised", "fast 2"], start=1):
        levels.solution(f"ann/level1/003_p_sample{sample}", fake)
    result = levels.run("solutions", "--kb-level=1", "--kb-at-k=1,2")
    # Problem 4 has no sample and counts 0; at k = 2 problems 1 and 2 have too few.
    result.stdout.fnmatch_lines(
        [
            "    pass@1 0.625, fast_1@1 0.562, fast_2@1 0.250 (n=4)",
            "    pass@2 0.417, fast_1@2 0.250, fast_2@2 0.000 (n=2, 2 have fewer samples)",
        ]
    )


def test_the_summary_fits_80_columns(levels) -> None:
    levels.solution("a-model-with-a-very-long-name/run-1/level1/001_p", "fast 123.4")
    result = levels.run("solutions", "--kb-p=1.5", "--kb-fail-under=0.1", "-p", "no:benchmark")
    start = next(i for i, line in enumerate(result.outlines) if "= kernelbench =" in line)
    block = result.outlines[start + 1 :]
    end = next(i for i, line in enumerate(block) if line.startswith(("gate", "=")))
    assert max(map(len, block[:end])) <= 80
    assert any(line.startswith("  ~") and "/run-1 " in line for line in block[:end])


def test_limits_of_single_levels_in_the_ini_file(levels) -> None:
    levels.write(
        "pytest.toml",
        '[pytest]\naddopts = ["-p", "no:hypothesispytest"]\nkb_fail_under = ["1:0.9", "2:0"]\n',
    )
    result = levels.run("solutions")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["gate FAILED: fast_1 on level 1, ann: 0.500, below 0.9*", "gate passed: *level 2, ann*"]
    )


@pytest.mark.parametrize(
    ("p", "line"),
    [
        ("0.4", "gate passed: right and shown to be above 0.4x: 4 of 4, each must be"),
        ("2", "gate FAILED: right and shown to be above 2x: 1 of 4, each must be"),
    ],
)
def test_what_is_asked_of_each_pair_is_a_gate_too(levels, p: str, line: str) -> None:
    result = levels.run("solutions", f"--kb-p={p}")
    result.stdout.fnmatch_lines([line])
    assert (result.ret != 0) is ("FAILED" in line)


@pytest.mark.parametrize(("colour", "red"), [("no", False), ("yes", True), ("auto", False)])
def test_colour_only_on_a_terminal(levels, colour: str, *, red: bool) -> None:
    result = levels.run("solutions", "--kb-fail-under=1", f"--color={colour}")
    gate = next(line for line in result.outlines if "gate FAILED" in line)
    assert gate.startswith("\x1b[31m") is red
    assert "\x1b" not in next(line for line in result.outlines if line.startswith("level 1"))


@pytest.mark.parametrize("args", [["-q"], ["-v"], ["--tb=no"], ["-q", "-q"], ["-n2"]])
def test_the_summary_is_there_however_quiet(levels, args: list[str]) -> None:
    levels.run("solutions", *args).stdout.fnmatch_lines(
        ["*= kernelbench =*", "level 1 *fast_1*", "  ann * 4 *3/3 *3/3   0.500   0.250 *"]
    )
