"""The cache on disk: found again, never half there, bounded."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec
import pytest

from pytest_kernelbench.build import replay
from pytest_kernelbench.build.store import Entry, Store
from pytest_kernelbench.errors import MachineError


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "cache" / "build")
    store.prepare()
    return store


@pytest.fixture
def solution(tmp_path: Path) -> Path:
    path = tmp_path / "sol" / "a.py"
    path.parent.mkdir()
    path.write_text("class ModelNew: pass")
    return path


def add(
    store: Store, base: str, solution: Path, inputs: tuple[str, ...] = (), size_bytes: int = 100
) -> str:
    work = store.begin()
    library = work / "x.so"
    library.write_bytes(b"0" * size_bytes)
    files = {"x.so": (size_bytes, replay.file_hash(library))}
    entry = Entry(str(solution), "built", files=files, size_bytes=size_bytes)
    return store.adopt(work, base, solution, inputs, entry)


def age(store: Store, key: str, hours: float) -> None:
    then = time.time() - hours * 3600
    os.utime(store.entries / key / "entry.json", (then, then))


def test_found_again_and_marked_as_used(store: Store, solution: Path) -> None:
    key = add(store, "base", solution)
    age(store, key, 5)
    entry = store.lookup(key)
    assert entry is not None
    assert entry.outcome == "built"
    ((_, _, used_at),) = store.rows()
    assert time.time() - used_at < 60


def test_nothing_is_found_before(store: Store) -> None:
    assert store.lookup("base") is None


def test_a_library_cut_short_is_no_entry(store: Store, solution: Path) -> None:
    key = add(store, "base", solution)
    (store.entries / key / "x.so").write_bytes(b"0")
    assert store.lookup(key) is None
    assert add(store, "base", solution) == key
    assert store.lookup(key) is not None


def test_an_entry_that_is_no_json_is_no_entry(store: Store, solution: Path) -> None:
    key = add(store, "base", solution)
    (store.entries / key / "entry.json").write_text("{")
    assert store.lookup(key) is None


def test_files_that_the_build_read_are_part_of_the_key(store: Store, solution: Path) -> None:
    beside = solution.parent / "kernel.cu"
    beside.write_text("int one;")
    first = add(store, "base", solution, ("kernel.cu",))
    assert store.key("base", solution) == first
    beside.write_text("int two;")
    second = store.key("base", solution)
    assert second != first
    assert store.lookup(second) is None
    beside.write_text("int one;")
    assert store.key("base", solution) == first


def test_the_lock_of_a_dead_process_is_free(store: Store) -> None:
    child = os.fork()
    if child == 0:
        store.lock("base").acquire()
        os._exit(0)
    os.waitpid(child, 0)
    with store.lock("base").acquire(timeout=1):
        pass


def test_a_lock_file_that_lies_about_blocks_nobody(store: Store) -> None:
    (store.root / "locks" / "base").write_text("")
    with store.lock("base").acquire(timeout=1):
        pass


def test_evicts_the_least_recently_used_down_to_the_limit(store: Store, solution: Path) -> None:
    keys = [add(store, f"base{n}", solution) for n in range(4)]
    for hours, key in zip((9, 3, 7, 2), keys, strict=True):
        age(store, key, hours)
    assert store.evict(250) == [keys[0], keys[2]]
    assert [key for key in keys if store.lookup(key) is not None] == [keys[1], keys[3]]


def test_what_was_just_used_is_never_evicted(store: Store, solution: Path) -> None:
    key = add(store, "base", solution)
    assert store.evict(0) == []
    assert store.lookup(key) is not None


def test_sweeps_old_work_folders_of_the_dead_only(store: Store) -> None:
    """A container with the same cache builds under a number that is nobody's here."""
    child = os.fork()
    if child == 0:
        store.begin()
        os._exit(0)
    os.waitpid(child, 0)
    (left,) = (store.root / "work").iterdir()
    own = store.begin()
    os.utime(own, (0, 0))
    assert store.sweep() == 0
    assert left.is_dir()
    os.utime(left, (0, 0))
    assert store.sweep() == 1
    assert own.is_dir()


def test_a_folder_that_cannot_be_written_is_the_machines_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match=r"the build cache in .* cannot be used"):
        Store(tmp_path / "file" / "build").prepare()


@pytest.mark.parametrize(
    ("number", "words"), [(28, "the disk is full"), (13, "--kb-cache"), (30, "--kb-cache")]
)
def test_errors_of_the_disk_say_what_to_do(
    store: Store, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    with pytest.raises(MachineError, match=words):
        store.begin()


def test_entries_travel_as_json(solution: Path) -> None:
    entry = Entry(str(solution), "failed", "why", warnings=("w",), files={"a": (1, "b")})
    assert msgspec.json.decode(msgspec.json.encode(entry), type=Entry) == entry


def test_what_a_build_says_it_read_leads_nowhere_else(store: Store, solution: Path) -> None:
    key = add(store, "base", solution, ("/dev/zero", "../sol/a.py", "kernel.cu"))
    assert store.input_names("base") == ["kernel.cu"]
    (store.root / "inputs" / "base.json").write_text('["kernel.cu", "/dev/zero"]')
    assert store.key("base", solution) == key
