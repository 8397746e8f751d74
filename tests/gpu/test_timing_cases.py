"""Situations that users of such harnesses reported about times, judged on a CUDA device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.engine.devices import visible_gpus
from pytest_kernelbench.engine.local import LocalEngine
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Status, Verdict

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not visible_gpus(), reason="no CUDA device is visible here"),
]

REPORTS = Path(__file__).parents[1] / "data" / "cases" / "reports"
CHANGED = (Status.UNSTABLE, Status.WRONG_VALUE)

Judge = Callable[..., Verdict]


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    """Judge a case's solution; one engine, as in one session."""
    settings = Settings(cache_dir=tmp_path_factory.mktemp("cache"), budget_s=1.0, seeds=2)
    engine = LocalEngine(settings)

    def verdict(case: str, solution: str, problem: str = "problem") -> Verdict:
        what = Problem(REPORTS / case / f"{problem}.py", 1, 1, problem)
        pair = Pair(what, Solution(REPORTS / case / f"{solution}.py", "ann"))
        return engine.judge(pair, engine.build(pair))

    yield verdict
    engine.close()


def speedup(verdict: Verdict) -> float:
    assert verdict.agreed, verdict.reasons
    assert verdict.measurement is not None, verdict.notes
    return verdict.measurement.speedup


def test_t1_work_on_a_stream_that_nobody_joins_is_found_or_timed(judge: Judge) -> None:
    verdict = judge("T1-side-stream", "solution_stream")
    assert verdict.status in CHANGED or 0.8 < speedup(verdict) < 1.2, verdict.reasons


def test_t1_a_stream_that_is_joined_is_nothing_special(judge: Judge) -> None:
    assert speedup(judge("T1-side-stream", "solution_joined")) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(("suffix", "off"), [("", 0.03), ("_copy", 0.03), ("_tiny", 0.5)])
def test_t4_a_copy_is_as_fast_and_never_counted(judge: Judge, suffix: str, off: float) -> None:
    # 1024 elements take two microseconds, a few tenths of which no clock can tell from the null.
    verdict = judge("T4-aa-test", f"solution{suffix}", f"problem{suffix}")
    assert speedup(verdict) == pytest.approx(1.0, abs=off)
    assert not verdict.faster_than(1.0)


@pytest.mark.parametrize("solution", ["solution_tf32_global", "solution_fp16"])
def test_t6_less_precision_gains_nothing(judge: Judge, solution: str) -> None:
    before = speedup(judge("T6-tf32-for-free", "solution_ok"))
    verdict = judge("T6-tf32-for-free", solution)
    assert verdict.status in CHANGED or speedup(verdict) < 1.1, verdict.measurement
    after = speedup(judge("T6-tf32-for-free", "solution_ok"))
    assert before == pytest.approx(1.0, abs=0.03)
    assert after == pytest.approx(before, abs=0.03)


@pytest.mark.parametrize("what", ["perf_counter", "median", "elapsed", "sync"])
def test_s1_a_patched_clock_gains_nothing(judge: Judge, what: str) -> None:
    verdict = judge("S1-patched-timer", f"solution_{what}")
    assert 0.8 < speedup(verdict) < 1.2
    assert not verdict.faster_than(1.2)


def test_tf32_is_allowed_to_both_sides_where_the_user_says_so(tmp_path: Path) -> None:
    folder = REPORTS / "T6-tf32-for-free"
    pair = Pair(
        Problem(folder / "problem.py", 1, 1, "product"),
        Solution(folder / "solution_ok.py", "ann"),
    )
    times_us = {}
    for tf32 in (False, True):
        engine = LocalEngine(Settings(cache_dir=tmp_path, budget_s=0.5, seeds=2, tf32=tf32))
        try:
            measured = engine.judge(pair, engine.build(pair)).measurement
        finally:
            engine.close()
        assert measured is not None
        assert measured.speedup == pytest.approx(1.0, abs=0.05)
        times_us[tf32] = measured.baseline_us
    assert times_us[True] < times_us[False]
