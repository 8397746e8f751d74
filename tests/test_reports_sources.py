"""A solution's text goes along with its record, and nothing else does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_kernelbench.reports.sources import MOST_BYTES, source_of
from pytest_kernelbench.verdict import Status, Verdict


def source_at(path: Path) -> str:
    return source_of(Verdict(1, 19, "relu", "ann", str(path), Status.RIGHT))


def test_text(tmp_path: Path) -> None:
    path = tmp_path / "relu.py"
    path.write_bytes(b"# \xff\n" + b"x" * MOST_BYTES)
    assert source_at(path) == "# \ufffd\n" + "x" * (MOST_BYTES - 4)


def link(path: Path) -> None:
    secret = path.with_name("secret")
    secret.write_text("key")
    path.symlink_to(secret)


@pytest.mark.parametrize("make", [link, os.mkfifo, Path.mkdir, lambda _: None])
def test_nothing_that_is_no_plain_file(make, tmp_path: Path) -> None:  # noqa: ANN001
    """Through a link an author could have whatever the judge may read put into the records."""
    make(tmp_path / "relu.py")
    assert not source_at(tmp_path / "relu.py")
