"""A study from its file to its tables, with a scripted model and an engine that reads verdicts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from authors_helpers import coded, write_problems
from fake_engine import FakeEngine
from scripted_server import ScriptedServer, Step, serve

from pytest_kernelbench.authors.study import Cell, run
from pytest_kernelbench.authors.study_report import study_tables, why_no_html, write_report
from pytest_kernelbench.authors.study_spec import Study, read_study
from pytest_kernelbench.authors.tables import curve
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.library import Judge
from pytest_kernelbench.verdict import Measurement, Status, Verdict

pytest.importorskip("openai")
pytest.importorskip("matplotlib")
STUDY = """
name = "Sampling against repair"
to = "out"
problem_roots = ["problems"]
thresholds = [1.0]

[judge]
device = "cpu"

[[model]]
name = "m"
base_url = "{url}"
price_in = 1.0
price_out = 2.0

[[arm]]
name = "sampled"
samples = 3
examples = "none"

[[arm]]
name = "refined"
turns = 3
until = "right"
examples = "none"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_problems(tmp_path / "problems", "level1/001_relu", "level1/002_gelu", "level2/001_gemm")
    return tmp_path


def model(request: dict[str, Any], _: int) -> Step:
    """Knows relu; mends gelu when told of its fault; never gets gemm built."""
    text = request["messages"][0]["content"]
    told = len(request["messages"]) > 1
    if "001_gemm" in text:
        return coded("not_built")
    if "002_gelu" in text:
        return coded("fast 2" if told else "raised")
    return coded("fast 3")


def ran(home: Path, server: ScriptedServer, text: str = STUDY) -> tuple[Study, list[Cell]]:
    (home / "study.toml").write_text(text.format(url=server.url))
    study = read_study(home / "study.toml")
    with Judge(study.settings, FakeEngine) as judge:
        return study, run(study, judge)


def test_grid_tables_and_files(home: Path) -> None:
    with serve(model) as server:
        study, cells = ran(home, server)
    assert [cell.entrant for cell in cells] == ["m/sampled", "m/refined"]
    assert (home / "out/solutions/m/sampled/level1/001_relu_sample2.py").exists()
    assert (home / "out/solutions/m/refined/level2/001_gemm_sample0.py").exists()
    scores, *curves, ends = study_tables(study, cells)
    assert scores.rows[0][:5] == ("1", "m/sampled", "2", "0.500", "0.500")
    assert scores.rows[1][:5] == ("1", "m/refined", "2", "1.000", "1.000")
    assert scores.rows[2][:4] == ("2", "m/sampled", "1", "0.000")
    assert [table.title for table in curves] == [
        f"Level {level}: {name} within k calls a problem"
        for level in (1, 2)
        for name in ("right", "fast_1")
    ]
    assert curves[0].header == ("model/arm", "1", "2", "3")
    assert curves[0].rows == (
        ("m/sampled", "0.500", "0.500", "0.500"),
        ("m/refined", "0.500", "1.000", "1.000"),
    )
    # kinds: not built, execution, wrong result, library only, right, fast, not judged
    assert ends.rows[:3] == (
        ("1", "m/sampled", "all", "6", "0", "3", "0", "0", "0", "3", "0"),
        ("1", "m/refined", "first", "2", "0", "1", "0", "0", "0", "1", "0"),
        ("1", "m/refined", "chosen", "2", "0", "0", "0", "0", "0", "2", "0"),
    )
    paths = write_report(study, cells)
    assert [path.name for path in paths] == ["report.md", "report.json", "report.html"]
    text = paths[0].read_text()
    assert "| 1     | m/refined | 2 | 1.000 | 1.000" in text
    html = paths[2].read_text()
    assert html.count("<figure>") == len(curves) + 2  # and fast_p over p for each level
    for words in ("Level 1: fast_p over p", "m/refined: 0.50 at k = 1, 1.00 at k = 3"):
        assert words in html
    assert not re.search(r"(?:src|href|url)[=(]['\"]?http", html)
    plain = json.loads(paths[1].read_text())
    assert plain["figures"][0]["curves"][1]["points"] == [[1, 0.5], [2, 1.0], [3, 1.0]]
    assert plain["remarks"] == []
    assert cells[0].tokens == 9 * 150
    assert cells[0].money == pytest.approx(9 * (100 * 1 + 50 * 2) / 1e6)


def test_it_goes_on_where_it_was_left(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(model) as server:
        _, first = ran(home, server)
        calls = len(server.requests)
        monkeypatch.setattr(FakeEngine, "judge", lambda *_: pytest.fail("judged again"))
        _, again = ran(home, server)
        assert len(server.requests) == calls
    assert [cell.chosen for cell in again] == [cell.chosen for cell in first]
    assert [cell.tokens for cell in again] == [cell.tokens for cell in first]


def test_a_solution_that_changed_is_judged_again(home: Path) -> None:
    with serve(model) as server:
        ran(home, server)
        path = home / "out/solutions/m/sampled/level1/001_relu_sample0.py"
        path.write_text("# fake: wrong_value\nclass ModelNew: pass\n")
        _, cells = ran(home, server)
    assert [v.status for v in cells[0].chosen[1, 1]].count(Status.WRONG_VALUE) == 1


@pytest.mark.parametrize(
    "rule", ["strict = true", "timeout_s = 600.0", "build_timeout_s = 1800.0", "budget_s = 4.0"]
)
def test_a_verdict_counts_only_for_the_rules_it_was_made_by(home: Path, rule: str) -> None:
    with serve(model) as server:
        ran(home, server)
        kept = home / "out/verdicts.jsonl"
        before = len(kept.read_text().splitlines())
        ran(home, server, STUDY.replace('"cpu"', '"cpu"\ncache_dir = "other"\nbuild_jobs = 2'))
        assert len(kept.read_text().splitlines()) == before, "where it is done is no rule"
        ran(home, server, STUDY.replace('"cpu"', f'"cpu"\n{rule}'))
    assert len(kept.read_text().splitlines()) == 2 * before


@pytest.mark.parametrize("word", ["missing", "not_judged"])
def test_what_could_not_be_judged_here_is_judged_again(home: Path, word: str) -> None:
    text = STUDY.partition('[[arm]]\nname = "refined"')[0]
    with serve([coded(word)]) as server:
        ran(home, server, text)
        kept = home / "out/verdicts.jsonl"
        assert len(kept.read_text().splitlines()) == 9
        ran(home, server, text)
    assert len(kept.read_text().splitlines()) == 18


def test_a_verdict_counts_only_for_the_tools_it_was_made_with(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(model) as server:
        ran(home, server)
        kept = home / "out/verdicts.jsonl"
        before = len(kept.read_text().splitlines())
        monkeypatch.setattr("pytest_kernelbench.authors.verdict_store.torch_version", lambda: "9")
        ran(home, server)
    assert len(kept.read_text().splitlines()) == 2 * before


def test_more_samples_later(home: Path) -> None:
    with serve(model) as server:
        ran(home, server)
        before = len(server.requests)
        _, cells = ran(home, server, STUDY.replace("samples = 3", "samples = 4"))
        assert len(server.requests) == before + 3
    assert len(cells[0].chosen[1, 1]) == 4


def test_without_times_there_are_no_columns_for_them(home: Path) -> None:
    text = STUDY.replace("[1.0]", "[]").replace('"cpu"', '"cpu"\ncorrectness_only = true')
    with serve(model) as server:
        study, cells = ran(home, server, text)
    scores, *curves, _ = study_tables(study, cells)
    assert scores.header == ("level", "model/arm", "n", "right", "tokens", "cost")
    assert [table.title for table in curves] == [
        f"Level {level}: right within k calls a problem" for level in (1, 2)
    ]
    assert "fast_p" not in scores.note


def test_without_what_draws_it_there_is_no_html(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with serve(model) as server:
        assert [p.name for p in write_report(*ran(home, server))] == ["report.md", "report.json"]
    assert "pip install 'pytest-kernelbench[html]'" in why_no_html()


MENDED = """
[[arm]]
name = "mended"
start = "sampled"
turns = 2
until = "right"
examples = "none"
"""


def test_the_failures_of_an_arm_are_refined(home: Path) -> None:
    with serve(model) as server:
        study, cells = ran(home, server, STUDY.partition('[[arm]]\nname = "refined"')[0] + MENDED)
        sampled, mended = cells
        assert len(server.requests) == 9 + 3 * 1 + 3 * 2  # relu is right, gelu mended, gemm never
        told = [r["messages"] for r in server.requests if len(r["messages"]) > 1]
    assert all("Written by a language model" not in m[1]["content"] for m in told)
    assert {len(found) for found in mended.chosen.values()} == {3}
    assert [v.status for v in mended.calls[1, 2][0]] == [Status.RAISED, Status.FAST]
    assert mended.calls[1, 1] == sampled.calls[1, 1]
    assert mended.tokens == 9 * 150
    right = study_tables(study, cells)[1]
    assert right.rows == (
        ("m/sampled", "0.500", "0.500", "0.500"),
        ("m/mended", "0.500", "1.000", "1.000"),
    )
    ends = study_tables(study, cells)[-1].rows
    assert [row[1:4] for row in ends[:3]] == [
        ("m/sampled", "all", "6"),
        ("m/mended", "first", "6"),
        ("m/mended", "chosen", "6"),
    ]


def test_a_budget_that_ends_is_a_remark(home: Path) -> None:
    text = STUDY.replace("price_in", "budget_tokens = 17500\nprice_in")
    with serve(model) as server:
        _, cells = ran(home, server, text)
    assert any("budget of 17,500 tokens" in remark for cell in cells for remark in cell.remarks)
    assert sum(cell.tokens for cell in cells) <= 17_500


def test_a_budget_knows_what_later_arms_have_spent(home: Path) -> None:
    def dear(request: dict[str, Any], number: int) -> Step:
        told = len(request["messages"]) > 1
        return replace(model(request, number), usage=(0, 1_000_000)) if told else coded("raised")

    with serve(dear) as server:
        ran(home, server)
        before = len(server.requests)
        text = STUDY.replace("samples = 3", "samples = 4")
        _, cells = ran(home, server, text.replace("price_in", "budget_tokens = 900000\nprice_in"))
        assert len(server.requests) == before
    assert "budget of 900,000 tokens" in cells[0].remarks[0]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("turns = 3", "turnz = 3", r"study\.toml: .*unknown field `turnz`.*arm"),
        ('name = "m"', 'name = "a/b"', "model 'a/b': names are folders"),
        ('name = "refined"', 'name = "sampled"', "arm 'sampled': names are folders, each its own"),
        ('device = "cpu"', 'device = "tpu"', "'tpu' is none of auto, cpu, cuda"),
        ('device = "cpu"', 'devise = "cpu"', "unknown field `devise`"),
        ('device = "cpu"', 'baselines = ["eagre"]', "baseline 'eagre' is unknown; .* compile-max"),
        ('device = "cpu"', "baselines = []", "measured against one at least"),
        ('device = "cpu"', "seeds = 0", r"\[judge\] seeds: '0' is not a whole number"),
        ('device = "cpu"', 'engine = "cloud"', "engine: 'cloud' is none of local, ray"),
        ("thresholds = [1.0]", "thresholds = [-1.0]", "thresholds: '-1.0' is not a number"),
        ("thresholds = [1.0]", "thresholds = [nan]", "thresholds: 'nan' is not a number"),
        ("thresholds = [1.0]", "levels = [0]", "levels: '0' is not a whole number"),
        ("thresholds = [1.0]", "at_k = [0]", "at_k: '0' is not a whole number"),
        ("thresholds = [1.0]", 'problems = ["1/77"]', "problem 1/77, which is not there; searched"),
        ("thresholds = [1.0]", 'problems = ["x"]', "problems: 'x' is neither LEVEL/NUMBER"),
        ("price_in = 1.0", "price_in = inf", r"Expected `float` .*price_in"),
        ("price_in = 1.0", "concurrency = 0", r"Expected `int` >= 1 - at .*concurrency"),
        ("turns = 3", "samples = 0", r"Expected `int` >= 1 - at .*samples"),
        ("turns = 3", "samples = -1", r"Expected `int` >= 1 - at .*samples"),
        ("turns = 3", 'turns = 3\nfeedback = ["praise"]', "no feedback 'praise'"),
        ("turns = 3", 'turns = 3\nbackend = "cobol"', "no backend 'cobol'"),
        ('name = "m"', "name = 3", "Expected `str`, got `int`"),
        ("[judge]", "[judge", "is no TOML"),
        ("turns = 3", f"turns = {'[' * 5_000}", "is no TOML"),
        (
            "price_in = 1.0\nprice_out = 2.0",
            "budget_money = 3",
            "price_in and price_out in a study",
        ),
        ("turns = 3", 'start = "refined"', "'refined' starts from 'refined': .*there are sampled"),
        ("turns = 3", 'start = "sampled"\nsamples = 2', "the 3 samples of 'sampled': leave"),
    ],
)
def test_files_that_make_no_sense(home: Path, old: str, new: str, says: str) -> None:
    (home / "study.toml").write_text(STUDY.replace(old, new).format(url="http://127.0.0.1:1"))
    with pytest.raises(UsageError, match=says):
        read_study(home / "study.toml")


def test_a_file_that_is_not_there(home: Path) -> None:
    with pytest.raises(UsageError, match=re.escape("study.toml cannot be read")):
        read_study(home / "study.toml")


# Curves


def times(speedup: float) -> Verdict:
    """Right and so much faster; wrong at 0."""
    if not speedup:
        return Verdict(1, 1, "x", "m", "x.py", Status.WRONG_VALUE)
    measured = Measurement("eager", speedup, speedup, speedup, 100, 100 / speedup, 1, 3, 30)
    status = Status.RIGHT
    return Verdict(1, 1, "x", "m", "x.py", status, agreed=True, measurements=(measured,))


def test_sampling_is_estimated_without_bias() -> None:
    cell = Cell("m", "a", refined=False, calls={(1, 1): [[times(2)], [times(0)], [times(0)]]})
    points = dict(curve(cell, [(1, 1)], 1.0).points)
    assert points == pytest.approx({1: 1 / 3, 2: 2 / 3, 3: 1.0})


def test_refinement_is_the_best_so_far() -> None:
    turns = [times(0), times(1.5), times(0)]
    cell = Cell("m", "a", refined=True, calls={(1, 1): [turns, [times(3)]]})
    assert curve(cell, [(1, 1)], 1.0).points == ((1, 0.5), (2, 1.0), (3, 1.0))
    assert curve(cell, [(1, 1)], 2.0).points == ((1, 0.5), (2, 0.5), (3, 0.5))
    assert curve(cell, [(1, 1), (1, 2)], 1.0).points[1] == (2, 0.5)
