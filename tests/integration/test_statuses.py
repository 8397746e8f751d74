"""Each status, as pytest reports it."""

from __future__ import annotations

import re

import pytest

from pytest_kernelbench.verdict import Status

FAILED = [
    status
    for status in Status
    if status.value.startswith("wrong_")
    or status
    in (
        Status.UNSTABLE,
        Status.ALTERED_INPUTS,
        Status.CRASHED,
        Status.RAISED,
        Status.TIMED_OUT,
        Status.OUT_OF_MEMORY,
    )
]
BY_OUTCOME = {
    "passed": [Status.FAST, Status.RIGHT, Status.NOT_A_KERNEL],
    "failed": FAILED,
    "errors": [Status.NOT_BUILT, Status.BAD_PROBLEM, Status.NOT_JUDGED],
    "skipped": [Status.SKIPPED],
}
OUTCOME = {status: outcome for outcome, some in BY_OUTCOME.items() for status in some}


def test_every_status_has_an_outcome() -> None:
    assert set(OUTCOME) == set(Status)


@pytest.fixture
def one(tree):
    """A problem; ``one(fake, *args)`` runs its only solution."""
    tree.problem("level1/001_relu")

    def run(fake: str, *args: str, body: str = "") -> pytest.RunResult:
        tree.solution("ann/level1/001_relu", fake, body)
        return tree.run("solutions", "-rA", *args)

    return run


@pytest.mark.parametrize("status", Status)
def test_outcome(one, status: Status) -> None:
    result = one(status.value)
    result.assert_outcomes(**{OUTCOME[status]: 1})
    assert result.ret == (OUTCOME[status] in ("failed", "errors"))


@pytest.mark.parametrize(
    ("fake", "outcome", "message"),
    [
        ("not_built", "errors", "not_built: level1/001_relu by ann: solution.py:3: error: *"),
        (
            "missing",
            "skipped",
            "SKIPPED ?1? solutions/ann/level1/001_relu.py:1: module tilelang is not installed here",
        ),
        ("bad_problem", "errors", "bad_problem: * its output hardly depends on its inputs"),
        ("not_judged", "errors", "not_judged: * the device was lost"),
        ("bug", "errors", "not_judged: * the judge itself failed: ZeroDivisionError: *"),
        ("wrong_value", "failed", "wrong_value: level1/001_relu by ann: it says so (wrong_value)"),
    ],
)
def test_messages(one, fake: str, outcome: str, message: str) -> None:
    result = one(fake)
    result.assert_outcomes(**{outcome: 1})
    result.stdout.fnmatch_lines([message])
    assert result.stdout.str().count("Traceback") == (fake == "bug"), "only of our own bugs"


def test_a_build_error_shows_its_lines_and_its_log(one) -> None:
    one("not_built").stdout.fnmatch_lines(
        [
            "*ERROR at setup of test_kernel?level1/001_relu?*",
            "*error: expected ';'",
            "      int x = 1",
            "whole output: /log/build",
        ]
    )


WORDS = [
    ("fast 1.84", [], "PASSED 1.84x"),
    ("right 0.9", [], "PASSED 0.90x"),
    ("right", [], "PASSED"),
    ("right 0.84 0 1.1", [], "PASSED no speedup"),
    ("right 1.84 0 1.9", ["--kb-p=1.5"], "FAILED no speedup"),
    ("not_a_kernel 1.5", [], "PASSED 1.50x not_a_kernel"),
    ("right 1.2 1.1 1.3", ["--kb-p=1.5"], "FAILED 1.20x"),
    ("not_a_kernel 24.4", ["--kb-strict"], "FAILED not_a_kernel"),
    ("not_a_kernel 1.2 1.1 1.3", ["--kb-p=1.5"], "FAILED 1.20x"),
    ("raised", [], "FAILED raised"),
    ("not_built", [], "ERROR not_built"),
    ("skipped", [], "SKIPPED"),
]


@pytest.mark.parametrize(("fake", "args", "word"), WORDS)
def test_terminal_words(one, fake: str, args: list[str], word: str) -> None:
    lines = one(fake, "-v", *args).outlines
    line = next(line for line in lines if line.startswith("solutions/ann"))
    assert re.sub(r" +\[100%\]$", "", line).endswith("] " + word)


@pytest.mark.parametrize(
    ("fake", "p", "passed"),
    [
        ("fast 1.6 1.55 1.65", ["--kb-p=1.5"], True),
        ("right 1.52 1.43 1.60", ["--kb-p=1.5"], False),
        ("right 1.2 1.1 1.3", [], True),
        ("right 1.2 1.1 1.3", ["--kb-p=1"], True),
        ("right 1.2 1.1 1.3", ["--kb-p=1", "--kb-p=2"], False),
        ("right 0.1 0.1 0.2", ["--kb-p=0"], True),
        ("right", ["--kb-p=1"], False),
        ("not_a_kernel 2", ["--kb-p=1"], True),
        ("not_a_kernel 0.5", ["--kb-p=1"], False),
        ("right 1.2 1.1 1.3", ["--kb-p=2", "--kb-fail-under=0"], True),
    ],
)
def test_kb_p(one, fake: str, p: list[str], *, passed: bool) -> None:
    one(fake, *p).assert_outcomes(passed=int(passed), failed=int(not passed))


def test_kb_p_in_words(one) -> None:
    one("right 1.48 1.43 1.52", "--kb-p=1.5").stdout.fnmatch_lines(
        ["*: right, but 1.48x (1.43 to 1.52) against eager, not shown to be above 1.5"]
    )


def test_strict_fails_what_only_ran_library_kernels(one) -> None:
    one("not_a_kernel 2").assert_outcomes(passed=1)
    result = one("not_a_kernel 2", "--kb-strict")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["not_a_kernel: level1/001_relu by ann: *", "*fast_0 0.000*"])


def test_build_only_judges_nothing(one) -> None:
    result = one("wrong_value", "--kb-build-only")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["built 1 of 1; nothing was judged"])
    result = one("not_built", "--kb-build-only")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["built 0 of 1; nothing was judged"])


def test_correctness_only_has_no_times(one) -> None:
    result = one("right 3", "--kb-correctness-only")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*right, no speedup: 1"])


def test_a_skip_of_the_users_is_a_status_too(one, tree) -> None:
    hook = "\ndef pytest_collection_modifyitems(items):\n    items[0].add_marker('skip')\n"
    path = tree.path / "conftest.py"
    path.write_text(path.read_text() + hook)
    result = one("right")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*skipped: 1"])


def test_a_failing_fixture_of_the_users_is_not_held_against_the_solution(one, tree) -> None:
    broken = "\nimport pytest\n@pytest.fixture\ndef judge():\n    raise OSError('no disk')\n"
    path = tree.path / "conftest.py"
    path.write_text(path.read_text() + broken)
    result = one("right")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*not_judged: 1"])


def test_engine_hears_of_all_pairs_and_is_closed(one, tree) -> None:
    one("right")
    assert (tree.path / "ahead").read_text() == "level1/001_relu"
    assert (tree.path / "closed").exists()


def test_without_pytest_benchmark(one) -> None:
    one("fast 2", "-p", "no:benchmark").assert_outcomes(passed=1)


def test_setup_plan_and_fixtures_run_nothing(one, tree) -> None:
    one("right", "--setup-plan").stdout.fnmatch_lines(["*SETUP*F verdict*"])
    assert not (tree.path / "ahead").exists()
    one("right", "--fixtures").stdout.fnmatch_lines(["verdict -- *fixtures.py:*"])
    one("right", "--markers").stdout.fnmatch_lines(["@pytest.mark.kernel(level, number, *"])


SHOWS = ["--fixtures", "--fixtures-per-test", "--markers", "--collect-only", "--setup-plan"]


@pytest.mark.parametrize("option", [*SHOWS, "--setup-only", "--cache-show"])
def test_who_only_asks_hears_of_no_verdicts(one, option: str) -> None:
    result = one("right", option)
    assert result.ret == pytest.ExitCode.OK
    assert not any("= kernelbench =" in line for line in result.outlines)
    assert "have no verdict" not in result.stdout.str()
