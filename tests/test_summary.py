"""The summary's text, from verdicts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_records import outcome_of, record, runs_of

from pytest_kernelbench.reports.summary import Outcome, circumstances, summary
from pytest_kernelbench.score import Key
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Measurement, Status, Verdict


def asked(level: int) -> dict[Key, str]:
    return {(level, number): "conv" if number % 2 else "matmul" for number in range(1, 5)}


def verdict(
    entrant: str, number: int, speedup: float = 0.0, sample: int = 0, build_s: float = 0.0
) -> Verdict:
    measured = Measurement("eager", speedup, speedup * 0.9, speedup * 1.1, 1.0, 1.0, 0.1, 3, 30)
    status = Status.FAST if speedup > 1 else Status.RIGHT if speedup else Status.WRONG_VALUE
    return Verdict(
        1, number, "relu", entrant, "x.py", status, sample, status.right,
        measurements=(measured,) if speedup else (), build_s=build_s,
        device="NVIDIA H200", device_uuid="GPU-1", size="full", dtype="fp32",
    )  # fmt: skip


def text(verdicts: list[Verdict], *, verbose: bool = False, **settings: object) -> list[str]:
    said = {"GPU-1": "selftest 2026-11-29 (version 0.1.0): rejected 104 of 105 cheats"}
    chosen = Settings(**settings)  # type: ignore[arg-type]
    return list(summary(Outcome(verdicts, asked, chosen, said, verbose)))


ONE = """\
level 1                   n   built   right  fast_1  fast_2       geomean   best
  ann                     4     2/2     1/2   0.250   0.250   3.00x (n=1)  3.00x
    fast_0 0.250; by point estimate: fast_1 0.250, fast_2 0.250
    95 % over problems: fast_1 0.000 to 0.750, fast_2 0.000 to 0.750
    missing: 2, wrong_value: 1
n: problems asked; fast_p: share of n right and more than p times as fast as
eager, by the lower end of the 95 % interval; samples count by their mean
judged on NVIDIA H200, full sizes, fp32
  selftest 2026-11-29 (version 0.1.0): rejected 104 of 105 cheats"""


def test_one_entrant() -> None:
    assert text([verdict("ann", 1, 3.0), verdict("ann", 2)]) == ONE.splitlines()


@pytest.mark.parametrize("stamped", ["GPU-1", "GPU-2"])
def test_a_selftest_of_one_of_several_gpus_is_shown(stamped: str) -> None:
    verdicts = [replace(verdict("ann", n, 2.0), device_uuid=f"GPU-{n}") for n in (1, 2)]
    outcome = Outcome(verdicts, asked, Settings(), {"GPU-1": "", "GPU-2": "", stamped: "said"})
    assert list(circumstances(outcome)) == ["judged on NVIDIA H200, full sizes, fp32", "  said"]
    unstamped = Outcome(verdicts, asked, Settings())
    assert list(circumstances(unstamped))[1:] == ["  no selftest here yet: kb selftest"]


@pytest.mark.parametrize("stamps", [("said", ""), ("", "said")])
def test_a_record_without_a_selftest_takes_none_away(stamps: tuple[str, str]) -> None:
    records = [replace(record(n), selftest=said) for n, said in enumerate(stamps)]
    assert "  said" in list(circumstances(outcome_of(runs_of(records))))


def test_several_entrants_have_a_leaderboard() -> None:
    lines = text([verdict("ann", 1, 0.9), verdict("bob", 1, 3.0), verdict("eve", 1, 0.9)])
    start = next(i for i, line in enumerate(lines) if line.startswith("entrants"))
    assert [line[:30] for line in lines[start : start + 4]] == [
        "entrants                  n   ",
        "  1 bob                   4   ",
        "  2 ann                   4   ",
        "  2 eve                   4   ",
    ]


def test_ten_samples_count_by_their_mean() -> None:
    verdicts = [verdict("ann", 1, 3.0 if n < 3 else 0.0, sample=n) for n in range(10)]
    lines = text(verdicts, at_k=(1, 10))
    assert lines[1].split()[:5] == ["ann", "4", "10/10", "3/10", "0.075"]
    assert "    pass@1 0.075, fast_1@1 0.075, fast_2@1 0.075 (n=4)" in lines
    assert "    pass@10 0.250, fast_1@10 0.250, fast_2@10 0.250 (n=4)" in lines


def test_walls_are_named_once_up_or_missing() -> None:
    every = [
        replace(verdict("ann", 1, 2.0), walls=("own session", "no capabilities")),
        replace(
            verdict("ann", 2, 2.0),
            walls=("own session",),
            missing_walls=("files (Landlock): not in this kernel",),
        ),
        verdict("ann", 3),
    ]
    assert text(every)[-2:] == [
        "  walls: own session",
        "  reduced isolation: no files (Landlock): not in this kernel",
    ]
    assert text(every[:1])[-1] == "  walls: own session; no capabilities"
    assert "walls:" not in "".join(text(every[2:]))


def test_slowest_builds() -> None:
    verdicts = [verdict("ann", n, 2.0, build_s=float(10 * n)) for n in range(1, 5)]
    assert text(verdicts)[-2:] == [
        "slowest of 4 builds: 40.0 s level1/004_relu by ann,",
        "  30.0 s level1/003_relu by ann, 20.0 s level1/002_relu by ann",
    ]
    assert not any("builds" in line for line in text([verdict("ann", 1, 2.0, build_s=0.3)]))


SHORT = "not timed against eager: the baseline is too short to be timed: {} us; judge it larger"


def test_why_what_is_right_has_no_speedup() -> None:
    untimed = [
        replace(verdict("ann", 1, 2.0, n), measurements=(), notes=(SHORT.format(n),))
        for n in range(12)
    ]
    lines = text([*untimed, verdict("ann", 2, 3.0)])
    start = lines.index("right, no speedup:")
    assert lines[start : start + 3] == [
        "right, no speedup:",
        "  12: the baseline is too short to be timed; judge it larger",
        "judged on NVIDIA H200, full sizes, fp32",
    ]
    named = text(untimed, verbose=True)
    start = named.index("right, no speedup:")
    assert named[start + 2].startswith(
        "    level1/001_relu by ann, level1/001_relu by ann, sample 1,"
    )
    assert "sample 9, and 2 more" in " ".join(map(str.strip, named))
    assert "sample 10" not in " ".join(named)
    assert not any("no speedup:" in line for line in text([verdict("ann", 2, 3.0)]))


def test_a_few_reasons_are_told() -> None:
    notes = (f"not timed against eager: reason {'abcdef'[n]}" for n in range(6))
    untimed = [
        replace(verdict("ann", 1, 2.0, n), measurements=(), notes=(note,))
        for n, note in enumerate(notes)
    ]
    lines = text(untimed)
    start = lines.index("right, no speedup:")
    assert lines[start + 4 : start + 6] == ["  1: reason d", "  2: for other reasons"]
    assert "right, no speedup:" not in text(untimed, correctness_only=True)


def test_families_only_if_asked_for() -> None:
    verdicts = [verdict("ann", 1, 3.0)]
    assert not any(line.startswith("  conv") for line in text(verdicts))
    lines = text(verdicts, verbose=True)
    assert next(line for line in lines if line.startswith("  conv")).split()[1:5] == [
        "2", "1/1", "1/1", "0.500",
    ]  # fmt: skip


names = st.text(st.characters(codec="ascii", exclude_categories=("Cc",)), min_size=1, max_size=60)


@given(
    entrants=st.lists(names, min_size=1, max_size=4),
    speedups=st.lists(st.floats(0.001, 1e4), max_size=6),
)
@pytest.mark.parametrize("thresholds", [(), (1.5,), (12.25,)])
def test_nothing_is_wider_than_80_columns(
    entrants: list[str], speedups: list[float], thresholds: tuple[float, ...]
) -> None:
    verdicts = [
        verdict(entrant, 1 + index % 4, speedup, sample=index, build_s=99.9)
        for entrant in entrants
        for index, speedup in enumerate([*speedups, 0.0])
    ]
    wide = [
        line
        for line in text(verdicts, verbose=True, thresholds=thresholds, at_k=(1, 2))
        if len(line) > 80 and "slowest" not in line and " s level" not in line
    ]
    assert not wide
