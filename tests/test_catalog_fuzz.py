"""Readers meet anything: they refuse it by file, row and reason, and run none of it."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_kernelbench.catalog import answers, naming, stored_times
from pytest_kernelbench.catalog.claim import Claim
from pytest_kernelbench.catalog.entry import cpp_entry, python_entry
from pytest_kernelbench.catalog.inside import look_inside
from pytest_kernelbench.catalog.pair import Pair
from pytest_kernelbench.catalog.problem_files import problem_of_file, problems_in_table
from pytest_kernelbench.catalog.problems import ProblemCatalog
from pytest_kernelbench.catalog.solutions import Matchmaker, own_adapters
from pytest_kernelbench.catalog.sources import archive, columns
from pytest_kernelbench.catalog.sources.packed import claim_packed, is_packed
from pytest_kernelbench.catalog.task_settings import settings_of
from pytest_kernelbench.errors import UsageError

FEW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)  # each writes a file
NEW = "class ModelNew: pass\n"
GOOD = {"level": 1, "problem_id": 2, "code": NEW, "sample_id": 0}
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
JSON = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
COLUMN = st.sampled_from(sorted({name for names in columns.NAMES.values() for name in names}))
ROW = st.dictionaries(
    COLUMN | st.text(max_size=8) | st.sampled_from(["spec", "sources", "entry"]), JSON, max_size=6
)
TEXT = st.text(max_size=200) | st.lists(
    st.sampled_from(
        ["```", "~~~~", "```python", "<think>", "</think>", "class ModelNew: pass", "def run(x):",
         "  - ", "{a: 1", "tests:", "benchmarks:", "[solution]", "PYBIND11_MODULE", " ", "> "]
    ),
    max_size=12,
).map("\n".join)  # fmt: skip


@contextlib.contextmanager
def file(name: str, content: bytes | str) -> Iterator[Path]:
    """Hypothesis runs a test many times within one tmp_path."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(
            content if isinstance(content, bytes) else content.encode("utf-8", "replace")
        )
        yield path


def told(read: Callable[[], Any]) -> tuple[Any, str]:
    """What is read, or why it is refused."""
    try:
        return read(), ""
    except UsageError as error:
        return None, str(error)


def lenient(value: Any) -> str:
    return json.dumps(value)  # with NaN and Infinity, as others write them


@FEW
@given(st.binary(max_size=300), st.sampled_from([".jsonl", ".json", ".parquet"]))
def test_bytes_are_rows_or_a_usage_error(content: bytes, suffix: str) -> None:
    with file(f"a{suffix}", content) as path:
        rows, why = told(lambda: list(archive.read(path)))
    if rows is None:
        assert path.name in why
        return
    assert all(row.claim is None or row.claim.origin.startswith(path.name) for row in rows)


@FEW
@given(st.lists(ROW | JSON, max_size=4))
def test_no_row_loses_another(rows: list[Any]) -> None:
    text = "\n".join(map(lenient, [GOOD, *rows, GOOD | {"sample_id": 1}]))
    with file("a.jsonl", text) as path, tempfile.TemporaryDirectory() as cache:
        entries = list(archive.read(path))
        catalog = ProblemCatalog([], cache=Path(cache))
        matchmaker = Matchmaker(catalog, own_adapters(("solutions",)), Path(cache))
        whys = [matchmaker.pair(path, each.claim) for each in entries if each.claim is not None]
    by_number = {entry.number: entry for entry in entries}
    for number in (1, len(rows) + 2):
        claim = by_number[number].claim
        assert claim is not None
        assert (claim.level, claim.number, claim.refusal) == (1, 2, "")
    # There is no problem here: each is told why, with its row.
    assert all(isinstance(each, str) and each for each in whys)


@FEW
@given(st.lists(ROW, max_size=3))
def test_no_row_of_a_table_of_problems_loses_another(rows: list[Any]) -> None:
    good = {"code": "class Model: pass\ndef get_inputs(): pass\n", "level": 1, "problem_id": 7}
    text = "\n".join(map(lenient, [*rows, good]))
    with file("t.jsonl", text) as path:
        complaints: list[str] = []
        problems = list(problems_in_table(path, path.parent / "cache", complaints))
    assert (1, 7) in {(problem.level, problem.number) for problem in problems}
    assert all(f"{path}:" in complaint for complaint in complaints)


@FEW
@given(ROW)
def test_a_packed_solution_is_a_claim(row: dict[str, Any]) -> None:
    if is_packed(row):
        assert isinstance(claim_packed(row, Claim("x")), Claim)


@given(TEXT)
def test_texts_are_understood_or_not(text: str) -> None:
    found = answers.extract(text)
    assert found if isinstance(found, str) else found.text
    naming.parse(text)
    python_entry(text)
    cpp_entry(text)


@FEW
@given(TEXT, st.sampled_from(["task.yml", "config.toml", "a.md", "a.cu", "a.py", "a.json"]))
def test_files_are_claims_or_none(text: str, name: str) -> None:
    with file(name, text) as path:
        if name == "task.yml":
            with contextlib.suppress(UsageError):
                settings_of(path)
            return
        claim = look_inside(path, named=True)
    assert claim is None or isinstance(claim, Claim)


@FEW
@given(JSON | st.dictionaries(st.sampled_from(["level1", "level2"]), ROW))
def test_stored_times_are_read_or_refused(value: Any) -> None:
    with file("times.json", lenient(value)) as path:
        times, why = told(lambda: stored_times.read(path))
    if times is None:
        assert path.name in why
        return
    assert all(stored.mean_us > 0 for stored in times.times.values())


@FEW
@given(st.dictionaries(st.sampled_from(["single_input_configs", "multi_init_configs"]), JSON))
def test_settings_beside_a_function_are_read_or_refused(value: Any) -> None:
    text = "class Model: pass\ndef get_inputs(): return []\ndef get_init_inputs(): return []\n"
    with file("func_forward.py", text) as path:
        (path.parent / "config_forward.json").write_text(lenient(value))
        with contextlib.suppress(UsageError):
            problem_of_file(path, path.parent / "cache", 1)


@pytest.mark.parametrize(
    "text",
    [f"x = {'[' * 9000}", f"{'a.' * 200_000}a = 1", f"x = {'1' * 5000}", '[solution]\nx="a"'],
    ids=["deep", "many parts", "large", "other"],
)
def test_a_configuration_as_nobody_writes_it_is_no_solution(tmp_path: Path, text: str) -> None:
    (tmp_path / "solution").mkdir()
    path = tmp_path / "config.toml"
    path.write_text(text)
    assert look_inside(path, named=True) is None


ACT = "import pathlib; pathlib.Path({mark!r}).touch()\n"


def test_nothing_that_is_read_is_run(tmp_path: Path) -> None:
    mark = tmp_path / "RUN"
    act = ACT.format(mark=str(mark))
    code, problem = act + NEW, act + "class Model: pass\ndef get_inputs(): return []\n"
    task = act + "def ref_kernel(x): pass\ndef generate_input(seed): pass\nimport task\n"
    spec = {"language": "python", "entry_point": "m.py::f"}
    texts = {
        "runs/level_1_problem_2_sample_0_kernel.py": code,
        "runs/answer.md": f"```python\n{code}```\n",
        "runs/kernel.cu": f'// {act}PYBIND11_MODULE(x, m) {{ m.def("forward", &f); }}\n',
        "runs/config.toml": '[solution]\ndefinition="a"\n[build]\nentry_point="k.py::k"\n',
        "runs/solution/k.py": act + "def k(x): pass\n",
        "runs/packed.json": json.dumps(
            {"definition": "add", "spec": spec, "sources": [{"path": "m.py", "content": code}]}
        ),
        "rows.jsonl": json.dumps(GOOD | {"code": code, "ref_code": problem}) + "\n",
        "bot/reference.py": task,
        "bot/task.py": act,
        "problems/level1/002_add.py": problem,
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    roots = [tmp_path / "problems", tmp_path / "rows.jsonl", tmp_path / "bot"]
    catalog = ProblemCatalog(roots, [tmp_path / "bot/reference.py"], tmp_path / "cache")
    matchmaker = Matchmaker(catalog, own_adapters(("solutions",)), tmp_path / "cache")
    assert len(catalog.problems) == 2
    pairs = [
        matchmaker.pair(path, claim)
        for path in sorted((tmp_path / "runs").rglob("*"))
        if path.is_file() and (claim := matchmaker.claim(path, named=True)) is not None
    ]
    pairs += archive.pairs(tmp_path / "rows.jsonl", matchmaker).values()
    assert sum(isinstance(pair, Pair) for pair in pairs) == 6
    assert not mark.exists()


@pytest.mark.parametrize("depth", [500, 50_000])
def test_depths_that_no_parser_bears(tmp_path: Path, depth: int) -> None:
    row = f'{{"level": 1, "problem_id": {"[" * depth}{"]" * depth}, "code": "x"}}'
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n{row}\n{json.dumps(GOOD | {'sample_id': 1})}\n")
    first, bad, last = (entry.claim for entry in archive.read(path))
    assert first is not None
    assert bad is not None
    assert last is not None
    assert (first.refusal, last.refusal) == ("", "")
    assert bad.refusal
