"""An extension that was built on one machine, put into the cache of another."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest

from pytest_kernelbench.build import parcel
from pytest_kernelbench.build.builder import Builder
from pytest_kernelbench.build.store import Entry
from pytest_kernelbench.settings import Settings

LIBRARY = "calls/00/k.so"
SOURCE = "class ModelNew: pass\n"


@pytest.fixture
def solution(tmp_path: Path) -> Path:
    path = tmp_path / "here" / "solution.py"
    path.parent.mkdir()
    path.write_text(SOURCE)
    return path


@pytest.fixture
def elsewhere(tmp_path: Path, solution: Path) -> Path:
    """The same solution on another machine."""
    path = tmp_path / "there" / "solution.py"
    path.parent.mkdir()
    path.write_text(solution.read_text())
    return path


def builder(folder: Path, arch: str | None = None) -> Builder:
    return Builder(Settings(cache_dir=folder), arch)


def keep(made: Builder, solution: Path, outcome: str = "built") -> None:
    """As if it had been built: no compiler is needed to see it travel."""
    base = made.base_key(solution, "ModelNew")
    work = made.store.begin()
    (work / LIBRARY).parent.mkdir(parents=True)
    (work / LIBRARY).write_bytes(b"\x7fELF")
    (work / "manifest.json").write_text('{"calls": {}}')
    (work / "build.log").write_text("g++ said nothing\n")
    (work / "home").mkdir()
    (work / "home" / "secret").write_text("stays")
    files = {LIBRARY: (4, hashlib.sha256(b"\x7fELF").hexdigest())}
    entry = Entry(str(solution), outcome, files=files, seconds=7.0, warnings=("unused x",))
    with made.store.lock(base):
        made.store.adopt(work, base, solution, (), entry)


def test_it_is_found_as_if_built_there(tmp_path: Path, solution: Path, elsewhere: Path) -> None:
    one, other = builder(tmp_path / "one"), builder(tmp_path / "other")
    keep(one, solution)
    data = parcel.pack(one, solution, "ModelNew")
    assert parcel.unpack(other, elsewhere, "ModelNew", data)
    assert parcel.unpack(other, elsewhere, "ModelNew", data)  # and again, by another task
    extension = other.build(elsewhere)
    assert extension.cached
    assert extension.warnings == ("unused x",)
    assert extension.folder.is_relative_to(tmp_path / "other")
    assert (extension.folder / LIBRARY).read_bytes() == b"\x7fELF"
    assert extension.log.read_text() == "g++ said nothing\n"
    assert not (extension.folder / "home").exists()
    for each in (one, other):
        each.close()


@pytest.mark.parametrize("outcome", ["deferred", "failed", "missing"])
def test_only_what_was_built_travels(tmp_path: Path, solution: Path, outcome: str) -> None:
    one = builder(tmp_path / "one")
    keep(one, solution, outcome)
    assert parcel.pack(one, solution, "ModelNew") == b""
    assert not parcel.unpack(one, solution, "ModelNew", b"")


def test_what_is_too_large_stays(
    tmp_path: Path, solution: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = builder(tmp_path / "one")
    keep(one, solution)
    monkeypatch.setattr(parcel, "LIMIT_BYTES", 20)
    assert parcel.pack(one, solution, "ModelNew") == b""


def test_it_fits_no_other_device_and_no_other_source(
    tmp_path: Path, solution: Path, elsewhere: Path
) -> None:
    one = builder(tmp_path / "one", "9.0")
    keep(one, solution)
    data = parcel.pack(one, solution, "ModelNew")
    assert not parcel.unpack(builder(tmp_path / "other", "8.0"), elsewhere, "ModelNew", data)
    assert not parcel.unpack(builder(tmp_path / "other", "9.0"), elsewhere, "Other", data)
    elsewhere.write_text(SOURCE + "# changed\n")
    assert not parcel.unpack(builder(tmp_path / "other", "9.0"), elsewhere, "ModelNew", data)


@pytest.mark.parametrize(
    "files",
    [
        (("manifest.json", b"{}"), (LIBRARY, b"\x7fELG")),
        (("manifest.json", b"{}"),),
        ((LIBRARY, b"\x7fELF"),),
        (("manifest.json", b"{}"), (f"../../{LIBRARY}", b"\x7fELF")),
    ],
    ids=["altered", "no library", "no manifest", "outside"],
)
def test_what_is_not_as_it_says_is_not_taken(
    tmp_path: Path, solution: Path, elsewhere: Path, files: tuple[tuple[str, bytes], ...]
) -> None:
    one, other = builder(tmp_path / "one"), builder(tmp_path / "other")
    keep(one, solution)
    packed = msgspec.msgpack.decode(parcel.pack(one, solution, "ModelNew"), type=parcel._Parcel)
    data = msgspec.msgpack.encode(msgspec.structs.replace(packed, files=files))
    assert not parcel.unpack(other, elsewhere, "ModelNew", data)
    assert not [*other.store.entries.iterdir()]
    assert not [*(tmp_path / "other").rglob("*.so")]
