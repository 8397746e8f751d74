"""Pairs judged for real on Ray: of this machine alone, and on two nodes of which one is killed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from judged import SMALL_PROBLEM

pytest.importorskip("ray", reason="Ray is not installed: pip install 'pytest-kernelbench[ray]'")
pytestmark = [pytest.mark.ray, pytest.mark.slow]

SOLUTION = """
    import time, torch
    class ModelNew(torch.nn.Module):
        def forward(self, a):
            {body}
            return a * 2 + {one}
"""
CONFTEST = """
    import os, time
    from ray.cluster_utils import Cluster

    config = {"health_check_period_ms": 500, "health_check_failure_threshold": 2}
    small = {"object_store_memory": 80 << 20}
    head = {"num_cpus": 0, "include_dashboard": False, "_system_config": config, **small}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = [cluster.add_node(num_cpus=1, **small) for _ in range(2)]
    os.environ["RAY_ADDRESS"] = cluster.address

    def pytest_kernelbench_verdict(verdict, nodeid):
        if nodes:
            time.sleep(0.5)  # by now each node has begun another pair
            cluster.remove_node(nodes.pop(), allow_graceful=False)
            nodes.clear()

    def pytest_unconfigure():
        cluster.shutdown()
"""


class Project:
    """A problem, solutions and a session on Ray, which finds nothing of this machine's user."""

    def __init__(self, folder: Path, temporary: Path) -> None:
        self.folder = folder
        self.temporary = temporary
        self.write("pytest.toml", '[pytest]\naddopts = ["-p", "no:hypothesispytest"]\n')
        self.write("problems/level1/001_line.py", SMALL_PROBLEM)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))

    def solution(self, sample: int, text: str = SOLUTION, body: str = "pass", one: int = 1) -> None:
        name = f"solutions/ann/level1/001_line_sample{sample}.py"
        self.write(name, text.format(body=body, one=one))

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "RAY_TMPDIR": str(self.temporary),  # short: it is part of the names of sockets
            "TMPDIR": str(self.temporary),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        }
        command = [sys.executable, "-m", "pytest", "solutions", "--kb-engine=ray", "--kb-seeds=2"]
        command += ["--kb-correctness-only", "--kb-device=cpu", "--kb-json=verdicts.jsonl", "-v"]
        return subprocess.run(
            [*command, *options],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def verdicts(self) -> list[dict[str, object]]:
        lines = (self.folder / "verdicts.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        return [row for row in rows if "status" in row]

    def processes(self) -> list[str]:
        """Those whose command line names our temporary folder."""
        found = []
        for process in psutil.process_iter(["cmdline"]):
            line = " ".join(process.info["cmdline"] or ())
            if str(self.temporary) in line and process.pid != os.getpid():
                found.append(line)
        return found


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    temporary = Path(tempfile.mkdtemp(prefix="kbt", dir="/tmp"))
    yield Project(tmp_path, temporary)
    shutil.rmtree(temporary, ignore_errors=True)


def test_a_session_on_this_machine(project: Project) -> None:
    project.solution(0)
    project.solution(1, one=2)
    project.solution(2, text="def (")
    run = project.run()
    lines = [line for line in run.stdout.splitlines() if "::test_kernel[" in line and "%]" in line]
    words = [line.split("]", 1)[1].split()[:2] for line in lines]
    assert words[0] == ["PASSED", "not_a_kernel"], run.stdout + run.stderr
    assert words[1:] == [["FAILED", "wrong_value"], ["ERROR", "not_built"]]
    assert "ray" not in run.stderr.lower(), run.stderr
    by_sample = {row["sample"]: row for row in project.verdicts()}
    assert [by_sample[n]["status"] for n in range(3)] == [
        "not_a_kernel",
        "wrong_value",
        "not_built",
    ]
    here = project.folder / "solutions/ann/level1/001_line_sample0.py"
    assert by_sample[0]["solution"] == str(here)
    assert project.processes() == []
    assert [path.name for path in project.temporary.iterdir() if "ray" in path.name] == []


def test_a_node_is_killed_and_every_pair_has_one_verdict(project: Project) -> None:
    project.write("conftest.py", CONFTEST)
    project.solution(0)
    for sample in range(1, 4):  # each takes longer than the first: both nodes have one when it ends
        project.solution(sample, body="time.sleep(0.4)")
    run = project.run("--kb-ray-address=auto")
    assert "4 passed" in run.stdout, run.stdout + run.stderr
    verdicts = project.verdicts()
    assert Counter(row["sample"] for row in verdicts) == dict.fromkeys(range(4), 1)
    assert {row["status"] for row in verdicts} == {"not_a_kernel"}
    notes = [str(row["notes"]) for row in verdicts]
    assert any("judged again elsewhere" in note for note in notes), notes
