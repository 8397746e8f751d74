"""What pictures are made of agrees with what tables say."""

from __future__ import annotations

import random

import pytest
from made_records import HOSTILE, measured, record, runs_of, session

from pytest_kernelbench.reports.curves import fast_p_curve, scale_of_p, spread
from pytest_kernelbench.reports.dots import MOST_DOTS, Marked, against, rooflines
from pytest_kernelbench.score import grouped, score
from pytest_kernelbench.verdict import Roofline, Status, Verdict

ASKED = [(1, number) for number in range(1, 31)]


def verdicts(seed: int) -> list[Verdict]:
    """Uneven samples of some of the problems, some wrong, some right without a time."""
    draw = random.Random(seed)  # noqa: S311
    made = []
    for _, number in ASKED[::2]:
        for sample in range(draw.randrange(1, 4)):
            status = draw.choice([Status.RIGHT, Status.FAST, Status.CRASHED, Status.NOT_JUDGED])
            timed = status.right and draw.random() < 0.8
            speedup = 2 ** draw.gauss(0, 1) if timed else None
            made.append(record(number, status=status, speedup=speedup, sample=sample).verdict)
    return made


@pytest.mark.parametrize("seed", range(5))
def test_a_curve_has_the_shares_of_the_table(seed: int) -> None:
    some, scale = verdicts(seed), scale_of_p(8.0)
    curve = fast_p_curve("ann", 0, grouped(some, ASKED), scale)
    table = score(some, ASKED, scale)
    assert curve.y == pytest.approx([table.share(p).value for p in scale])
    assert curve.thin == pytest.approx([table.share(p).by_point for p in scale])
    assert all(
        low <= y <= high for low, y, high in zip(curve.low, curve.y, curve.high, strict=True)
    )
    wide = table.share(1.0).interval
    place = scale.index(1.0)
    assert (curve.low[place], curve.high[place]) == pytest.approx(wide, abs=0.04)


@pytest.mark.parametrize(
    ("best", "top"),
    [(None, 4.0), (0.1, 4.0), (5.0, 8.0), (39.3, 64.0), (1e9, 1024.0), (1e308, 1024.0)],
)
def test_the_scale_ends_above_the_best(best: float | None, top: float) -> None:
    scale = scale_of_p(best)
    assert scale[0] == 0
    assert scale[1] == 0.25
    assert scale[-1] == pytest.approx(top)
    assert 1.0 in scale


def test_nothing_right_is_no_spread() -> None:
    assert spread("ann", 0, [record(status=Status.CRASHED).verdict]) is None
    found = spread("ann", 0, [record(n, speedup=2.0**n).verdict for n in (1, 3)])
    assert found is not None
    assert found.geomean == pytest.approx(4.0)


def test_strict_takes_library_kernels_out_of_the_spread() -> None:
    some = [record(1, speedup=2.0), record(2, status=Status.NOT_A_KERNEL, speedup=8.0)]
    verdicts = [each.verdict for each in some]
    for strict, mean in ((False, 4.0), (True, 2.0)):
        found = spread("ann", 0, verdicts, strict=strict)
        assert found is not None
        assert found.geomean == pytest.approx(mean)
    assert spread("ann", 0, verdicts[1:], strict=True) is None


def marked(number: int, time_us: float, flops: float = 1e9, **more: object) -> Marked:
    roofline = Roofline(10**8, flops, 4e12, 5e13)
    verdict = record(number, speedup=100 / time_us, roofline=roofline, **more).verdict
    return Marked(verdict, 0, f"#r{number}")


def test_a_dot_lies_at_intensity_and_rate() -> None:
    (roof,) = rooflines([marked(1, 50.0), marked(2, 50.0, flops=0.0)])
    (dot,), (idle,) = roof.dots, roof.idle
    assert (dot.x, dot.y) == (pytest.approx(10.0), pytest.approx(2e13))
    assert idle.y == pytest.approx(2e12)
    assert dot.link == "#r1"
    assert dot.title == "ann 1/1 relu: 50 us"
    assert (roof.lines.bytes_per_s, roof.lines.flops_per_s) == (4e12, 5e13)


def test_what_is_wrong_or_has_no_roof_has_no_dot() -> None:
    wrong = Marked(record(1, status=Status.UNSTABLE, speedup=9).verdict, 0, "")
    assert rooflines([wrong, Marked(record(2, speedup=2).verdict, 0, "")]) == []


def test_of_too_many_samples_the_fastest_stay() -> None:
    many = [marked(n % 700, 50.0 + n // 700, sample=n // 700) for n in range(MOST_DOTS + 1)]
    (roof,) = rooflines(many)
    assert len(roof.dots) == 700
    assert roof.left_out == MOST_DOTS + 1 - 700
    assert {dot.title.split(": ")[1] for dot in roof.dots} == {"50 us"}


def test_pairs_right_in_both_runs_are_held_against_each_other() -> None:
    before, after = session(), session(factor=2.0)
    runs = runs_of(before, after)
    marks = {key: Marked(each.verdict, 0, "") for key, each in runs.of(-1).items()}
    dots, left_out = against({k: each.verdict for k, each in runs.of(0).items()}, marks)
    assert left_out == 0
    assert len(dots) == sum(each.verdict.status.right for each in before)
    assert {round(dot.y / dot.x, 6) for dot in dots} == {2.0}
    assert any(HOSTILE in dot.title for dot in dots), "escaping is the drawing's matter"
    broken = {key: Marked(each.verdict, 0, "") for key, each in runs_of(
        [record(1, status=Status.CRASHED)]).of(0).items()}  # fmt: skip
    assert against({}, broken) == ([], 0)
    assert measured(2.0).low < 2.0
