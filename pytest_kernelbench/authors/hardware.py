"""What a prompt says of the device: from a table with sources, or read from the device here."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.authors.processor import describe_processor
from pytest_kernelbench.authors.toml import read_toml
from pytest_kernelbench.engine.devices import find_device
from pytest_kernelbench.errors import MachineError, UsageError
from pytest_kernelbench.sandbox.import_paths import boot

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = "here"
_TABLE = Path(__file__).with_name("hardware.toml")
_TIMEOUT_S = 120.0
_PROPERTIES = (
    "name", "multi_processor_count", "warp_size", "shared_memory_per_multiprocessor",
    "shared_memory_per_block_optin", "regs_per_multiprocessor", "L2_cache_size", "major",
    "minor", "total_memory", "memory_clock_rate", "memory_bus_width", "gcnArchName",
)  # fmt: skip


@dataclass(frozen=True)
class Hardware:
    """One device. Sizes as its maker counts them; rates are dense peaks."""

    name: str
    vendor: str
    """``nvidia`` or ``amd``."""
    source: str
    architecture: str = ""
    target: str = ""
    """What a compiler calls it: ``sm_90a``, ``gfx942``."""
    memory_gb: float = 0.0
    memory: str = ""
    bandwidth_gb_s: float = 0.0
    units: int = 0
    """SMs or CUs."""
    lanes: int = 32
    """Threads of a warp or wavefront."""
    shared_kb: int = 0
    """Shared memory (LDS) of an SM (CU)."""
    block_kb: int = 0
    """The most of it that one block can have."""
    registers_kb: int = 0
    l2_mb: float = 0.0
    l3_mb: float = 0.0
    tflops: dict[str, float] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    """Other names it goes by."""

    def lines(self) -> Iterator[str]:
        """What a prompt shows, a fact a line; what is not known is left out."""
        unit, shared, lane = (
            ("CU", "LDS", "wavefront") if self.vendor == "amd" else ("SM", "shared memory", "warp")
        )
        kind = ", ".join(filter(None, (self.architecture, self.target)))
        yield f"Device: {self.name}" + (f" ({kind})" if kind else "")
        if self.memory_gb:
            speed = f", {self.bandwidth_gb_s:,.0f} GB/s" if self.bandwidth_gb_s else ""
            yield f"Memory: {self.memory_gb:g} GB {self.memory}".rstrip() + speed
        if self.tflops:
            rates = ", ".join(f"{name} {rate:g}" for name, rate in self.tflops.items())
            yield f"Peak TFLOP/s (dense): {rates}"
        if self.units:
            yield f"{unit}s: {self.units}, {lane} of {self.lanes} threads"
        if self.shared_kb:
            yield f"{shared} per {unit}: {self.shared_kb} KB, at most {self.block_kb} KB a block"
        if self.registers_kb:
            yield f"registers per {unit}: {self.registers_kb} KB"
        if self.l2_mb:
            last = f", last-level cache {self.l3_mb:g} MB" if self.l3_mb else ""
            yield f"L2 cache: {self.l2_mb:g} MB{last}"


@dataclass(frozen=True)
class _Table:
    device: list[Hardware]


@cache
def table() -> tuple[Hardware, ...]:
    """Every device whose figures are known, each with its source."""
    return tuple(read_toml(_TABLE, _Table).device)


def find_hardware(name: str) -> Hardware:
    """The device of that name, whatever its case and maker; raises ``UsageError``."""
    if (found := _known(name)) is not None:
        return found
    names = ", ".join(each.also[0] for each in table())
    message = f"no figures of a device called {name!r} are known; known: {names}, or {HERE!r}"
    raise UsageError(message)


def describe(name: str) -> list[str]:
    """The lines for a device of the table, or for ``here``: this machine's GPU, or processor."""
    if name != HERE:
        return list(find_hardware(name).lines())
    if not find_device("auto").is_gpu:
        return describe_processor()
    return list(read_device().lines())


def read_device() -> Hardware:
    """The first visible GPU, asked in a process of its own; its rates come from the table.

    Raises ``MachineError`` where the device does not answer.
    """
    command = [sys.executable, *boot(f"{__name__}:tell_properties")]
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", "") or str(error)
        message = (
            f"the device here cannot be read: {said.strip()[-500:]}; name it with --hardware NAME"
        )
        raise MachineError(message) from error
    return from_properties(json.loads(run.stdout.splitlines()[-1]))


def tell_properties() -> None:
    """Print what torch says of the first visible GPU, on a line of its own."""
    import torch

    read = torch.cuda.get_device_properties(0)
    told = json.dumps({name: getattr(read, name, None) for name in _PROPERTIES})
    sys.stdout.write(f"\n{told}\n")


def from_properties(read: dict[str, Any]) -> Hardware:
    """What torch says of a device, over what the table says of its like."""
    amd = read["gcnArchName"] is not None and read["gcnArchName"].startswith("gfx")
    known = _known(read["name"]) or Hardware(read["name"], "amd" if amd else "nvidia", "")
    target = read["gcnArchName"].partition(":")[0] if amd else f"sm_{read['major']}{read['minor']}"
    bandwidth = known.bandwidth_gb_s
    if not bandwidth and read["memory_clock_rate"] and read["memory_bus_width"]:
        # Two transfers a clock; kHz and bits.
        bandwidth = 2 * read["memory_clock_rate"] * 1e3 * read["memory_bus_width"] / 8 / 1e9
    kilobytes = {
        "shared_kb": read["shared_memory_per_multiprocessor"],
        "block_kb": read["shared_memory_per_block_optin"],
        "registers_kb": 4 * (read["regs_per_multiprocessor"] or 0),
    }
    return replace(
        known,
        name=read["name"],
        source=" and ".join(filter(None, ("torch's device properties", known.source))),
        target=known.target or target,
        memory_gb=known.memory_gb or round(read["total_memory"] / 1e9),
        bandwidth_gb_s=bandwidth,
        units=read["multi_processor_count"],
        lanes=read["warp_size"],
        l2_mb=round(read["L2_cache_size"] / 2**20, 1) if read["L2_cache_size"] else known.l2_mb,
        **{name: size // 1024 for name, size in kilobytes.items() if size},
    )


def _known(name: str) -> Hardware | None:
    wanted = _plain(name)
    for each in table():
        if wanted in {_plain(each.name), *map(_plain, each.also)}:
            return each
    return None


def _plain(name: str) -> str:
    words = name.lower().replace("-", " ").replace("_", " ").split()
    return " ".join(word for word in words if word not in ("nvidia", "amd", "instinct", "geforce"))
