"""The programs of docs/authors.md run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from authors_helpers import code, write_problems
from fake_engine import FakeEngine

from pytest_kernelbench import library
from pytest_kernelbench.authors.study_spec import ArmSpec, JudgeSpec, ModelSpec

PAGE = (Path(__file__).parents[1] / "docs/authors.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.+?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(library, "_own_engine", FakeEngine)
    write_problems(Path("problems"), "level1/019_relu")

    def defined(name: str) -> Any:
        (source,) = (block for block in BLOCKS if f"def {name}(" in block)
        names: dict[str, Any] = {}
        exec(compile(source, "docs/authors.md", "exec"), names)  # noqa: S102 - our own page
        return names[name]

    return defined


def test_an_agent(run: Any) -> None:
    answers = iter(["Let me see.", code("raised"), code("fast 2")])
    heard: list[list[str]] = []

    def ask(talk: list[str]) -> str:
        heard.append(list(talk))
        return next(answers)

    assert "# fake: fast 2" in run("solve")(ask)
    assert "Problem level1/019_relu." in heard[0][0]
    assert heard[1][-1].startswith("There is no solution in that: the answer holds no code")
    assert "It raised an exception." in heard[2][-1]


@pytest.mark.parametrize("spec", [ModelSpec, ArmSpec, JudgeSpec])
def test_every_field_of_a_study_is_named(spec: Any) -> None:
    missing = [name for name in spec.__struct_fields__ if f"`{name}`" not in PAGE]
    assert missing == []
