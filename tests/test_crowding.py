"""What others took of the processors while something was timed."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from pytest_kernelbench.judge.crowding import Ticks, _times, others_share, remark, ticks

BURN = "import time; end = time.monotonic() + 30\nwhile time.monotonic() < end: pass"

SHARES = [
    # total, busy, ours; the others' share
    (1000, 500, 500, 0.0),
    (1000, 500, 100, 0.4),
    (1000, 900, 0, 0.9),
    (1000, 100, 120, 0.0),  # counted at different moments
    (0, 0, 0, 0.0),
]


@pytest.mark.parametrize(("total", "busy", "ours", "share"), SHARES)
def test_shares(total: int, busy: int, ours: int, share: float) -> None:
    before = Ticks(5000, 3000, 1000)
    after = Ticks(5000 + total, 3000 + busy, 1000 + ours)
    assert others_share(before, after) == pytest.approx(share)


STAT = """cpu  900 0 100 9000 0 0 0 0 0 0
cpu0 100 1 20 300 4 5 6 7 8 9
cpu1 200 2 30 400 4 5 6 7 8 9
cpu10 600 3 50 8300 0 0 0 0 0 0
intr 1 2 3
"""


def test_only_the_processors_that_we_may_use_are_looked_at() -> None:
    """A busy host of 64 is no matter to who has two idle ones of it."""
    assert _times(STAT, {0, 1}) == [300, 3, 50, 700, 8, 10, 12, 14]
    assert _times(STAT, {10})[:4] == [600, 3, 50, 8300]


def test_little_is_not_worth_telling() -> None:
    assert remark(0.05) == ""
    assert remark(0.63).startswith("other processes took 63% of the processors")


@pytest.mark.parametrize("known", [True, False])
def test_a_hog_is_ours_only_if_it_is_known(known: bool) -> None:  # noqa: FBT001 - one of two
    with subprocess.Popen([sys.executable, "-c", BURN]) as hog:
        try:
            before = ticks([hog.pid])
            time.sleep(0.6)
            after = ticks([hog.pid])
        finally:
            hog.kill()
    burnt = after.ours - before.ours
    assert burnt > 0
    if not known:
        stranger = Ticks(after.total, after.busy, after.ours - burnt)
        assert others_share(before, stranger) > others_share(before, after)


def test_processes_that_are_gone_count_nothing() -> None:
    assert ticks([2**22 + 1]).ours <= ticks([os.getpid()]).ours
