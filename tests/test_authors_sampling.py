"""Many answers into a folder: in order, resumable, within a budget, whatever the endpoint does."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from authors_helpers import OPTIONS, SAMPLING, code, coded, endpoint, write_problems
from scripted_server import Answer, Error, ScriptedServer, Step, serve

from pytest_kernelbench.authors.files import cut_short_line_removed, read_lines
from pytest_kernelbench.authors.ledger import Ledger, Record, Run
from pytest_kernelbench.authors.limits import Budget
from pytest_kernelbench.authors.prompt import PromptOptions
from pytest_kernelbench.authors.sampling import Order, Sampled, book_past, sample
from pytest_kernelbench.errors import UsageError

pytest.importorskip("openai")
NAMES = ("level1/001_relu", "level1/002_gelu", "level2/001_gemm")
RUN = Run(SAMPLING, OPTIONS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "solutions" / "m"


@pytest.fixture
def ask(tmp_path: Path, folder: Path) -> Callable[..., Sampled]:
    problems = write_problems(tmp_path / "problems", *NAMES)

    def asked(
        server: ScriptedServer,
        samples: int = 2,
        budget: Budget | None = None,
        at_once: int = 3,
        **options: Any,
    ) -> Sampled:
        async def work() -> Sampled:
            author = endpoint(server.url, budget, **options)
            ledger = Ledger(folder, RUN)
            book_past(ledger.records, author.budget)
            try:
                return await sample(Order(problems, samples, at_once), author, ledger)
            finally:
                await author.close()

        return asyncio.run(work())

    return asked


def files(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*.py")
        if ".answers" not in path.parts
    )


def test_a_file_for_each_sample_and_the_raw_answer_beside_it(
    ask: Callable[..., Sampled], folder: Path
) -> None:
    with serve([coded("right", reasoning="hm")]) as server:
        result = ask(server)
    assert result.complete
    assert str(result) == "6 wanted: 0 there before, 6 written"
    assert files(folder) == sorted(f"{name}_sample{n}.py" for name in NAMES for n in (0, 1))
    assert server.most_at_once <= 3
    text = (folder / "level1/002_gelu_sample1.py").read_text()
    assert "# model: m-0613\n" in text
    assert "# parameters: temperature=0.7, max_tokens=16384\n" in text
    assert text.endswith("# fake: right\nclass ModelNew: pass\n")
    assert (folder / ".answers/level1/002_gelu_sample1.md").read_text() == code("right")
    assert (folder / ".answers/level1/002_gelu_sample1.thoughts.md").read_text() == "hm"
    records = [
        json.loads(line) for line in (folder / ".answers/samples.jsonl").read_text().splitlines()
    ]
    assert {(r["problem"], r["sample"]) for r in records} == {(n, k) for n in NAMES for k in (0, 1)}
    assert all((r["tokens_in"], r["tokens_out"], r["finish"]) == (100, 50, "stop") for r in records)


def test_each_problem_is_asked_about_itself(ask: Callable[..., Sampled]) -> None:
    with serve([coded("right")]) as server:
        ask(server, at_once=1)  # side by side, a fourth request may arrive before the third
    for name in NAMES:
        assert sum(f"Problem {name}." in prompt for prompt in server.prompts()) == 2
    first = server.prompts()[:3]
    assert {name for name in NAMES if any(name in p for p in first)} == set(NAMES)


def test_what_is_there_is_not_asked_for_again(ask: Callable[..., Sampled], folder: Path) -> None:
    with serve([coded("right")]) as server:
        ask(server, 1)
        (folder / "level1/002_gelu_sample0.py").write_text("mine\n")
        assert str(ask(server, 3)) == "9 wanted: 3 there before, 6 written"
        assert len(server.requests) == 9
        assert ask(server, 3).complete
        assert len(server.requests) == 9
    assert (folder / "level1/002_gelu_sample0.py").read_text() == "mine\n"


def test_a_crash_between_answer_and_solution_costs_no_second_answer(
    ask: Callable[..., Sampled], folder: Path
) -> None:
    with serve([coded("right")]) as server:
        ask(server, 1)
        path = folder / "level2/001_gemm_sample0.py"
        before = path.read_text()
        path.unlink()
        with (folder / ".answers/samples.jsonl").open("a") as file:
            file.write('{"problem": "level1/00')
        assert ask(server, 1).complete
        assert len(server.requests) == 3
    assert path.read_text() == before


def test_answers_without_code_are_solutions_that_say_so(
    ask: Callable[..., Sampled], folder: Path
) -> None:
    with serve([Answer("I would rather not."), coded("right")]) as server:
        result = ask(server, 1)
    assert str(result) == "3 wanted: 0 there before, 3 written (1 without code)"
    texts = [(folder / name).read_text() for name in files(folder)]
    assert sum("raise SyntaxError('the answer holds no code" in text for text in texts) == 1


def test_half_a_pair_of_utf_16_ends_nothing(ask: Callable[..., Sampled], folder: Path) -> None:
    half = "\ud83d"
    odd = Answer(f"{half}\n{code('right')}", reasoning=half, finish=half)
    with serve([odd, Error(400, half), odd]) as server:
        result = ask(server, 1, at_once=1)
    assert str(result) == "3 wanted: 0 there before, 2 written, 1 failed"
    records = read_lines(folder / ".answers/samples.jsonl", Record)
    assert [record.finish for record in records] == ["\ufffd", "", "\ufffd"]
    assert records[1].error.endswith(": ?")


def test_an_answer_that_fails_leaves_the_others_and_is_asked_for_again(
    ask: Callable[..., Sampled], folder: Path
) -> None:
    def script(request: dict[str, Any], _: int) -> Step:
        bad = "level1/002_gelu" in request["messages"][-1]["content"]
        return Error(400, "context too long") if bad else coded("right")

    with serve(script) as server:
        result = ask(server, 1)
    assert str(result) == "3 wanted: 0 there before, 2 written, 1 failed"
    assert "context too long" in result.failed[0].error
    assert not result.complete
    assert len(files(folder)) == 2
    with serve([coded("right")]) as server:
        assert ask(server, 1).complete
        assert len(server.requests) == 1


def test_a_wrong_key_ends_it_at_once(ask: Callable[..., Sampled], folder: Path) -> None:
    with serve([Error(401, "wrong key")]) as server:
        result = ask(server, 20)
    assert "wrong key" in result.stopped
    assert len(server.requests) <= 3
    assert files(folder) == []
    assert "60 not asked for" in str(result)


def test_a_budget_lasts_over_sessions(ask: Callable[..., Sampled], folder: Path) -> None:
    with serve([coded("right", usage=(1000, 1000))]) as server:
        first = ask(server, 2, Budget(tokens=40_000))
        second = ask(server, 2, Budget(tokens=18_000))
    assert first.complete
    assert second.complete, "nothing left to ask for, so nothing to spend"
    with serve([coded("right")]) as server:
        third = ask(server, 3, Budget(tokens=12_000))
        assert "12,000 tokens does not hold another answer: 12,000 are spent" in third.stopped
        assert server.requests == []
    assert len(files(folder)) == 6


def test_what_broke_off_counts_in_the_next_session(ask: Callable[..., Sampled]) -> None:
    broken = Answer("x" * 3000, cut_after=3000)
    with serve([broken, coded("right", usage=(10, 10))]) as server:
        ask(server, 1, at_once=1)
    with serve([Error(500), broken, Error(500)]) as server:
        lost = ask(server, 2, Budget(tokens=10**6), at_once=1)
        assert len(lost.failed) == 3
        assert len(server.requests) == 9
    with serve([coded("right")]) as server:
        stopped = ask(server, 2, Budget(tokens=2000), at_once=1).stopped
    spent = int(re.findall(r"([0-9,]+) are spent", stopped)[0].replace(",", ""))
    assert spent > 3 * 20 + 1000 + 1000
    assert server.requests == []


@pytest.mark.parametrize("then", [Error(401, "wrong key"), Answer("y" * 3000, cut_after=3000)])
def test_what_broke_off_before_the_end_counts_in_the_next_session(
    ask: Callable[..., Sampled], then: Step
) -> None:
    """Ended by a refusal, or by the budget that the first attempt has used."""
    with serve([Answer("x" * 3000, cut_after=3000), then]) as server:
        budget = Budget(tokens=18_000)
        assert ask(server, 1, budget, at_once=1).stopped
    with serve([coded("right")]) as server:
        again = Budget(tokens=18_000)
        ask(server, 1, again, at_once=1)
    assert 1000 < budget.spent_tokens == again.spent_tokens
    assert server.requests == []


def test_one_way_a_folder(folder: Path) -> None:
    Ledger(folder, Run(SAMPLING, PromptOptions(backend="hip")))
    ledger = Ledger(folder, RUN)  # the first had no answer yet
    (folder / ".answers/samples.jsonl").touch()
    assert ledger.records == []
    another = Run(
        replace(SAMPLING, temperature=1.0, extra=(("stop", ["a"]), ("seed", 1))),
        replace(OPTIONS, backend="triton"),
    )
    changed = re.escape(
        '(temperature was 0.7, is now 1.0; extra was [], is now [["stop",["a"]],["seed",1]]; '
        'backend was "cuda", is now "triton")'
    )
    with pytest.raises(UsageError, match=changed):
        Ledger(folder, another)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"sampling": 1}'])
def test_a_run_that_somebody_edited(folder: Path, text: str) -> None:
    Ledger(folder, RUN)
    (folder / ".answers/samples.jsonl").touch()
    (folder / ".answers/run.json").write_text(text)
    with pytest.raises(UsageError, match=r"run\.json: "):
        Ledger(folder, RUN)


def test_a_ledger_that_somebody_edited(folder: Path) -> None:
    ledger = Ledger(folder, RUN)
    (folder / ".answers/samples.jsonl").write_text('{"problem": 3}\n{"problem": "x"}\n')
    with pytest.raises(UsageError, match=r"samples\.jsonl:1: "):
        _ = ledger.records


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot be written: .*give another folder with --to"):
        Ledger(tmp_path / "file" / "m", RUN)


FOREIGN = [b'{"a": 1', b"text", b"[1, 2", b'{"problem": ' + b"[" * 2_000]


@pytest.mark.parametrize("text", FOREIGN)
def test_a_foreign_last_line_is_not_cut_off(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "samples.jsonl"
    for before in (b"", b'{"problem": "x", "sample": 0, "prompt": "y"}\n'):
        path.write_bytes(before + text)
        with pytest.raises(UsageError, match=r"samples\.jsonl: its last line is no record"):
            cut_short_line_removed(path, Record)
        with pytest.raises(UsageError, match=r"samples\.jsonl:[12]: "):
            read_lines(path, Record)
        assert path.read_bytes() == before + text


def test_the_end_of_a_file_of_records_is_mended(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    whole = b'{"problem": "x", "sample": 0, "prompt": "y"}'
    for tail, after in (
        (b"", b""),
        (b'{"prob', b""),
        (b'{"problem": "z', b""),
        (whole, whole + b"\n"),
    ):
        path.write_bytes(whole + b"\n" + tail)
        assert len(read_lines(path, Record)) == 1 + bool(after)
        cut_short_line_removed(path, Record)
        assert path.read_bytes() == whole + b"\n" + after
