"""The corpus through the same engine that judges everybody's solutions."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.errors import (
    BuildError,
    KernelbenchError,
    MissingNeedError,
    ProblemError,
)
from pytest_kernelbench.selftest.rule import Outcome, outcome
from pytest_kernelbench.verdict import Status, Verdict

if TYPE_CHECKING:
    from pytest_kernelbench.engine.local import LocalEngine
    from pytest_kernelbench.selftest.table import Case

_STATUS_OF = (
    (MissingNeedError, Status.SKIPPED),
    (BuildError, Status.NOT_BUILT),
    (ProblemError, Status.BAD_PROBLEM),
)


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
            yield outcome(case, _ended(pair_of(case), Status.SKIPPED, reason))


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
    from pytest_kernelbench.build.toolchain import find_toolchain

    import os

    return bool(find_toolchain(os.environ).nvcc)


def _verdict(engine: LocalEngine, pair: Pair) -> Verdict:
    try:
        return engine.judge(pair, engine.build(pair))
    except KernelbenchError as error:
        kinds = (status for kind, status in _STATUS_OF if isinstance(error, kind))
        return _ended(pair, next(kinds, Status.NOT_JUDGED), str(error))


def _ended(pair: Pair, status: Status, reason: str) -> Verdict:
    headline, _, detail = reason.partition("\n")
    return Verdict(
        level=pair.problem.level,
        number=pair.problem.number,
        problem=pair.problem.name,
        entrant=pair.solution.entrant,
        solution=str(pair.solution.path),
        status=status,
        reasons=(headline,),
        detail=detail,
    )
