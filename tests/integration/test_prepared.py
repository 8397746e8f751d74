"""A problem got ready before its pair is judged, and what excludes it: for real, on the CPU."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_kernelbench.build.extension import Extension
from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.engine.devices import cpu
from pytest_kernelbench.judge import referee as referee_module
from pytest_kernelbench.judge.referee import Referee
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Status

PROGRAM = """
    import torch
    class {name}(torch.nn.Module):
        def forward(self, a):
            return {body}
    def get_inputs():
        return [torch.randn(256, 256)]
    def get_init_inputs():
        return []
"""


class Quiet:
    """Counts how deep it is held."""

    def __init__(self) -> None:
        self.depth = 0
        self.most = 0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        self.depth += 1
        self.most = max(self.most, self.depth)
        try:
            yield
        finally:
            self.depth -= 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("prepared")


@pytest.fixture(scope="module")
def quiet() -> Quiet:
    return Quiet()


@pytest.fixture(scope="module")
def referee(folder: Path, quiet: Quiet) -> Iterator[Referee]:
    settings = Settings(cache_dir=folder / "cache", seeds=1, budget_s=0.1, timeout_s=20.0)
    made = Referee(settings, cpu(), quiet, controls=False)
    yield made
    made.close()


def pair(folder: Path, name: str, body: str, reference: str = "a * 2 + 1") -> Pair:
    problem, solution = folder / f"{name}_problem.py", folder / f"{name}.py"
    problem.write_text(textwrap.dedent(PROGRAM.format(name="Model", body=reference)))
    solution.write_text(textwrap.dedent(PROGRAM.format(name="ModelNew", body=body)))
    return Pair(Problem(problem, 1, 1, name), Solution(solution, "ann"))


def nothing(folder: Path) -> Extension:
    (folder / "manifest.json").write_text('{"calls": {}}')
    return Extension(folder, folder / "build.log", 0.0, cached=True)


def test_what_is_timed_or_got_ready_is_alone(
    folder: Path, referee: Referee, quiet: Quiet, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[tuple[str, int]] = []

    def noting(name: str) -> None:
        real = getattr(referee_module, name)

        def noted(*args: Any, **more: Any) -> Any:
            held.append((name, quiet.depth))
            return real(*args, **more)

        monkeypatch.setattr(referee_module, name, noted)

    noting("Bench")
    noting("race")
    asked = pair(folder, "alone", "a * 2 + 1")
    referee.prepare(asked)
    assert [name for name, _ in held] == ["Bench"]
    assert quiet.depth == 0
    verdict = referee.judge(asked, nothing(folder))
    assert verdict.agreed
    assert verdict.control is None
    assert [name for name, _ in held] == ["Bench", "race"], "what was got ready is used"
    assert all(depth for _, depth in held)
    assert quiet.depth == 0


def test_a_problem_that_cannot_be_got_ready_is_told_by_its_verdict(
    folder: Path, referee: Referee
) -> None:
    asked = pair(folder, "bad", "a", reference="a.nonsense()")
    referee.prepare(asked)
    assert referee.judge(asked, nothing(folder)).status is Status.BAD_PROBLEM


def test_getting_a_problem_ready_does_not_import_torchs_compiler(folder: Path) -> None:
    """Any torch mode that looks at operators imports it from torch 2.11 on: a second or more."""
    asked = pair(folder, "plain", "torch.relu(a)", reference="torch.relu(a)")
    code = textwrap.dedent(f"""
        import sys
        from pytest_kernelbench.judge import questions
        from pytest_kernelbench.judge.oracle import Oracle
        order = questions.Prepare(
            path={str(asked.problem.path)!r}, size="smoke", device="cpu", dtype="fp32", seed=1,
            atol=1e-4, rtol=1e-4, tf32=False, threads=1,
        )
        prepared, _ = Oracle().prepare(order, ())
        assert prepared.launches == 1, prepared
        assert "torch._dynamo" not in sys.modules
    """)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
