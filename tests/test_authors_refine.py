"""Turns of answer, verdict and feedback; the engine reads its verdicts out of the solutions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from authors_helpers import OPTIONS, SAMPLING, coded, endpoint, write_problems
from fake_engine import FakeEngine
from scripted_server import Answer, Error, ScriptedServer, Step, serve

from pytest_kernelbench.authors.files import read_lines
from pytest_kernelbench.authors.ledger import Record
from pytest_kernelbench.authors.limits import Budget
from pytest_kernelbench.authors.refine import Refined, Start, Workshop, costs_in, refine_all
from pytest_kernelbench.authors.solution_file import Said
from pytest_kernelbench.authors.trajectory import (
    Plan,
    Replay,
    Turn,
    chosen,
    head_of,
    rank,
    turns_of,
)
from pytest_kernelbench.errors import AuthorError, UsageError
from pytest_kernelbench.library import Judge
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Status, Verdict

pytest.importorskip("openai")
PLAN = Plan(SAMPLING, OPTIONS, turns=3)


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Judge]:
    monkeypatch.chdir(tmp_path)
    write_problems(tmp_path / "problems", "level1/001_relu", "level1/002_gelu")
    settings = Settings(problem_roots=(tmp_path / "problems",), cache_dir=tmp_path / "cache")
    with Judge(settings, FakeEngine) as made:
        yield made


def starts(judge: Judge, count: int = 1) -> list[Start]:
    problems = write_problems(judge.settings.problem_roots[0])
    return [Start(problem) for problem in problems[:count]]


def refine(
    server: ScriptedServer,
    judge: Judge,
    begin: list[Start],
    plan: Plan = PLAN,
    budget: Budget | None = None,
) -> Refined:
    async def work() -> Refined:
        author = endpoint(server.url, budget)
        try:
            workshop = Workshop(Path("solutions/m"), plan, author, judge)
            return await refine_all(workshop, begin, concurrency=2)
        finally:
            await author.close()

    return asyncio.run(work())


def statuses(turns: list[Turn]) -> list[str]:
    return [turn.verdict["status"] for turn in turns]


def only(refined: Refined) -> list[Turn]:
    assert not refined.failed
    (trajectory,) = refined.trajectories.values()
    return trajectory.turns


def test_each_turn_hears_of_the_last(judge: Judge) -> None:
    answers = [coded("not_built"), coded("wrong_value"), coded("fast 2")]
    with serve(answers) as server:
        turns = only(refine(server, judge, starts(judge)))
    assert statuses(turns) == ["not_built", "wrong_value", "fast"]
    first, second, third = (request["messages"] for request in server.requests)
    assert [message["role"] for message in first] == ["user"]
    assert [message["role"] for message in second] == ["user", "assistant", "user"]
    assert "# fake: not_built" in second[1]["content"]
    assert "int x = 1" in second[2]["content"]
    assert "could not be built" in second[2]["content"]
    assert first[0] == second[0] == third[0]
    assert "# fake: wrong_value" in third[1]["content"]
    assert "result is wrong" in third[2]["content"]
    kept = Path("solutions/m/level1/001_relu_sample0.py").read_text()
    assert "# fake: fast 2" in kept
    assert Path("solutions/m/.turns/level1/001_relu_sample0/2.py").exists()


def test_history_of_all_turns(judge: Judge) -> None:
    with serve([coded("not_built"), coded("raised"), coded("right")]) as server:
        refine(server, judge, starts(judge), replace(PLAN, history="all"))
    third = server.requests[2]["messages"]
    assert [m["role"] for m in third] == ["user", "assistant", "user", "assistant", "user"]


@pytest.mark.parametrize(
    ("choose", "kept"), [("best", "# fake: fast 3"), ("last", "# fake: wrong_value")]
)
def test_best_of_and_last_of(judge: Judge, choose: str, kept: str) -> None:
    with serve([coded("right 1"), coded("fast 3"), coded("wrong_value")]) as server:
        refine(server, judge, starts(judge), replace(PLAN, choose=choose))
    assert kept in Path("solutions/m/level1/001_relu_sample0.py").read_text()


@pytest.mark.parametrize(("until", "calls"), [("never", 3), ("right", 1), ("fast", 2)])
def test_when_it_ends(judge: Judge, until: str, calls: int) -> None:
    with serve([coded("right 1"), coded("fast 3"), coded("fast 4")]) as server:
        refine(server, judge, starts(judge), replace(PLAN, until=until))
    assert len(server.requests) == calls


def test_it_begins_at_a_solution(judge: Judge) -> None:
    begin = [replace(starts(judge)[0], source="# fake: raised\nclass ModelNew: pass\n")]
    with serve([coded("right")]) as server:
        turns = only(refine(server, judge, begin, replace(PLAN, until="right")))
    assert [turn.number for turn in turns] == [0, 1]
    assert statuses(turns) == ["raised", "right"]
    assert "# fake: raised" in server.requests[0]["messages"][1]["content"]


def test_what_is_right_already_is_left_alone(judge: Judge) -> None:
    begin = [replace(starts(judge)[0], source="# fake: right\nclass ModelNew: pass\n")]
    with serve([coded("right")]) as server:
        assert statuses(only(refine(server, judge, begin, replace(PLAN, until="right")))) == [
            "right"
        ]
        assert server.requests == []


def test_another_solution_to_begin_at_is_another_experiment(judge: Judge) -> None:
    first, other = (
        [replace(starts(judge)[0], source=f"# fake: raised\nclass ModelNew: x = {x}\n")]
        for x in (1, 2)
    )
    with serve([coded("right")]) as server:
        refine(server, judge, first, replace(PLAN, turns=1))
        with pytest.raises(UsageError, match="begun at another solution to level1/001_relu"):
            refine(server, judge, other, replace(PLAN, turns=2))
        assert len(only(refine(server, judge, first, replace(PLAN, turns=2)))) == 3


def test_what_held_no_code_is_shown_as_it_was_said(judge: Judge) -> None:
    source = "# fake: not_built\nraise SyntaxError('no code')\n"
    begin = [replace(starts(judge)[0], source=source, said=Said("", "Let me think."))]
    with serve([coded("right")]) as server:
        turns = only(refine(server, judge, begin, replace(PLAN, turns=1)))
    assert server.requests[0]["messages"][1]["content"] == "Let me think."
    assert statuses(turns) == ["not_built", "right"]
    assert "expected ';'" in turns[0].feedback
    assert "int x = 1" not in turns[0].feedback, "lines of our file, not of the answer"


def test_lines_are_those_that_the_model_wrote(judge: Judge) -> None:
    source = "# Written by a language model.\n# model: m\n\n# fake: raised\nclass ModelNew: pass\n"
    said = Said(source.partition("\n\n")[2], source.partition("\n\n")[2])
    with serve([coded("right")]) as server:
        begin = [replace(starts(judge)[0], source=source, said=said)]
        only(refine(server, judge, begin, replace(PLAN, turns=1)))
    folder = Path("solutions/m/.turns/level1/001_relu_sample0")
    assert (folder / "0.py").read_text() == said.code
    assert (folder / "1.py").read_text() == "# fake: right\nclass ModelNew: pass\n"
    kept = Path("solutions/m/level1/001_relu_sample0.py").read_text()
    assert kept.startswith("# Written by a language model.\n# model: m-0613\n")
    assert kept.endswith("\n\n# fake: right\nclass ModelNew: pass\n")


def test_an_answer_without_code_is_a_turn(judge: Judge) -> None:
    with serve([Answer("Let me think."), coded("right")]) as server:
        turns = only(refine(server, judge, starts(judge), replace(PLAN, turns=2)))
    assert turns[0].code == ""
    assert server.requests[1]["messages"][1]["content"] == "Let me think."


def test_a_failing_endpoint_keeps_what_was_reached_and_goes_on_later(judge: Judge) -> None:
    with serve([coded("not_built"), Error(400, "no more")]) as server:
        refined = refine(server, judge, starts(judge))
    assert "no more" in refined.failed["level1/001_relu", 0]
    assert Path("solutions/m/level1/001_relu_sample0.py").exists()
    with serve([coded("right"), coded("fast 2")]) as server:
        turns = only(refine(server, judge, starts(judge)))
    assert statuses(turns) == ["not_built", "right", "fast"]
    assert len(server.requests) == 2
    assert "could not be built" in server.requests[0]["messages"][2]["content"]


def test_more_turns_go_on_and_another_plan_is_refused(judge: Judge) -> None:
    with serve([coded("right")]) as server:
        refine(server, judge, starts(judge), replace(PLAN, turns=1))
        assert len(only(refine(server, judge, starts(judge), replace(PLAN, turns=2)))) == 2
        with pytest.raises(UsageError, match=r"001_relu_sample0\.jsonl was begun in another way"):
            refine(server, judge, starts(judge), replace(PLAN, choose="last"))
    assert len(server.requests) == 2


def test_what_nothing_came_of_binds_nobody(judge: Judge) -> None:
    with serve([Error(400, "no more")]) as server:
        assert refine(server, judge, starts(judge)).failed
    with serve([coded("right")]) as server:
        plan = replace(PLAN, choose="last", turns=1)
        assert len(only(refine(server, judge, starts(judge), plan))) == 1
    path = Path("solutions/m/.turns/level1/001_relu_sample0.jsonl")
    assert head_of(path).plan == plan


def test_the_machines_fault_is_not_told_to_the_model(judge: Judge) -> None:
    with serve([coded("not_judged"), coded("right")]) as server:
        refined = refine(server, judge, starts(judge))
    assert "not_judged: the device was lost" in refined.failed["level1/001_relu", 0]
    assert len(server.requests) == 1
    assert turns_of(Path("solutions/m/.turns/level1/001_relu_sample0.jsonl")) == []


BROKEN = Answer("x" * 3000, cut_after=3000)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([coded("right"), coded("not_judged")], "level1/001_relu: not_judged: the device was lost"),
        ([coded("raised"), BROKEN, Error(400, "too long")], "refused (400): too long"),
        ([BROKEN, Error(401, "wrong key")], "refused (401): wrong key"),
        ([BROKEN], "the budget of 18,000 tokens does not hold another answer"),
        ([BROKEN, coded("right"), coded("right"), Error(500, "no")], ""),
    ],
)
def test_what_was_paid_for_is_known_later(judge: Judge, steps: list[Step], said: str) -> None:
    budget = Budget(tokens=18_000 if len(steps) == 1 else None)
    with serve(steps) as server:
        refine(server, judge, starts(judge), budget=budget)
    folder = Path("solutions/m")
    assert sum(sum(each.paid) for each in costs_in(folder)) == budget.spent_tokens > 0
    lost = read_lines(folder / ".turns/lost.jsonl", Record)
    assert len(lost) == bool(said)
    assert all(record.problem == "level1/001_relu" and said in record.error for record in lost)


def test_what_was_paid_for_while_judging_was_interrupted(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(judge, "submit", interrupted)
    with serve([coded("right")]) as server, pytest.raises(KeyboardInterrupt):
        refine(server, judge, starts(judge))
    assert [each.paid for each in costs_in(Path("solutions/m"))] == [(100, 50)]


def test_several_at_once(judge: Judge) -> None:
    def script(request: dict[str, Any], _: int) -> Step:
        return coded("fast 2" if len(request["messages"]) > 1 else "raised")

    with serve(script) as server:
        refined = refine(server, judge, starts(judge, 2), replace(PLAN, turns=2))
    assert sorted(key for key, _ in refined.trajectories) == ["level1/001_relu", "level1/002_gelu"]
    for trajectory in refined.trajectories.values():
        assert statuses(trajectory.turns) == ["raised", "fast"]


def test_the_file_is_json_lines_that_say_everything(judge: Judge) -> None:
    with serve([coded("raised"), coded("right")]) as server:
        refine(server, judge, starts(judge), replace(PLAN, turns=2))
    path = Path("solutions/m/.turns/level1/001_relu_sample0.jsonl")
    head, *turns = [json.loads(line) for line in path.read_text().splitlines()]
    assert head["problem"] == "level1/001_relu"
    assert head["plan"]["sampling"]["temperature"] == 0.7
    assert [turn["reply"]["tokens_out"] for turn in turns] == [50, 50]
    assert [turn["verdict"]["status"] for turn in turns] == ["raised", "right"]
    assert head_of(path).plan == replace(PLAN, turns=2)


def replayed(path: Path, judge: Judge) -> tuple[list[Turn], Replay]:
    replay = Replay(turns_of(path))

    async def work() -> list[Turn]:
        workshop = Workshop(Path("again/m"), head_of(path).plan, replay, judge)
        return (await workshop.refine(starts(judge)[0], lambda _: None)).turns

    return asyncio.run(work()), replay


def test_it_can_be_played_again(judge: Judge) -> None:
    with serve([coded("raised"), coded("wrong_value"), coded("right")]) as server:
        before = only(refine(server, judge, starts(judge)))
    path = Path("solutions/m/.turns/level1/001_relu_sample0.jsonl")
    again, replay = replayed(path, judge)
    assert statuses(again) == statuses(before)
    assert [turn.asked for turn in again] == [turn.asked for turn in before]
    assert replay.strayed == []


def test_a_replay_notices_that_the_judge_says_something_else(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve([coded("raised"), coded("right")]) as server:
        refine(server, judge, starts(judge), replace(PLAN, turns=2))
    path = Path("solutions/m/.turns/level1/001_relu_sample0.jsonl")
    honest = FakeEngine.judge
    monkeypatch.setattr(
        FakeEngine, "judge", lambda *a: replace(honest(*a), reasons=("something else",))
    )
    _, replay = replayed(path, judge)
    assert replay.strayed == [2]


def test_a_replay_ends() -> None:
    with pytest.raises(AuthorError, match="no turn 1"):
        asyncio.run(Replay([]).reply((), SAMPLING))


@pytest.mark.parametrize(
    "change", [{"choose": "worst"}, {"until": "done"}, {"history": "some"}, {"turns": 0}]
)
def test_plans_that_make_no_sense(change: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        replace(PLAN, **change)


def test_rank_goes_by_how_far_it_came() -> None:
    order = ["not_judged", "not_built", "raised", "wrong_value", "not_a_kernel", "right", "fast"]
    ranks = [rank(Verdict(1, 1, "x", "m", "x.py", Status(word)))[0] for word in order]
    assert ranks == sorted(ranks)
    assert chosen([], "best") is None
