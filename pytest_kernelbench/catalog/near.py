"""Near misses: what a solution that answers no problem may have meant."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.naming import letters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_kernelbench.catalog.claim import Claim
    from pytest_kernelbench.catalog.problems import ProblemCatalog

_MOST = 3


def near(claim: Claim, catalog: ProblemCatalog) -> str:
    """Some lines, each beginning with a line's end; empty if nothing comes near."""
    hints = [*_by_number(claim, catalog), *_by_name(claim, catalog)]
    hints += [f"a row was passed over: {text}" for text in catalog.complaints[:_MOST]]
    return "".join(f"\n  {hint}" for hint in hints)


def _by_number(claim: Claim, catalog: ProblemCatalog) -> Iterator[str]:
    if claim.number is None or not catalog.problems:
        return
    if claim.level is None:
        levels = [p.level for p in catalog.problems if p.number == claim.number]
        if levels:
            yield f"number {claim.number} is in {_words('level', levels)}: say which"
        return
    numbers = [p.number for p in catalog.problems if p.level == claim.level]
    if not numbers:
        yield f"there is no level {claim.level}: there are {_words('level', catalog.levels)}"
    elif claim.number not in numbers:
        yield f"level {claim.level} has no problem {claim.number}: it has {spans(numbers)}"


def _by_name(claim: Claim, catalog: ProblemCatalog) -> Iterator[str]:
    if not claim.name:
        return
    exact = catalog.called(claim.name)
    if exact:
        yield f"{claim.name!r} is {_ids(p.id for p in exact)}"
        return
    names = {letters(problem.name): problem for problem in catalog.problems}
    close = difflib.get_close_matches(letters(claim.name), names, _MOST)
    if close:
        yield f"no problem is called {claim.name!r}; nearest: {_ids(names[c].id for c in close)}"


def _ids(ids: Iterable[str]) -> str:
    listed = sorted(ids)
    more = f" and {len(listed) - _MOST} more" if len(listed) > _MOST else ""
    return ", ".join(listed[:_MOST]) + more


def _words(word: str, numbers: Iterable[int]) -> str:
    listed = sorted(set(numbers))
    return f"{word}{'s' if len(listed) > 1 else ''} {spans(listed)}"


def spans(numbers: Iterable[int]) -> str:
    """``1 to 5, 7, 9 to 12``."""
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in found) or "none"
