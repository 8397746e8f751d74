"""The corpus through the same engine that judges everybody's solutions."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pytest_kernelbench.build.toolchain import find_toolchain
from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.endings import ended, ended_by
from pytest_kernelbench.selftest.rule import Outcome, outcome
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from pytest_kernelbench.engine.local import LocalEngine
    from pytest_kernelbench.engine.protocol import Engine
    from pytest_kernelbench.selftest.table import Case
    from pytest_kernelbench.verdict import Verdict


def run_cases(engine: LocalEngine, cases: Sequence[Case]) -> Iterator[Outcome]:
    """Judge each case that this machine can run; cases of one problem follow each other."""
    ordered = sorted(cases, key=lambda case: (case.problem, case.family, case.name))
    able = {case.name for case in ordered if not missing(case, gpu=engine.device.is_gpu)}
    engine.ahead(pair_of(case) for case in ordered if case.name in able)
    for case in ordered:
        if case.name in able:
            yield outcome(case, _verdict(engine, pair_of(case)))
        else:
            reason = missing(case, gpu=engine.device.is_gpu)
            yield outcome(case, ended(pair_of(case), Status.SKIPPED, reason))


def pair_of(case: Case) -> Pair:
    """The case as the pair it would be in a tree of solutions."""
    problem = Problem(case.problem_path, 0, 0, case.problem)
    return Pair(problem, Solution(case.path, case.name))


def missing(case: Case, *, gpu: bool) -> str:
    """Why this machine cannot run the case; empty if it can."""
    if case.device not in ("any", "cuda" if gpu else "cpu"):
        return f"is about a {case.device} device"
    lacking = [need for need in case.needs if not _has(need)]
    return f"needs {', '.join(lacking)}" if lacking else ""


def _has(need: str) -> bool:
    if need == "compiler":
        return bool(shutil.which("c++") or shutil.which("g++") or shutil.which("clang++"))
    if need == "triton":
        return find_spec("triton") is not None
    return bool(find_toolchain(os.environ).nvcc)


def _verdict(engine: Engine, pair: Pair) -> Verdict:
    try:
        return engine.judge(pair, engine.build(pair))
    except Exception as error:  # noqa: BLE001 - a bug of ours is one row that differs, not the end
        return ended_by(error, pair)
