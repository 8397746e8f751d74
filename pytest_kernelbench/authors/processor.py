"""What a prompt says of this machine's processor."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_kernelbench.engine.devices import cpu

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_TOLD = ("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512_bf16", "amx_tile", "asimd", "sve")


def describe_processor() -> list[str]:
    """Name, cores, vector instructions and caches, as far as the kernel tells."""
    lines = [f"Device: {cpu().name} (a processor, no GPU)"]
    lines.append(f"Cores: {len(os.sched_getaffinity(0))}")
    if flags := _flags():
        lines.append(f"Vector instructions: {', '.join(flags)}")
    lines.extend(_caches())
    return lines


def _flags() -> list[str]:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    line = next((x for x in text.splitlines() if x.lower().startswith(("flags", "features"))), "")
    has = set(line.partition(":")[2].split())
    return [flag for flag in _TOLD if flag in has]


def _caches() -> list[str]:
    found = []
    for folder in sorted(_CACHES.glob("index*")):
        try:
            level, kind, size = (
                (folder / name).read_text(encoding="ascii").strip()
                for name in ("level", "type", "size")
            )
        except OSError:
            continue
        if kind != "Instruction":
            found.append(f"L{level} cache: {size}B")
    return found
