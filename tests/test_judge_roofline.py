"""A problem's work, as its floor and its roof count it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_kernelbench.judge import roofline as roofline_module
from pytest_kernelbench.judge.device import Device
from pytest_kernelbench.judge.questions import Rates
from pytest_kernelbench.judge.roofline import roof_of, roofline, work_of
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


DEVICE = Device("NVIDIA H200", "GPU-0", "cuda:0", "9.0")


class Oracle:
    """Measures the same whenever it is asked, and counts."""

    prepared = SimpleNamespace(l2_bytes=60 << 20)

    def __init__(self) -> None:
        self.asked = 0

    def ask(self, *_: Any) -> Rates:
        self.asked += 1
        return Rates(bandwidth_bytes_per_s=4e12, flops_per_s={"fp32": 5e13})


def test_a_device_is_measured_once_and_anew_with_another_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    oracle: Any = Oracle()
    first = roof_of(oracle, DEVICE, tmp_path)
    assert roof_of(oracle, DEVICE, tmp_path) == first
    assert oracle.asked == 1
    monkeypatch.setattr(roofline_module, "installed", lambda _: "0.0")
    assert roof_of(oracle, DEVICE, tmp_path).versions["torch"] == "0.0"
    assert oracle.asked == 2


def test_rates_that_cannot_be_kept_are_used_all_the_same(tmp_path: Path) -> None:
    oracle: Any = Oracle()
    (tmp_path / "roofs").write_text("in the way")
    assert roof_of(oracle, DEVICE, tmp_path).bandwidth_bytes_per_s == 4e12
