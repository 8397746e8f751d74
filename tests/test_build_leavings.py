"""What a build child leaves: read without following, waiting or growing."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from pytest_kernelbench.build import leavings
from pytest_kernelbench.build.keeping import keep_logs
from pytest_kernelbench.build.leavings import Leavings
from pytest_kernelbench.errors import BuildError, MachineError


def test_a_file_and_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"words")
    left = Leavings(tmp_path)
    assert (left.read("a", 3), left.read("b", 3), left.read("c/d", 3)) == (b"wor", None, None)
    assert (left.size_bytes("a"), left.size_bytes("b")) == (5, None)
    assert left.names("c") == []


def test_a_copy_is_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"program")
    (tmp_path / "a").chmod(0o700)
    kept = tmp_path / "kept"
    assert Leavings(tmp_path).copy("a", kept) == (7, hashlib.sha256(b"program").hexdigest())
    assert kept.read_bytes() == b"program"
    assert os.access(kept, os.X_OK)


def test_nothing_is_copied_over_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"new")
    (tmp_path / "elsewhere").write_bytes(b"old")
    (tmp_path / "kept").symlink_to("elsewhere")
    with pytest.raises(FileExistsError):
        Leavings(tmp_path).copy("a", tmp_path / "kept")
    assert (tmp_path / "elsewhere").read_bytes() == b"old"


def test_logs_come_in_the_order_in_which_their_tools_ended(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    for number, name in enumerate(("b", "c", "a")):
        path = tmp_path / "tools" / f"{name}.log"
        path.write_text(name)
        os.utime(path, (number, number))
    logs = Leavings(tmp_path).tool_logs
    assert logs == {"tools/b.log": b"b", "tools/c.log": b"c", "tools/a.log": b"a"}
    assert list(logs.values()) == [b"b", b"c", b"a"]


def test_logs_are_bounded_together(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    for number in range(40):
        path = tmp_path / "tools" / f"{number}.log"
        path.touch()
        os.truncate(path, 1 << 30)
    logs = Leavings(tmp_path).tool_logs
    assert sum(map(len, logs.values())) == 16 << 20


def test_only_some_of_very_many_names_are_read(tmp_path: Path, monkeypatch: object) -> None:
    del monkeypatch
    (tmp_path / "tools").mkdir()
    for number in range(leavings._MOST_NAMES + 5):
        (tmp_path / "tools" / f"{number}.log").touch()
    assert len(Leavings(tmp_path).names("tools")) == leavings._MOST_NAMES


def test_logs_that_cannot_be_read_are_not_kept(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    os.mkfifo(tmp_path / "tools" / "a.log")
    with pytest.raises(BuildError, match=r"cannot be read as tools/a\.log"):
        _ = Leavings(tmp_path).tool_logs
    (kept := tmp_path / "kept").mkdir()
    keep_logs(Leavings(tmp_path), b"said", kept)
    assert [path.name for path in kept.iterdir()] == ["build.log"]


def test_what_the_machine_lacks_is_not_the_builds_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(leavings, "open_plain", refuse)
    with pytest.raises(MachineError, match="Too many open files"):
        Leavings(tmp_path).read("a", 1)
