"""An engine that reads its verdicts out of the solutions, in no time and without torch.

A solution says ``# fake: STATUS [SPEEDUP [LOW HIGH]] [key=value ...]``; else it is right only.
Some words are no statuses: ``missing`` lacks a module, ``bug`` raises within the judge, ``die``
ends the process that judges.
"""

from __future__ import annotations

import os
import re
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.build.extension import Extension
from pytest_kernelbench.endings import ended_by
from pytest_kernelbench.errors import BuildError, MachineError, MissingNeedError, ProblemError
from pytest_kernelbench.verdict import Measurement, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_kernelbench.catalog.pair import Pair
    from pytest_kernelbench.settings import Settings

RAISED_BY_BUILD = {
    "not_built": BuildError("solution.py:3: error: expected ';'\n    int x = 1", log="/log/build"),
    "missing": MissingNeedError("module tilelang is not installed here", need="module tilelang"),
}
RAISED_BY_JUDGE = {
    "bad_problem": ProblemError("its output hardly depends on its inputs"),
    "not_judged": MachineError("the device was lost"),
    "bug": ZeroDivisionError("division by zero"),
}


class FakeEngine:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def ahead(self, pairs: Iterable[Pair]) -> None:
        Path("ahead").write_text(" ".join(pair.problem.id for pair in pairs))

    def submit(self, pair: Pair) -> Future[Verdict]:
        future: Future[Verdict] = Future()
        try:
            future.set_result(self.judge(pair, self.build(pair)))
        except Exception as error:  # noqa: BLE001 - as an engine has it
            future.set_result(ended_by(error, pair))
        return future

    def build(self, pair: Pair) -> Extension:
        word, _, _ = directive(pair)
        if word in RAISED_BY_BUILD:
            raise RAISED_BY_BUILD[word]
        return Extension(folder=Path("built"), log=Path("log"), seconds=0.5, cached=False)

    def judge(self, pair: Pair, extension: Extension) -> Verdict:
        word, numbers, more = directive(pair)
        if word == "die":
            os._exit(3)
        if word in RAISED_BY_JUDGE:
            raise RAISED_BY_JUDGE[word]
        return Verdict(
            level=pair.problem.level,
            number=pair.problem.number,
            problem=pair.problem.name,
            entrant=pair.solution.entrant,
            solution=str(pair.solution.path),
            sample=pair.solution.sample,
            status=Status(word),
            agreed=Status(word).right,
            reasons=(f"it says so ({word})",),
            build_s=extension.seconds,
            measurements=() if self.settings.correctness_only else measurements(numbers),
            **more,
        )

    def close(self) -> None:
        Path("closed").touch()


def directive(pair: Pair) -> tuple[str, list[float], dict[str, Any]]:
    text = pair.solution.path.read_text(encoding="utf-8")
    match = re.search(r"# fake: (.*)", text)
    word, *rest = match[1].split() if match else ["right", "1"]
    numbers = [float(part) for part in rest if "=" not in part]
    pairs = (part.split("=") for part in rest if "=" in part)
    values: dict[str, Any] = {"True": True, "False": False}
    return word, numbers, {key: values.get(value, value) for key, value in pairs}


def measurements(numbers: list[float]) -> tuple[Measurement, ...]:
    if not numbers:
        return ()
    speedup = numbers[0]
    low, high = numbers[1:] if len(numbers) == 3 else (speedup * 0.98, speedup * 1.02)
    time_us = 100.0 / speedup
    turns = tuple(time_us * factor for factor in (0.99, 1.0, 1.01))
    return (
        Measurement(
            baseline="eager",
            speedup=speedup,
            low=low,
            high=high,
            baseline_us=100.0,
            time_us=time_us,
            null_us=1.0,
            turns=3,
            calls=30,
            times_us=turns,
            baseline_times_us=(99.0, 100.0, 101.0),
        ),
    )


def pytest_kernelbench_engine(settings: Settings) -> FakeEngine:
    return FakeEngine(settings)
