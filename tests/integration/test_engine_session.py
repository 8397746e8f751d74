"""The engine within a session of pytest: what it is told, what it says, how much it can take."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_kernelbench.timing.lease import lease

CASES = Path(__file__).parents[1] / "data" / "cases" / "reports"
WATCHED = """
class WatchedEngine(FakeEngine):
    def __init__(self, settings, tell):
        super().__init__(settings)
        self.tell = tell

    def judge(self, pair, extension):
        self.tell("waiting for the device GPU-1, held by pid 7 of eve (python train.py)")
        return super().judge(pair, extension)

def pytest_kernelbench_engine(config, settings):
    from pytest_kernelbench.plugin import _teller
    return WatchedEngine(settings, _teller(config))
"""


@pytest.mark.parametrize("quiet", [[], ["-v"], ["-q"]])
def test_who_holds_the_device_is_on_the_terminal(tree, quiet: list[str]) -> None:
    tree.problem("level1/001_p")
    tree.solution("ann/level1/001_p")
    conftest = tree.path / "conftest.py"
    conftest.write_text(conftest.read_text() + WATCHED)
    result = tree.run("solutions", *quiet)
    result.assert_outcomes(passed=1)
    said = "kernelbench: waiting for the device GPU-1, held by pid 7 of eve (python train.py)"
    assert said in result.outlines


def test_what_is_deselected_or_skipped_is_not_announced(tree) -> None:
    for number in range(1, 5):
        tree.problem(f"level1/{number:03d}_p")
        tree.solution(f"ann/level1/{number:03d}_p")
    conftest = tree.path / "conftest.py"
    skips = """
import pytest
def pytest_collection_modifyitems(items):
    for item in items:
        if "003" in item.nodeid:
            item.add_marker(pytest.mark.skip(reason="not today"))
"""
    conftest.write_text(conftest.read_text() + skips)
    result = tree.run("solutions", "--deselect=solutions/ann/level1/002_p.py")
    result.assert_outcomes(passed=2, skipped=1, deselected=1)
    assert (tree.path / "ahead").read_text() == "level1/001_p level1/004_p"


def test_a_session_waits_for_another_and_says_so(tmp_path: Path) -> None:
    """Both real: a processor is leased by this process while pytest wants to time on it."""
    from pytest_kernelbench.engine.devices import cpu

    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    case = CASES / "P2-outer-visible-devices"
    for source, name in (("problem", "problems"), ("solution", "solutions/ann")):
        place = tmp_path / name / "level1" / "001_add.py"
        place.parent.mkdir(parents=True)
        shutil.copyfile(case / f"{source}.py", place)
    command = [sys.executable, "-m", "pytest", "solutions", "-p", "no:hypothesispytest"]
    command += ["--kb-budget=0.1", "--kb-seeds=1", "--kb-json=out.jsonl", "--kb-device=cpu"]
    said = tmp_path / "said"
    environment = {**os.environ, "KB_LEASE_DIR": str(tmp_path / "leases")}
    with lease(cpu().uuid, 1.0, folder=tmp_path / "leases"), said.open("w") as file:
        run = subprocess.Popen(command, cwd=tmp_path, stdout=file, env=environment)
        deadline_s = time.monotonic() + 60
        while "held by" not in said.read_text() and time.monotonic() < deadline_s:
            time.sleep(0.05)
    assert run.wait(120) == 0
    line = next(text for text in said.read_text().splitlines() if "held by" in text)
    assert line.startswith("kernelbench: waiting for the device cpu-")
    assert f"held by pid {os.getpid()} of " in line
    record = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
    assert any(note.startswith("waited ") for note in record["notes"])


def test_thousands_of_pairs_are_counted_one_by_one(tmp_path: Path) -> None:
    """With the real engine: sources that no compiler need see (KB_MANY_PAIRS: how many)."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "problems/level1").mkdir(parents=True)
    for number in range(1, 11):
        (tmp_path / f"problems/level1/{number:03d}_p.py").write_text("class Model: pass\n")
    solutions = tmp_path / "solutions/ann/level1"
    solutions.mkdir(parents=True)
    count = int(os.environ.get("KB_MANY_PAIRS", "300"))
    for sample in range(count):
        path = solutions / f"{sample % 10 + 1:03d}_p_sample{sample // 10}.py"
        path.write_text(f"class ModelNew:  # {sample}\n    def forward(self:\n")
    command = [sys.executable, "-m", "pytest", "solutions", "-q", "-p", "no:hypothesispytest"]
    command += ["-p", "no:cacheprovider", "--kb-json=out.jsonl", "--kb-device=cpu", "--tb=no"]
    done = subprocess.run(
        [*command, "-r", "N"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout[-2000:]
    assert f"{count} errors in" in done.stdout
    assert f"not_built: {count}" in done.stdout
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    built = [record["solution"] for record in records if record.get("status") == "not_built"]
    assert len(built) == len(set(built)) == count
