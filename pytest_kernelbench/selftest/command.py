"""``kb selftest``: judge the corpus here, a row each; fail on any difference."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pytest_kernelbench import __version__
from pytest_kernelbench.engine.devices import visible_gpus
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.options import check_values
from pytest_kernelbench.overwriting import refuse_unwritable
from pytest_kernelbench.reading import add_size, argument, device, whole
from pytest_kernelbench.selftest.load import burning
from pytest_kernelbench.selftest.session import run_cases
from pytest_kernelbench.selftest.stamp import tally, write_stamp
from pytest_kernelbench.selftest.table import load_cases
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.texts import hanging, json_bytes

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_kernelbench.judge.device import Device
    from pytest_kernelbench.selftest.rule import Outcome
    from pytest_kernelbench.selftest.table import Case

_TIMEOUT_S, _BUILD_TIMEOUT_S = 60.0, 240.0
_SHORT_TIMEOUT_S = 8.0
"""Some cheats hang, and are found out by this alone."""
_BUDGET_S = 1.0
_THRESHOLD = 1.15
"""What most of the table asks of a speedup: measured until that is decided, no longer."""
_ROW = "{:<32} {:<22} {:<16} {:<24} {}"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``kb selftest``."""
    parser.add_argument(
        "--device", type=argument(device), default="auto", help="auto, cpu, cuda or cuda:N"
    )
    parser.add_argument("--family", action="append", default=[], help="only this family of cases")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="only this case"
    )
    add_size(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every outcome to FILE")
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path(".kernelbench"),
        metavar="DIR",
        help="where the stamp and builds go (default: %(default)s)",
    )
    parser.add_argument(
        "--repeat",
        type=argument(whole(1)),
        default=1,
        metavar="N",
        help="judge each case N times (default: 1)",
    )
    parser.add_argument(
        "--load", action="store_true", help="keep all processors busy with something else meanwhile"
    )
    parser.add_argument(
        "-j", type=argument(whole(1)), dest="jobs", metavar="N", help="build N at a time"
    )


def selftest_command(args: argparse.Namespace) -> int:
    """Run it. The exit status is 0 only if every case that can run here got what it must get."""
    cases = chosen(load_cases(), args.family, args.only)
    refuse_unwritable([("--json", args.json)] if args.json else [])
    print(_ROW.format("case", "expected", "got", "speedup", ""), flush=True)
    outcomes: list[Outcome] = []
    try:
        with burning() if args.load else nullcontext():
            for hangs in (False, True):
                group = [case for case in cases if case.hangs is hangs]
                if group or not outcomes:
                    place = _judge(_settings(args, hangs=hangs), group, args.repeat, outcomes)
    finally:
        if args.json:  # whoever stops it keeps what was judged
            args.json.write_bytes(_json(outcomes))
    counted = tally(outcomes)
    where = f"version {__version__}, {place.name}"
    print(f"{counted}; {counted.not_run} cannot run here ({where})")
    if not args.family and not args.only and args.repeat == 1:
        write_stamp(args.cache, place.uuid, counted)
    return 0 if all(each.ok for each in outcomes) else 1


def _settings(args: argparse.Namespace, *, hangs: bool) -> Settings:
    settings = Settings(
        cache_dir=args.cache,
        device=_one_device(args.device),
        size=args.size,
        build_jobs=args.jobs,
        thresholds=(_THRESHOLD,),
        budget_s=_BUDGET_S,
        timeout_s=_SHORT_TIMEOUT_S if hangs else _TIMEOUT_S,
        build_timeout_s=_SHORT_TIMEOUT_S if hangs else _BUILD_TIMEOUT_S,
    )
    check_values(settings)
    return settings


def _judge(
    settings: Settings, cases: Sequence[Case], repeat: int, outcomes: list[Outcome]
) -> Device:
    """Judge these ``repeat`` times, a row each; gives the device."""
    from pytest_kernelbench.engine.local import LocalEngine

    engine = LocalEngine(settings, tell=_tell)
    try:
        for _ in range(repeat):
            for each in run_cases(engine, cases):
                outcomes.append(each)
                _print_row(each)
        return engine.device
    finally:
        engine.close()


def _one_device(wanted: str) -> str:
    """The stamp is of one device: of several that ``wanted`` may mean, the first."""
    several = wanted in ("auto", "cuda") and visible_gpus()
    return "cuda:0" if several else wanted


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


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _print_row(each: Outcome) -> None:
    mark = "-" if not each.judged else "ok" if each.ok else "DIFFERS"
    got = each.verdict.status.value
    print(_ROW.format(each.case.name, each.expected, got, each.speedup, mark).rstrip())
    if not each.ok or not each.judged:
        print(f"    {hanging('; '.join(each.verdict.reasons))}")
        for note in each.verdict.notes if not each.ok else ():
            print(f"    note: {hanging(note)}")
    sys.stdout.flush()


def _json(outcomes: Sequence[Outcome]) -> bytes:
    """Strict JSON: what is no number is null, and what is no text has question marks."""
    return msgspec.json.format(json_bytes([_record(each) for each in outcomes]), indent=1)


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
