"""A problem's work, as its floor and its roof count it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_kernelbench.judge.roofline import roofline, work_of
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.timing.roof import Roof


def prepared(inputs: list[int], state: list[int], outputs: list[int], flops: float) -> Any:
    """As the oracle describes a problem, in bytes."""
    spans = [
        [SimpleNamespace(size_bytes=size) for size in each] for each in (inputs, state, outputs)
    ]
    return SimpleNamespace(inputs=spans[0], state=spans[1], outputs=spans[2], flops=flops)


def test_the_roof_moves_everything_once_and_the_floor_what_is_sure() -> None:
    work = work_of(prepared([400, 800], [4000], [100], 1e6), "fp32")
    assert work.moved_bytes == 5300
    assert work.read_bytes == 300, "a kernel may leave part of an input unread, and fold weights"
    assert work.written_bytes == 100
    assert work.flops == {"fp32": 1e6}


@pytest.mark.parametrize(("dtype", "flops_per_s"), [("fp32", 5e13), ("fp16", 8e14), ("bf16", 0.0)])
def test_a_record_has_the_rate_of_its_dtype(dtype: str, flops_per_s: float) -> None:
    roof = Roof(
        "GPU-0", "NVIDIA H200", 4e12, {"fp32": 5e13, "fp16": 1.2e14 if dtype == "fp32" else 8e14}
    )
    found = roofline(work_of(prepared([8], [], [8], 32.0), dtype), roof, dtype)
    assert (found.moved_bytes, found.flops) == (16, 32.0)
    assert (found.bytes_per_s, found.flops_per_s) == (4e12, flops_per_s)


@pytest.mark.parametrize(
    ("dtype", "tf32", "rate"),
    [("fp32", False, 5e13), ("fp32", True, 4e14), ("fp16", True, 8e14)],
)
def test_where_tf32_is_allowed_the_roof_is_that_of_tf32(
    dtype: str,
    tf32: bool,  # noqa: FBT001 - a parameter of the test
    rate: float,
) -> None:
    settings = Settings(dtype=dtype, tf32=tf32)
    roof = Roof("GPU-0", "NVIDIA H200", 4e12, {"fp32": 5e13, "tf32": 4e14, "fp16": 8e14})
    work = work_of(prepared([8], [], [8], 32.0), settings.arithmetic)
    # Without TF32 a third of its rate is within reach all the same, by products of three parts.
    expected = max(rate, 8e14 / 3) if settings.arithmetic == "fp32" else rate
    assert roofline(work, roof, settings.arithmetic).flops_per_s == pytest.approx(expected)
