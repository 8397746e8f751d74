"""What is said to a solution that would write where it may not."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from pytest_kernelbench.judge.inside.loading import failure
from pytest_kernelbench.unwritable import WHERE_TO_WRITE, advice_on


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The places of a child's own."""
    for name in ("work", "tmp", "home/.cache", "beside"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    Path("k.cu").symlink_to(tmp_path / "beside/k.cu")
    return tmp_path


def refused(place: object, number: int = errno.EROFS) -> OSError:
    return OSError(number, os.strerror(number), place)


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EPERM])
@pytest.mark.parametrize(
    "place", ["/opt/torch_extensions", b"/opt/k", "home/.my_kernels", "beside/build", "work/k.cu"]
)
def test_a_place_that_is_not_its_own(scratch: Path, place: str | bytes, number: int) -> None:
    path = scratch / place if isinstance(place, str) else place
    assert advice_on(refused(os.fspath(path), number)) == WHERE_TO_WRITE


@pytest.mark.parametrize("place", ["work/k", "tmp/a/b", "home/.cache/k"])
def test_its_own_places(scratch: Path, place: str) -> None:
    assert not advice_on(refused(str(scratch / place), errno.EACCES))


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(errno.ENOENT, "No such file", "/opt/x"),
        PermissionError(errno.EPERM, "Operation not permitted"),
        refused(7),
        refused("/opt/\0"),
        ValueError("Read-only file system: '/tmp/x'"),
    ],
)
def test_other_errors(error: Exception) -> None:
    assert not advice_on(error)


def test_it_stands_where_the_error_is_told() -> None:
    """The last line is the verdict's reason."""
    failed = failure("import", refused("/opt/torch_extensions"), "/there/k.py")
    last = failed.text.splitlines()[-1]
    assert last.startswith("OSError: [Errno 30] Read-only file system: '/opt/torch_extensions'; ")
    assert last.endswith(WHERE_TO_WRITE)
