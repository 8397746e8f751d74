"""What a model hears, and what it must not."""

from __future__ import annotations

import pytest

from pytest_kernelbench.authors.feedback import LIMIT_CHARACTERS, check_kinds, feedback
from pytest_kernelbench.authors.texts import Texts
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.judge.comparison import Difference
from pytest_kernelbench.verdict import Measurement, Status, Verdict

EXECUTION = ("execution",)
BOTH = ("execution", "profile")


def verdict(status: Status, **more: object) -> Verdict:
    plain = {"solution": "solutions/m/x.py"} | more
    return Verdict(1, 19, "relu", "m", status=status, **plain)  # type: ignore[arg-type]


def said(status: Status, kinds: tuple[str, ...] = EXECUTION, **more: object) -> str:
    return feedback(verdict(status, **more), kinds, Texts())


MEASURED = Measurement("eager", 1.5, 1.4, 1.6, 150.0, 100.0, 1.0, 9, 90, floor_us=40.0)


def test_right_and_how_fast() -> None:
    text = said(Status.FAST, agreed=True, rounds=9, measurements=(MEASURED,))
    assert "right in all 9 rounds" in text
    assert "1.5 times as fast (95 % interval 1.4 to 1.6): 100 us a call against 150 us" in text
    assert "less than 40 us" in text
    assert "Make it faster" in text


@pytest.mark.parametrize("status", list(Status))
def test_every_status_has_words(status: Status) -> None:
    text = said(status, reasons=("because",))
    assert text.startswith("That solution was judged. It")
    assert "because" in text
    assert "complete file" in text
    assert "${" not in text


def test_what_differs_without_what_is_due() -> None:
    difference = Difference(
        elements=1000,
        wrong=7,
        first_index=(3, 4),
        got=0.25,
        expected=-17.125,
        max_abs=17.375,
        rms=2.0,
    )
    text = said(
        Status.WRONG_VALUE,
        reasons=(f"round 2 of 5: {difference}",),
        detail="elements [3, 3:9]\ngot      0.25  1\nexpected -17.125  1",
        notes=(f"finding: wrong for negative inputs: {difference}", "seed 12345 was drawn"),
    )
    assert "-17.125" not in text
    assert "expected" not in text
    assert "12345" not in text
    assert "7 of 1000 elements differ (0.7 %); first at [3, 4]: got 0.25; largest" in text
    assert "round 2 of 5" in text
    assert "got      0.25  1" in text
    assert "finding: wrong for negative inputs" in text


@pytest.mark.parametrize("number", [float("inf"), float("nan"), 1e-7, -3.0, 7])
def test_no_form_of_number_slips_through(number: float) -> None:
    difference = Difference(9, 1, (0,), got=1.5, expected=number, max_abs=1.0, rms=1.0)
    text = said(Status.UNSTABLE, reasons=(f"round 1: {difference}",))
    assert "expected" not in text
    assert (
        f"{number!r}" not in text.replace("1.5", "").partition("differ")[2].partition("largest")[0]
    )


def test_how_far_a_single_number_is_off_does_not_give_it_away() -> None:
    difference = Difference(1, 1, (), got=0.75, expected=0.5, max_abs=0.25, rms=0.5)
    detail = "got      0.75\nexpected 0.5"
    text = said(Status.WRONG_VALUE, reasons=(f"round 1 of 5: {difference}",), detail=detail)
    assert "0.75" not in text
    assert "1 of 1 elements differ (100 %); first at []; largest difference 0.25" in text


def test_compilers_keep_their_words() -> None:
    error = "x.py:3: error: expected ';' before 'int'"
    text = said(Status.NOT_BUILT, reasons=("it did not compile",), detail=error)
    assert error in text
    assert "could not be built" in text
    assert "Find the fault" in text


def test_a_solution_goes_by_no_path_of_this_machine() -> None:
    trace = 'File "/home/ann/solutions/m/x.py", line 3, in forward\nKeyError: 1'
    text = said(Status.RAISED, solution="/home/ann/solutions/m/x.py", detail=trace)
    assert 'File "solution.py", line 3, in forward' in text
    assert "/home" not in text


def test_long_output_is_cut_in_the_middle() -> None:
    text = said(Status.NOT_BUILT, detail="first error\n" + "x" * 50_000 + "\nlast line")
    assert len(text) < LIMIT_CHARACTERS + 500
    assert "first error" in text
    assert "last line" in text
    assert "characters left out" in text


def test_agreed_before_it_died() -> None:
    assert "agreed with the reference in every round" in said(Status.CRASHED, agreed=True)


def test_profile() -> None:
    kernels = {"own|kernel": 0.25, "at::native::add": 0.75}
    text = said(Status.RIGHT, BOTH, kernels=kernels, measurements=(MEASURED,))
    assert text.index("at::native::add") < text.index("own")
    assert "| 75.0% |" in text
    only = said(Status.RIGHT, ("profile",), kernels=kernels, measurements=(MEASURED,))
    assert "1.5 times" not in only
    assert "right" not in only
    assert "75.0%" in only
    assert "(a call takes 100 us)" in only
    assert "no profile" in said(Status.CRASHED, ("profile",), reasons=("died of SIGSEGV",))
    assert "SIGSEGV" not in said(Status.CRASHED, ("profile",), reasons=("died of SIGSEGV",))


def test_kinds() -> None:
    assert check_kinds(["profile", "execution"]) == BOTH
    with pytest.raises(UsageError, match="no feedback 'praise'; there are execution, profile"):
        check_kinds(["praise"])
    with pytest.raises(UsageError, match="at least one"):
        check_kinds([])
