"""Small programs of known kinds and sizes, as problem files and as solutions that copy them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.pair import Problem
from pytest_kernelbench.judge.bench import Bench
from pytest_kernelbench.judge.device_trial import DeviceTrial
from pytest_kernelbench.judge.families import PLAIN
from pytest_kernelbench.judge.host_trial import HostTrial
from pytest_kernelbench.judge.narrow import humbler, is_narrow
from pytest_kernelbench.judge.quiet import calibrate
from pytest_kernelbench.judge.race import race

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_kernelbench.judge.device import Device
    from pytest_kernelbench.sandbox.client import ForkServer
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.timing.stopping import Rules
    from pytest_kernelbench.verdict import Measurement

_TEXT = """import torch
import torch.nn.functional as F

FAMILIES = ()


class {entry}(torch.nn.Module):
    def forward(self, {names}):
        return {body}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""


@dataclass(frozen=True)
class Program:
    """A forward without parameters."""

    name: str
    body: str
    inputs: tuple[str, ...]
    """One expression each; the first is called ``x``, the second ``y``."""

    def text(self, entry: str = "Model") -> str:
        """The file."""
        names = ", ".join(("x", "y", "z")[: len(self.inputs)])
        inputs = ", ".join(self.inputs)
        return _TEXT.format(entry=entry, names=names, body=self.body, inputs=inputs)


def randn(*shape: int) -> str:
    """An input of normal random numbers."""
    return f"torch.randn({', '.join(map(str, shape))})"


def product(rows: int, depth: int, columns: int) -> tuple[str, str]:
    """Two matrices whose product has elements of about one."""
    return randn(rows, depth), f"{randn(depth, columns)} * {depth}**-0.5"


def problem_of(program: Program, folder: Path) -> Problem:
    """The program as a problem, in a folder of its own."""
    return Problem(
        _write(folder / program.name / f"001_{program.name}.py", program.text()), 1, 1, program.name
    )


def copy_of(program: Program, folder: Path, body: str = "") -> Path:
    """A solution that says the same, or has another ``body``."""
    other = Program(program.name, body or program.body, program.inputs)
    return _write(
        folder / program.name / "solution" / f"001_{program.name}.py", other.text("ModelNew")
    )


@contextmanager
def bench_of(
    program: Program, folder: Path, server: ForkServer, settings: Settings, device: Device
) -> Iterator[Bench]:
    """Oracle and baseline of a program, as the referee has them."""
    bench = Bench(server, problem_of(program, folder), settings, device, "full")
    try:
        yield bench
    finally:
        bench.close()


def judged(bench: Bench, solution: Path, rules: Rules | None = None) -> Measurement:
    """A new contender, one round of agreement and the race: what the referee does with a pair.

    Left out is the profile for the list of kernels, which takes no part in the time.
    """
    first = _raced(bench, solution, rules)
    if not bench.gpu or not is_narrow(first, (1.0,)):
        return first
    bench.end_baselines()
    return humbler(first, _raced(bench, solution, rules))


def _raced(bench: Bench, solution: Path, rules: Rules | None) -> Measurement:
    if bench.gpu:
        calibrate(bench, "eager")
    bench.rest()
    contender = bench.start_runner(solution, "ModelNew", trusted=False, raced=True)
    try:
        trial = (DeviceTrial if bench.gpu else HostTrial)(bench, contender)
        try:
            trial.agree(PLAIN)
            return race(trial, bench.settings, "eager", rules=rules)
        finally:
            trial.close()
    finally:
        contender.close()


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
