"""The same under pytest-xdist, and workers that die."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pytest_kernelbench.scheduling import ProblemScheduling

CASES = Path(__file__).parent.parent / "data/cases/reports"


@pytest.fixture
def pairs(tree):
    """Three entrants to four problems."""
    for number in range(1, 5):
        tree.problem(f"level1/{number:03d}_p")
        for entrant in ("ann", "bob", "eve"):
            tree.solution(f"{entrant}/level1/{number:03d}_p", "fast 2")
    return tree


def summary(result: pytest.RunResult) -> list[str]:
    start = next(i for i, line in enumerate(result.outlines) if "= kernelbench =" in line)
    return [line for line in result.outlines[start:] if line[:1] in " l"]


def test_same_summary_as_alone(pairs) -> None:
    pairs.solution("bob/level1/003_p", "wrong_value")
    pairs.solution("eve/level1/003_p", "not_built")
    alone, distributed = pairs.run("solutions"), pairs.run("solutions", "-n2")
    assert summary(alone) == summary(distributed)
    alone.assert_outcomes(passed=10, failed=1, errors=1)
    distributed.assert_outcomes(passed=10, failed=1, errors=1)


def test_a_problem_stays_on_one_worker(pairs) -> None:
    result = pairs.run("solutions", "-n2", "-v")
    result.stdout.fnmatch_lines(["scheduling tests via ProblemScheduling"])
    workers: dict[str, set[str]] = {}
    for line in result.outlines:
        if line.startswith("[gw"):
            workers.setdefault(line.partition("[level")[2], set()).add(line.split("]")[0])
    assert [len(some) for some in workers.values()] == [1, 1, 1, 1]


def test_an_archives_rows_stay_with_their_problem(pairs) -> None:
    rows = [
        {
            "level": 1,
            "problem_id": problem,
            "code": f"# fake: fast {number}\nclass ModelNew: pass\n",
        }
        for number in range(1, 4)
        for problem in range(1, 5)
    ]
    pairs.write("rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    result = pairs.run("rows.jsonl", "-n2", "-v")
    result.assert_outcomes(passed=12)
    workers: dict[str, set[str]] = {}
    for line in result.outlines:
        if line.startswith("[gw"):
            workers.setdefault(line.partition("[level")[2], set()).add(line.split("]")[0])
    assert [len(some) for some in workers.values()] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("nodeid", "scope"),
    [
        ("a/s.py::test_kernel[level1/001_p]", "::test_kernel[level1/001_p]"),
        ("a.jsonl::row3::test_kernel[level1/001_p]", "::test_kernel[level1/001_p]"),
        ("a/s.py::test_kernel[level1/001_p::q]", "::test_kernel[level1/001_p::q]"),
        ("tests/t.py::TestMine::test_mine[a::b]", "tests/t.py::TestMine::test_mine[a::b]"),
    ],
)
def test_scopes(nodeid: str, scope: str) -> None:
    assert object.__new__(ProblemScheduling)._split_scope(nodeid) == scope


@pytest.mark.parametrize("args", [["--dist=loadfile"], ["--dist=worksteal"]])
def test_a_scheduler_of_the_users_choice_stays(pairs, args: list[str]) -> None:
    result = pairs.run("solutions", "-n2", "-v", *args)
    result.assert_outcomes(passed=12)
    assert "ProblemScheduling" not in result.stdout.str()


def test_runs_without_solutions_keep_their_scheduler(tree) -> None:
    tree.write("tests/test_mine.py", "def test_mine(): pass\n")
    result = tree.run("tests", "-n2", "-v")
    result.stdout.fnmatch_lines(["scheduling tests via LoadScheduling"])


@pytest.mark.parametrize("dist", [[], ["--dist=worksteal"]])
def test_a_worker_that_dies_is_not_held_against_the_solution(pairs, dist: list[str]) -> None:
    pairs.solution("bob/level1/002_p", "die")
    result = pairs.run("solutions", "-n2", *dist)
    result.assert_outcomes(passed=11, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["  bob * 3 *3/3 *3/3 *", "*not_judged: 1"])


def test_a_worker_that_dies_once_is_forgiven(pairs) -> None:
    once = """
class OnceFakeEngine(FakeEngine):
    def judge(self, pair, extension):
        mark = Path("died")
        if pair.problem.number == 2 and not mark.exists():
            mark.touch()
            os._exit(3)
        return super().judge(pair, extension)

def pytest_kernelbench_engine(settings):
    return OnceFakeEngine(settings)
"""
    path = pairs.path / "conftest.py"
    path.write_text(path.read_text() + once)
    result = pairs.run("solutions", "-n2")
    assert (pairs.path / "died").exists()
    assert result.parseoutcomes()["passed"] == 12
    assert "not_judged" not in result.stdout.str()
    assert result.ret == pytest.ExitCode.OK


def test_a_pair_that_nobody_ran_fails_the_session(pairs) -> None:
    pairs.solution("ann/level1/001_p", "die")
    result = pairs.run("solutions", "-n1", "--max-worker-restart=0")
    assert result.ret != pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["* of 12 pairs collected have no verdict:"])


DEVICES = """
def pytest_runtest_logreport(report):
    pass

class DeviceEngine(FakeEngine):
    def judge(self, pair, extension):
        with open("devices", "a") as file:
            device = os.environ["CUDA_VISIBLE_DEVICES"]
            file.write(f"{os.environ['PYTEST_XDIST_WORKER']} {device} {self.settings.device}\\n")
        return super().judge(pair, extension)

def pytest_kernelbench_engine(settings):
    return DeviceEngine(settings)
"""


@pytest.mark.parametrize(
    ("gpus", "workers", "leased"), [(["GPU-a", "GPU-b"], 2, 2), (["GPU-a"], 2, 1)]
)
def test_each_worker_sees_one_device(
    pairs, monkeypatch, gpus: list[str], workers: int, leased: int
) -> None:
    path = pairs.path / "conftest.py"
    path.write_text(path.read_text() + DEVICES)
    monkeypatch.setattr("pytest_kernelbench.workers._leasable", lambda _wanted: gpus)
    pairs.run("solutions", f"-n{workers}").assert_outcomes(passed=12)
    held = {tuple(line.split()) for line in (pairs.path / "devices").read_text().splitlines()}
    assert len({worker for worker, _, _ in held}) == len(held) == workers
    assert {device for _, device, _ in held} == set(gpus[:leased])
    assert {setting for _, _, setting in held} == {"cuda"}


def test_a_dead_workers_device_is_leased_again(pairs, monkeypatch) -> None:
    path = pairs.path / "conftest.py"
    path.write_text(path.read_text() + DEVICES)
    pairs.solution("bob/level1/002_p", "die")
    monkeypatch.setattr("pytest_kernelbench.workers._leasable", lambda _wanted: ["GPU-a", "GPU-b"])
    pairs.run("solutions", "-n2").assert_outcomes(passed=11, failed=1)
    held = {tuple(line.split()[:2]) for line in (pairs.path / "devices").read_text().splitlines()}
    by_device = [[worker for worker, device in held if device == gpu] for gpu in ("GPU-a", "GPU-b")]
    assert sorted(map(len, by_device)) != [0, len(held)], "both devices were in use to the end"
    assert len(held) > 2, "replacements came"


def test_reported_case_a_property_that_xdist_cannot_send(pairs) -> None:
    """Somebody else's test ends the session in an internal error: never with exit status 0."""
    case = (CASES / "R1-xdist-serialisation/test_props.py").read_text()
    # The same with builtins and numpy's kind of value, so that torch need not be imported.
    case = case.replace("import numpy as np\n", "").replace("import torch\n", "")
    case = case.replace('"dtype": torch.float32, "size": torch.Size([2, 3]), ', "")
    case = case.replace('"npf": np.float32(1.5), "tensor": torch.ones(1), ', '"object": object(), ')
    pairs.write("tests/test_props.py", case)
    result = pairs.run("-n2", "tests", "solutions")
    assert result.ret != pytest.ExitCode.OK


def test_reported_case_own_results_are_plain(pairs) -> None:
    """Not a number, no number, paths, text in any alphabet: all of it arrives."""
    shutil.copytree(CASES / "R1-xdist-serialisation", pairs.path / "case")
    pairs.solution("zoë/level1/001_p", "fast nan")
    pairs.solution("zoë/level1/002_p", "wrong_value inf")
    result = pairs.run("-n2", "solutions", "--kb-json=out.jsonl")
    result.assert_outcomes(passed=13, failed=1)
    text = (pairs.path / "out.jsonl").read_text()
    assert text.count("\n") == 14
    assert "NaN" not in text
    assert "Infinity" not in text
