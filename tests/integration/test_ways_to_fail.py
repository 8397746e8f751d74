"""Every way of failing, judged for real: the right status for each, and the good ones unharmed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from pytest_kernelbench.engine.devices import visible_gpus

DATA = Path(__file__).parents[1] / "data" / "solutions"
EXPECTED: dict[str, dict[str, Any]] = json.loads((DATA / "expected.json").read_text())
PROBLEMS = Path(__file__).parents[2] / "problems"
GOOD = ("good", "good2", "good3", "good4", "good5")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One session over all, five good ones among them: its records, its end, what it left."""
    folder = tmp_path_factory.mktemp("failing")
    for entrant in EXPECTED:
        shutil.copytree(DATA / entrant, folder / "solutions" / entrant)
    for twin in GOOD[1:]:
        shutil.copytree(DATA / "good", folder / "solutions" / twin)
    records = folder / "records.jsonl"
    options = ["--kb-correctness-only", "--kb-timeout=8", f"--kb-problems={PROBLEMS}"]
    command = [sys.executable, "-m", "pytest", "solutions", "-q", f"--kb-json={records}", *options]
    mark = {"KB_TEST_SESSION": str(folder)}
    ended = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | mark,
        capture_output=True,
        text=True,
        timeout=540,
        check=False,
    )
    verdicts = [json.loads(line) for line in records.read_text().splitlines()]
    return {
        "verdicts": {verdict["entrant"]: verdict for verdict in verdicts},
        "returncode": ended.returncode,
        "output": ended.stdout + ended.stderr,
        "left": [p.pid for p in psutil.process_iter() if _cwd_below(p, folder)],
    }


def _cwd_below(process: psutil.Process, folder: Path) -> bool:
    try:
        return Path(process.cwd()).is_relative_to(folder)
    except (psutil.Error, OSError):
        return False


def _runs_here(needs: list[str]) -> bool:
    have = {"cuda": bool(visible_gpus()), "nvcc": bool(visible_gpus()), "compiler": True}
    return all(have[need] for need in needs)


@pytest.mark.parametrize("entrant", EXPECTED)
def test_status(session: dict[str, Any], entrant: str) -> None:
    row = EXPECTED[entrant]
    allowed = row["status"] if _runs_here(row["needs"]) else ["skipped", *row["status"]]
    verdict = session["verdicts"][entrant]
    assert verdict["status"] in allowed, verdict["reasons"]


@pytest.mark.parametrize("entrant", GOOD)
def test_the_good_ones_are_right(session: dict[str, Any], entrant: str) -> None:
    assert session["verdicts"][entrant]["agreed"]


def test_the_session_ends_by_itself_and_leaves_nothing(session: dict[str, Any]) -> None:
    assert session["returncode"] == 1
    assert len(session["verdicts"]) == len(EXPECTED) + len(GOOD) - 1
    assert session["left"] == []


def test_a_mismatch_says_where_how_many_and_how_far(session: dict[str, Any]) -> None:
    (reason,) = session["verdicts"]["wrong_value"]["reasons"]
    for words in ("round 1 of 5", "elements differ", "first at [", "expected 0.0", "RMS"):
        assert words in reason


def test_a_build_error_says_its_first_line(session: dict[str, Any]) -> None:
    (reason, *_) = session["verdicts"]["not_built_cpp"]["reasons"]
    assert ":3:" in reason
