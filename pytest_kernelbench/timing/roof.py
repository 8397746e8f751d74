"""A device's measured rates, kept on disk by device UUID since measuring them takes seconds."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from pytest_kernelbench.decoding import decoded

SCHEMA_VERSION = 1
# One fp32 product can honestly be had from three products of a narrower format on tensor cores
# (each factor split into two parts, the smallest term left out), at nearly fp32's accuracy.
_SPLIT_PRODUCTS = 3.0
_SPLIT_FROM = ("tf32", "bf16", "fp16")


@dataclass(frozen=True)
class Roof:
    """The best rates seen on one device. Measured ones, not those of a data sheet."""

    uuid: str
    device: str
    """Name for people: ``NVIDIA H200``."""
    bandwidth_bytes_per_s: float
    """Best of read, write and copy, with memory well beyond any cache."""
    flops_per_s: Mapping[str, float]
    """By dtype: ``fp64``, ``fp32`` (no tensor cores), ``tf32``, ``bf16``, ``fp16``."""
    write_back_bytes: int = 0
    """How much of the output may be in a cache when a call counts as done: the L2's size."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of what measured it (driver, torch, this package): other versions, measured again."""
    schema: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        """Refuse a bandwidth by which nothing could be divided."""
        if self.bandwidth_bytes_per_s <= 0.0:
            message = f"a roof needs a bandwidth above 0, not {self.bandwidth_bytes_per_s} bytes/s"
            raise ValueError(message)

    def rate(self, dtype: str) -> float:
        """Operations per second that can be had for ``dtype``; 0.0 where nothing was measured."""
        direct = self.flops_per_s.get(dtype, 0.0)
        if dtype != "fp32":
            return direct
        split = (self.flops_per_s.get(name, 0.0) / _SPLIT_PRODUCTS for name in _SPLIT_FROM)
        return max(direct, *split)


def roof_path(cache_dir: Path, uuid: str) -> Path:
    """``<cache_dir>/roofs/<uuid>.json``."""
    return cache_dir / "roofs" / f"{uuid}.json"


def load_roof(cache_dir: Path, uuid: str, versions: Mapping[str, str]) -> Roof | None:
    """The stored roof, or None where it must be measured (again).

    Measured again: none stored, another schema or versions, a file that cannot be read or does not
    parse (it is a cache: whatever is wrong with it, measuring does instead).
    """
    try:
        roof = decoded(roof_path(cache_dir, uuid).read_bytes(), Roof)
    except (OSError, msgspec.MsgspecError):
        return None
    fits = roof.schema == SCHEMA_VERSION and roof.uuid == uuid and roof.versions == versions
    return roof if fits else None


def store_roof(cache_dir: Path, roof: Roof) -> Path:
    """Write the roof so that a reader sees the old file or the new one, never half of it.

    Raises ``OSError`` where it cannot be written: it can be used all the same.
    """
    path = roof_path(cache_dir, roof.uuid)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(roof), indent=2)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text + b"\n")
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path
