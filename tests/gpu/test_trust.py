"""Cheats that only a CUDA device can show, each with the word that its verdict must have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.engine.devices import visible_gpus
from pytest_kernelbench.engine.local import LocalEngine
from pytest_kernelbench.selftest.rule import outcome
from pytest_kernelbench.selftest.session import pair_of
from pytest_kernelbench.selftest.table import load_cases
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not visible_gpus(), reason="no CUDA device is visible here"),
]

CASES = {case.name: case for case in load_cases()}
CRASHED, UNSTABLE, VALUE = Status.CRASHED, Status.UNSTABLE, Status.WRONG_VALUE

REJECTED = {
    # The protocol's kernels run in the contender's process (docs/trust.md, what is left, 4):
    "clock_nop_flush": ({UNSTABLE}, "work escaped"),
    "clock_short_flush": ({UNSTABLE}, "work escaped"),
    "clock_quick_generator": ({UNSTABLE, VALUE, Status.ALTERED_INPUTS}, ""),
    "corrupt_control_block": ({UNSTABLE, VALUE, CRASHED}, ""),
    # Work that comes later:
    "escape_graph_from_thread": ({UNSTABLE, VALUE}, ""),
    # The host's memory, and deaths:
    "env_memory_hog": ({Status.OUT_OF_MEMORY}, "of host memory"),
    "env_hog_memfd": ({Status.OUT_OF_MEMORY}, "of host memory"),
    "env_abort": ({CRASHED}, "SIGKILL"),
    # Precision that is only lost where nobody seems to look:
    "less_precise_at_first": ({VALUE}, "lower precision"),
    "less_precise_on_negatives": ({VALUE}, "lower precision"),
}
HOGS = ("slow_gpu_hog", "slow_queue_ahead", "slow_endless_kernel")
"""What is left in the queues runs on though its process is stopped (docs/trust.md, 7)."""


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Verdict]]:
    """Judge a case of the corpus."""
    cache = tmp_path_factory.mktemp("trust")
    settings = Settings(cache_dir=cache, timeout_s=60.0, budget_s=1.0, thresholds=(1.15,))
    engine = LocalEngine(settings)

    def verdict(name: str) -> Verdict:
        pair = pair_of(CASES[name])
        return engine.judge(pair, engine.build(pair))

    yield verdict
    engine.close()


@pytest.mark.parametrize("name", sorted(REJECTED, key=lambda name: CASES[name].problem))
def test_a_cheat_is_rejected_for_what_it_does(judge: Callable[[str], Verdict], name: str) -> None:
    statuses, words = REJECTED[name]
    verdict = judge(name)
    assert verdict.status in statuses, (verdict.status, verdict.reasons)
    assert words in verdict.reasons[0]


@pytest.mark.parametrize("name", HOGS)
def test_who_keeps_the_device_busy_gains_nothing(
    judge: Callable[[str], Verdict], name: str
) -> None:
    verdict = judge(name)
    assert outcome(CASES[name], verdict).ok, (verdict.status, verdict.reasons, verdict.notes)
    if not verdict.status.right:
        assert "device busy" in verdict.reasons[0], verdict.reasons


def test_a_share_of_the_calls_cannot_be_left_out(judge: Callable[[str], Verdict]) -> None:
    """Of each batch some calls are revealed (docs/trust.md, 6): one in eight is found in time."""
    verdict = judge("less_rarely_wrong")
    assert verdict.status in {UNSTABLE, VALUE}, verdict.reasons


def test_after_all_of_them_an_honest_kernel_is_right(judge: Callable[[str], Verdict]) -> None:
    """Its product runs in another order than the reference's: 1.02x to 1.03x, left alone."""
    verdict = judge("honest_view_output")
    assert verdict.status.right, verdict.reasons
    assert verdict.measurement is not None
    assert 0.95 < verdict.measurement.speedup < 1.08, verdict.measurement
