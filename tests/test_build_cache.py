"""What ``kb cache`` shows, checks and prunes."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pytest_kernelbench.build import replay
from pytest_kernelbench.build.cache import check_cache, list_cache, prune_cache, store_of
from pytest_kernelbench.build.store import Entry
from pytest_kernelbench.catalog.material import Material, materialise
from pytest_kernelbench.cli import main


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Two entries, used five and three hours ago."""
    store = store_of(tmp_path)
    store.prepare()
    for name, hours in (("old", 5), ("new", 3)):
        work = store.begin()
        (work / "x.so").write_bytes(b"0" * 1000)
        files = {"x.so": (1000, replay.file_hash(work / "x.so"))}
        entry = Entry(f"/s/{name}.py", "built", files=files, size_bytes=1000, seconds=2.0)
        key = store.adopt(work, name, Path(f"/s/{name}.py"), (), entry)
        then = time.time() - hours * 3600
        os.utime(store.entries / key / "entry.json", (then, then))
    return tmp_path


def test_list_begins_with_the_last_used(cache: Path) -> None:
    assert [row.solution for row in list_cache(cache)] == ["/s/new.py", "/s/old.py"]
    assert list_cache(cache)[0].size_bytes == 1000


def test_a_sound_cache_has_no_problems(cache: Path) -> None:
    assert check_cache(cache) == []


def test_check_finds_a_library_that_was_changed_and_mends(cache: Path) -> None:
    library = store_of(cache).entries / "old" / "x.so"
    library.write_bytes(b"1" * 1000)
    (problem,) = check_cache(cache)
    assert problem == "old: x.so is missing or not what was built"
    assert check_cache(cache, mend=True)
    assert check_cache(cache) == []
    assert [row.key for row in list_cache(cache)] == ["new"]


def test_check_finds_an_entry_without_its_record(cache: Path) -> None:
    (store_of(cache).entries / "old" / "entry.json").unlink()
    assert check_cache(cache) == ["old: its entry.json cannot be read"]


def test_prune_to_a_size(cache: Path) -> None:
    pruned = prune_cache(cache, limit_bytes=1500)
    assert pruned.entries == 1
    assert pruned.freed_bytes >= 1000
    assert [row.key for row in list_cache(cache)] == ["new"]


def test_prune_spares_what_was_used_lately(cache: Path) -> None:
    assert prune_cache(cache, unused_days=4 / 24).entries == 1
    assert prune_cache(cache).entries == 1


def test_prune_removes_toolchains_of_long_ago(cache: Path) -> None:
    folders = [cache / "build" / "toolchains" / name for name in ("ancient", "current")]
    for folder in folders:
        folder.mkdir(parents=True)
    then = time.time() - 40 * 86_400
    os.utime(folders[0], (then, then))
    assert prune_cache(cache, limit_bytes=10**9).toolchains == 1
    assert [folder.exists() for folder in folders] == [False, True]


def test_prune_removes_sources_that_nobody_asked_for_lately(cache: Path) -> None:
    """Rows of archives have files of their own, which stay so that they are found again."""
    material = Material((("a.py", "x = 1" + "0" * 5000),))
    places = [cache / "sources", cache / "sources" / "problems"]
    made = [materialise(material, place, "a").parent for place in places]
    then = time.time() - 40 * 86_400
    for folder in (*places, *made):
        os.utime(folder, (then, then))
    again = materialise(Material((("b.py", "x = 2"),)), places[0], "b")
    kept = materialise(material, places[1], "a")
    pruned = prune_cache(cache, limit_bytes=10**9)
    assert pruned.sources == 1
    assert pruned.freed_bytes >= 5000
    assert [path.exists() for path in (made[0], kept, again)] == [False, True, True]


def test_an_empty_folder_is_an_empty_cache(tmp_path: Path) -> None:
    assert list_cache(tmp_path) == []
    assert check_cache(tmp_path) == []
    assert prune_cache(tmp_path).freed_bytes == 0


def test_kb_cache_shows_checks_and_prunes(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*arguments: str, status: int = 0) -> list[str]:
        assert main(["cache", *arguments, f"--cache={cache}"]) == status
        return capsys.readouterr().out.splitlines()

    shown = told()
    assert [line.split() for line in shown[1:3]] == [
        ["new", "built", "0.0", "2.0", "3.0", "h", "/s/new.py"],
        ["old", "built", "0.0", "2.0", "5.0", "h", "/s/old.py"],
    ]
    assert shown[3].startswith("2 builds, ")
    assert told("check") == ["every build is as it was made"]
    (store_of(cache).entries / "old" / "x.so").write_bytes(b"1" * 1000)
    damaged = "old: x.so is missing or not what was built"
    assert told("check", status=1) == [damaged, "1 damaged builds"]
    assert told("check", "--mend")[0] == f"{damaged}: removed"
    assert told("prune")[0].startswith("1 builds, 0 toolchains and 0 work folders removed, ")
    assert told()[-1].startswith("0 builds, ")
