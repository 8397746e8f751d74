"""Folders that somebody else has filled."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_kernelbench.folders import (
    chunks,
    kind_of,
    lies_in,
    open_plain,
    owned_folder,
    read_file,
    remove_tree,
    sweep_owned,
    touch_owned,
    tree_bytes,
)

DEPTH = 3 * sys.getrecursionlimit()


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """Deeper than Python calls, and than a path may be long."""
    folder, here = tmp_path / "deep", Path.cwd()
    folder.mkdir()
    try:
        os.chdir(folder)
        for _ in range(DEPTH):
            Path("file").write_text("x" * 10)
            Path("nested").mkdir()
            os.chdir("nested")
    finally:
        os.chdir(here)
    yield folder
    remove_tree(folder)


def test_a_deep_tree_is_removed(deep: Path) -> None:
    remove_tree(deep)
    assert not deep.exists()


def test_a_deep_tree_is_measured_as_far_as_it_can_be_named(deep: Path) -> None:
    assert tree_bytes(deep) > 10 * 500


def test_links_are_removed_and_what_they_point_to_is_not(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("kept")
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "link").symlink_to(kept)
    (folder / "link").symlink_to(kept)
    remove_tree(folder)
    assert not folder.exists()
    assert (kept / "file").read_text() == "kept"


def test_closed_folders_are_opened(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "closed" / "inner").mkdir(parents=True)
    (folder / "closed" / "inner").chmod(0)
    (folder / "closed").chmod(0)
    remove_tree(folder)
    assert not folder.exists()


def test_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    remove_tree(tmp_path / "nothing")
    (tmp_path / "file").write_text("stays")
    remove_tree(tmp_path / "file")
    assert (tmp_path / "file").exists()
    assert not tree_bytes(tmp_path / "nothing")


@pytest.mark.parametrize("name", ["file", "in/file"])
def test_a_plain_file_is_opened(tmp_path: Path, name: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / name).write_bytes(b"words")
    with open_plain(tmp_path, name) as file:
        assert file.read() == b"words"


@pytest.mark.parametrize(
    "name",
    ["link", "pipe", "folder", "twice", "aside/file", "../file", "/etc/passwd", "a\0b", "", "gone"],
)
def test_nothing_else_is_opened(tmp_path: Path, name: str) -> None:
    here = tmp_path / "here"
    (here / "folder").mkdir(parents=True)
    (tmp_path / "file").touch()
    (here / "link").symlink_to("../file")
    (here / "aside").symlink_to("..")
    (here / "twice").touch()
    (here / "again").hardlink_to(here / "twice")
    os.mkfifo(here / "pipe")
    before = os.listdir("/proc/self/fd")
    with pytest.raises(OSError, match=r".+"):
        open_plain(here, name)
    assert os.listdir("/proc/self/fd") == before


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


ODD = [
    (os.mkfifo, "it is a named pipe"),
    (Path.mkdir, "it is a folder"),
    (_socket, "it is a socket"),
    (lambda path: path.symlink_to("/dev/zero"), "it is a device"),
]
"""What may lie in the place of a file, with the words for it."""


@pytest.mark.parametrize(("make", "words"), ODD)
def test_what_is_no_file_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], words: str
) -> None:
    monkeypatch.chdir(tmp_path)  # The name of a socket must be short.
    make(Path("odd"))
    assert kind_of(Path("odd")) == words
    with pytest.raises(OSError, match=words):
        read_file(Path("odd"), 100)


def test_a_file_is_read_as_far_as_it_may_be_long(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert read_file(file, 5) == b"12345"
    assert b"".join(chunks(file, 3)) == b"123"
    assert kind_of(file) == ""
    with pytest.raises(OSError, match="it has more than 4 bytes"):
        read_file(file, 4)
    os.truncate(file, 60 << 30)
    with pytest.raises(OSError, match="it has more than 4 bytes"):
        read_file(file, 4)


def test_what_the_kernel_makes_up_is_bounded_by_what_is_read() -> None:
    assert Path("/proc/self/maps").stat().st_size == 0
    with pytest.raises(OSError, match="it has more than 10 bytes"):
        read_file(Path("/proc/self/maps"), 10)


def test_links_lie_where_they_lead_to(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    for file in (inner / "file", tmp_path / "outside"):
        file.touch()
    links = {"within": "file", "out": "../outside", "gone": "nowhere", "round": "round"}
    for name, target in links.items():
        (inner / name).symlink_to(target)
    assert {name for name in links if lies_in(inner, inner / name)} == {"within"}
    assert kind_of(inner / "gone") == "it is a link that leads nowhere"


DEAD = 4194305  # above the largest pid there can be


def test_what_the_dead_left_is_swept_after_a_day(tmp_path: Path) -> None:
    """Of who cannot be seen it may also be another container's, in use."""
    own = owned_folder(tmp_path, "kb-x-")
    names = (f"kb-x-{DEAD}-old", f"kb-x-{DEAD}-young", f"kb-x-{DEAD}-used", "kb-x-y-z", f"{DEAD}-o")
    folders = [own, *(tmp_path / name for name in names)]
    for folder in folders:
        (folder / "inner").mkdir(parents=True)
        if "young" not in folder.name:
            os.utime(folder, (0, 0))
    touch_owned(folders[3])
    assert sweep_owned(tmp_path, "kb-x-") == 1
    assert [folder.exists() for folder in folders] == [True, False, True, True, True, True]
    day_ago = time.time() - 25 * 3600
    os.utime(folders[2], (day_ago, day_ago))
    assert sweep_owned(tmp_path, "kb-x-") == 1
    assert sweep_owned(tmp_path) == 1
    assert not folders[5].exists()


def test_where_there_is_nothing_nothing_is_swept(tmp_path: Path) -> None:
    assert sweep_owned(tmp_path / "gone") == 0
    touch_owned(tmp_path / "gone")
