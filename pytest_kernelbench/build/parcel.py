"""A built extension as bytes: from the cache of one machine into another's."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from pytest_kernelbench.build import replay
from pytest_kernelbench.build.job import LOG_FILE, MANIFEST_FILE
from pytest_kernelbench.build.store import Entry, disk_errors
from pytest_kernelbench.folders import remove_tree

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_kernelbench.build.builder import Builder

LIMIT_BYTES = 48 << 20
"""Above this it is cheaper, or at least kinder to the cluster, to build again."""


class _Parcel(msgspec.Struct, frozen=True):
    base: str
    """Source, flags, tools and device, hashed: whoever has another one cannot use it."""
    entry: Entry
    inputs: tuple[str, ...]
    files: tuple[tuple[str, bytes], ...]


def pack(builder: Builder, solution: Path, entry_point: str) -> bytes:
    """What ``builder`` has just built; empty where another machine would have to build anyway."""
    base = builder.base_key(solution, entry_point)
    store = builder.store
    key = store.key(base, solution)
    entry = store.lookup(key)
    if entry is None or entry.outcome != "built":
        return b""
    folder = store.entries / key
    names = [MANIFEST_FILE, *entry.files, LOG_FILE]
    paths = [(name, folder / name) for name in names if (folder / name).is_file()]
    if sum(path.stat().st_size for _, path in paths) > LIMIT_BYTES:
        return b""
    files = tuple((name, path.read_bytes()) for name, path in paths)
    return msgspec.msgpack.encode(_Parcel(base, entry, tuple(store.input_names(base)), files))


def unpack(builder: Builder, solution: Path, entry_point: str, data: bytes) -> bool:
    """Put a parcel into ``builder``'s cache; False where it was built for something else.

    What it claims to be is checked against its own hashes; whether it fits, against the key that
    this machine would give to the same solution.
    """
    if not data:
        return False
    parcel = msgspec.msgpack.decode(data, type=_Parcel)
    base = builder.base_key(solution, entry_point)
    if parcel.base != base:
        return False
    store = builder.store
    with builder.alone(base):
        if store.lookup(store.key(base, solution)) is not None:
            return True
        work = store.begin()
        try:
            with disk_errors(work):
                _write(parcel, work)
            if not _sound(parcel.entry, work):
                return False
            store.adopt(work, base, solution, parcel.inputs, parcel.entry)
        finally:
            remove_tree(work)
    return True


def _write(parcel: _Parcel, work: Path) -> None:
    for name, data in parcel.files:
        if not _inside(name):
            continue
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def _sound(entry: Entry, work: Path) -> bool:
    manifest = (work / MANIFEST_FILE).is_file()
    return manifest and all(
        _inside(name) and (work / name).is_file() and replay.file_hash(work / name) == digest
        for name, (_, digest) in entry.files.items()
    )
