"""What a solution needs of the device, by its text: a hint to skip early, never a verdict."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_CUDA = re.compile(
    r"__global__|cuda_sources\s*=|\.cuda\(\)|device\s*=\s*['\"]cuda|torch\.cuda\.(?!is_available)|"
    r"\bimport\s+(?:cutlass|cupy|tilelang|cuda)\b|\bfrom\s+(?:cutlass|cupy|tilelang|cuda)\b"
)
_GUARDED = re.compile(r"torch\.cuda\.is_available\(\)|\.is_cuda\b")


_DEVICES = re.compile(r"^DEVICES\s*(?::[^=]*)?=\s*[(\[]([^)\]]*)[)\]]", re.MULTILINE)


def declared_devices(source: Path) -> tuple[str, ...]:
    """The file's own ``DEVICES = ("cpu",)``, if it has such a line; empty otherwise."""
    text = source.read_text(encoding="utf-8", errors="replace")
    found = _DEVICES.search(text)
    if found is None:
        return ()
    return tuple(re.findall(r"['\"]([a-z]+)['\"]", found[1]))


def needs_cuda(source: Path) -> bool:
    """Whether the file plainly needs a CUDA device (and does not ask whether there is one)."""
    text = source.read_text(encoding="utf-8", errors="replace")
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return bool(_CUDA.search(code)) and not (_GUARDED.search(code) and "__global__" not in code)
