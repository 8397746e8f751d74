"""The folder of one model's answers: raw answers, what each cost, and the solutions made of them.

    <folder>/levelN/NNN_name_sampleK.py           solutions
    <folder>/.answers/levelN/NNN_name_sampleK.md  raw answers; ``.thoughts.md``: what came before
    <folder>/.answers/samples.jsonl               a record of every request that ended
    <folder>/.answers/run.json                    how they were made: one way a folder

Folders whose name begins with a dot are not collected by pytest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_kernelbench.authors.conversation import Costs, Reply, Sampling
from pytest_kernelbench.authors.files import (
    append_line,
    cut_short_line_removed,
    read_lines,
    solution_name,
    write_whole,
)
from pytest_kernelbench.authors.prompt import PromptOptions
from pytest_kernelbench.authors.solution_file import Origin, solution_of
from pytest_kernelbench.decoding import decoded
from pytest_kernelbench.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_kernelbench.authors.prompt import Prompt
    from pytest_kernelbench.catalog.pair import Problem
    from pytest_kernelbench.errors import AuthorError


@dataclass(frozen=True)
class Run:
    """How the answers of a folder are made."""

    sampling: Sampling
    options: PromptOptions


@dataclass(frozen=True)
class Record(Costs):
    """One request's end."""

    problem: str
    sample: int
    prompt: str
    """Digest of the prompt."""
    time: str = ""
    model: str = ""
    finish: str = ""
    seconds: float = 0.0
    attempts: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    estimated: bool = False
    lost_in: int = 0
    lost_out: int = 0
    reason: str = ""
    """Why the answer holds no solution."""
    error: str = ""
    """Why there is no answer; it is asked for again next time."""

    @staticmethod
    def answered(problem: str, sample: int, prompt: str, reply: Reply, time: str) -> Record:
        """Of an answer."""
        return Record(
            problem=problem,
            sample=sample,
            prompt=prompt,
            time=time,
            model=reply.model,
            finish=reply.finish,
            seconds=round(reply.seconds, 3),
            attempts=reply.attempts,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            estimated=reply.estimated,
            lost_in=reply.lost_in,
            lost_out=reply.lost_out,
        )

    @staticmethod
    def unanswered(problem: str, sample: int, prompt: str, error: AuthorError) -> Record:
        """That there was no answer, and what that cost."""
        lost_in, lost_out, said = error.lost_in, error.lost_out, str(error)
        return Record(problem, sample, prompt, lost_in=lost_in, lost_out=lost_out, error=said)


class Ledger:
    """One such folder. Not for several writers at once."""

    def __init__(self, folder: Path, run: Run) -> None:
        self.folder = folder
        self.run = run
        self._answers = folder / ".answers"
        self._check_run()
        cut_short_line_removed(self._samples, Record)

    @property
    def _samples(self) -> Path:
        return self._answers / "samples.jsonl"

    def _check_run(self) -> None:
        path = self._answers / "run.json"
        now = msgspec.json.format(msgspec.json.encode(self.run), indent=2).decode()
        if not path.exists() or not self._samples.exists():  # nothing came of it so far
            write_whole(path, now + "\n")
            return
        if changed := _changes(_fields(path, path.read_bytes()), _fields(path, now.encode())):
            message = (
                f"{self.folder} holds answers made in another way ({changed}): give another --to, "
                "or ask as before"
            )
            raise UsageError(message)

    @cached_property
    def records(self) -> list[Record]:
        """Of all sessions so far."""
        return read_lines(self._samples, Record)

    def solution(self, problem: Problem, sample: int) -> Path:
        """Where that solution lies, or will."""
        return self.folder / solution_name(problem, sample)

    def answer(self, problem: Problem, sample: int) -> Path:
        """Where that raw answer lies, or will."""
        return self._answers / solution_name(problem, sample).replace(".py", ".md")

    def has(self, problem: Problem, sample: int) -> bool:
        """Whether that solution is there; one whose writing a crash prevented is written now."""
        if self.solution(problem, sample).exists():
            return True
        answer = self.answer(problem, sample)
        key = (problem.id, sample)
        last = [r for r in self.records if (r.problem, r.sample) == key and not r.error]
        if not (last and answer.exists()):
            return False
        text = answer.read_text(encoding="utf-8", errors="surrogateescape")
        self._write_solution(problem, text, last[-1])
        return True

    def keep(
        self, problem: Problem, sample: int, prompt: Prompt, reply: Reply, time: str
    ) -> Record:
        """Write an answer, its record and its solution, in this order."""
        answer = self.answer(problem, sample)
        write_whole(answer, reply.text)
        if reply.reasoning:
            write_whole(answer.with_suffix(".thoughts.md"), reply.reasoning)
        reply = replace(reply, model=reply.model or self.run.sampling.model)
        record = Record.answered(problem.id, sample, prompt.digest, reply, time)
        origin = self._origin(problem, record)
        record = replace(record, reason=solution_of(reply.text, origin).reason)
        append_line(self._samples, record)
        self.records.append(record)
        self._write_solution(problem, reply.text, record)
        return record

    def keep_error(
        self, problem: Problem, sample: int, prompt: Prompt, error: AuthorError
    ) -> Record:
        """Write down that there was no answer, and what that cost."""
        record = Record.unanswered(problem.id, sample, prompt.digest, error)
        append_line(self._samples, record)
        self.records.append(record)
        return record

    def _write_solution(self, problem: Problem, answer: str, record: Record) -> None:
        written = solution_of(answer, self._origin(problem, record))
        write_whole(self.solution(problem, record.sample), written.text)

    def _origin(self, problem: Problem, record: Record) -> Origin:
        options = self.run.options
        return Origin(
            problem=problem.id,
            sample=record.sample,
            model=record.model,
            prompt=(
                f"{record.prompt} ({options.backend}, {options.precision}, examples "
                f"{options.examples}, hardware {options.hardware}"
                f"{', concepts' if options.concepts else ''})"
            ),
            parameters=self.run.sampling.describe(),
            time=record.time,
            seconds=record.seconds,
            tokens_in=record.tokens_in,
            tokens_out=record.tokens_out,
            answer=str(self.answer(problem, record.sample).relative_to(self.folder)),
            cut_off=record.finish == "length",
        )


def _fields(path: Path, run: bytes) -> dict[str, str]:
    """What a ``run.json`` says, field by field, each value as JSON."""
    try:
        parts = decoded(run, dict[str, dict[str, Any]])
    except msgspec.MsgspecError as error:
        message = f"{path}: {error}"
        raise UsageError(message) from error
    values = {name: value for part in parts.values() for name, value in part.items()}
    return {name: msgspec.json.encode(value).decode() for name, value in values.items()}


def _changes(before: dict[str, str], now: dict[str, str]) -> str:
    """``temperature was null, is now 0.1; ...``; empty where nothing has changed."""
    return "; ".join(
        f"{name} was {before.get(name, 'unknown')}, is now {now.get(name, 'unknown')}"
        for name in before | now
        if before.get(name) != now.get(name)
    )
