"""``kb cache``: show, check or prune what was built."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.build.cache import check_cache, list_cache, prune_cache
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.reading import argument, real

if TYPE_CHECKING:
    import argparse

_ROW = "{:<14} {:<10} {:>9} {:>8} {:>8}  {}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what ``cache_command`` reads."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=("list", "check", "prune"),
        default="list",
        help="(default: %(default)s)",
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="(default: .kernelbench)")
    parser.add_argument("--mend", action="store_true", help="check: remove what is damaged")
    parser.add_argument(
        "--keep-gb",
        type=argument(real(0)),
        default=0.0,
        metavar="GB",
        help="prune: leave this much",
    )
    parser.add_argument(
        "--keep-days",
        type=argument(real(0)),
        default=0.0,
        metavar="N",
        help="prune: leave what N days saw used",
    )


def cache_command(args: argparse.Namespace) -> int:
    """Do it; the exit status is 1 where an entry is damaged."""
    if args.cache is not None and not args.cache.is_dir():
        message = f"--cache {args.cache}: there is no such folder"
        raise UsageError(message)
    args.cache = args.cache or Path(".kernelbench")
    if args.action == "check":
        return _check(args)
    if args.action == "prune":
        gone = prune_cache(
            args.cache, limit_bytes=round(args.keep_gb * 1e9), unused_days=args.keep_days
        )
        print(
            f"{gone.entries} builds, {gone.toolchains} toolchains and {gone.work_folders} "
            f"work folders removed, and {gone.sources} sources of archives: "
            f"{gone.freed_bytes / 1e6:,.1f} MB freed"
        )
        return 0
    rows = list_cache(args.cache)
    print(_ROW.format("key", "outcome", "MB", "build s", "used", "solution"))
    for row in rows:
        age_h = (time.time() - row.used_at) / 3600
        print(
            _ROW.format(
                row.key[:12],
                row.outcome,
                f"{row.size_bytes / 1e6:,.1f}",
                f"{row.build_s:.1f}",
                f"{age_h:,.1f} h",
                row.solution,
            )
        )
    print(f"{len(rows)} builds, {sum(row.size_bytes for row in rows) / 1e6:,.1f} MB")
    return 0


def _check(args: argparse.Namespace) -> int:
    problems = check_cache(args.cache, mend=args.mend)
    for problem in problems:
        print(problem + (": removed" if args.mend else ""))
    print(f"{len(problems)} damaged builds" if problems else "every build is as it was made")
    return 1 if problems and not args.mend else 0
