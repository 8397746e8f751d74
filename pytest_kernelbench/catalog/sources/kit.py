"""A solution as flashinfer-bench's starter kit lays it out: ``config.toml`` and ``solution/``."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.catalog.material import source_text
from pytest_kernelbench.catalog.sources.packed import claim_packed
from pytest_kernelbench.folders import lies_in, read_file

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest needs it there, too

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_kernelbench.catalog.claim import Claim

_SUFFIXES = (".py", ".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc", ".cxx")
_CONFIG_LIMIT_BYTES = 16 << 10
"""The time that Python's parser takes grows with the square of a key's parts."""


def claim_kit(path: Path, base: Claim) -> Claim | None:
    """What a ``config.toml`` claims; None if it configures something else."""
    folder = path.parent / "solution"
    config = _config(path) if folder.is_dir() else {}
    about, build = config.get("solution"), config.get("build")
    if not isinstance(about, dict) or not isinstance(build, dict):
        return None
    language = str(build.get("language", ""))
    if (folder / language).is_dir():
        folder /= language
    if not folder.resolve().is_relative_to(path.parent.resolve()):
        return replace(base, refusal=f"its sources lie in {folder}, outside of its own folder")
    try:
        files = _files(folder, path.parent)
    except OSError as error:
        return replace(base, refusal=f"{error.filename} cannot be read: {error.strerror}")
    return claim_packed(_packed(about, build, files), base)


def _config(path: Path) -> dict[str, Any]:
    """Empty for what is no TOML, or longer or deeper than anybody writes it."""
    try:
        config: dict[str, Any] = tomllib.loads(read_file(path, _CONFIG_LIMIT_BYTES).decode())
    except (ValueError, RecursionError, OSError):
        return {}
    return config


def _files(folder: Path, kit: Path) -> list[dict[str, str]]:
    """The sources below a folder of the kit; none that lies elsewhere. Raises ``OSError``."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.suffix not in _SUFFIXES or path.is_symlink() or not lies_in(kit, path):
            continue
        found.append({"path": path.relative_to(folder).as_posix(), "content": source_text(path)})
    return found


def _packed(
    about: Mapping[str, Any], build: Mapping[str, Any], files: list[dict[str, str]]
) -> dict[str, Any]:
    return {
        "name": about.get("name"),
        "definition": about.get("definition"),
        "author": about.get("author"),
        "spec": dict(build),
        "sources": files,
    }
