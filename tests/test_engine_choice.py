"""What an engine of this machine is asked for and cannot give is refused at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_kernelbench.engine import local
from pytest_kernelbench.engine.choice import make_engine
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.settings import Settings


@pytest.fixture(autouse=True)
def _no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(settings: Settings, **_: Any) -> Settings:
        return settings

    monkeypatch.setattr(local, "LocalEngine", made)


def prepared(prepare: str) -> Settings:
    return Settings(baselines=("mine",), baseline_prepare=(("eager", ""), ("mine", prepare)))


@pytest.mark.parametrize(
    "prepare", ["", "torch:compile", "json:loads", "pytest_kernelbench.errors:UsageError"]
)
def test_a_baseline_that_its_process_finds(prepare: str) -> None:
    settings = prepared(prepare) if prepare else Settings()
    assert make_engine(settings) is settings


def test_one_in_a_folder_that_python_path_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text("raise SystemExit(7)  # nobody runs it yet\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert make_engine(prepared("mine:half"))


def test_one_that_only_pytest_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="finds no module 'mine': install it, or name its folder"):
        make_engine(prepared("mine.deep:half"))


@pytest.mark.parametrize("prepare", ["mine", "mine:", ":half", "mine:half()"])
def test_one_that_names_no_function(prepare: str) -> None:
    with pytest.raises(UsageError, match=r"baseline 'mine': prepare='.*' is no module:function"):
        make_engine(prepared(prepare))
