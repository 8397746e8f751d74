"""``kb cache``: show, check and prune what was built."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.build import replay
from pytest_kernelbench.build.store import Store
from pytest_kernelbench.folders import remove_tree, tree_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

_DAY_S = 86_400.0
_OLD_TOOLCHAIN_DAYS = 30.0


@dataclass(frozen=True)
class Row:
    """One entry of the cache."""

    key: str
    solution: str
    outcome: str
    size_bytes: int
    build_s: float
    used_at: float
    versions: str


@dataclass(frozen=True)
class Pruned:
    """What was removed."""

    entries: int
    toolchains: int
    work_folders: int
    freed_bytes: int
    sources: int = 0
    """Files that were made out of archives' rows."""


def store_of(cache_dir: Path) -> Store:
    """The store in the folder that ``--kb-cache`` names."""
    return Store((cache_dir / "build").absolute())


def list_cache(cache_dir: Path) -> list[Row]:
    """Every entry, the most recently used first."""
    rows = [
        Row(
            key=key,
            solution=entry.solution,
            outcome=entry.outcome,
            size_bytes=entry.size_bytes,
            build_s=entry.seconds,
            used_at=used_at,
            versions=entry.versions,
        )
        for key, entry, used_at in store_of(cache_dir).rows()
    ]
    return sorted(rows, key=lambda row: row.used_at, reverse=True)


def check_cache(cache_dir: Path, *, mend: bool = False) -> list[str]:
    """What is wrong with the cache, a sentence each; ``mend`` removes the damaged entries."""
    store = store_of(cache_dir)
    sound = {key: entry for key, entry, _ in store.rows()}
    problems: list[str] = []
    for folder in sorted(store.entries.glob("*")):
        entry = sound.get(folder.name)
        damage = "its entry.json cannot be read" if entry is None else ""
        for name, (_, digest) in (entry.files if entry is not None else {}).items():
            if replay.file_hash(folder / name) != digest:
                damage = f"{name} is missing or not what was built"
        if damage:
            problems.append(f"{folder.name[:12]}: {damage}")
            if mend:
                remove_tree(folder)
    return problems


def prune_cache(cache_dir: Path, *, limit_bytes: int = 0, unused_days: float = 0.0) -> Pruned:
    """Remove entries, least recently used first, until ``limit_bytes`` are left.

    Entries used within ``unused_days`` stay, as do those used within the last hour. Work folders
    of the dead go too after a day, and toolchains and files out of archives after a month unused.
    """
    store = store_of(cache_dir)
    filled = store.root, cache_dir / "sources"
    before_bytes = sum(map(tree_bytes, filled))
    work_folders = store.sweep()
    entries = store.evict(limit_bytes, used_within_s=unused_days * _DAY_S)
    old = [*_unused(store.root / "toolchains"), *_unused(store.root / "ccache")]
    problems = filled[1] / "problems"
    sources = [*_unused(problems), *(path for path in _unused(problems.parent) if path != problems)]
    for folder in (*old, *sources):
        remove_tree(folder)
    freed_bytes = before_bytes - sum(map(tree_bytes, filled))
    return Pruned(len(entries), len(old), work_folders, freed_bytes, len(sources))


def _unused(root: Path) -> Iterator[Path]:
    for folder in root.glob("*"):
        if time.time() - folder.stat().st_mtime > _OLD_TOOLCHAIN_DAYS * _DAY_S:
            yield folder
