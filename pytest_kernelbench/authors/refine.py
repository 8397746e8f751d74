"""Turns of answer, verdict and feedback: a model mends its own solution."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_kernelbench.authors.conversation import Message, Reply
from pytest_kernelbench.authors.feedback import feedback
from pytest_kernelbench.authors.files import (
    append_line,
    cut_short_line_removed,
    read_lines,
    solution_name,
    write_whole,
)
from pytest_kernelbench.authors.ledger import Record
from pytest_kernelbench.authors.prompt import build_prompt
from pytest_kernelbench.authors.sampling import now
from pytest_kernelbench.authors.solution_file import Origin, Said, Written, solution_of
from pytest_kernelbench.authors.trajectory import (
    Head,
    Plan,
    Trajectory,
    Turn,
    asked_digest,
    chosen,
    turns_of,
)
from pytest_kernelbench.catalog.answers import extract
from pytest_kernelbench.errors import (
    AuthorError,
    BudgetError,
    MachineError,
    RefusedError,
    UsageError,
)
from pytest_kernelbench.question import Question
from pytest_kernelbench.verdict import UNSCORED, Status

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_kernelbench.authors.conversation import Author, Costs
    from pytest_kernelbench.catalog.pair import Problem
    from pytest_kernelbench.library import Judge
    from pytest_kernelbench.verdict import Verdict

_ANSWER_SHOWN_CHARACTERS = 20_000
_NAMES_LINES = frozenset({Status.NOT_BUILT, Status.RAISED, Status.CRASHED, Status.TIMED_OUT})
"""A verdict like this on a file with our header names other lines than the model's."""


@dataclass(frozen=True)
class Start:
    """Where a refinement begins: at nothing, or at a solution that is there."""

    problem: Problem
    sample: int = 0
    source: str = ""
    """The text of that solution's file; empty to begin at nothing."""
    said: Said | None = None
    """What its author said, and is shown again; the source where that is None."""
    verdict: Verdict | None = None
    """On that solution, where it is known already."""

    @property
    def shown(self) -> Said:
        """What the model is shown as its first solution."""
        return self.said or Said(self.source, self.source)


@dataclass(frozen=True)
class _Answer:
    """A turn before it is judged; see ``Turn``."""

    number: int
    asked: str
    reply: Reply
    code: str
    holds_solution: bool


@dataclass
class Refined:
    """What a session of refinement came to."""

    trajectories: dict[tuple[str, int], Trajectory] = field(default_factory=dict)
    failed: dict[tuple[str, int], str] = field(default_factory=dict)
    stopped: str = ""


class Workshop:
    """An entrant's folder in which solutions are refined.

    <folder>/levelN/NNN_name_sampleK.py             the chosen solutions
    <folder>/.turns/levelN/NNN_name_sampleK.jsonl   the trajectories
    <folder>/.turns/levelN/NNN_name_sampleK/T.py    the solution of each turn
    <folder>/.turns/lost.jsonl                      what was paid for and became no turn

    Those of turns have no header: the lines that a compiler names are those the model wrote.
    """

    def __init__(self, folder: Path, plan: Plan, author: Author, judge: Judge) -> None:
        self.folder = folder
        self.plan = plan
        self.author = author
        self.judge = judge
        self.entrant = folder.name
        cut_short_line_removed(_lost(folder), Record)

    def trajectory(self, problem: Problem, sample: int) -> Trajectory:
        """The file of one refinement, begun or not."""
        path = self.folder / ".turns" / solution_name(problem, sample).replace(".py", ".jsonl")
        return Trajectory(path, Head(problem.id, sample, self.plan))

    async def refine(self, start: Start, heard: Callable[[Turn], None]) -> Trajectory:
        """Take the turns that are left, and write the chosen solution.

        Raises ``AuthorError`` where the model gives no answer; what was reached by then is kept.
        """
        trajectory = self.trajectory(start.problem, start.sample)
        if start.source:
            await self._begin(trajectory, start)
        try:
            while not self._ended(trajectory):
                heard(await self._turn(trajectory, start.problem))
        finally:
            self._write_chosen(trajectory, start)
        return trajectory

    def messages(self, problem: Problem, turns: list[Turn]) -> tuple[Message, ...]:
        """What the model is sent for the turn after ``turns``."""
        shown = turns if self.plan.history == "all" else turns[-1:]
        messages = [Message("user", build_prompt(problem, self.plan.options).text)]
        for turn in shown:
            answer = f"```python\n{turn.code.rstrip()}\n```" if turn.code else turn.reply.text
            messages.append(Message("assistant", answer[:_ANSWER_SHOWN_CHARACTERS] or "(nothing)"))
            messages.append(Message("user", turn.feedback))
        return tuple(messages)

    def _ended(self, trajectory: Trajectory) -> bool:
        turns = trajectory.turns
        if sum(turn.number > 0 for turn in turns) >= self.plan.turns:
            return True
        if self.plan.until == "never":
            return False
        statuses = {turn.judged.status for turn in turns}
        enough = {Status.FAST} if self.plan.until == "fast" else {Status.FAST, Status.RIGHT}
        return bool(statuses & enough)

    async def _begin(self, trajectory: Trajectory, start: Start) -> None:
        """Turn 0: a solution that was there before."""
        shown = start.shown
        if trajectory.turns:
            if trajectory.turns[0].reply.text != shown.answer:
                message = (
                    f"{trajectory.path} was begun at another solution to {start.problem.id}, "
                    f"sample {start.sample}: give another --to"
                )
                raise UsageError(message)
            return
        path = _turn_file(trajectory, 0)
        write_whole(path, shown.code or start.source)
        verdict = start.verdict
        if verdict is None or (shown.code and verdict.status in _NAMES_LINES):
            verdict = await self._judge(start.problem, start.sample, path)
        said = _Answer(0, "", Reply(shown.answer, attempts=0), shown.code, bool(shown.code))
        self._keep(trajectory, said, verdict)

    async def _turn(self, trajectory: Trajectory, problem: Problem) -> Turn:
        messages = self.messages(problem, trajectory.turns)
        asked = asked_digest(messages)
        key = (problem.id, trajectory.head.sample, asked)
        try:
            reply = await self.author.reply(messages, self.plan.sampling)
        except AuthorError as error:
            self._lose(Record.unanswered(*key, error))
            raise
        try:
            return await self._take(trajectory, problem, reply, asked)
        except BaseException as error:  # also a Ctrl-C while it is judged
            record = Record.answered(*key, reply, now())
            self._lose(replace(record, error=str(error) or type(error).__name__))
            raise

    def _lose(self, record: Record) -> None:
        """Write down what was paid for and is no turn: a budget counts it in later sessions."""
        if any(record.paid):
            append_line(_lost(self.folder), record)

    async def _take(
        self, trajectory: Trajectory, problem: Problem, reply: Reply, asked: str
    ) -> Turn:
        number = trajectory.turns[-1].number + 1 if trajectory.turns else 1
        sample = trajectory.head.sample
        found = extract(reply.text)
        code = "" if isinstance(found, str) else found.text
        solution = self._solution(problem, sample, number, reply, now())
        path = _turn_file(trajectory, number)
        write_whole(path, solution.text if solution.reason else code)
        verdict = await self._judge(problem, sample, path)
        answer = _Answer(number, asked, reply, code, not solution.reason)
        return self._keep(trajectory, answer, verdict)

    def _keep(self, trajectory: Trajectory, answer: _Answer, verdict: Verdict) -> Turn:
        if verdict.status in UNSCORED:
            # Not the model's fault: nothing is said to it, and the turn is taken again next time.
            reasons = " ".join(verdict.reasons)
            message = f"{trajectory.head.problem}: {verdict.status.value}: {reasons}"
            raise MachineError(message)
        told = verdict if answer.holds_solution else _of_no_solution(verdict)
        turn = Turn(
            number=answer.number,
            asked=answer.asked,
            reply=answer.reply,
            code=answer.code,
            solution=str(_turn_file(trajectory, answer.number).relative_to(self.folder)),
            verdict=verdict.to_builtins(),
            feedback=feedback(told, self.plan.feedback, self.plan.options.texts),
            time=now(),
        )
        trajectory.append(turn)
        return turn

    def _solution(
        self, problem: Problem, sample: int, number: int, reply: Reply, time: str
    ) -> Written:
        options = self.plan.options
        told = f"{options.backend}, {options.precision}, feedback {'+'.join(self.plan.feedback)}"
        origin = Origin(
            problem=problem.id,
            sample=sample,
            model=reply.model or self.plan.sampling.model,
            prompt=f"turn {number} ({told})",
            parameters=self.plan.sampling.describe(),
            time=time,
            seconds=reply.seconds,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            answer=f".turns/{solution_name(problem, sample).replace('.py', '.jsonl')}",
            cut_off=reply.cut_off,
        )
        return solution_of(reply.text, origin)

    async def _judge(self, problem: Problem, sample: int, path: Path) -> Verdict:
        question = Question(problem, path, entrant=self.entrant, sample=sample)
        return await asyncio.wrap_future(self.judge.submit(question))

    def _write_chosen(self, trajectory: Trajectory, start: Start) -> None:
        best = chosen(trajectory.turns, self.plan.choose)
        if best is None:
            return
        problem, sample = start.problem, trajectory.head.sample
        if best.number == 0:
            text = start.source
        else:
            text = self._solution(problem, sample, best.number, best.reply, best.time).text
        write_whole(self.folder / solution_name(problem, sample), text)


def _of_no_solution(verdict: Verdict) -> Verdict:
    """The verdict on a file of ours that says why there is no solution, without that file."""
    reasons = tuple(reason.removeprefix("SyntaxError: ") for reason in verdict.reasons)
    return replace(verdict, reasons=reasons, detail="")


def costs_in(folder: Path) -> list[Costs]:
    """What each answer of all sessions in an entrant's folder cost, turn or none.

    Raises ``UsageError`` where a file is not ours.
    """
    trajectories = sorted((folder / ".turns").glob("*/*.jsonl"))
    replies = [turn.reply for path in trajectories for turn in turns_of(path)]
    return [*replies, *read_lines(_lost(folder), Record)]


def _lost(folder: Path) -> Path:
    return folder / ".turns" / "lost.jsonl"


def _turn_file(trajectory: Trajectory, number: int) -> Path:
    return trajectory.path.with_suffix("") / f"{number}.py"


async def refine_all(
    workshop: Workshop,
    starts: list[Start],
    *,
    concurrency: int = 4,
    heard: Callable[[Turn], None] = lambda _: None,
) -> Refined:
    """Refine many, several at a time; one whose model gives no answer does not end the others."""
    for start in starts:  # one that was begun in another way is told before anything is asked
        workshop.trajectory(start.problem, start.sample)
    result = Refined()
    coming = iter(starts)

    async def work() -> None:
        for start in coming:
            key = (start.problem.id, start.sample)
            if result.stopped:
                return
            try:
                result.trajectories[key] = await workshop.refine(start, heard)
            except (BudgetError, RefusedError) as error:
                result.stopped = result.stopped or str(error)
                return
            except (AuthorError, MachineError) as error:
                result.failed[key] = str(error)

    await asyncio.gather(*(work() for _ in range(min(concurrency, len(starts)))))
    return result
