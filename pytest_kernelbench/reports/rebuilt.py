"""An outcome put together from records, as the sessions that wrote them had it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.family import family_of
from pytest_kernelbench.reports.summary import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_kernelbench.reports.records import Record
    from pytest_kernelbench.score import Key
    from pytest_kernelbench.settings import Settings


def chosen(records: Iterable[Record], settings: Settings) -> list[Record]:
    """Those on the levels and of the entrants that were asked for."""
    return [
        record
        for record in records
        if (not settings.levels or record.verdict.level in settings.levels)
        and (not settings.entrants or record.verdict.entrant in settings.entrants)
    ]


def outcome(records: Sequence[Record], settings: Settings, *, verbose: bool = False) -> Outcome:
    """What the records come to; other entrants' records tell which problems were asked too."""
    asked: dict[int, dict[Key, str]] = {}

    def asked_of(level: int) -> dict[Key, str]:
        if level not in asked:
            asked[level] = _asked([each for each in records if each.verdict.level == level], level)
        return asked[level]

    kept = chosen(records, settings)
    selftests = {each.verdict.device_uuid: each.selftest for each in kept if each.selftest}
    verdicts = [each.verdict for each in kept if each.scored]
    meant = [each.verdict for each in kept if not each.scored]
    return Outcome(verdicts, asked_of, settings, selftests, verbose, meant)


def _asked(here: Sequence[Record], level: int) -> dict[Key, str]:
    """The problems of a level: those with a record, and as many nameless ones as have none."""
    problems = {
        (level, each.verdict.number): family_of(level, each.verdict.problem) for each in here
    }
    wanted: Counter[str] = Counter()
    for families in {tuple(each.families.items()) for each in here}:
        for family, count in families:
            wanted[family] = max(wanted[family], count)
    wanted.subtract(Counter(problems.values()))
    missing = [family for family, count in sorted(wanted.items()) for _ in range(count)]
    # Records from before families were written down know only how many there are.
    unnamed = max((each.asked for each in here), default=0) - len(problems) - len(missing)
    missing += [""] * max(0, unnamed)
    return problems | {(level, -number): family for number, family in enumerate(missing, start=1)}
