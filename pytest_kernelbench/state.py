"""What the plugin's modules share of one session, kept in pytest's stash."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.catalog.problems import TABLE_SUFFIXES

if TYPE_CHECKING:
    from pytest_kernelbench.catalog.pair import Pair
    from pytest_kernelbench.catalog.solutions import Matchmaker
    from pytest_kernelbench.catalog.stored_times import StoredTimes
    from pytest_kernelbench.engine.protocol import Engine
    from pytest_kernelbench.guard import Guard
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Verdict


@dataclass
class State:
    """One session's; ``config.stash[STATE]``."""

    root: Path
    """Node ids are relative to it."""
    settings: Settings
    matchmaker: Matchmaker
    guard: Guard
    overruled: tuple[str, ...] = ()
    """What of the ini file is not asked, since something typed excludes it."""
    claimed: dict[tuple[str, int, int, int], str] = field(default_factory=dict)
    """The file of each (entrant, level, number, sample), so that none is judged twice."""
    engine: Engine | None = None
    """Once the first pair has asked for one; never in xdist's controller."""
    refusal: str = ""
    """Why there is none, if there can be none: it holds for every pair."""
    told: dict[Path, Path] = field(default_factory=dict)
    """By folder, the file at which something was said that holds for all of the folder."""
    _named: frozenset[Path] | None = None
    _archives: dict[Path, dict[str, Pair]] = field(default_factory=dict)

    @cached_property
    def stored_times(self) -> StoredTimes | None:
        """The baselines that were measured before, if they were given."""
        path = self.settings.baseline_times
        if path is None:
            return None
        from pytest_kernelbench.catalog import stored_times

        return stored_times.read(path)

    def named(self, config: pytest.Config) -> frozenset[Path]:
        """The files and folders among the arguments.

        ``Session.isinitpath`` does not know those that lie in another argument's folder.
        """
        if self._named is None:
            start = config.invocation_params.dir
            places = (start / arg.partition("::")[0] for arg in config.args)
            # As pytest has them: without "..", links as they are.
            self._named = frozenset(Path(os.path.normpath(place)) for place in places)
        return self._named

    def must_fail(self, nodeid: str) -> bool:
        """Whether a pair's solution is one of those of which ``--kb-expect-failure`` speaks."""
        parts = nodeid.partition("::")[0].split("/")
        patterns = self.settings.expected_to_fail
        return any(fnmatchcase(part, pattern) for part in parts for pattern in patterns)

    def runs_solutions(self, config: pytest.Config) -> bool:
        """Whether the arguments name solutions: nothing changes in a run that has none."""
        paths = self.named(config)
        archives = any(path.suffix in TABLE_SUFFIXES for path in paths)
        return archives or self.guard.any_solutions(paths)

    def pair_of(self, nodeid: str) -> Pair | None:
        """The pair that a node id names: all of it lies in the file, so any process can tell."""
        file, *row, test = nodeid.split("::")
        if not test.startswith("test_kernel["):
            return None
        path = self.root / file
        if row:
            return self._archive(path).get(row[0])
        claim = self.matchmaker.claim(path, named=True)
        pair = self.matchmaker.pair(path, claim) if claim is not None else ""
        return None if isinstance(pair, str) else pair

    def _archive(self, path: Path) -> dict[str, Pair]:
        """The pairs of an archive by the names of its rows."""
        if path not in self._archives:
            from pytest_kernelbench.catalog.sources import archive

            self._archives[path] = archive.pairs(path, self.matchmaker)
        return self._archives[path]


STATE = pytest.StashKey[State]()
CHANGED = pytest.StashKey[frozenset[Path]]()
"""The files that ``--kb-changed`` speaks of, where it is given."""
PAIR: pytest.StashKey[Pair] = pytest.StashKey()
"""On each item that judges a pair."""
VERDICT: pytest.StashKey[Verdict] = pytest.StashKey()
"""On the same, once judged."""
KNOWN: pytest.StashKey[Verdict] = pytest.StashKey()
"""On an item that need not be judged again: its verdict of an earlier session."""
HASHES: pytest.StashKey[tuple[str, str]] = pytest.StashKey()
"""On an item that is being judged: the hashes of its files before it was."""
