"""Landlock alone, without namespaces and as any user: what a process gives up stays given up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_kernelbench.sandbox import landlock

pytestmark = pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock")

PROLOGUE = """
import json, os, sys
from pathlib import Path
from pytest_kernelbench.sandbox import kernel, landlock
readable, writable, parent = json.loads(sys.argv[1])
kernel.forbid_new_privileges()
landlock.restrict([*map(Path, readable), Path(sys.prefix), Path(sys.base_prefix), Path("/usr")],
                  [*map(Path, writable), Path("/dev/null")])
def attempt(action):
    try:
        action()
    except OSError as error:
        return type(error).__name__
    return "done"
"""


def inside(action: str, readable: list[Path], writable: list[Path], parent: int = 0) -> str:
    """What ``attempt(action)`` says in a restricted process."""
    argument = json.dumps([[*map(str, readable)], [*map(str, writable)], parent])
    done = subprocess.run(
        [sys.executable, "-c", f"{PROLOGUE}\nprint(attempt(lambda: {action}))", argument],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd="/",
    )
    return done.stdout.strip()


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    """One to read, one to write, one that is closed; a file in each."""
    made = (tmp_path / "readable", tmp_path / "writable", tmp_path / "closed")
    for folder in made:
        folder.mkdir()
        (folder / "file").write_text("secret")
    return made


@pytest.mark.parametrize(
    ("action", "outcome"),
    [
        ("open('{readable}/file').read()", "done"),
        ("open('{readable}/file', 'w')", "PermissionError"),
        ("open('{readable}/new', 'w')", "PermissionError"),
        ("os.remove('{readable}/file')", "PermissionError"),
        ("os.truncate('{readable}/file', 0)", "PermissionError"),
        ("os.mkdir('{writable}/new')", "done"),
        ("open('{writable}/file', 'a')", "done"),
        ("os.remove('{writable}/file')", "done"),
        ("open('{closed}/file')", "PermissionError"),
        ("os.listdir('{closed}')", "PermissionError"),
        ("os.rename('{closed}/file', '{writable}/stolen')", "PermissionError"),
        ("os.link('{closed}/file', '{writable}/stolen')", "OSError"),  # EXDEV
        (
            "(os.symlink('{closed}/file', '{writable}/way'), open('{writable}/way'))",
            "PermissionError",
        ),
        ("os.execv('{closed}/file', ['x'])", "PermissionError"),
    ],
)
def test_files(folders: tuple[Path, Path, Path], action: str, outcome: str) -> None:
    readable, writable, closed = folders
    code = action.format(readable=readable, writable=writable, closed=closed)
    if "truncate" in code and landlock.abi() < 3:
        pytest.skip("truncation is handled from ABI 3 on")
    assert inside(code, [readable], [writable]) == outcome


def test_the_process_that_started_it_cannot_be_looked_into(
    folders: tuple[Path, Path, Path],
) -> None:
    readable, writable, _ = folders
    action = "open(f'/proc/{os.getppid()}/mem', 'rb')"
    assert inside(action, [readable, Path("/proc")], [writable]) == "PermissionError"


@pytest.mark.skipif(landlock.abi() < 6, reason="signals are scoped from ABI 6 on")
def test_the_process_that_started_it_cannot_be_signalled(folders: tuple[Path, Path, Path]) -> None:
    readable, writable, _ = folders
    assert inside("os.kill(os.getppid(), 0)", [readable], [writable]) == "PermissionError"


@pytest.mark.skipif(landlock.abi() < 4, reason="TCP is closed from ABI 4 on")
def test_no_tcp(folders: tuple[Path, Path, Path]) -> None:
    readable, writable, _ = folders
    action = "__import__('socket').create_connection(('127.0.0.1', 9), timeout=1)"
    assert inside(action, [readable, Path("/etc")], [writable]) == "PermissionError"


def test_a_path_that_does_not_exist_is_passed_over(folders: tuple[Path, Path, Path]) -> None:
    readable, writable, _ = folders
    missing = readable / "nowhere"
    assert inside(f"open('{readable}/file')", [readable, missing], [writable]) == "done"
