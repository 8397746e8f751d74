"""A study: a grid of models and ways to ask them, run from where it was left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from pytest_kernelbench.authors.files import solution_name
from pytest_kernelbench.authors.ledger import Ledger, Run
from pytest_kernelbench.authors.progress import Unseen
from pytest_kernelbench.authors.refine import Refined, Start, Workshop, costs_in, refine_all
from pytest_kernelbench.authors.sampling import Order, Sampled, book_past, sample
from pytest_kernelbench.authors.solution_file import said_in
from pytest_kernelbench.authors.trajectory import chosen
from pytest_kernelbench.authors.verdict_store import VerdictStore
from pytest_kernelbench.question import Question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_kernelbench.authors.conversation import Costs
    from pytest_kernelbench.authors.endpoint import Endpoint
    from pytest_kernelbench.authors.limits import Budget
    from pytest_kernelbench.authors.study_spec import ArmSpec, ModelSpec, Study
    from pytest_kernelbench.library import Judge
    from pytest_kernelbench.verdict import Verdict


@dataclass
class Cell:
    """What one model did in one arm: a verdict for each call, in the order of the calls."""

    model: str
    arm: str
    refined: bool
    calls: dict[tuple[int, int], list[list[Verdict]]] = field(default_factory=dict)
    """By problem: a list for each sample, of the verdicts of its turns."""
    chosen: dict[tuple[int, int], list[Verdict]] = field(default_factory=dict)
    """By problem: the verdict on each sample's solution."""
    tokens: int = 0
    money: float = 0.0
    remarks: list[str] = field(default_factory=list)

    @property
    def entrant(self) -> str:
        """As pytest names it."""
        return f"{self.model}/{self.arm}"


Watch = Callable[[str, int], Unseen]
"""Gets what is about to be done and how many there are of it, and gives who is told of each."""


@dataclass(frozen=True)
class _Room:
    """What every cell needs beside its model and arm."""

    study: Study
    judge: Judge
    store: VerdictStore
    watch: Watch


async def run_study(
    study: Study, judge: Judge, watch: Watch = lambda _what, _total: Unseen()
) -> list[Cell]:
    """Run what is missing of every cell, model by model, and give all cells."""
    cells: list[Cell] = []
    room = _Room(study, judge, VerdictStore(study.folder / "verdicts.jsonl"), watch)
    for model in study.spec.model:
        budget = model.budget()
        author = model.endpoint(budget)
        try:
            for arm in study.spec.arm:  # what later arms have spent is known before any asks
                book_past(_past(study, model, arm), budget)
            for arm in study.spec.arm:
                who = (model, arm)
                if arm.refines:
                    first = next(
                        (c for c in cells if c.entrant == f"{model.name}/{arm.start}"), None
                    )
                    cells.append(await _refined_cell(room, who, author, first))
                else:
                    cells.append(await _sampled_cell(room, who, author))
        finally:
            await author.close()
    return cells


def _past(study: Study, model: ModelSpec, arm: ArmSpec) -> Sequence[Costs]:
    if arm.refines:
        return costs_in(study.entrant_folder(model, arm))
    return _ledger(study, model, arm).records


def _ledger(study: Study, model: ModelSpec, arm: ArmSpec) -> Ledger:
    return Ledger(study.entrant_folder(model, arm), Run(model.sampling, study.options(arm)))


async def _sampled_cell(room: _Room, who: tuple[ModelSpec, ArmSpec], author: Endpoint) -> Cell:
    study, (model, arm) = room.study, who
    ledger = _ledger(study, model, arm)
    order = Order(study.problems, arm.samples, model.concurrency)
    missing = [p for p in study.problems for n in range(arm.samples) if not ledger.has(p, n)]
    progress = room.watch(f"{model.name}/{arm.name}: answers", len(missing))
    sampled = await sample(order, author, ledger, lambda _: progress.step())
    progress.end()
    cell = Cell(model.name, arm.name, refined=False, remarks=_remarks(sampled))
    _count(cell, ledger.records, author.budget)
    questions = [
        Question(problem, path, entrant=cell.entrant, sample=number)
        for problem in study.problems
        for number in range(arm.samples)
        if (path := ledger.solution(problem, number)).exists()
    ]
    watch = partial(room.watch, f"{cell.entrant}: verdicts")
    for verdict in await room.store.verdicts(questions, room.judge, watch):
        key = (verdict.level, verdict.number)
        cell.calls.setdefault(key, []).append([verdict])
        cell.chosen.setdefault(key, []).append(verdict)
    return cell


async def _refined_cell(
    room: _Room, who: tuple[ModelSpec, ArmSpec], author: Endpoint, first: Cell | None
) -> Cell:
    """``first`` is the cell whose solutions are refined, if it does not begin at nothing."""
    study, (model, arm) = room.study, who
    folder = study.entrant_folder(model, arm)
    workshop = Workshop(folder, study.plan(model, arm), author, room.judge)
    cell = Cell(model.name, arm.name, refined=True)
    workshop.entrant = cell.entrant
    if first is None:
        starts = [Start(problem, n) for n in range(arm.samples) for problem in study.problems]
    else:
        starts = _starts(study, first)
    progress = room.watch(f"{cell.entrant}: turns, at most", len(starts) * arm.turns)
    refined = await refine_all(
        workshop,
        starts,
        concurrency=model.concurrency,
        heard=lambda turn: progress.step(turn.judged.status.value),
    )
    progress.end()
    cell.remarks = _remarks(refined)
    _count(cell, costs_in(folder), author.budget)
    for start in starts:
        turns = workshop.trajectory(start.problem, start.sample).turns
        key = (start.problem.level, start.problem.number)
        if (best := chosen(turns, arm.choose)) is not None:
            cell.calls.setdefault(key, []).append([turn.judged for turn in turns])
            cell.chosen.setdefault(key, []).append(best.judged)
    return cell


def _count(cell: Cell, past: Sequence[Costs], budget: Budget) -> None:
    cell.tokens = sum(sum(each.paid) for each in past)
    cell.money = sum(budget.prices.cost(*each.paid) for each in past)


def _starts(study: Study, first: Cell) -> list[Start]:
    """At each solution of a cell, with the verdict that it has; all first samples first."""
    problems = {(each.level, each.number): each for each in study.problems}
    folder = study.folder / "solutions" / first.model / first.arm
    verdicts = [verdict for found in first.chosen.values() for verdict in found]
    starts = []
    for verdict in sorted(verdicts, key=lambda each: each.sample):
        problem = problems[verdict.level, verdict.number]
        path = folder / solution_name(problem, verdict.sample)
        source = path.read_text(encoding="utf-8", errors="replace")
        starts.append(Start(problem, verdict.sample, source, said_in(path, folder), verdict))
    return starts


def _remarks(result: Sampled | Refined) -> list[str]:
    remarks = [result.stopped] if result.stopped else []
    if isinstance(result, Sampled):
        failed = [record.error for record in result.failed]
    else:
        failed = list(result.failed.values())
    if failed:
        remarks.append(f"{len(failed)} without an answer, the first: {failed[0]}")
    return remarks


def run(study: Study, judge: Judge, watch: Watch = lambda _what, _total: Unseen()) -> list[Cell]:
    """``run_study`` in an event loop of its own."""
    return asyncio.run(run_study(study, judge, watch))
