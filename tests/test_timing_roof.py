"""A device's rates, measured once and kept."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from pytest_kernelbench.timing.roof import Roof, load_roof, roof_path, store_roof

VERSIONS = {"driver": "580.1", "torch": "2.11"}
ROOF = Roof(
    uuid="GPU-1",
    device="NVIDIA H200",
    bandwidth_bytes_per_s=4.1e12,
    flops_per_s={"fp32": 50e12, "bf16": 900e12},
    write_back_bytes=60 << 20,
    versions=VERSIONS,
)
STORED = msgspec.json.encode(ROOF).decode()


def test_round_trip(tmp_path: Path) -> None:
    path = store_roof(tmp_path, ROOF)
    assert path == tmp_path / "roofs" / "GPU-1.json"
    assert load_roof(tmp_path, "GPU-1", VERSIONS) == ROOF
    assert json.loads(path.read_text())["device"] == "NVIDIA H200"
    assert [file.name for file in path.parent.iterdir()] == ["GPU-1.json"]


def test_a_second_measurement_replaces_the_first(tmp_path: Path) -> None:
    store_roof(tmp_path, ROOF)
    store_roof(tmp_path, Roof("GPU-1", "NVIDIA H200", 1e12, {}, versions=VERSIONS))
    found = load_roof(tmp_path, "GPU-1", VERSIONS)
    assert found is not None
    assert found.bandwidth_bytes_per_s == 1e12


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"versions": ' + "[" * 5_000,
        '{"uuid": "GPU-1"}',
        '{"uuid":"GPU-1","device":"x","bandwidth_bytes_per_s":0,"flops_per_s":{},"versions":{}}',
        STORED.replace("GPU-1", "GPU-2"),
        STORED.replace('"schema":1', '"schema":99'),
    ],
)
def test_what_is_not_this_devices_roof_is_measured_again(tmp_path: Path, content: str) -> None:
    path = roof_path(tmp_path, "GPU-1")
    path.parent.mkdir()
    path.write_text(content)
    assert load_roof(tmp_path, "GPU-1", VERSIONS) is None


def test_what_cannot_be_read_is_measured_again(tmp_path: Path) -> None:
    """A folder in its place, or in that of the folder a file."""
    roof_path(tmp_path, "GPU-1").mkdir(parents=True)
    assert load_roof(tmp_path, "GPU-1", VERSIONS) is None
    (tmp_path / "cache").write_text("")
    assert load_roof(tmp_path / "cache", "GPU-1", VERSIONS) is None


def test_other_versions_are_measured_again(tmp_path: Path) -> None:
    store_roof(tmp_path, ROOF)
    assert load_roof(tmp_path, "GPU-1", {**VERSIONS, "torch": "2.12"}) is None


def test_nothing_stored(tmp_path: Path) -> None:
    assert load_roof(tmp_path, "GPU-1", VERSIONS) is None


@pytest.mark.parametrize(
    ("rates", "dtype", "expected"),
    [
        ({"fp32": 60.0}, "fp32", 60.0),
        ({"fp32": 60.0, "bf16": 900.0}, "fp32", 300.0),
        ({"fp32": 60.0, "tf32": 90.0}, "fp32", 60.0),
        ({"bf16": 900.0}, "bf16", 900.0),
        ({"bf16": 900.0}, "fp64", 0.0),
    ],
)
def test_fp32_may_honestly_be_split_over_tensor_cores(
    rates: dict[str, float], dtype: str, expected: float
) -> None:
    assert Roof("u", "d", 1.0, rates).rate(dtype) == expected


def test_a_roof_without_bandwidth_is_refused() -> None:
    with pytest.raises(ValueError, match="bandwidth above 0"):
        Roof("u", "d", 0.0, {})
