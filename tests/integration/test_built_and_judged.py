"""Names and moments of builds, as the contender meets them: built and judged for real."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
PROBLEM = """
import torch

class Model(torch.nn.Module):
    def forward(self, a, b):
        return a + b

def get_inputs():
    return [torch.randn(64, 48), torch.randn(64, 48)]

def get_init_inputs():
    return []
"""
SOLUTION = """
{first}
import ctypes
import torch
from torch.utils.cpp_extension import load_inline

def built():
    source = 'extern "C" int number() {{ {more} return {number}; }}'
    {call}

library = {at_import}

class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        global library
        library = library or built()
        return a * (ctypes.CDLL(library).number() / {number}) + b
"""


CALL = """return load_inline("fused_op", source, is_python_module=False, no_implicit_headers=True,
                       extra_cflags=["-Wall"], verbose=True)"""
OWN_SOURCE = """with open("number.cpp", "w") as file:
        file.write(source)
    from torch.utils.cpp_extension import load
    return load("fused_op", ["number.cpp"], is_python_module=False)"""
BESIDE = """from torch.utils.cpp_extension import load
    return load("fused_op", ["number.cpp"], is_python_module=False)"""
IN_A_FOLDER = """import os
    from helper import load
    path = os.path.join(os.path.dirname(__file__), "csrc", "number.cpp")
    return load("fused_op", [path], is_python_module=False)"""
IN_THE_HOME = "import os\nos.makedirs(os.path.expanduser('~/.my_kernels'))"
OWN_FOLDER = """import os
    os.makedirs("./build", exist_ok=True)
    return load_inline("fused_op", source, is_python_module=False, no_implicit_headers=True,
                       build_directory="./build")"""


def solution(number: int, **parts: str) -> str:
    filled = {"first": "", "more": "", "at_import": "built()", "call": CALL} | parts
    return SOLUTION.format(number=number, **filled).lstrip()


FILES = {
    "level1/001_add.py": solution(1, more="int unused;"),
    "level1/001_add_sample1.py": solution(2, first="from __future__ import annotations"),
    "level1/001_add_sample2.py": solution(3, at_import="None"),
    "level1/001_add_sample3.py": solution(4).replace("number() {", "number() { nope;"),
    "level1/001_add_sample4.py": solution(5, call=OWN_SOURCE),
    "level1/001_add_sample5/solution.py": solution(6, call=OWN_FOLDER),
    "level1/001_add_sample6/solution.py": solution(7, call=BESIDE),
    "level1/001_add_sample6/number.cpp": 'extern "C" int number() { return 7; }',
    "level1/001_add_sample7.py": solution(8, call=IN_A_FOLDER),
    "level1/001_add_sample8.py": solution(9, first=IN_THE_HOME),
    "level1/csrc/number.cpp": '#include "eight.h"\nextern "C" int number() { return EIGHT; }',
    "level1/csrc/eight.h": "#define EIGHT 8",
    "level1/helper.py": "from torch.utils.cpp_extension import load",
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[int, dict[str, Any]]:
    """By sample; everything lies where spaces and other scripts are in the path."""
    folder = tmp_path_factory.mktemp("a 名前")
    (folder / "problems/level1").mkdir(parents=True)
    (folder / "problems/level1/001_add.py").write_text(PROBLEM)
    for name, text in FILES.items():
        path = folder / "solutions/ann é" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "solutions", "-q", "--kb-device=cpu", "--kb-seeds=1",
            "--kb-correctness-only", "--kb-json=v.jsonl", "-p", "no:cacheprovider",
        ],
        cwd=folder, capture_output=True, text=True, check=False, timeout=280,
    )  # fmt: skip
    records = map(json.loads, (folder / "v.jsonl").read_text().splitlines())
    found = {record["sample"]: record for record in records if "status" in record}
    assert len(found) == sum("/001_add" in name and name.endswith(".py") for name in FILES), (
        done.stdout + done.stderr
    )
    return found


def test_samples_that_call_their_library_alike(verdicts: dict[int, dict[str, Any]]) -> None:
    assert verdicts[0]["agreed"], verdicts[0]
    assert verdicts[1]["agreed"], verdicts[1]


def test_a_library_that_is_built_in_the_first_forward(verdicts: dict[int, dict[str, Any]]) -> None:
    assert verdicts[2]["agreed"], verdicts[2]


@pytest.mark.parametrize("sample", [4, 5], ids=["source", "folder"])
def test_what_is_written_in_the_current_folder(
    verdicts: dict[int, dict[str, Any]], sample: int
) -> None:
    """Under its own name, in the build and again in the contender."""
    assert verdicts[sample]["agreed"], verdicts[sample]


def test_a_source_beside_the_solution_by_its_name_alone(
    verdicts: dict[int, dict[str, Any]],
) -> None:
    assert verdicts[6]["agreed"], verdicts[6]


def test_files_beside_a_solution_in_a_folder_of_many(verdicts: dict[int, dict[str, Any]]) -> None:
    """A module that it imports, and a source in a folder with a header."""
    assert verdicts[7]["agreed"], verdicts[7]


def test_a_folder_in_the_home_is_told_where_else(verdicts: dict[int, dict[str, Any]]) -> None:
    failed = verdicts[8]
    if failed["agreed"]:
        pytest.skip("no wall here keeps the home as it is")
    assert failed["status"] == "not_built"
    assert "a solution may write to the current folder" in failed["reasons"][0]


def test_a_compilers_error_is_the_verdicts(verdicts: dict[int, dict[str, Any]]) -> None:
    failed = verdicts[3]
    assert failed["status"] == "not_built"
    assert "main.cpp:" in failed["reasons"][0]
    assert "nope" in failed["reasons"][0]
    assert Path(failed["log"]).is_file()


def test_a_compilers_warning_is_in_the_verdict(verdicts: dict[int, dict[str, Any]]) -> None:
    (note,) = [note for note in verdicts[0]["notes"] if note.startswith("build: ")]
    assert "unused variable" in note
    assert not [note for note in verdicts[1]["notes"] if note.startswith("build: ")]
