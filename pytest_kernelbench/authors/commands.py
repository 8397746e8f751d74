"""``kb prompt``, ``kb sample``, ``kb refine`` and ``kb study``."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.authors.command_line import (
    add_prompt_options,
    add_refine_options,
    add_sample_options,
    add_study_options,
    chosen_problems,
    prompt_options,
    sampling_of,
)
from pytest_kernelbench.authors.endpoint import Endpoint, EndpointOptions
from pytest_kernelbench.authors.feedback import check_kinds
from pytest_kernelbench.authors.ledger import Ledger, Run
from pytest_kernelbench.authors.limits import Budget, Pace, Prices
from pytest_kernelbench.authors.progress import Progress
from pytest_kernelbench.authors.prompt import build_prompt
from pytest_kernelbench.authors.refine import Start, Workshop, costs_in, refine_all
from pytest_kernelbench.authors.sampling import Order, book_past, sample
from pytest_kernelbench.authors.solution_file import Said, said_in
from pytest_kernelbench.authors.trajectory import Plan, Replay, chosen, head_of, turns_of
from pytest_kernelbench.catalog.problems import ProblemCatalog
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.library import Judge
from pytest_kernelbench.overwriting import refuse_overwriting
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.texts import hanging, printable

__all__ = [
    "add_prompt_options", "add_refine_options", "add_sample_options", "add_study_options",
    "prompt_command", "refine_command", "sample_command", "study_command",
]  # fmt: skip

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Coroutine, Sequence

    from pytest_kernelbench.authors.refine import Refined
    from pytest_kernelbench.authors.sampling import Sampled
    from pytest_kernelbench.authors.trajectory import Head, Turn
    from pytest_kernelbench.catalog.pair import Problem


def prompt_command(args: argparse.Namespace) -> int:
    """Print prompts as they would be sent."""
    options = prompt_options(args)
    for problem in chosen_problems(args.problems, args.level, args.problem):
        sys.stdout.write(build_prompt(problem, options).text)
    return 0


def sample_command(args: argparse.Namespace) -> int:
    """Ask for what is missing; the exit status is 1 if anything still is."""
    problems = chosen_problems(args.problems, args.level, args.problem)
    options = prompt_options(args)
    ledger = Ledger(args.to, Run(sampling_of(args), options))

    async def work(author: Endpoint) -> Sampled:
        book_past(ledger.records, author.budget)
        order = Order(problems, args.k, args.concurrency)
        progress = Progress("answers", len(problems) * args.k)
        result = await sample(order, author, ledger, lambda _: progress.step(_spent(author.budget)))
        progress.end()
        return result

    result = asyncio.run(_with_author(args, work))
    print(f"{result}; in {args.to}")
    for record in result.failed:
        error = printable(record.error)
        print(hanging(f"  {record.problem}, sample {record.sample}: {error}"), file=sys.stderr)
    if result.stopped:
        print(hanging(f"stopped: {printable(result.stopped)}"), file=sys.stderr)
    return 0 if result.complete else 1


def refine_command(args: argparse.Namespace) -> int:
    """Refine; the exit status is 1 where a refinement did not reach its end."""
    args.problems = args.problems or [Path("problems")]
    settings = _settings(args)
    if args.replay is not None:
        return _replay(args, settings)
    if args.model is None:
        message = "whose solutions are to be refined is given with --model"
        raise UsageError(message)
    plan = _plan(args)
    starts = _starts(args)
    with Judge(settings) as judge:

        async def work(author: Endpoint) -> Refined:
            workshop = Workshop(args.to, plan, author, judge)
            book_past(costs_in(args.to), author.budget)
            progress = Progress("turns", len(starts) * args.turns)

            def heard(turn: Turn) -> None:
                progress.step(f"{turn.judged.status.value}, {_spent(author.budget)}")

            result = await refine_all(workshop, starts, concurrency=args.concurrency, heard=heard)
            progress.end()
            return result

        result = asyncio.run(_with_author(args, work))
    return _told(result, plan, len(starts))


def _settings(args: argparse.Namespace) -> Settings:
    return Settings(
        problem_roots=tuple(args.problems),
        cache_dir=args.cache,
        device=args.device,
        size=args.size,
        dtype=args.precision,
        seeds=args.seeds,
        budget_s=args.budget,
        correctness_only=args.correctness_only,
    )


def _plan(args: argparse.Namespace) -> Plan:
    return Plan(
        sampling=sampling_of(args),
        options=prompt_options(args),
        turns=args.turns,
        feedback=check_kinds(args.feedback.split(",")),
        choose=args.choose,
        until=args.until,
        history=args.history,
    )


def _told(result: Refined, plan: Plan, wanted: int) -> int:
    for (name, number), trajectory in sorted(result.trajectories.items()):
        best = chosen(trajectory.turns, plan.choose)
        ways = " > ".join(turn.judged.status.value for turn in trajectory.turns)
        print(f"{name}, sample {number}: {ways}" + (f"; kept turn {best.number}" if best else ""))
    for (name, number), error in sorted(result.failed.items()):
        print(hanging(f"{name}, sample {number}: {printable(error)}"), file=sys.stderr)
    if result.stopped:
        print(hanging(f"stopped: {printable(result.stopped)}"), file=sys.stderr)
    return 0 if len(result.trajectories) == wanted else 1


def _replay(args: argparse.Namespace, settings: Settings) -> int:
    """Judge a trajectory's answers again and say where it goes another way; 1 if it does."""
    head, before = head_of(args.replay), turns_of(args.replay)
    level, _, rest = head.problem.removeprefix("level").partition("/")
    name = f"{int(level)}/{int(rest.partition('_')[0])}"
    (problem,) = chosen_problems(args.problems, None, [name])
    author = Replay(before)
    start = _start_again(args.replay, problem, head, before)
    plan = replace(head.plan, turns=sum(turn.number > 0 for turn in before))
    with Judge(replace(settings, dtype=plan.options.precision)) as judge:
        workshop = Workshop(args.to, plan, author, judge)
        again = workshop.trajectory(start.problem, start.sample).path
        refuse_overwriting([("--replay", args.replay)], [("--to", again)])
        after = asyncio.run(workshop.refine(start, lambda _: None)).turns
    differs = bool(author.strayed) or len(after) != len(before)
    for old, new in zip(before, after, strict=False):
        was, is_now = old.judged.status.value, new.judged.status.value
        remark = "" if was == is_now else f" (was {was})"
        asked = ", asked otherwise than then" if new.number in author.strayed else ""
        print(f"turn {new.number}: {is_now}{remark}{asked}")
        differs |= was != is_now
    return int(differs)


def _start_again(path: Path, problem: Problem, head: Head, turns: list[Turn]) -> Start:
    """Where that trajectory began; its file of turn 0 lies beside it, unless it was moved."""
    given = next((turn for turn in turns if turn.number == 0), None)
    if given is None:
        return Start(problem, head.sample)
    file = path.with_suffix("") / "0.py"
    source = file.read_text(encoding="utf-8") if file.is_file() else given.code
    return Start(problem, head.sample, source, Said(given.code, given.reply.text))


def study_command(args: argparse.Namespace) -> int:
    """Run what is missing of a study and write its report; 1 where answers are missing."""
    from pytest_kernelbench.authors.study import run
    from pytest_kernelbench.authors.study_report import (
        markdown,
        study_tables,
        why_no_html,
        write_report,
    )
    from pytest_kernelbench.authors.study_spec import read_study

    study = read_study(args.file)
    with Judge(study.settings) as judge:
        cells = run(study, judge, Progress)
    paths = write_report(study, cells)
    for study_table in study_tables(study, cells):
        print("\n".join(markdown(study_table)))
    for cell in cells:
        for remark in cell.remarks:
            print(hanging(f"{cell.entrant}: {printable(remark)}"), file=sys.stderr)
    print("written: " + ", ".join(os.path.relpath(path) for path in paths))
    if missing := why_no_html():
        print(f"no report.html: {missing}", file=sys.stderr)
    return 1 if any(cell.remarks for cell in cells) else 0


async def _with_author(
    args: argparse.Namespace, work: Callable[[Endpoint], Coroutine[None, None, Any]]
) -> Any:  # noqa: ANN401
    options = EndpointOptions(
        base_url=args.base_url,
        key_variable=args.key_variable,
        stream=not args.no_stream,
        attempts=args.attempts,
        timeout_s=args.timeout,
    )
    prices = Prices(args.price_in, args.price_out)
    budget = Budget(args.budget_tokens, args.budget_money, prices)
    author = Endpoint(options, budget, Pace(args.requests_per_minute, args.tokens_per_minute))
    try:
        return await work(author)
    finally:
        await author.close()


def _spent(budget: Budget) -> str:
    money = f", {budget.spent_money:.2f}" if budget.spent_money else ""
    return f"{budget.spent_tokens:,} tokens{money}"


def _starts(args: argparse.Namespace) -> list[Start]:
    problems = chosen_problems(args.problems, args.level, args.problem)
    if args.start is None:
        return [Start(problem, number) for number in range(args.k) for problem in problems]
    return list(solutions_below(args.start, problems, args.problems))


def solutions_below(
    folder: Path, problems: tuple[Problem, ...], roots: Sequence[Path]
) -> list[Start]:
    """A start at each solution of an entrant's folder to one of the problems below ``roots``.

    Raises ``UsageError`` where there is no such folder, or nothing of the kind in it.
    """
    from pytest_kernelbench.catalog.solutions import Matchmaker, own_adapters

    if not folder.is_dir():
        message = f"there is no folder {folder} to begin at"
        raise UsageError(message)
    matchmaker = Matchmaker(ProblemCatalog(roots), own_adapters(()))
    starts = []
    for path in sorted(folder.rglob("*.py")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        claim = None if hidden else matchmaker.claim(path, look_inside=False)
        pair = matchmaker.pair(path, claim) if claim is not None else ""
        if not isinstance(pair, str) and pair.problem in problems:
            text = path.read_text(encoding="utf-8", errors="replace")
            said = said_in(path, folder)
            starts.append(Start(pair.problem, pair.solution.sample, text, said))
    if not starts:
        message = f"{folder} holds no solution to any of the problems asked for"
        raise UsageError(message)
    return starts
