"""The frame of ``kb``."""

from __future__ import annotations

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
