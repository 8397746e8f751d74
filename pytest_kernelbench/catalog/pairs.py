"""``kb pairs``: which file answers which problem, how that was told, and what comes near."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.naming import letters
from pytest_kernelbench.catalog.pair import Pair
from pytest_kernelbench.catalog.problems import TABLE_SUFFIXES, ProblemCatalog
from pytest_kernelbench.catalog.solutions import Matchmaker, natural, own_adapters
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.reading import argument, whole
from pytest_kernelbench.texts import one_line, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_kernelbench.catalog.claim import Claim

_HEADINGS = ("file", "format", "problem", "why")
NONE = "-"
_LEFT_OUT = frozenset({"node_modules", "venv", "__pycache__"})


@dataclass(frozen=True)
class Line:
    """One row of the table."""

    file: str
    format: str
    problem: str
    """Its id, or ``-``."""
    why: str
    well: bool = True
    """It is paired, or there is a good reason why it is not."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``kb pairs``."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files and folders")
    parser.add_argument(
        "--kb-problems",
        "--problems",
        dest="problem_roots",
        action="append",
        type=Path,
        metavar="PATH",
        help="folder or table of problems; may be repeated (default: problems)",
    )
    parser.add_argument(
        "--kb-problem",
        "--problem",
        dest="problem_files",
        action="append",
        type=Path,
        default=[],
        metavar="FILE",
        help="the file of one problem that lies elsewhere",
    )
    parser.add_argument(
        "--kb-level",
        "--level",
        dest="level",
        type=argument(whole(1)),
        metavar="N",
        help="the level of what does not say it",
    )
    parser.add_argument(
        "--kb-cache",
        "--cache",
        dest="cache",
        type=Path,
        default=Path(".kernelbench"),
        metavar="DIR",
        help="where tables of problems are unpacked (default: %(default)s)",
    )


def pairs_command(args: argparse.Namespace) -> int:
    """Print the table; 1 if anything is left without a problem, or a path holds no solution.

    Raises ``UsageError``.
    """
    roots = [path.absolute() for path in args.problem_roots or [Path("problems")]]
    cache = args.cache.absolute()
    files = [path.absolute() for path in args.problem_files]
    catalog = ProblemCatalog(roots, files, cache, option="--problems")
    for root in roots if args.problem_roots else ():
        if lack := catalog.lack(root):
            message = f"--problems {root}: {lack}"
            raise UsageError(message)
    matchmaker = Matchmaker(catalog, own_adapters(("solutions",)), cache, args.level)
    # A folder and one in it may both be named.
    by_path = {path: list(pair_lines(path.absolute(), matchmaker)) for path in args.paths}
    lines = list(dict.fromkeys(line for found in by_path.values() for line in found))
    nothing = [path for path, found in by_path.items() if not found]
    sys.stdout.writelines(f"{text}\n" for text in (*table(lines), *catalog.complaints))
    sys.stdout.writelines(f"{path}: nothing there is known as a solution\n" for path in nothing)
    paired = sum(line.problem != NONE for line in lines)
    sys.stdout.write(f"{len(lines)} found, {paired} paired; searched {catalog.describe()}\n")
    return 1 if nothing or not all(line.well for line in lines) else 0


def pair_lines(path: Path, matchmaker: Matchmaker) -> Iterator[Line]:
    """A line for each solution in a file or below a folder that somebody named."""
    if not path.exists():
        message = f"{path}: there is no such file or folder"
        raise UsageError(message)
    if path.is_file():
        yield from _of_file(path, matchmaker, named=True)
        return
    for file in _files(path):
        yield from _of_file(file, matchmaker, named=file.parent == path)


def _of_file(path: Path, matchmaker: Matchmaker, *, named: bool) -> Iterator[Line]:
    if path.suffix in TABLE_SUFFIXES and named and matchmaker.claim(path) is None:
        yield from _of_archive(path, matchmaker)
        return
    claim = matchmaker.claim(path, named=named)
    if claim is not None:
        yield _line(path, matchmaker.understood(path, claim), matchmaker)


def _of_archive(path: Path, matchmaker: Matchmaker) -> Iterator[Line]:
    from pytest_kernelbench.catalog.sources import archive

    for row in archive.read(path):
        if row.claim is None:
            yield Line(f"{_shown(path)}:{row.number}", "archive", NONE, "no solution: unanswered")
        else:
            yield _line(path, row.claim, matchmaker)


def _line(path: Path, claim: Claim, matchmaker: Matchmaker) -> Line:
    pair = matchmaker.pair(path, claim)
    shown = _shown(path)
    if claim.origin:
        shown += ":" + claim.origin.rpartition(":")[2]
    form = claim.format or "tree of entrants"
    if isinstance(pair, Pair):
        only = claim.level is None and pair.problem is matchmaker.catalog.only
        return Line(shown, form, pair.problem.id, _why(claim, pair, only=only))
    return Line(shown, form, NONE, pair, well=claim.skipped)


def _why(claim: Claim, pair: Pair, *, only: bool) -> str:
    if only and letters(claim.name) != letters(pair.problem.name):
        how = "the only problem that was named"
    elif claim.number is not None:
        how = "by number" if claim.level is not None else "by number, level as given"
    else:
        how = f"by the name {claim.name!r}"
    solution = pair.solution
    who = f"{solution.entrant}, sample {solution.sample}"
    return "; ".join((how, who, *solution.notes))


def table(lines: Sequence[Line]) -> Iterator[str]:
    """The lines in columns; what stands in several lines under ``why`` is indented there."""
    cells = [
        (one_line(line.file), line.format, line.problem, printable(line.why)) for line in lines
    ]
    widths = [
        max(len(row[column]) for row in [_HEADINGS, *cells]) for column in range(len(_HEADINGS) - 1)
    ]
    for row in [_HEADINGS, *cells]:
        first, *more = row[-1].split("\n")
        left = "  ".join(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True))
        yield f"{left}  {first}".rstrip()
        yield from (" " * (len(left) + 2) + text for text in more)


def _files(folder: Path) -> Iterable[Path]:
    """All files below a folder as pytest would meet them, sample 10 after sample 9."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted((f for f in folders if f[0] != "." and f not in _LEFT_OUT), key=natural)
        yield from (Path(parent, name) for name in sorted(names, key=natural))


def _shown(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
