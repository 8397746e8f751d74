"""Asks a model for many answers, several at a time, and goes on where the last session ended."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from pytest_kernelbench.authors.conversation import Message
from pytest_kernelbench.authors.prompt import build_prompt
from pytest_kernelbench.errors import AuthorError, BudgetError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_kernelbench.authors.conversation import Author, Costs
    from pytest_kernelbench.authors.ledger import Ledger, Record
    from pytest_kernelbench.authors.limits import Budget
    from pytest_kernelbench.authors.prompt import Prompt
    from pytest_kernelbench.catalog.pair import Problem

DEFAULT_CONCURRENCY = 8


@dataclass
class Sampled:
    """What a session of sampling came to."""

    wanted: int = 0
    there_before: int = 0
    written: int = 0
    without_code: int = 0
    failed: list[Record] = field(default_factory=list)
    stopped: str = ""
    """Why it ended early: the budget, or an endpoint that refuses everything."""

    @property
    def complete(self) -> bool:
        """Whether every sample is there now."""
        return self.there_before + self.written == self.wanted

    def __str__(self) -> str:
        """``60 wanted: 12 there before, 45 written (2 without code), 3 failed``."""
        text = f"{self.wanted} wanted: {self.there_before} there before, {self.written} written"
        text += f" ({self.without_code} without code)" if self.without_code else ""
        text += f", {len(self.failed)} failed" if self.failed else ""
        left = self.wanted - self.there_before - self.written - len(self.failed)
        return text + (f", {left} not asked for" if left else "")


@dataclass(frozen=True)
class Order:
    """What is wanted, and how many answers may be under way at once."""

    problems: tuple[Problem, ...]
    samples: int
    concurrency: int = DEFAULT_CONCURRENCY


async def sample(
    order: Order,
    author: Author,
    ledger: Ledger,
    heard: Callable[[Record], None] = lambda _: None,
) -> Sampled:
    """Ask for all answers that are not there yet; ``heard`` gets each record as it comes.

    All first samples come before all second ones: what a session cut short has is comparable.
    """
    wanted = [(problem, number) for number in range(order.samples) for problem in order.problems]
    todo = [task for task in wanted if not ledger.has(*task)]
    result = Sampled(wanted=len(wanted), there_before=len(wanted) - len(todo))
    prompts = {problem: build_prompt(problem, ledger.run.options) for problem, _ in todo}
    coming = iter(todo)

    async def work() -> None:
        for problem, number in coming:
            if result.stopped:
                return
            try:
                record = await _one(problem, number, prompts[problem], author, ledger)
            except (BudgetError, RefusedError) as error:
                result.stopped = result.stopped or str(error)
                return
            if record.error:
                result.failed.append(record)
            else:
                result.written += 1
                result.without_code += bool(record.reason)
            heard(record)

    await asyncio.gather(*(work() for _ in range(min(order.concurrency, len(todo)))))
    return result


async def _one(
    problem: Problem, number: int, prompt: Prompt, author: Author, ledger: Ledger
) -> Record:
    try:
        reply = await author.reply((Message("user", prompt.text),), ledger.run.sampling)
    except (BudgetError, RefusedError) as error:
        if error.lost_in or error.lost_out:
            ledger.keep_error(problem, number, prompt, error)
        raise
    except AuthorError as error:
        return ledger.keep_error(problem, number, prompt, error)
    return ledger.keep(problem, number, prompt, reply, now())


def now() -> str:
    """The time as headers and records give it: UTC, to the second."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def book_past(past: Iterable[Costs], budget: Budget) -> None:
    """Count what earlier sessions spent."""
    for each in past:
        budget.book(*each.paid)
