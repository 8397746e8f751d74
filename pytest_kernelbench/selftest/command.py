"""``kb selftest``: judge the corpus here, a row each; fail on any difference."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench import __version__
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.selftest.session import run_cases
from pytest_kernelbench.selftest.stamp import tally, write_stamp
from pytest_kernelbench.selftest.table import load_cases
from pytest_kernelbench.settings import Settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_kernelbench.engine.local import LocalEngine
    from pytest_kernelbench.selftest.rule import Outcome
    from pytest_kernelbench.selftest.table import Case

_TIMEOUT_S, _BUILD_TIMEOUT_S = 60.0, 240.0
"""Some cheats hang, and are found out by these alone."""
_ROW = "{:<32} {:<22} {:<16} {:<24} {}"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``kb selftest``."""
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--family", action="append", default=[], help="only this family of cases")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="only this case"
    )
    parser.add_argument("--size", choices=("auto", "full", "smoke"), default="auto")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every outcome to FILE")
    parser.add_argument("--cache", type=Path, default=Path(".kernelbench"), metavar="DIR")
    parser.add_argument("-j", type=int, dest="jobs", metavar="N", help="build N at a time")


def selftest_command(args: argparse.Namespace) -> int:
    """Run it. The exit status is 0 only if every case that can run here got what it must get."""
    from pytest_kernelbench.engine.local import LocalEngine

    cases = chosen(load_cases(), args.family, args.only)
    settings = Settings(
        cache_dir=args.cache,
        device=args.device,
        size=args.size,
        build_jobs=args.jobs,
        timeout_s=_TIMEOUT_S,
        build_timeout_s=_BUILD_TIMEOUT_S,
    )
    engine = LocalEngine(settings)
    try:
        outcomes = _print_rows(engine, cases)
    finally:
        engine.close()
    counted = tally(outcomes)
    where = f"version {__version__}, {engine.device.name}"
    print(f"{counted}; {counted.not_run} cannot run here ({where})")
    if args.json:
        args.json.write_text(json.dumps([_record(each) for each in outcomes], indent=1))
    if not args.family and not args.only:
        write_stamp(args.cache, engine.device.uuid, counted)
    return 0 if all(each.ok for each in outcomes) else 1


def chosen(cases: Sequence[Case], families: Sequence[str], names: Sequence[str]) -> list[Case]:
    """The cases of these families and of these names; all if none are given.

    Raises ``UsageError``.
    """
    for given, known, what in (
        (families, {case.family for case in cases}, "family"),
        (names, {case.name for case in cases}, "case"),
    ):
        if unknown := sorted(set(given) - known):
            hint = ", ".join(sorted(known))
            raise UsageError(f"no {what} of the corpus is called {unknown[0]!r}; there are: {hint}")
    if not families and not names:
        return list(cases)
    return [case for case in cases if case.family in families or case.name in names]


def _print_rows(engine: LocalEngine, cases: Sequence[Case]) -> list[Outcome]:
    print(_ROW.format("case", "expected", "got", "speedup", ""), flush=True)
    outcomes = []
    for each in run_cases(engine, cases):
        outcomes.append(each)
        mark = "-" if not each.judged else "ok" if each.ok else "DIFFERS"
        got = each.verdict.status.value
        print(_ROW.format(each.case.name, each.expected, got, each.speedup, mark).rstrip())
        if not each.ok or not each.judged:
            print(f"    {'; '.join(each.verdict.reasons)}")
            for note in each.verdict.notes if not each.ok else ():
                print(f"    note: {note}")
        sys.stdout.flush()
    return outcomes


def _record(each: Outcome) -> dict[str, object]:
    return {
        "case": each.case.name,
        "family": each.case.family,
        "honest": each.case.honest,
        "expected": each.expected,
        "got": each.verdict.status.value,
        "ok": each.ok,
        "judged": each.judged,
        "verdict": each.verdict.to_builtins(),
    }
