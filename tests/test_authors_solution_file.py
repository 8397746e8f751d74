"""From answers to solution files."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kernelbench.authors.solution_file import Origin, Said, said_in, solution_of

ANSWERS = Path(__file__).parent / "data" / "answers"
ORIGIN = Origin(
    problem="level1/019_relu",
    sample=3,
    model="a\nmodel",
    prompt="abc (cuda)",
    parameters="temperature=1",
    time="2026-11-29T20:00:00Z",
    seconds=1.25,
    tokens_in=10,
    tokens_out=20,
    answer=".answers/level1/019_relu_sample3.md",
)
CODE = "import torch\n\nclass ModelNew(torch.nn.Module):\n    pass\n"


@pytest.mark.parametrize("file", sorted(ANSWERS.glob("0*.md")), ids=lambda path: path.name)
def test_every_shape_that_was_handed_over(file: Path) -> None:
    answer = file.read_text(encoding="utf-8")
    written = solution_of(answer, ORIGIN)
    assert not written.reason
    assert "draft" not in written.text
    names = [node.name for node in ast.parse(written.text).body if isinstance(node, ast.ClassDef)]
    assert names == ["ModelNew"]
    lines = answer.splitlines()[written.first_line - 1 : written.last_line]
    assert written.text.endswith("\n".join(lines).rstrip() + "\n")
    assert f"lines {written.first_line} to {written.last_line}\n" in written.text


def test_the_header_is_comment_alone() -> None:
    header = solution_of(f"```\n{CODE}```", ORIGIN).text.removesuffix(CODE).splitlines()
    assert all(line.startswith("#") or not line for line in header)
    assert "# model: a model" in header
    assert "# problem: level1/019_relu, sample 3" in header
    assert "# tokens: 10 in, 20 out" in header
    assert "# answer: .answers/level1/019_relu_sample3.md, lines 2 to 5" in header


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("", "empty"),
        ("I cannot do that.", "no fenced block"),
        ("<think>I wonder", "reasoning"),
        ("```python\nclass ModelNew(:\n```", "cannot be parsed"),
        ("```python\nprint(1)\n```", "no ModelNew"),
        ("```python\ndef custom_kernel(x):\n    return x\n```", "custom_kernel, but no class"),
    ],
)
def test_without_code_the_file_says_why(answer: str, says: str) -> None:
    written = solution_of(answer, ORIGIN)
    assert says in written.reason
    with pytest.raises(SyntaxError) as caught:
        exec(compile(written.text, "solution.py", "exec"), {})  # noqa: S102
    assert str(caught.value) == written.reason


def test_cut_off_is_said() -> None:
    written = solution_of("```python\nclass ModelNew(", replace(ORIGIN, cut_off=True))
    assert written.reason.endswith("(it was cut off at the token limit)")


def test_what_was_said_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "level1/019_relu_sample3.py"
    path.parent.mkdir()
    path.write_text(solution_of(f"```\n# mine\n{CODE}```", ORIGIN).text)
    assert said_in(path, tmp_path).code == f"# mine\n{CODE}"

    raw = tmp_path / ".answers/level1/019_relu_sample3.md"
    raw.parent.mkdir(parents=True)
    raw.write_text("I cannot do that.")
    path.write_text(solution_of("I cannot do that.", ORIGIN).text)
    assert said_in(path, tmp_path) == Said("", "I cannot do that.")

    path.write_text("# by hand\nclass ModelNew: pass\n")
    assert said_in(path, tmp_path).code == path.read_text()
