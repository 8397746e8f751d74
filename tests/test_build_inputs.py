"""Files beside a solution that its build says it has read."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from pytest_kernelbench.build import inputs

WORDS = hashlib.sha256(b"words").hexdigest()


@pytest.mark.parametrize(
    "name", ["/dev/zero", "../a", "b/../../a", "", "a\0b", "\ud800", 7, None, ["a"]]
)
def test_what_leads_elsewhere_is_not_believed(name: object) -> None:
    assert inputs.believable(["k.cu", name]) == ["k.cu"]


def test_names_are_bounded() -> None:
    assert len(inputs.believable(map(str, range(5000)))) == inputs.MOST


def test_contents_stand_beside_each_name(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "k.cu").write_bytes(b"words")
    (tmp_path / "link").symlink_to("in/k.cu")
    names = ["in/k.cu", "link", "gone", "in"]
    assert inputs.shown(tmp_path, names) == [
        ("in/k.cu", WORDS), ("link", WORDS), ("gone", ""), ("in", ""),
    ]  # fmt: skip


def test_no_link_is_followed_out_and_no_pipe_waited_for(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"words")
    (here := tmp_path / "here").mkdir()
    (here / "link").symlink_to(tmp_path / "key")
    (here / "zero").symlink_to("/dev/zero")
    os.mkfifo(here / "pipe")
    assert {text for _, text in inputs.shown(here, ["link", "zero", "pipe"])} == {""}


def test_what_is_very_large_is_known_by_size_and_time(tmp_path: Path) -> None:
    (tmp_path / "weights").touch()
    os.truncate(tmp_path / "weights", 1 << 40)
    first = inputs.shown(tmp_path, ["weights"])
    os.utime(tmp_path / "weights", (1, 1))
    assert inputs.shown(tmp_path, ["weights"]) != first
