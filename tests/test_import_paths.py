"""Whatever process of ours starts from nothing finds the packages that pytest's own does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pytest_kernelbench
from pytest_kernelbench.build.nursery import Nursery
from pytest_kernelbench.engine.seat import Seat
from pytest_kernelbench.errors import KernelbenchError
from pytest_kernelbench.judge.device import Device
from pytest_kernelbench.sandbox.client import ForkServer
from pytest_kernelbench.sandbox.import_paths import BOOT, boot, import_paths
from pytest_kernelbench.settings import Settings

TELLER = """
import json
import {name}
import pytest_kernelbench.errors
def tell(*words):
    print(json.dumps([{name}.__file__, pytest_kernelbench.errors.__file__, *words]))
"""


def told(*words: object) -> list[Any]:
    """What a process says that was booted with ``words``."""
    command = [sys.executable, *boot("teller:tell", *words)]
    return list(json.loads(subprocess.run(command, capture_output=True, check=True).stdout))


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that ``PYTHONPATH`` names."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def test_what_python_path_names_comes_before_what_is_installed(on_path: Path) -> None:
    (on_path / "teller.py").write_text(TELLER.format(name="iniconfig"))
    (on_path / "iniconfig.py").touch()
    found, _, *words = told(7, ["torch"])
    assert found == str(on_path / "iniconfig.py")
    assert words == [7, ["torch"]]


def test_a_folder_of_both_kinds_keeps_its_place_in_front(
    on_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Site-packages, which ``python -I`` has already, named before another folder."""
    (on_path / "teller.py").write_text(TELLER.format(name="iniconfig"))
    (on_path / "iniconfig.py").touch()
    site = str(Path(pytest.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((site, str(on_path))))
    assert Path(told()[0]).is_relative_to(site)


def test_our_own_package_is_the_parents(on_path: Path) -> None:
    """As `python -m pytest` in a source tree finds it, beside another copy that is installed."""
    (on_path / "teller.py").write_text(TELLER.format(name="json"))
    copy = on_path / "pytest_kernelbench"
    copy.mkdir()
    for name in ("__init__.py", "errors.py"):
        (copy / name).touch()
    ours = Path(pytest_kernelbench.__file__).resolve().parent
    assert told()[1] == str(ours / "errors.py")


def test_folders_that_pytest_put_in_front_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    wanted, rest = import_paths()
    assert wanted == []
    assert str(tmp_path) not in rest


def start_server(_: Path) -> None:
    ForkServer(("json",))


def start_nursery(folder: Path) -> None:
    Nursery({}).spawn(folder, folder, 1, {})


def start_seat(_: Path) -> None:
    Seat(Settings(), Device("a CPU", "cpu", "cpu")).open()


@pytest.mark.parametrize("start", [start_server, start_nursery, start_seat])
def test_all_find_packages_alike(
    on_path: Path, monkeypatch: pytest.MonkeyPatch, start: Callable[[Path], None]
) -> None:
    """The process that judges, the one that builds and the one that contenders come from."""
    commands: list[list[str]] = []

    def note(command: list[str], **_: object) -> None:
        commands.append(command)
        message = "not now"
        raise OSError(message)

    monkeypatch.setattr(subprocess, "Popen", note)
    with pytest.raises(KernelbenchError, match="not now"):
        start(on_path)
    command = commands[0]
    place = command.index(BOOT)
    assert {"-I", "-c"} <= {*command[:place]}
    wanted, rest, entry, *_ = json.loads(command[place + 1])
    assert (wanted, rest) == import_paths()
    assert wanted == [str(on_path)]
    assert entry.endswith(":serve")
