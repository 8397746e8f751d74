"""Code is found in answers of any shape, or it is said why there is none."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pytest_kernelbench.catalog import answers
from pytest_kernelbench.catalog.answers import Code, extract, has_fence
from pytest_kernelbench.catalog.entry import top_level_names

ANSWERS = Path(__file__).parent / "data/answers"
NEW = "class ModelNew: pass"
NO_FENCE = "S = '''\n``` not a fence\n'''\n"
FENCED = 'class ModelNew:\n    """As in\n\n    ``` a\n    x = 1\n    ```\n    """\n    y = 1\n'
RUN = "def run(x): pass"
BINDS = 'PYBIND11_MODULE(x, m) { m.def("forward", &f); }'


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("01_plain.md", (3, 8)),
        ("03_unclosed.md", (3, 8)),
        ("05_think.md", (7, 12)),
        ("07_tilde.md", (2, 7)),
    ],
)
def test_the_answers_handed_over(name: str, lines: tuple[int, int]) -> None:
    code = extract((ANSWERS / name).read_text(encoding="utf-8"))
    assert isinstance(code, Code)
    assert (code.first_line, code.last_line) == lines
    assert code.text.startswith("import torch\n")
    assert code.text.endswith("return torch.add(a, b)\n")
    assert code.entry.name == "ModelNew"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (f"```python\n{NEW} # 1\n```\n```python\n{NEW} # 2\n```", f"{NEW} # 2\n"),
        (f"```python\n{NEW}\n```\nTry it:\n```python\nx = ModelNew()\n```", f"{NEW}\n"),
        (f"```python\n{NEW}\n```\nTime it:\n```python\n{RUN}\n```", f"{NEW}\n"),
        (f"```python\n{NEW} # 1\n```\n```python\nclass ModelNew(:\n```", f"{NEW} # 1\n"),
        (f"```python\n{NEW} # 1\n\n```python\n{NEW} # 2\n```", f"{NEW} # 2\n"),
        (f"```\n{NEW}\n```", f"{NEW}\n"),
        (f"```cuda\n{NEW}\n```", f"{NEW}\n"),
        (f"```{{.python .numberLines}}\n{NEW}\n```", f"{NEW}\n"),
        (f"~~~~\n{NEW}\nS = '''\n~~~\n'''\n~~~~", f"{NEW}\nS = '''\n~~~\n'''\n"),
        (f"````markdown\n```python\n{NEW}\n```\n````", f"{NEW}\n"),
        (f"1. First\n\n   ```python\n   {NEW}\n   ```", f"{NEW}\n"),
        (f"> ```python\n> {NEW}\n> ```", f"{NEW}\n"),
        (f"```python\r\n{NEW}\r\n```\r\n", f"{NEW}\n"),
        (f"\ufeff```python\n{NEW}\n```", f"{NEW}\n"),
        (NEW, f"{NEW}\n"),
        (f"{NEW}\n\n\n", f"{NEW}\n"),
        (f"<think>\n```\n{NEW} # draft\n```\n</think>\n{NEW}", f"\n{NEW}\n"),
        (f"<think>a</think>{NEW}", f"{NEW}\n"),
        (f"so I draft\n```\n{NEW} # draft\n```\n</think>\n```\n{NEW}\n```", f"{NEW}\n"),
        (f"```python\n{NEW}\nTAG = '</think>'\n```", f"{NEW}\nTAG = '</think>'\n"),
        (f"<think>that's it</think>\n```\n{NEW}\n```", f"{NEW}\n"),
        (f"so it's done, that's all.</think>\n```\n{NEW}\n```", f"{NEW}\n"),
        (f"<think>\na\n</think>\n```\n{NEW}\nTAG = '</think>'\n```", f"{NEW}\nTAG = '</think>'\n"),
        (f"<think>a</think>\n```\n{NEW}\n```\n<think>\n```\n{NEW} # 2\n```", f"{NEW}\n"),
        (f"```\n{NEW}\n```\n<think>\n```\n{NEW} # 2\n```\n</think>\nDone.", f"{NEW}\n"),
        (f"[THINK]\n```\n{NEW} # draft\n```\n[/THINK]\n```\n{NEW}\n```", f"{NEW}\n"),
        (f"```python\n{FENCED}```\nDone.", FENCED),
        (f"```\n{NEW} # 1\n```\nNow:\n```python\n{FENCED}```\n```\nx\n```", FENCED),
        (f"```python\n{FENCED.replace(' a', 'python')}```", FENCED.replace(" a", "python")),
        (f"```python\n{RUN}\n```", f"{RUN}\n"),
        (f"```cpp\n{BINDS}\n```", f"{BINDS}\n"),
        (f"```cpp\n{BINDS}\n```\n```python\n{NEW}\n```", f"{NEW}\n"),
        (f"```cpp\n{BINDS}\n```\n```python\nimport torch\n```", f"{BINDS}\n"),
        (f"```python\n{NEW}\n{NO_FENCE}```", f"{NEW}\n{NO_FENCE}"),
    ],
)  # fmt: skip
def test_found(answer: str, text: str) -> None:
    code = extract(answer)
    assert isinstance(code, Code), code
    assert code.text == text


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "the answer is empty"),
        ("  \n\n", "the answer is empty"),
        ("I cannot.", "no fenced block, and as a whole it is no Python"),
        ("hello = 1", "as a whole it defines no ModelNew"),
        ("```python\nx = 1\n```", "holds one block of code, but no ModelNew is defined"),
        ("```\nx = 1\n```\n```\ny\n```", "holds 2 blocks of code"),
        (
            "```python\nclass ModelNew(nn.Module):\n    def forward(se",
            "lines 2 to 3 speaks of ModelNew",
        ),
        (f"<think>\n```python\n{NEW}\n```", "ends within its reasoning"),
        (f"<think>\n```python\n{NEW}\n```\n</think>\nI give up.", "no fenced block"),
        *(
            (f"{opened}\n```python\n{NEW}\n```\n{closed}\nI give up.", "no fenced block")
            for opened, closed in (
                ('<think time="3">', "</think>"),
                ("<thought>", "</thought>"),
                ("<seed:think>", "</seed:think>"),
                ("[THINK]", "[/THINK]"),
                ("◁think▷", "◁/think▷"),
                ("<|begin_of_thought|>", "<|end_of_thought|>"),
                ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
            )
        ),
    ],
)
def test_not_found(answer: str, why: str) -> None:
    told = extract(answer)
    assert isinstance(told, str)
    assert why in told


def test_what_cannot_be_called_says_so() -> None:
    code = extract(f"```cpp\n{BINDS.replace('forward', 'backward')}\n```")
    assert isinstance(code, Code)
    assert "binds backward but no function called forward" in code.entry.refusal


def test_fences_in_all_their_margins() -> None:
    for margin in ("", "  ", "> ", ">> > ", "- ", "12) ", "\t*   ", " > \t"):
        assert has_fence(f"{margin}```python"), margin
    for text in ("``", "-```", "12```", "```a`b", "a ```"):
        assert not has_fence(text), text


def test_longer_blocks_are_tried_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []

    def counted(text: str) -> dict[str, str] | None:
        parsed.append(len(text))
        return top_level_names(text)

    monkeypatch.setattr(answers, "top_level_names", counted)
    monkeypatch.setattr(answers, "_MOST_CHARACTERS", 10_000)
    answer = "```python\nModelNew (\n```\n" * 2000
    assert isinstance(extract(answer), str)
    assert sum(parsed) < 10_000 + 4 * len(answer)


def test_many_thoughts_take_linear_time() -> None:
    def ratio() -> float:
        return taken_s("\n<think>a</think>" * 40_000) / taken_s("\n<think>a</think>" * 10_000)

    def taken_s(answer: str) -> float:
        began = time.thread_time()
        extract(answer)
        return time.thread_time() - began

    assert min(ratio() for _ in range(3)) < 8
