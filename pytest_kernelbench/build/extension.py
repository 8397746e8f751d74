"""A built solution: where its extension modules lie."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Extension:
    """What a build leaves for the contender; ``folder`` is never written again.

    ``folder/manifest.json`` maps each ``load``/``load_inline`` call of the solution (by a hash of
    its arguments) to the library it made; the contender's stand-in imports that library and
    compiles nothing.
    """

    folder: Path
    log: Path
    seconds: float
    """Wall time of the build; 0.0 when it came from the cache."""
    cached: bool
    warnings: tuple[str, ...] = ()
    deferred: str = ""
    """Why the module body could not be run without a device; the contender will run it."""
    earlier: Path | None = None
    """The folder of the pair's earlier source, built likewise; None where there is none."""
