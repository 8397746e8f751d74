"""The examples of docs/library.md do what the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from fake_engine import FakeEngine

from pytest_kernelbench import library
from pytest_kernelbench.build.extension import Extension
from pytest_kernelbench.catalog.pair import Pair
from pytest_kernelbench.errors import BuildError
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Status

PAGE = Path(__file__).parents[2] / "docs/library.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


class Engine(FakeEngine):
    """Cannot build what is no solution at all."""

    def build(self, pair: Pair) -> Extension:
        if "class ModelNew" not in pair.solution.path.read_text():
            raise BuildError("solution.py:1: SyntaxError: invalid syntax")
        return super().build(pair)


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("019_relu", "020_leaky_relu"):
        path = tmp_path / "problems/level1" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("class Model: pass\n")
    monkeypatch.setattr(library, "_own_engine", Engine)
    library._made.cache_clear()


def names_of(*numbers: int, **given: Any) -> dict[str, Any]:
    """What the examples define, one after another."""
    for number in numbers:
        exec(EXAMPLES[number], given)  # noqa: S102 - our own page
    return given


def test_one_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    source = "# fake: fast 2 1.9 2.1\nclass ModelNew: pass\n"
    verdict = names_of(0, source=source)["verdict"]
    assert verdict.status is Status.FAST
    assert capsys.readouterr().out.splitlines()[-1] == "2.1999999999999997"
    library._shared(Settings(device="auto", seeds=5)).close()


class Policy:
    """Writes one right and fast, one wrong, one that the machine fails on, one without code."""

    def __init__(self) -> None:
        self.written = 0
        self.learned: dict[str, list[float]] = {}

    async def write(self, problem: str) -> str:
        self.written += 1
        word = ("fast 2 1.7 2.1", "wrong_value", "not_judged", "")[self.written % 4]
        if not word:
            return f"I do not know how to speed up {problem}."
        return f"Here:\n```python\n# fake: {word}\nclass ModelNew:\n    pass\n```\n"

    def learn(self, problem: str, group: list[tuple[str, float]]) -> None:
        assert all(completion for completion, _ in group)
        self.learned.setdefault(problem, []).extend(score for _, score in group)


def test_a_training_loop() -> None:
    policy = Policy()
    names_of(1, 2)["train"](policy, ["1/19", "1/20"], steps=2)
    assert policy.written == 2 * 2 * 16
    assert set(policy.learned) == {"1/19", "1/20"}
    for scores in policy.learned.values():
        # Of 16 each step, four are no sample, four are worth 2, and the others nothing.
        assert len(scores) == 2 * 12
        assert sorted(set(scores)) == pytest.approx([-2 / 3, 4 / 3])


def test_fields_and_arguments_that_the_page_names_are_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for called in re.findall(r"Settings\(([^)]+)\)", text):
        for name in re.findall(r"(\w+)=", called):
            assert hasattr(Settings(), name), name
    statuses = {status.value for status in Status}
    table = text.partition("## The reward")[2].partition("## Threads")[0]
    rows = [row for row in table.splitlines() if row.startswith("| `")]
    named = {word for row in rows for word in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named <= statuses, named - statuses
