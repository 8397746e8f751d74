"""``kb problems``: list the problems with their sizes, or prove that they are fit to judge by."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.family import family
from pytest_kernelbench.catalog.problems import ProblemCatalog
from pytest_kernelbench.errors import KernelbenchError, UsageError
from pytest_kernelbench.overwriting import refuse_overwriting, refuse_unwritable
from pytest_kernelbench.reading import add_size, argument, device, whole

if TYPE_CHECKING:
    import argparse

    from pytest_kernelbench.catalog.pair import Problem
    from pytest_kernelbench.judge.facts import Facts

MAX_JOBS = 8
HEADER = ("problem", "family", "parameters", "GFLOP", "GB", "FLOP/byte", "shapes")
ROW = "{:<58} {:<12} {:>12} {:>10} {:>8} {:>10}  {}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what ``problems_command`` reads."""
    parser.add_argument(
        "roots",
        nargs="*",
        type=Path,
        default=[Path("problems")],
        metavar="PATH",
        help="folders of problems, or files of one each (default: problems)",
    )
    parser.add_argument(
        "--level", type=argument(whole(1)), action="append", help="only this level; repeatable"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="prove on this machine that kernels can be judged by them",
    )
    add_size(parser)
    parser.add_argument(
        "--device", type=argument(device), default="auto", help="auto, cpu, cuda or cuda:N"
    )
    parser.add_argument(
        "--jobs", type=argument(whole(1)), help="processes on the CPU; by default one a core"
    )
    parser.add_argument(
        "--facts",
        type=Path,
        metavar="FILE",
        help="what the check also holds them to: facts of the originals, one a line",
    )
    parser.add_argument("--json", type=Path, help="also write the check's reports, one a line")


def problems_command(args: argparse.Namespace) -> int:
    """List or check; the exit status is 1 where a problem fails and 2 where none is found."""
    try:
        problems = _chosen(args)
        _refuse_idle(args)
        _check_json(args, problems)
        facts = _facts(args)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return _check(problems, facts, args) if args.check else _list(problems)


def _refuse_idle(args: argparse.Namespace) -> None:
    """No option is silently without effect."""
    of_check = {
        "json": "what --check finds, a line a problem",
        "facts": "what --check also holds problems to",
    }
    for name, what in of_check.items():
        if getattr(args, name) is not None and not args.check:
            message = f"--{name} is {what}: give that too"
            raise UsageError(message)


def _facts(args: argparse.Namespace) -> dict[tuple[int, int], Facts]:
    if args.facts is None:
        return {}
    from pytest_kernelbench.judge.facts import read_facts

    return read_facts(args.facts)


def _check_json(args: argparse.Namespace, problems: list[Problem]) -> None:
    """What the check finds can be written, and over nothing that it reads."""
    if args.json is None:
        return
    read = [("argument", root) for root in args.roots]
    read += [("--facts", args.facts)] if args.facts is not None else []
    read += [("problem", each.path) for each in problems]
    refuse_overwriting(read, [("--json", args.json)])
    refuse_unwritable([("--json", args.json)])


def _chosen(args: argparse.Namespace) -> list[Problem]:
    files = [path for path in args.roots if path.suffix == ".py"]
    catalog = ProblemCatalog([path for path in args.roots if path not in files], files)
    found = dict.fromkeys((*catalog.named, *catalog.problems))
    chosen = [each for each in found if not args.level or each.level in args.level]
    if not chosen:
        message = f"no problem found: searched {catalog.describe()}"
        raise UsageError(message)
    return chosen


def _list(problems: list[Problem]) -> int:
    print(ROW.format(*HEADER))
    failed = 0
    for problem in problems:
        cells = _cells(problem)
        failed += cells[-1].startswith("does not run")
        print(ROW.format(*cells), flush=True)
    print(f"{len(problems)} problems" + (f", {failed} of which do not run" if failed else ""))
    return 1 if failed else 0


def _cells(problem: Problem) -> tuple[str, ...]:
    from pytest_kernelbench.judge.census import measure_size

    try:
        size = measure_size(problem.path)
    except KernelbenchError as error:
        return (problem.id, family(problem), "", "", "", "", f"does not run: {error}")
    return (
        problem.id,
        family(problem),
        f"{size.parameters:,}",
        f"{size.flops / 1e9:,.1f}",
        f"{size.moved_bytes / 1e9:.3f}",
        f"{size.intensity:.2f}",
        f"{_shapes(size.input_shapes)} -> {_shapes(size.output_shapes)}",
    )


def _shapes(shapes: tuple[tuple[int, ...], ...]) -> str:
    return ", ".join("x".join(map(str, shape)) or "scalar" for shape in shapes)


def _check(
    problems: list[Problem], facts: dict[tuple[int, int], Facts], args: argparse.Namespace
) -> int:
    import torch

    from pytest_kernelbench.judge.audit import Request, run_audit

    place = args.device
    if place == "auto":
        place = "cuda" if torch.cuda.is_available() else "cpu"
    size = args.size
    if size == "auto":
        size = "smoke" if place == "cpu" else "full"
    print(f"checking {len(problems)} problems at {size} size on {place}")
    requests = [
        Request(each.path, size, place, facts.get((each.level, each.number))) for each in problems
    ]
    jobs = args.jobs or (min(MAX_JOBS, os.cpu_count() or 1) if place == "cpu" else 1)
    return run_audit(requests, jobs, args.json)
