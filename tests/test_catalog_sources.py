"""Archives and tables are read strictly: one bad row is one refusal and loses nothing else."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from pytest_kernelbench.catalog.claim import Claim
from pytest_kernelbench.catalog.material import (
    SOURCE_LIMIT_BYTES,
    Material,
    materialise,
    too_long,
    unsafe,
)
from pytest_kernelbench.catalog.problem_files import problem_of_file
from pytest_kernelbench.catalog.problems import ProblemCatalog
from pytest_kernelbench.catalog.solutions import Matchmaker, own_adapters
from pytest_kernelbench.catalog.sources import archive, columns, tables
from pytest_kernelbench.catalog.sources.kit import claim_kit
from pytest_kernelbench.catalog.sources.packed import claim_packed, is_packed
from pytest_kernelbench.errors import UsageError

NEW = "class ModelNew: pass\n"
MODEL = "class Model: pass\ndef get_inputs(): return []\n"
BINDS = 'PYBIND11_MODULE(x, m) { m.def("forward", &f); }\n'


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def claims(path: Path) -> list[Claim | None]:
    return [entry.claim for entry in archive.read(path)]


def refusals(path: Path) -> list[str]:
    return [claim.refusal for claim in claims(path) if claim is not None]


ROWS: list[tuple[dict[str, Any], Claim]] = [
    ({"level": 1, "problem_id": 19, "code": NEW}, Claim("a", 1, 19)),
    ({"Level_ID": "level_1", "Task_ID": "19", "custom_code": NEW}, Claim("a", 1, 19)),
    ({"level": "2", "task_id": 1.0, "solution": NEW, "model": "gpt"}, Claim("gpt", 2, 1)),
    ({"problem": "level1/019_relu", "code": NEW, "sample_id": 7}, Claim("a", 1, 19, "relu", 7)),
    ({"problem_id": "19_ReLU", "level": 1, "code": NEW}, Claim("a", 1, 19, "ReLU")),
    ({"name": "19_ReLU.py", "code": NEW}, Claim("a", None, 19, "ReLU")),
    ({"problem_name": "vectoradd", "code": "def custom_kernel(d): pass", "submission_id": 4},
     Claim("a", name="vectoradd", entry="custom_kernel")),
    ({"level": 1, "problem_id": 3, "code": "", "kernel_code": NEW}, Claim("a", 1, 3)),
    ({"op": "relu", "response": f"Sure\n```\n{NEW}```"}, Claim("a", name="relu")),
    ({"level": 1, "problem_id": 3, "CUDA_Code": BINDS}, Claim("a", 1, 3, entry="forward")),
]  # fmt: skip


@pytest.mark.parametrize(("row", "claim"), ROWS)
def test_columns_are_found_by_name(tmp_path: Path, row: dict[str, Any], claim: Claim) -> None:
    (found,) = claims(write(tmp_path, "a.jsonl", json.dumps(row)))
    assert found is not None
    assert found.refusal == ""
    assert found == claim
    assert found.origin == "a.jsonl:1"


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"level": 1, "problem_id": 1.5, "code": NEW}, "problem_id is 1.5, not a whole number"),
        ({"level": True, "problem_id": 1, "code": NEW}, "level is True, not a whole number"),
        ({"level": "easy", "problem_id": 1, "code": NEW}, "level is 'easy', not a level"),
        ({"level": 1, "problem_id": -1, "code": NEW}, "problem_id is -1, not a whole number"),
        ({"level": 1, "problem_id": 1, "code": 7}, "code holds a number, not text"),
        ({"level": 1, "problem_id": 1, "code": NEW, "model": []}, "model holds a list, not a name"),
        ({"level": 1, "problem_id": 1, "code": NEW, "sample": "x"}, "sample is 'x', not a whole"),
        ({"level": 1, "problem_id": 1, "code": "x = 1"}, "looked for ModelNew"),
        (
            {"level": 1, "problem_id": 1, "code": "def get_cases(): pass"},
            "get_cases): not supported",
        ),
        ({"level": 1, "problem_id": 1, "text": NEW}, "no column holds source: it has level, "),
        ([1], "the row is a list, not an object"),
        (
            {"level": 1, "problem_id": 1, "code": NEW + "#" * SOURCE_LIMIT_BYTES},
            "its source has 4,194,325 bytes, more than 4,194,304",
        ),
    ],
)
def test_a_bad_row_is_refused_and_loses_nothing_else(tmp_path: Path, row: Any, why: str) -> None:
    good = {"level": 1, "problem_id": 2, "code": NEW}
    text = "\n".join(map(json.dumps, (good, row, good)))
    first, bad, last = claims(write(tmp_path, "a.jsonl", text))
    assert first is not None
    assert last is not None
    assert bad is not None
    assert (first.refusal, last.refusal) == ("", "")
    assert why in bad.refusal
    assert bad.origin == "a.jsonl:2"


@pytest.mark.parametrize("column", ["file", "id"])
@pytest.mark.parametrize("name", ["a\0b.py", "x" * 300, "x/" * 3000, "loop", "loop/x.py", "\n"])
def test_a_name_that_no_file_can_have_loses_nothing_else(
    tmp_path: Path, column: str, name: str
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    good = {"level": 1, "problem_id": 2, "code": NEW}
    bad = {"level": 1, "problem_id": 1, column: name}
    first, why, last = refusals(
        write(tmp_path, "a.jsonl", "\n".join(map(json.dumps, (good, bad, good))))
    )
    assert (first, last) == ("", "")
    assert ("cannot be read: " if column == "file" and name.strip() else "no column holds") in why


def test_broken_and_long_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ROW_LIMIT_BYTES", 100)
    good = json.dumps({"level": 1, "problem_id": 2, "code": NEW})
    path = write(tmp_path, "a.jsonl", f"{good}\n{{broken\n\n{' ' * 350}\n[[[[\n{good}\n\xff")
    told = [(row.number, row.trouble) for row in tables.rows(path)]
    assert [number for number, _ in told] == [1, 2, 4, 5, 6, 7]
    assert told[0][1] == told[4][1] == ""
    assert "longer than 100 bytes" in told[2][1]
    assert all("no JSON" in told[n][1] for n in (1, 3, 5))


def test_rows_without_source(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", json.dumps([{"a": 1}, {"a": 2}, {"a": 3}]))
    (why,) = refusals(path)
    assert why.startswith("none of its 3 rows holds source; the first: no column holds source")


def test_null_is_an_unanswered_problem(tmp_path: Path) -> None:
    rows = [{"level": 1, "task_id": n, "custom_code": NEW if n % 2 else None} for n in (1, 2, 3)]
    found = claims(write(tmp_path, "a.json", json.dumps(rows)))
    assert [claim is None for claim in found] == [False, True, False]


def test_samples_are_counted_where_no_column_says_them(tmp_path: Path) -> None:
    row = {"level": 1, "task_id": 1, "code": NEW}
    rows = [row, row | {"task_id": 2}, row, row | {"model": "x"}, row]
    found = claims(write(tmp_path, "a.json", json.dumps(rows)))
    assert [claim.sample for claim in found if claim is not None] == [0, 0, 1, 0, 2]


@pytest.mark.parametrize(
    "value",
    [
        [{"level": 1, "task_id": 1, "code": NEW}],
        {"level_1": [{"task_id": 1, "code": NEW}]},
        {"1/1": {"code": NEW}},
        {"level": 1, "task_id": 1, "code": NEW},
    ],
    ids=["list", "levels", "problems", "one"],
)
def test_shapes_of_json(tmp_path: Path, value: Any) -> None:
    (claim,) = claims(write(tmp_path, "a.json", json.dumps(value)))
    assert claim == Claim("a", 1, 1)


@pytest.mark.parametrize("text", ["", "{", "[1, 2", "\xff\xfe", "[" * 100_000])
def test_no_json_at_all(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"a\.json is no JSON"):
        claims(write(tmp_path, "a.json", text))


def test_too_long_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "FILE_LIMIT_BYTES", 10)
    with pytest.raises(UsageError, match=r"has 12 bytes, more than 10: split it"):
        claims(write(tmp_path, "a.json", " " * 12))


def test_cuda_with_its_functional_reference(tmp_path: Path) -> None:
    row = {
        "Op_Name": "relu", "Level_ID": 1, "Task_ID": 19, "Kernel_Name": "relu_v3",
        "CUDA_Code": BINDS, "PyTorch_Code_Module": MODEL, "PyTorch_Code_Functional": MODEL,
        "Correct": True, "CUDA_Speedup_Native": 1.2,
    }  # fmt: skip
    (claim,) = claims(write(tmp_path, "a.json", json.dumps([row])))
    assert claim is not None
    assert claim.adapter == "fn"
    assert claim.material is not None
    assert [name for name, _ in claim.material.files] == ["a_1.cpp", "kb_functional.py"]


# Parquet


def parquet(path: Path, rows: dict[str, list[Any]]) -> Path:
    pyarrow = pytest.importorskip(
        "pyarrow", reason="pyarrow, the extra [parquet], is not installed"
    )
    from pyarrow import parquet as pq

    pq.write_table(pyarrow.table(rows), path)
    return path


def test_parquet_of_the_cuda_engineer(tmp_path: Path) -> None:
    path = parquet(
        tmp_path / "level_1.parquet",
        {
            "Level_ID": [1, 1, None],
            "Task_ID": [19, 19, 3],
            "CUDA_Code": [BINDS, BINDS, None],
            "PyTorch_Code_Functional": [MODEL, MODEL, MODEL],
            "Correct": [True, False, None],
        },
    )
    first, second, unanswered = claims(path)
    assert first == Claim("level_1", 1, 19, entry="forward")
    assert second == Claim("level_1", 1, 19, sample=1, entry="forward")
    assert unanswered is None


def test_parquet_of_a_kernelbot(tmp_path: Path) -> None:
    path = parquet(
        tmp_path / "subs.parquet",
        {
            "submission_id": [5, 6],
            "problem_name": ["relu", "relu"],
            "file_name": ["a.py", "b.py"],
            "code": ["def custom_kernel(x): pass", "print(1)"],
            "passed": [True, True],
            "runner": ["H100", "H100"],
        },
    )
    good, bad = claims(path)
    assert good is not None
    assert (good.name, good.adapter) == ("relu", "custom_kernel")
    assert bad is not None
    assert "looked for ModelNew" in bad.refusal


def test_parquet_that_is_none(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow, the extra [parquet], is not installed")
    with pytest.raises(UsageError, match="is no parquet file that can be read"):
        claims(write(tmp_path, "a.parquet", b"PAR1 nothing PAR1"))


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'pytest-kernelbench\[parquet\]'"):
        claims(write(tmp_path, "a.parquet", b"PAR1"))


# Packed solutions


SOURCES = [{"path": "main.py", "content": "def run(x): pass"}, {"path": "k/op.cu", "content": "x"}]
SPEC = {"language": "triton", "entry_point": "main.py::run"}


def pack(**changes: Any) -> dict[str, Any]:
    return {"definition": "relu", "author": "ann", "spec": SPEC, "sources": SOURCES} | changes


def test_packed() -> None:
    claim = claim_packed(pack(), Claim("x"))
    assert claim == Claim("ann", name="relu", entry="main.py::run")
    assert claim.adapter == "package:run"
    assert claim.material is not None
    assert claim.material.files[0][0] == "main.py"


@pytest.mark.parametrize(
    ("spec", "adapter"),
    [
        (SPEC | {"destination_passing_style": True}, "package:destination"),
        ({"language": "cuda", "entry_point": "k/op.cu::run"}, "extension:pybind"),
        ({"language": "CUDA", "entry_point": "k/op.cu::f", "binding": "torch"}, "extension:pybind"),
        ({"entry_point": "main.py::ModelNew"}, "package:package"),
    ],
)
def test_packed_adapters(spec: dict[str, Any], adapter: str) -> None:
    claim = claim_packed(pack(spec=spec), Claim("x"))
    assert claim.refusal == ""
    assert claim.adapter == adapter


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"sources": []}, "it has 0 sources"),
        ({"sources": [1]}, "source 1 is no object"),
        ({"sources": [{"path": "a.py", "content": 1}]}, "source 1 is no object"),
        ({"sources": [*SOURCES, SOURCES[0]]}, "source 3 is refused: the name 'main.py' is taken"),
        ({"sources": [{"path": "/etc/x", "content": ""}]}, "'/etc/x' leads out of"),
        ({"sources": [{"path": "a/../../x", "content": ""}]}, "leads out of"),
        ({"sources": [{"path": "a\\b.py", "content": ""}]}, "is no plain relative path"),
        ({"sources": [{"path": "kb_reference.py", "content": ""}]}, "is taken"),
        ({"spec": {"entry_point": "main.py"}}, "'main.py' is not FILE::NAME"),
        ({"spec": {"entry_point": "other.py::run"}}, "'other.py' is none of its sources: main.py"),
        ({"spec": {}}, "entry_point is missing or no text"),
        ({"definition": None}, "definition is missing or no text"),
        ({"spec": SPEC | {"destination_passing_style": 1}}, "neither true nor false"),
        ({"spec": SPEC | {"language": "cuda", "binding": "tvm-ffi"}}, "'tvm-ffi' is not supported"),
    ],
)
def test_packed_refusals(changes: dict[str, Any], why: str) -> None:
    assert why in claim_packed(pack(**changes), Claim("x")).refusal


def test_the_binding_of_a_packed_solution_that_does_not_name_it() -> None:
    spec = {"language": "cuda", "entry_point": "k/op.cu::go"}
    exported = [{"path": "k/op.cu", "content": "TVM_FFI_DLL_EXPORT_TYPED_FUNC(go, go_);"}]
    refusal = claim_packed(pack(spec=spec, sources=exported), Claim("x")).refusal
    assert refusal.startswith("binding 'tvm-ffi' is not supported, only 'torch' is: bind go with")
    assert claim_packed(pack(spec=spec), Claim("x")).refusal == ""


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    """The ``config.toml`` of a starter kit that has another's folder beside it."""
    write(tmp_path, "other/solution/kernel.py", "def kernel(x): return 'the key'\n")
    write(tmp_path, "kit/solution/kernel.py", "def kernel(x): return x\n")
    about = '[solution]\ndefinition = "relu"\n[build]\nentry_point = "kernel.py::kernel"\n'
    return write(tmp_path, "kit/config.toml", about)


def test_a_kit(kit: Path) -> None:
    claim = claim_kit(kit, Claim("kit"))
    assert claim is not None
    assert not claim.refusal
    assert claim.material is not None


@pytest.mark.parametrize("language", ["../../other", "../../other/solution", "/"])
def test_a_kit_takes_nothing_from_elsewhere(kit: Path, language: str) -> None:
    write(kit.parent, "config.toml", kit.read_text() + f'language = "{language}"\n')
    claim = claim_kit(kit, Claim("kit"))
    assert claim is not None
    assert "outside of its own folder" in claim.refusal


def test_a_kit_follows_no_link(kit: Path, tmp_path: Path) -> None:
    shutil.rmtree(kit.parent / "solution")
    (kit.parent / "solution").symlink_to(tmp_path / "other/solution")
    claim = claim_kit(kit, Claim("kit"))
    assert claim is not None
    assert "outside of its own folder" in claim.refusal


def test_a_pipe_that_an_index_names_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.py")
    row = {"level": 1, "problem_id": 19, "file": "x.py"}
    assert "it is a named pipe" in refusals(write(tmp_path, "a.jsonl", json.dumps(row)))[0]


def test_other_json_is_not_packed() -> None:
    for value in ({}, [], {"sources": []}, {"sources": {}, "spec": {}}, {"spec": {}}, "sources"):
        assert not is_packed(value)


# Material


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        ("a.py", True), ("k/op_1.cu", True), ("a-b.c++", True), ("", False), ("/a", False),
        ("../a", False), ("a/../b", False), ("a b.py", False), ("a\nb", False), (".hidden", False),
        ("a/.ssh/x", False), ("x" * 200, False), ("C:\\x", False), ("~/x", False),
    ],
)  # fmt: skip
def test_unsafe(path: str, *, safe: bool) -> None:
    assert (unsafe(path) == "") is safe


def test_material_lies_where_its_content_says(tmp_path: Path) -> None:
    one = materialise(Material((("a.py", "x"),)), tmp_path, "ignored for one file")
    two = materialise(Material((("a.py", "x"), ("k/b.cu", "y"))), tmp_path, "r:3 of x")
    assert one.read_text() == two.read_text() == "x"
    assert two.parent.name == "r_3_of_x"
    assert (two.parent / "k/b.cu").read_text() == "y"
    assert one.parent != two.parent.parent
    before = one.stat().st_mtime_ns
    assert materialise(Material((("a.py", "x"),)), tmp_path, "again") == one
    assert one.stat().st_mtime_ns == before
    one.write_text("spoiled")
    assert materialise(Material((("a.py", "x"),)), tmp_path, "again").read_text() == "x"
    assert sorted(path.name for path in one.parent.iterdir()) == ["a.py"]


def test_sources_that_are_too_large_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever a source may lie: each is refused in the same words, before anybody reads it."""
    monkeypatch.setattr("pytest_kernelbench.catalog.material.SOURCE_LIMIT_BYTES", 100)
    why = "has 121 bytes, more than 100"
    text = NEW + "#" * 100
    write(tmp_path, "problems/level1/019_relu.py", MODEL)
    write(tmp_path, "board/x.py", text)
    index = write(tmp_path, "board/data.json", json.dumps({"1/19": [{"file": "x.py"}]}))
    assert refusals(index) == [f"x.py {why}"]
    matchmaker = Matchmaker(
        ProblemCatalog([tmp_path / "problems"]), own_adapters(("solutions",)), tmp_path / "cache"
    )
    for name in ("solutions/ann/level1/019_relu.py", "runs/level_1_problem_19_sample_0.md",
                 "flat/l1_p19.py", "flat/l1_p19.cu", "flat/relu.txt"):  # fmt: skip
        path = write(tmp_path, name, text)
        claim = matchmaker.claim(path, named=True)
        assert claim is not None, name
        assert matchmaker.pair(path, claim) == f"{path.name}: {path.name} {why}"


def test_too_long() -> None:
    assert too_long("é" * (SOURCE_LIMIT_BYTES // 2)) == ""
    assert too_long("é" * (SOURCE_LIMIT_BYTES // 2) + "x")


# Problems in tables and files


def test_problems_in_a_table(tmp_path: Path) -> None:
    rows = [
        {"code": MODEL, "level": 1, "name": "19_ReLU", "problem_id": 19},
        {"code": MODEL, "level": 1, "name": "20_LeakyReLU", "problem_id": 20},
        {"code": MODEL + "#", "level": 1, "name": "19_ReLU", "problem_id": 19},
        {"code": MODEL, "level": 1, "name": "19_ReLU", "problem_id": 19},
        {"code": "x = 1", "level": 1, "name": "21_X", "problem_id": 21},
        {"code": "def f(:", "level": 1, "name": "22_X", "problem_id": 22},
        {"code": MODEL, "name": "X"},
        {"level": 1, "problem_id": 23},
        3,
    ]
    path = write(tmp_path, "rows.jsonl", "\n".join(map(json.dumps, rows)))
    catalog = ProblemCatalog([path], cache=tmp_path / "cache")
    assert [problem.id for problem in catalog.problems] == [
        "level1/019_ReLU",
        "level1/020_LeakyReLU",
    ]
    assert catalog.problems[0].path.read_text() == MODEL
    assert catalog.problems[0].path.name == "19_ReLU.py"
    told = [complaint.partition("rows.jsonl:")[2] for complaint in catalog.complaints]
    assert [line[0] for line in told] == ["3", "5", "6", "7", "8", "9"]
    assert "another problem 1/19" in told[0]
    assert "no Model and no get_inputs" in told[1]
    assert "no column says its level" in told[3]


def test_problems_in_parquet_as_the_hub_has_them(tmp_path: Path) -> None:
    path = parquet(
        tmp_path / "level_1.parquet",
        {"code": [MODEL, MODEL, None], "level": [1, 1, 1], "name": ["19_ReLU", "1_add_", "2_x"],
         "problem_id": [19, 1, 2]},
    )  # fmt: skip
    catalog = ProblemCatalog([path], cache=tmp_path)
    assert [problem.id for problem in catalog.problems] == ["level1/001_add", "level1/019_ReLU"]
    assert catalog.complaints == []


def test_references_of_an_archive_of_solutions(tmp_path: Path) -> None:
    row = {"level_id": 1, "task_id": 19, "ref_code": MODEL, "custom_code": NEW}
    path = write(tmp_path, "a.json", json.dumps([row]))
    (problem,) = ProblemCatalog([path], cache=tmp_path).problems
    assert problem.path.read_text() == MODEL


def test_a_kernelbench_checkout(tmp_path: Path) -> None:
    write(tmp_path, "repo/KernelBench/level1/19_ReLU.py", MODEL)
    write(tmp_path, "repo/runs/x/level_1_problem_19_sample_0_kernel.py", NEW)
    catalog = ProblemCatalog([tmp_path / "repo"])
    assert [problem.id for problem in catalog.problems] == ["level1/019_ReLU"]
    assert catalog.holds(tmp_path / "repo/KernelBench/level1/19_ReLU.py")
    assert not catalog.holds(tmp_path / "repo/runs/x/level_1_problem_19_sample_0_kernel.py")


def test_a_file_by_itself(tmp_path: Path) -> None:
    inside = problem_of_file(write(tmp_path, "level1/19_ReLU.py", MODEL), tmp_path, 1)
    assert inside.id == "level1/019_ReLU"
    alone = problem_of_file(write(tmp_path, "my_softmax.py", MODEL), tmp_path, 2)
    assert alone.id == "level0/002_my_softmax"
    folder = problem_of_file(write(tmp_path, "03_kda/reference.py", MODEL), tmp_path, 4)
    assert folder.id == "level0/004_kda"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x = 1", "it defines no Model and no get_inputs"),
        ("class Model: pass", "it defines no get_inputs"),
        ("def f(:", "it is no Python"),
        ("def ref_kernel(x): pass", "it defines no Model and no get_inputs"),
        ("def get_cases(): pass", "its answers are a fixed list"),
    ],
)
def test_a_file_that_is_no_problem(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        problem_of_file(write(tmp_path, "p.py", text), tmp_path, 1)


def test_shapes_beside_a_reference(tmp_path: Path) -> None:
    shapes = "import torch\nSHAPES = [{'N': 8}, {'N': 16}]\n"
    reference = write(tmp_path, "01_x/reference.py", MODEL + "N = 4\n")
    write(tmp_path, "01_x/shapes.py", shapes)
    problem = problem_of_file(reference, tmp_path / "cache", 1)
    assert problem.path != reference
    assert problem.path.read_text().endswith("SHAPES = [{'N': 8}, {'N': 16}]\n")
    write(tmp_path, "01_x/shapes.py", "SHAPES: list[dict[str, int]] = [{'N': 9}]\n")
    problem = problem_of_file(reference, tmp_path / "cache", 1)
    assert problem.path.read_text().endswith("SHAPES = [{'N': 9}]\n")
    for none in ("SHAPES = [f(1)]", "SHAPES = 3", "SHAPES = [[1]]", "SHAPES = [{'M': 1}]", "x("):
        write(tmp_path, "01_x/shapes.py", none)
        assert problem_of_file(reference, tmp_path / "cache", 1).path == reference


def test_shapes_beside_a_reference_are_read_as_a_strangers(tmp_path: Path) -> None:
    reference = write(tmp_path, "01_x/reference.py", MODEL + "N = 4\n")
    shapes = write(tmp_path, "01_x/shapes.py", "PATTERN = '\\d'\nSHAPES = [{'N': 8}]\n")
    problem = problem_of_file(reference, tmp_path / "cache", 1)
    assert problem.path.read_text().endswith("SHAPES = [{'N': 8}]\n")
    shapes.unlink()
    os.mkfifo(shapes)
    assert problem_of_file(reference, tmp_path / "cache", 1).path == reference


def test_shapes_by_names_in_another_case_and_with_flags(tmp_path: Path) -> None:
    """As they are written there: the check beside them knows what a flag is, nobody else does."""
    reference = write(tmp_path, "04_x/reference.py", MODEL + "BATCH: int = 8\nVOCAB = 64\n")
    rows = [(32, 4, False), (8, 64, False), (8, 64, True)]
    shapes = [{"batch": b, "vocab": v, "extreme": e} for b, v, e in rows]
    write(tmp_path, "04_x/shapes.py", f"SHAPES = {shapes}\n")
    text = problem_of_file(reference, tmp_path / "cache", 1).path.read_text()
    assert text.endswith("SHAPES = [{'BATCH': 32, 'VOCAB': 4}, {'BATCH': 8, 'VOCAB': 64}]\n")


def test_a_flat_folder_of_problems(tmp_path: Path) -> None:
    for name in ("l1_p19", "l2_p3", "helper", "level1_20_leaky"):
        write(tmp_path, f"problems/{name}.py", MODEL)
    write(tmp_path, "problems/l1_p21.py", NEW)
    catalog = ProblemCatalog([tmp_path / "problems"])
    assert [problem.id for problem in catalog.problems] == [
        "level1/019_problem_19",
        "level1/020_leaky",
        "level2/003_problem_3",
    ]


def test_settings_beside_a_function(tmp_path: Path) -> None:
    text = "class Model: pass\ndef get_inputs(n, m=1): return [n, m]\n"
    text += "def get_init_inputs(m=1): return [m]\n"
    path = write(tmp_path, "linear/func_forward.py", text)
    config = {
        "single_input_configs": [{"n": 4}], "multi_input_configs": [{"n": 8}, {"n": 16}],
        "single_shared_configs": [{"m": 2}], "multi_shared_configs": [{"m": 3}],
    }  # fmt: skip
    write(tmp_path, "linear/config_forward.json", json.dumps(config))
    namespace: dict[str, Any] = {}
    exec(problem_of_file(path, tmp_path / "cache", 1).path.read_text(), namespace)  # noqa: S102
    assert (namespace["get_inputs"](), namespace["get_init_inputs"]()) == ([4, 2], [2])
    assert [shape["KB_INPUT"] for shape in namespace["SHAPES"]] == [
        {"m": 3, "n": 8},
        {"m": 3, "n": 16},
    ]
    namespace.update(namespace["SHAPES"][1])
    assert (namespace["get_inputs"](), namespace["get_init_inputs"]()) == ([16, 3], [3])
    for text in ('{"single_input_configs": 3}', '{"a":' * 2_000):
        write(tmp_path, "linear/config_forward.json", text)
        with pytest.raises(UsageError, match=r"config_forward\.json cannot be understood"):
            problem_of_file(path, tmp_path / "cache", 1)


def test_columns() -> None:
    assert columns.column(["Task_ID", "x"], "number") == "Task_ID"
    assert columns.column({"customCode": 1, "code": 2}, "code") == "customCode"
    assert columns.column(["x"], "code") is None
