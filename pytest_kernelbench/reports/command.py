"""``kb report``: the summary and the gates again, from records alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_kernelbench import options
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.gates import gates
from pytest_kernelbench.reports import records, terminal
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.tally import rows, thresholds

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_kernelbench.reports.records import Record
    from pytest_kernelbench.score import Key

_TAKEN = ("level", "entrant", "p", "fail-under", "strict", "at-k")
"""The options of pytest that can still be chosen afterwards; here without their ``kb-``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what ``report_command`` reads."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="written by --kb-json")
    for option in options.OPTIONS:
        if option.name in _TAKEN:
            action = "store_true" if option.read is None else "append"
            parser.add_argument(
                f"--{option.name}", dest=option.field, action=action, help=option.help
            )


def report_command(args: argparse.Namespace) -> int:
    """Print them; the exit status is 1 where a gate is missed."""
    settings = _settings(args)
    found = _latest(args.files)
    chosen = [record for record in found if _wanted(record, settings)]
    if not chosen:
        message = f"no record is left of {len(found)} in {', '.join(map(str, args.files))}"
        raise UsageError(message)
    made = rows([r.verdict for r in chosen], lambda level: _asked(found, level), settings)
    for line in terminal.table(made, thresholds(settings)):
        print(line)
    measured = [r.verdict.measurement for r in chosen if r.verdict.measurement is not None]
    for line in terminal.legend(measured[0].baseline if measured else "eager"):
        print(line)
    missed = False
    for gate in gates(made, settings):
        print(gate)
        missed |= not gate.passed
    return 1 if missed else 0


def _settings(args: argparse.Namespace) -> Settings:
    given: dict[str, Any] = {}
    for option in options.OPTIONS:
        texts = getattr(args, option.field, None) if option.name in _TAKEN else None
        if texts:
            given[option.field] = options.from_texts(option, texts, f"--{option.name}")
    return Settings(**(given | options.split_gates(given.get("fail_under_levels", ()))))


def _latest(files: Sequence[Path]) -> list[Record]:
    """Of records of the same item the last one counts: a session that was resumed has both."""
    latest: dict[str, Record] = {}
    for path in files:
        if not path.is_file():
            message = f"{path}: there is no such file"
            raise UsageError(message)
        for record in records.read(path):
            latest[record.nodeid] = record
    return list(latest.values())


def _wanted(record: Record, settings: Settings) -> bool:
    verdict = record.verdict
    return (not settings.levels or verdict.level in settings.levels) and (
        not settings.entrants or verdict.entrant in settings.entrants
    )


def _asked(found: Sequence[Record], level: int) -> list[Key]:
    """The problems of a level: those with a record, and as many nameless ones as have none."""
    here = [record for record in found if record.verdict.level == level]
    answered = list(dict.fromkeys((level, record.verdict.number) for record in here))
    unanswered = max((record.asked for record in here), default=0) - len(answered)
    return answered + [(level, -number) for number in range(1, unanswered + 1)]
