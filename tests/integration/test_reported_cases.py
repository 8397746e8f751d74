"""Situations that users of such harnesses reported, judged for real on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from judged import Judge, judging

from pytest_kernelbench.verdict import Status, Verdict

REPORTS = Path(__file__).parents[1] / "data" / "cases" / "reports"
ZEROS, INTEGERS, IDENTITY = (
    REPORTS / name for name in ("C1-zeros-pass", "C3-integer-inputs", "C5-identity-layernorm")
)
CLOCKS = REPORTS / "S1-patched-timer"


@pytest.mark.parametrize("name", ["solution_zeros", "solution_uniform"])
def test_c1_nothing_passes_because_the_right_answer_is_small(judge: Judge, name: str) -> None:
    verdict = judge(ZEROS / "problem.py", ZEROS / f"{name}.py")
    assert verdict.status is Status.WRONG_VALUE
    assert "of the output's RMS" in verdict.reasons[0]


def test_c1_the_right_softmax_is_right(judge: Judge) -> None:
    assert judge(ZEROS / "problem.py", ZEROS / "solution_ok.py").status.right


@pytest.mark.parametrize("dtype", ["fp32", "bf16", "fp16"])
def test_c3_labels_and_masks_keep_their_type(tmp_path: Path, dtype: str) -> None:
    with judging(tmp_path, dtype=dtype) as judge:
        for what in ("ce", "mask"):
            verdict = judge(INTEGERS / f"problem_{what}.py", INTEGERS / f"solution_{what}.py")
            assert verdict.status.right, (what, verdict.reasons, verdict.notes)


C5 = [("fp32", 1e-4), ("fp32", 1e-2), ("bf16", 1e-2)]


@pytest.mark.parametrize(("dtype", "tolerance"), C5)
def test_c5_a_copy_is_no_layernorm(tmp_path: Path, dtype: str, tolerance: float) -> None:
    problem = tmp_path / "problem.py"
    text = (IDENTITY / "problem.py").read_text()
    # A quarter of a million elements have the mean and the spread of a normal to a few thousandths.
    text = text.replace("torch.randn(4, 64, 128, 128)", "torch.randn(4, 64, 64, 64)")
    problem.write_text(text.replace("(64, 128, 128)", "(64, 64, 64)"))
    with judging(tmp_path, dtype=dtype, atol=tolerance, rtol=tolerance) as judge:
        for name in ("solution_copy", "solution_copy_params"):
            verdict = judge(problem, IDENTITY / f"{name}.py")
            assert verdict.status in (Status.WRONG_VALUE, Status.UNSTABLE), (name, verdict.notes)
        verdict = judge(problem, IDENTITY / "solution_ok.py")
        assert verdict.status.right, verdict.reasons


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Verdict]]:
    """The verdict on a solution that patches what it is called by."""
    folder = tmp_path_factory.mktemp("timed")
    problem = folder / "problem.py"
    problem.write_text((CLOCKS / "problem.py").read_text().replace("2048", "384"))
    with judging(folder, correctness_only=False, budget_s=0.5) as judge:
        yield lambda what: judge(problem, CLOCKS / f"solution_{what}.py")


@pytest.mark.parametrize("what", ["perf_counter", "median", "elapsed", "sync"])
def test_s1_a_patched_clock_gains_nothing(timed: Callable[[str], Verdict], what: str) -> None:
    verdict = timed(what)
    if what == "elapsed" and verdict.status in (Status.NOT_BUILT, Status.RAISED):
        return  # torch without CUDA has no such function to patch
    assert verdict.status.right, verdict.reasons
    assert not verdict.faster_than(1.2), verdict.measurements
