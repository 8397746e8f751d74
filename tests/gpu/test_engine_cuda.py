"""Many pairs and workers on CUDA devices: which is used, and what one leaves to others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.engine.devices import visible_gpus
from pytest_kernelbench.engine.local import LocalEngine
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Status

REPORTS = Path(__file__).parents[1] / "data" / "cases" / "reports"
STICKY, VISIBLE = REPORTS / "P4-sticky-cuda-error", REPORTS / "P2-outer-visible-devices"
GPUS = visible_gpus()
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not GPUS, reason="no CUDA device is visible here"),
]
FULL = """
import sys, torch
free, _ = torch.cuda.mem_get_info()
held = torch.empty(int(free * 0.995) - (64 << 20), dtype=torch.uint8, device="cuda")
print("full", flush=True)
sys.stdin.readline()
"""


class Session:
    """Runs of pytest over copies of a case's solutions, with one build cache for all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "pytest.ini").write_text("[pytest]\n")

    def write(self, case: Path, solutions: list[str]) -> None:
        """Samples in this order."""
        problem = self.folder / "problems" / "level1" / "001_add.py"
        problem.parent.mkdir(parents=True, exist_ok=True)
        problem.write_bytes((case / "problem.py").read_bytes())
        for sample, name in enumerate(solutions):
            path = self.folder / "solutions" / "ann" / "level1" / f"001_add_sample{sample}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((case / f"{name}.py").read_bytes())

    def run(self, *arguments: str, visible: str | None = None) -> list[dict[str, object]]:
        """The verdicts, by sample."""
        environment = {k: v for k, v in os.environ.items() if k != "CUDA_VISIBLE_DEVICES"}
        if visible is not None:
            environment["CUDA_VISIBLE_DEVICES"] = visible
        out = self.folder / "verdicts.jsonl"
        out.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "solutions", "-q", "-p", "no:cacheprovider"]
        command += ["-p", "no:hypothesispytest", "--kb-json", str(out)]
        done = subprocess.run(
            [*command, *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
        assert done.returncode in (0, 1), done.stdout[-3000:] + done.stderr[-3000:]
        records = [json.loads(line) for line in out.read_text().splitlines()]
        return sorted((r for r in records if "status" in r), key=lambda record: record["sample"])


@pytest.fixture(scope="module")
def sticky(tmp_path_factory: pytest.TempPathFactory) -> Session:
    session = Session(tmp_path_factory.mktemp("sticky"))
    good, bad = "solution_good", "solution_bad"
    session.write(STICKY, [good, bad, good, *[bad] * 10, good])
    return session


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "xdist"])
def test_p4_an_illegal_access_is_nobody_elses(sticky: Session, workers: list[str]) -> None:
    verdicts = sticky.run("--kb-budget=0.3", *workers)
    statuses = [verdict["status"] for verdict in verdicts]
    good = [0, 2, 13]
    assert len(statuses) == 14
    assert {statuses[n] for n in range(14) if n not in good} == {"crashed"}, statuses
    assert {statuses[n] for n in good} <= {"fast", "right"}, statuses
    times_us = [verdicts[n]["measurements"][0]["time_us"] for n in good]  # type: ignore[index]
    assert max(times_us) - min(times_us) < 0.2 * max(times_us) + 5.0, times_us


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Session:
    session = Session(tmp_path_factory.mktemp("visible"))
    session.write(VISIBLE, ["solution"] * 4)
    return session


LISTS = [
    pytest.param("0", [0], id="first"),
    pytest.param("uuid", [0], id="uuid"),
    pytest.param(
        "1,0", [1, 0], id="two", marks=pytest.mark.skipif(len(GPUS) < 2, reason="needs two GPUs")
    ),
]


@pytest.mark.parametrize(("listed", "indices"), LISTS)
def test_p2_workers_use_the_devices_that_were_given(
    plain: Session, listed: str, indices: list[int]
) -> None:
    """More workers than devices share them, and each row says which it was."""
    visible = GPUS[0].uuid if listed == "uuid" else listed
    verdicts = plain.run("-n4", "--kb-seeds=1", "--kb-budget=0.3", visible=visible)
    assert len(verdicts) == 4
    assert {verdict["device_uuid"] for verdict in verdicts} <= {GPUS[n].uuid for n in indices}
    assert {verdict["status"] for verdict in verdicts} == {"not_a_kernel"}


def test_p2_an_empty_list_is_no_gpu(plain: Session) -> None:
    verdicts = plain.run("--kb-correctness-only", visible="")
    assert not any(str(verdict["device_uuid"]).startswith("GPU-") for verdict in verdicts)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[tuple[LocalEngine, list[Pair]]]:
    made = LocalEngine(Settings(cache_dir=tmp_path / "cache", budget_s=0.3, seeds=2))
    problem = Problem(VISIBLE / "problem.py", 1, 1, "add")
    pairs = []
    for sample in range(8):
        path = tmp_path / f"solution_{sample}.py"
        path.write_bytes((VISIBLE / "solution.py").read_bytes())
        pairs.append(Pair(problem, Solution(path, "ann", sample)))
    yield made, pairs
    made.close()


def test_an_emptied_list_in_the_middle_changes_nothing(
    engine: tuple[LocalEngine, list[Pair]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, pairs = engine
    assert made.submit(pairs[0]).result(120).status is Status.NOT_A_KERNEL
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert made.submit(pairs[1]).result(120).status is Status.NOT_A_KERNEL


def test_all_devices_are_used_from_one_process(engine: tuple[LocalEngine, list[Pair]]) -> None:
    made, pairs = engine
    made.ahead(pairs)
    verdicts = [made.judge(pair, made.build(pair)) for pair in pairs]
    assert {verdict.device_uuid for verdict in verdicts} == {gpu.uuid for gpu in made.devices}
    assert sum(verdict.control is not None for verdict in verdicts) == len(made.devices)


def test_memory_that_others_hold_is_no_fault_of_the_solution(
    engine: tuple[LocalEngine, list[Pair]],
) -> None:
    made, pairs = engine
    hogs = [
        subprocess.Popen(
            [sys.executable, "-c", FULL],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **gpu.environment},
        )
        for gpu in made.devices
    ]
    try:
        for hog in hogs:
            assert hog.stdout is not None
            assert hog.stdout.readline() == "full\n"
        verdict = made.submit(pairs[0]).result(200)
    finally:
        for hog in hogs:
            hog.communicate("\n", timeout=30)
    assert verdict.status in {Status.NOT_JUDGED, Status.SKIPPED}, verdict
    assert "memory" in (verdict.reasons[0] + verdict.detail).lower(), verdict
    assert made.submit(pairs[1]).result(120).status is Status.NOT_A_KERNEL
