"""Collect a file with a solution a row: one item a row, named by its number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.catalog.claim import Claim
from pytest_kernelbench.catalog.sources import archive
from pytest_kernelbench.collectors import SolutionModule, StrayFile, solution_collector
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.state import STATE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_kernelbench.settings import Settings


class ArchiveFile(pytest.File):
    """An archive that somebody named; whatever is wrong with a row is that row's failure."""

    def collect(self) -> Iterator[SolutionModule | StrayFile]:
        """The rows, without those that were not asked for: archives have tens of thousands."""
        settings = self.config.stash[STATE].settings
        try:
            for row in archive.read(self.path):
                if row.claim is not None and _asked(row.claim, settings):
                    yield from self._row(archive.row_name(row.number), row.claim)
        except UsageError as error:
            claim = Claim(self.path.stem, origin=self.path.name, refusal=str(error))
            yield from self._row("file", claim)

    def _row(self, name: str, claim: Claim) -> Iterator[SolutionModule | StrayFile]:
        made = solution_collector(
            self, self.path, claim, name=name, nodeid=f"{self.nodeid}::{name}"
        )
        if made is not None:
            yield made


def _asked(claim: Claim, settings: Settings) -> bool:
    """Whether a row may be among those chosen; those that may are chosen among again as items."""
    level, number = claim.level, claim.number
    return (
        (level is None or not settings.levels or level in settings.levels)
        and (
            None in (level, number)
            or not settings.problems
            or f"{level}/{number}" in settings.problems
        )
        and (not settings.entrants or claim.entrant in settings.entrants)
    )
