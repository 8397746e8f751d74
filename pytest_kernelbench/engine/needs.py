"""What a solution needs of the device, by its text: a hint to skip early, never a verdict."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.material import source_text

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_kernelbench.judge.device import Device

_CUDA = re.compile(
    r"__global__|cuda_sources\s*=|\.cuda\(\)|device\s*=\s*['\"]cuda|torch\.cuda\.(?!is_available)|"
    r"\bimport\s+(?:cutlass|cupy|tilelang|cuda)\b|\bfrom\s+(?:cutlass|cupy|tilelang|cuda)\b"
)
_GUARDED = re.compile(r"torch\.cuda\.is_available\(\)|\.is_cuda\b")


_DEVICES = re.compile(r"^DEVICES[ \t]*(?::[^=\n]*)?=[ \t]*[(\[]([^=)\]]*)[)\]]", re.MULTILINE)


def declared_devices(source: Path) -> tuple[str, ...]:
    """The file's own ``DEVICES = ("cpu",)``, if it has such a line; empty otherwise."""
    found = _DEVICES.search(_text(source))
    if found is None:
        return ()
    return tuple(re.findall(r"['\"]([a-z]+)['\"]", found[1]))


def needs_cuda(source: Path) -> bool:
    """Whether the file plainly needs a CUDA device (and does not ask whether there is one)."""
    text = _text(source)
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return bool(_CUDA.search(code)) and not (_GUARDED.search(code) and "__global__" not in code)


def lacking(source: Path, device: Device) -> str:
    """Why a solution is not for this device, by its own words or its text; empty if it may be."""
    kind = "cuda" if device.is_gpu else "cpu"
    devices = declared_devices(source)
    if devices and kind not in devices:
        here = f"{device.name} ({kind})"
        return f"is made for {' or '.join(devices)} (its DEVICES); this session judges on {here}"
    if kind == "cpu" and not devices and needs_cuda(source):
        return f"needs a CUDA device; this session judges on {device.name} (cpu)"
    return ""


def _text(source: Path) -> str:
    """Nothing of a file that cannot be read: the build says why."""
    try:
        return source_text(source)
    except OSError:
        return ""
