"""``--kb-compare``: finds each solution's earlier source, so that the two are timed in turns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.catalog.fingerprint import solution_hash
from pytest_kernelbench.catalog.material import Material, materialise
from pytest_kernelbench.engine.devices import find_device
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.provenance import torch_version
from pytest_kernelbench.reports.records import latest
from pytest_kernelbench.slowdowns import Place, name_of, refuse
from pytest_kernelbench.state import KNOWN, PAIR, STATE

if TYPE_CHECKING:
    from pytest_kernelbench.catalog.pair import Pair, Solution
    from pytest_kernelbench.reports.records import Record
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.slowdowns import Name


class Comparison:
    """A plugin of every process. Raises ``UsageError`` where the file's times are of no use here.

    An engine elsewhere has devices that nobody knows yet: there each pair is looked at by itself.
    """

    def __init__(self, config: pytest.Config, path: Path) -> None:
        self._settings = config.stash[STATE].settings
        self._told: list[str] = []
        records = list(latest([path], self._told.append).values())
        here = [_place(self._settings)] if self._settings.engine == "local" else []
        refuse(path, here, [record.verdict for record in records])
        self._before: dict[Name, Record] = {name_of(each.verdict): each for each in records}

    def pytest_report_header(self) -> list[str]:
        """Say what of the file was passed over."""
        return [f"kernelbench: {line}" for line in self._told]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Give each pair whose solution changed what it was before."""
        for item in session.items:
            pair = item.stash.get(PAIR, None)
            if pair is not None and KNOWN not in item.stash:
                earlier = self._earlier(pair)
                item.stash[PAIR] = replace(pair, earlier=earlier)

    def _earlier(self, pair: Pair) -> Solution | None:
        problem, solution = pair.problem, pair.solution
        name = problem.level, problem.number, solution.entrant, solution.sample
        record = self._before.get(name)
        if record is None or not record.verdict.status.right or record.verdict.provenance is None:
            return None
        wanted = record.verdict.provenance.solution_sha256
        if not wanted or _hash(solution) == wanted:
            return None
        for path in self._places(record, solution.path):
            earlier = replace(solution, path=path)
            if _hash(earlier) == wanted:
                return earlier
        return None

    def _places(self, record: Record, now: Path) -> list[Path]:
        """Where the earlier source may be: where it was, or else as it stands in its record."""
        places = [Path(record.verdict.solution)]
        if record.source:
            material = Material(((now.name, record.source),))
            folder = self._settings.cache_dir.absolute() / "sources"
            places.append(materialise(material, folder, now.stem))
        return [place for place in places if place != now]


def _hash(solution: Solution) -> str:
    try:
        return solution_hash(solution)
    except OSError:
        return ""


def _place(settings: Settings) -> Place:
    """Where this session judges."""
    device = find_device(settings.device)
    size = settings.size
    if size == "auto":
        size = "full" if device.is_gpu else "smoke"
    return Place(device.name, torch_version(), settings.dtype, size)


def registered(config: pytest.Config, path: Path) -> None:
    """Have it take part in a session; raises ``pytest.UsageError``."""
    try:
        config.pluginmanager.register(Comparison(config, path), "kernelbench-comparison")
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
