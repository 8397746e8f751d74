"""What cannot be: times below what a device can move."""

from __future__ import annotations

import pytest

from pytest_kernelbench.timing.floor import Floor, Work, floor
from pytest_kernelbench.timing.roof import Roof

H200 = Roof(
    uuid="GPU-0",
    device="NVIDIA H200",
    bandwidth_bytes_per_s=4e12,
    flops_per_s={"fp32": 60e12, "tf32": 450e12, "bf16": 900e12, "fp16": 900e12},
    write_back_bytes=50_000_000,
)


def test_bytes_make_the_floor() -> None:
    found = floor(Work(read_bytes=400_000_000, written_bytes=450_000_000), H200)
    assert found.floor_us == pytest.approx(200.0)
    assert found.roof_us == pytest.approx(212.5)


def test_an_output_that_fits_the_cache_need_not_reach_memory() -> None:
    found = floor(Work(read_bytes=0, written_bytes=40_000_000), H200)
    assert found.floor_us == 0.0
    assert found.roof_us == pytest.approx(10.0)


def test_operators_arithmetic_is_the_roof_but_not_the_floor() -> None:
    """A better algorithm may spare it: a matmul that is only summed is two small sums."""
    work = Work(read_bytes=4_000_000, written_bytes=4_000, flops={"bf16": 9e9})
    found = floor(work, H200)
    assert found.floor_us == pytest.approx(1.0)
    assert found.roof_us == pytest.approx(10.0)
    assert found.percent_of_roof(20.0) == pytest.approx(50.0)
    assert not found.impossible(2.0)


def test_the_roof_has_every_byte_and_the_floor_what_is_sure_to_move() -> None:
    """A kernel may leave part of an input unread; as a figure, all of it counts, weights too."""
    found = floor(Work(100_000_000, 400_000_000, moved_bytes=1_000_000_000), H200)
    assert found.floor_us == pytest.approx(112.5)
    assert found.percent_of_roof(250.0) == pytest.approx(100.0)


def test_arithmetic_of_several_dtypes_adds_up() -> None:
    found = floor(Work(0, 0, flops={"bf16": 9e9, "fp64": 1e9, "tf32": 4.5e9}), H200)
    assert found.roof_us == pytest.approx(20.0)


@pytest.mark.parametrize(
    ("time_us", "error_us", "impossible"),
    [(81.0, 0.0, False), (79.0, 0.0, True), (79.0, 2.0, False), (1.0, 2.0, True)],
)
def test_impossible_with_a_margin(time_us: float, error_us: float, *, impossible: bool) -> None:
    found = Floor(floor_us=100.0, roof_us=300.0)
    assert found.impossible(time_us, error_us) is impossible
    sentence = found.refusal(time_us, error_us)
    assert sentence.startswith("impossible: ") is impossible
    if impossible:
        assert "100 us" in sentence
