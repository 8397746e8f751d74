"""Baselines by name: ours are known without a session of pytest, others as the settings say."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_kernelbench.catalog.baseline import preparation
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.settings import Settings

HALF = Settings(baseline_prepare=(("half", "mine:half"), ("eager", "mine:eager")))


@pytest.mark.parametrize(
    ("name", "settings", "prepare"),
    [
        ("eager", Settings(), ""),
        ("compile", Settings(), "torch:compile"),
        ("compile-max", HALF, "pytest_kernelbench.judge.inside.compiling:max_autotune"),
        ("half", HALF, "mine:half"),
        ("eager", HALF, "mine:eager"),
    ],
)
def test_how_it_is_prepared(name: str, settings: Settings, prepare: str) -> None:
    assert preparation(name, settings) == prepare


def test_one_that_there_is_not() -> None:
    with pytest.raises(UsageError, match="'eagre' is unknown; there are compile, compile-max, eag"):
        preparation("eagre", Settings())


def test_the_judge_prepares_ours_where_nobody_said_how() -> None:
    from pytest_kernelbench.judge.bench import Bench

    def start_runner(*_: object, **order: object) -> dict[str, object]:
        return order

    bench = SimpleNamespace(
        settings=Settings(baselines=("compile",)),
        problem=SimpleNamespace(path=Path("relu.py")),
        start_runner=start_runner,
        _stand_in=None,
    )
    order = cast("Any", Bench.start_twin(cast("Any", bench), "compile"))
    assert order["prepare"] == "torch:compile"
