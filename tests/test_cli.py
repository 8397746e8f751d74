"""The frame of ``kb``."""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from pytest_kernelbench import __version__
from pytest_kernelbench.cli import COMMANDS, Command, main


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_each_command_is_there_and_explains_itself(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    module = import_module(command.module)
    assert callable(getattr(module, command.run))
    with pytest.raises(SystemExit) as exit_:
        main([command.name, "--help"])
    assert exit_.value.code == 0
    assert command.help.split()[0] in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_each_option_says_what_it_is(command: Command) -> None:
    parser = argparse.ArgumentParser(add_help=False)
    getattr(import_module(command.module), command.declare)(parser)
    assert not [action for action in parser._actions if not action.help]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"kb {__version__}\n"


def test_an_unknown_command_is_a_usage_error() -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["dance"])
    assert exit_.value.code == 2


def test_help_imports_no_torch() -> None:
    code = (
        "import sys\nfrom pytest_kernelbench.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\nassert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_cache_of_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cache = f"--cache={tmp_path}"
    assert main(["cache", cache]) == 0
    assert "0 builds, 0.0 MB" in capsys.readouterr().out
    assert main(["cache", "check", cache]) == 0
    assert main(["cache", "prune", cache]) == 0
    assert "0 builds" in capsys.readouterr().out


PROBLEM = Path(__file__).parents[1] / "problems/level1/019_relu.py"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With one problem, a text, a template that is none, and no records."""
    (tmp_path / "pr/level1").mkdir(parents=True)
    (tmp_path / "pr/level1" / PROBLEM.name).write_text(PROBLEM.read_text())
    (tmp_path / "notes.txt").write_text("notes")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts/intro.md").write_bytes(b"\xff")
    monkeypatch.chdir(tmp_path)
    return tmp_path


REFUSED = [
    ("problems pr --check --json no/x", "--json no/x: not a file in a folder that exists"),
    ("problems pr --check --json /proc/self/x", "--json /proc/self/x cannot be written: No such"),
    ("problems pr --json x", "--json is what --check finds, a line a problem: give that too"),
    ("problems pr --facts x", "--facts is what --check also holds problems to: give that too"),
    ("problems pr --check --device foo", "'foo' is none of auto, cpu, cuda, cuda:N"),
    ("problems pr --check --jobs 0", "'0' is not a whole number of at least 1"),
    ("problems pr --level x", "'x' is not a whole number of at least 1"),
    ("selftest --device cuda:x", "'cuda:x' is none of auto, cpu, cuda, cuda:N"),
    ("selftest --repeat 0", "'0' is not a whole number of at least 1"),
    ("selftest -j -1", "'-1' is not a whole number of at least 1"),
    ("selftest --json no/x", "--json no/x: not a file in a folder that exists"),
    ("cache prune --keep-gb nan", "'nan' is not a number of at least 0"),
    ("cache prune --keep-gb inf", "'inf' is not a number of at least 0"),
    ("cache prune --keep-gb=-1", "'-1' is not a number of at least 0"),
    ("cache prune --keep-days nan", "'nan' is not a number of at least 0"),
    ("cache check --cache nodir", "--cache nodir: there is no such folder"),
    ("prompt --problems pr --templates texts", "texts/intro.md is not text in UTF-8"),
    ("pairs pr --level 0", "'0' is not a whole number of at least 1"),
    ("report x --fail-under 0.5 --fail-under 0.6", "--fail-under is given more than once"),
]


@pytest.mark.parametrize(("line", "message"), REFUSED)
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_meant_is_refused_at_once(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = main(line.split())
    except SystemExit as end:  # argparse's way
        status = end.code
    out, err = capsys.readouterr()
    assert status == 2
    assert message in err
    assert "--kb-fail-under" not in err
    assert not out


def test_a_path_without_solutions_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    for name in ("notes.txt", "empty"):
        assert main(["pairs", name, "--problems", "pr"]) == 1
        out = capsys.readouterr().out
        assert f"{name}: nothing there is known as a solution\n0 found, 0 paired" in out


def test_what_the_system_refuses_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: object) -> int:
        raise OSError(28, "No space left on device", "x")

    monkeypatch.setattr("pytest_kernelbench.catalog.pairs.pairs_command", full)
    assert main(["pairs", "x"]) == 1
    assert capsys.readouterr().err == "kb pairs: [Errno 28] No space left on device: 'x'\n"


def test_no_cache_yet_is_no_builds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not (folder / ".kernelbench").exists()
    assert main(["cache"]) == 0
    assert "0 builds, 0.0 MB" in capsys.readouterr().out
