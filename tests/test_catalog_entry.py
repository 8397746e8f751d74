"""Entry points are told from the text alone."""

from __future__ import annotations

import ast

import pytest

from pytest_kernelbench.catalog.entry import (
    cpp_entry,
    lines_of,
    popcorn,
    python_entry,
    top_level_names,
)


@pytest.mark.parametrize(
    ("text", "name", "adapter"),
    [
        ("class ModelNew: pass", "ModelNew", ""),
        ("from kernel import ModelNew", "ModelNew", ""),
        ("ModelNew = make()", "ModelNew", ""),
        (
            "try:\n    import x\nexcept ImportError: x = 0\nelse:\n    class ModelNew: pass",
            "ModelNew",
            "",
        ),
        ("def run(): pass\nclass ModelNew: pass", "ModelNew", ""),
        ("def forward(x): pass\ndef custom_kernel(x): pass", "custom_kernel", "custom_kernel"),
        ("def forward(x): pass\ndef run(x): pass", "run", "run"),
        ("def forward(x): pass", "forward", "forward"),
        ("class ModelNew(:", "ModelNew", ""),
    ],
)
def test_python(text: str, name: str, adapter: str) -> None:
    entry = python_entry(text)
    assert entry is not None
    assert (entry.name, entry.adapter, entry.refusal) == (name, adapter, "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1",
        "run = 3",
        "class A:\n    def forward(self): pass",
        "def f(:",
        "class Model: pass",
    ],
)
def test_no_entry(text: str) -> None:
    assert python_entry(text) is None


def test_model_where_tasks_are_folders() -> None:
    entry = python_entry("class Model: pass", model=True)
    assert entry is not None
    assert entry.name == "Model"


def test_elsewhere() -> None:
    ranks = python_entry("import torch.distributed as dist\ndef solution(x): pass")
    assert ranks is not None
    assert ranks.skipped
    operator = python_entry("def add__Tensor_kernel_impl(*a): pass")
    assert operator is not None
    assert "BackendBench" in operator.refusal
    assert not operator.skipped


def test_cpp() -> None:
    bound = cpp_entry('PYBIND11_MODULE(e, m) {\n m . def ( "forward", &f);\n m.def("x", &g); }')
    assert bound is not None
    assert (bound.name, bound.adapter) == ("forward", "pybind")
    assert cpp_entry("__global__ void k() {}") is None
    other = cpp_entry("torch::Tensor custom_kernel(torch::Tensor x);")
    assert other is not None
    assert other.refusal


def test_popcorn() -> None:
    assert popcorn("#!POPCORN leaderboard vectoradd_py\nx") == "vectoradd_py"
    assert popcorn("//!POPCORN leaderboard sort") == "sort"
    assert popcorn("# POPCORN leaderboard sort") == ""


def test_names() -> None:
    text = "import a\nx = y = 1\ndef f(): pass\nclass C: pass\nif x:\n    def g(): pass\n"
    assert top_level_names(text) == {"x": "name", "y": "name", "f": "def", "C": "class", "g": "def"}
    assert top_level_names("def f(:") is None
    assert top_level_names("x\0") is None
    assert top_level_names("(" * 10_000) is None


@pytest.mark.parametrize("depth", [10, 1000, 2500])
def test_a_long_chain_of_branches_is_read_or_left(depth: int) -> None:
    text = "if a: pass\n" + "elif b: pass\n" * depth
    names = top_level_names(f"{text}else:\n    ModelNew = 1\n")
    assert names in ({"ModelNew": "name"}, None)


@pytest.mark.parametrize(
    "mark", ["\n", "\r", "\r\n", "\f", "\v", "\x1c", "\x85", "\u2028", "\u2029"]
)
def test_lines_are_those_of_the_syntax_tree(mark: str) -> None:
    text = f'"""a{mark}b"""\nx = 1'
    last = ast.parse(text).body[-1]
    assert lines_of(text)[last.lineno - 1] == "x = 1"
    assert "".join(lines_of(text)) == text


def test_names_bound_in_branches_come_in_their_order() -> None:
    text = (
        "if x:\n    def f(): ...\nelse:\n    f = 1\ntry:\n    class g: ...\nexcept E:\n    pass\n"
    )
    assert top_level_names(text) == {"f": "name", "g": "class"}
