"""``kb report``: every report and every gate again, from records alone."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_kernelbench import options
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.overwriting import (
    refuse_comparing_with_itself,
    refuse_overwriting,
    refuse_unwritable,
)
from pytest_kernelbench.reports import junit, markdown, rebuilt
from pytest_kernelbench.reports.annotations import (
    annotate,
    checkout,
    commands_stopped,
    in_actions,
    summary_page,
)
from pytest_kernelbench.reports.exports import exports
from pytest_kernelbench.reports.records import latest, read
from pytest_kernelbench.reports.summary import all_gates, summary
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.slowdowns import Place, refuse

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from pytest_kernelbench.gates import Gate
    from pytest_kernelbench.reports.records import Record
    from pytest_kernelbench.reports.summary import Outcome

_TAKEN = (
    "level", "entrant", "p", "fail-under", "strict", "at-k", "compare", "max-slowdown",
    "eval-results", "trace", "csv", "html", "markdown",
)  # fmt: skip
"""The options of pytest that can still be chosen afterwards; here without their ``kb-``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what ``report_command`` reads."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="written by --kb-json")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="With the families of operators"
    )
    parser.add_argument("--junit", type=Path, metavar="FILE", help="Write JUnit's XML")
    for option in options.OPTIONS:
        if option.name in _TAKEN:
            action = "store_true" if option.read is None else "append"
            told = option.help.replace("--kb-", "--")
            parser.add_argument(f"--{option.name}", dest=option.field, action=action, help=told)


def report_command(args: argparse.Namespace) -> int:
    """Print and write them; the exit status is 1 where a gate is missed."""
    settings = _settings(args)
    _check_overwriting(args, settings)
    by_file = [list(read(path, _tell)) for path in args.files]
    # Of records of the same item the last one counts.
    found = list({each.nodeid: each for records in by_file for each in records}.values())
    chosen = rebuilt.chosen(found, settings)
    _refuse_levels(settings, found)
    if not chosen:
        left = f"record is left of {len(found)}" if found else "record is"
        message = f"no {left} in {', '.join(map(str, args.files))}"
        raise UsageError(message)
    outcome = rebuilt.outcome(found, settings, verbose=args.verbose)
    if settings.compare is not None:
        places = [Place.of(verdict) for verdict in outcome.verdicts if verdict.measurement]
        refuse(settings.compare, places, [r.verdict for r in latest([settings.compare]).values()])
    gates = all_gates(outcome)
    with commands_stopped(print) if in_actions() else nullcontext():
        for line in summary(outcome):
            print(line)
        for gate in gates:
            print(gate if gate.passed else _red(str(gate)))
    if in_actions():
        _tell_actions(chosen, outcome, gates)
    if settings.markdown is not None:
        _written(settings.markdown, markdown.write, outcome, gates)
    verdicts = [record.verdict for record in chosen]
    for path, write in exports(settings):
        _written(path, write, verdicts)
    if settings.html is not None:
        labels = [file.stem for file in args.files]
        _write_page(settings.html, labels, by_file, outcome)
    if args.junit is not None:
        _written(args.junit, junit.write, chosen, settings)
    return 0 if all(gate.passed for gate in gates) else 1


def _tell(text: str) -> None:
    print(f"kb report: {text}", file=sys.stderr)


def _refuse_levels(settings: Settings, found: Sequence[Record]) -> None:
    """How many problems a level has is known from its records alone."""
    known = {record.verdict.level for record in found}
    gated = [level for level, _ in settings.fail_under_levels]
    for flag, levels in (("--level", settings.levels), ("--fail-under", gated)):
        for level in levels:
            if known and level not in known:
                message = f"{flag} {level}: no record is of level {level}"
                raise UsageError(message)
    for level in gated:
        if settings.levels and level not in settings.levels:
            message = f"--fail-under {level}:...: level {level} lies outside of --level"
            raise UsageError(message)


def _tell_actions(records: Sequence[Record], outcome: Outcome, gates: Sequence[Gate]) -> None:
    """What a session in GitHub Actions says there."""
    for annotation in annotate(records, gates, outcome.settings, checkout()):
        print(annotation)
    if (page := summary_page()) is not None:
        _written(page, partial(markdown.write, append=True), outcome, gates)


def _write_page(
    path: Path, labels: Sequence[str], by_file: Sequence[Sequence[Record]], outcome: Outcome
) -> None:
    """A page about the records that were chosen, a run for each file."""
    from pytest_kernelbench.reports.html.page import write
    from pytest_kernelbench.reports.html.runs import Run, Runs, named

    kept = [rebuilt.chosen(records, outcome.settings) for records in by_file]
    both = zip(named(labels), kept, strict=True)
    runs = [Run(label, tuple(records)) for label, records in both if records]
    _written(path, write, Runs(tuple(runs)), outcome)


def _settings(args: argparse.Namespace) -> Settings:
    given: dict[str, Any] = {}
    for option in options.OPTIONS:
        texts = getattr(args, option.field, None) if option.name in _TAKEN else None
        if texts:
            given[option.field] = options.from_texts(option, texts, f"--{option.name}")
    if "max_slowdown" in given and "compare" not in given:
        message = "--max-slowdown says how much --compare allows: name a file of records with it"
        raise UsageError(message)
    if "html" in given:
        from pytest_kernelbench.reports.plots import available

        available()
    gates = options.split_gates(given.get("fail_under_levels", ()), "--fail-under")
    return Settings(**(given | gates))


def _check_overwriting(args: argparse.Namespace, settings: Settings) -> None:
    """The records that are read are still there afterwards, and are compared with others."""
    read = [("argument", path) for path in args.files]
    written = [] if args.junit is None else [("--junit", args.junit)]
    for option in options.OPTIONS:
        path = getattr(settings, option.field) if option.name in _TAKEN else None
        if option.is_path and path is not None:
            (read if option.name == "compare" else written).append((f"--{option.name}", path))
    refuse_overwriting(read, written)
    refuse_unwritable(written)
    if settings.compare is not None:
        compared = [("argument", path) for path in args.files]
        refuse_comparing_with_itself(compared, ("--compare", settings.compare))


def _written(path: Path, write: Callable[..., object], *content: object) -> None:
    """A report that cannot be written is an error here: it is what was asked for."""
    try:
        write(path, *content)
    except OSError as error:
        message = f"{path} could not be written: {error.strerror}"
        raise UsageError(message) from None


def _red(text: str) -> str:
    return f"\033[31m{text}\033[0m" if sys.stdout.isatty() else text
