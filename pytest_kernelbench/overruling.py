"""What is typed goes before what stands in the ini file, where the two exclude each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_kernelbench import options
from pytest_kernelbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pytest

EXCLUDING = (
    ("build_only", "thresholds", "a build is not timed"),
    ("build_only", "fail_under_levels", "a build is not timed"),
    ("build_only", "correctness_only", "one judges nothing, the other judges"),
    ("build_only", "at_k", "a build has no score"),
    ("correctness_only", "thresholds", "without times nothing is shown to be faster"),
    ("correctness_only", "fail_under_levels", "without times fast_p is 0"),
    ("correctness_only", "baseline_times", "there is no time to compare with them"),
    ("build_only", "baseline_times", "a build is not timed"),
    ("correctness_only", "budget_s", "there is no timing to spend it on"),
    ("build_only", "compare", "a build is not timed"),
    ("build_only", "html", "a page of nothing judged would be empty"),
    ("correctness_only", "compare", "there is no time to compare"),
    ("changed_since", "fail_under_levels", "fast_p is a share of all problems that were asked"),
)
"""Pairs of fields that cannot both be given, and why."""

_BY_FIELD = {option.field: option for option in options.OPTIONS}


@dataclass
class Origins:
    """Where each field's value comes from, and what of the ini file had to give way to whom."""

    typed: frozenset[str]
    """Fields of the command line; what else was given stands in the ini file."""
    ini: str
    """Its name."""
    overruled: dict[str, list[str]] = field(default_factory=dict)
    """By the option that was typed: the ini file's values, as they are called there."""

    @classmethod
    def of(cls, config: pytest.Config) -> Origins:
        """Of one session."""
        typed = (o.field for o in options.OPTIONS if getattr(config.option, o.ini) is not None)
        return cls(frozenset(typed), config.inipath.name if config.inipath else "the ini file")

    def name(self, what: str, value: object = "") -> str:
        """``--kb-level 9``, or ``kb_level 9 in pytest.toml``: as whoever gave it has it."""
        option = _BY_FIELD[what]
        if what in self.typed:
            return f"{option.flag} {value}".rstrip()
        return f"{option.ini} {value}".rstrip() + f" in {self.ini}"

    def overrules(self, one: str, other: str) -> bool:
        """Whether ``one`` is typed, and ``other`` is not."""
        return one in self.typed and other not in self.typed

    def give_way(self, loser: str, winner: str, value: str = "") -> None:
        """Note that the ini file's ``loser``, or only ``value`` of it, is not asked."""
        said = f"{_BY_FIELD[loser].ini} {value}".rstrip()
        self.overruled.setdefault(_BY_FIELD[winner].flag, []).append(said)

    def told(self) -> Iterator[str]:
        """``--kb-correctness-only: kb_p and kb_budget in pytest.toml are not asked``."""
        for flag, names in self.overruled.items():
            *others, last = dict.fromkeys(names)
            listed = f"{', '.join(others)} and {last}" if others else last
            yield f"{flag}: {listed} in {self.ini} {'are' if others else 'is'} not asked"


def settled(given: Mapping[str, Any], origins: Origins) -> dict[str, Any]:
    """What was given, less what gives way. Raises ``UsageError`` where nothing tells which does."""
    left = dict(given)
    for one, other, _ in EXCLUDING:
        for winner, loser in ((one, other), (other, one)):
            both = left.get(winner) and left.get(loser)
            if both and origins.overrules(winner, loser):
                origins.give_way(loser, winner)
                del left[loser]
                if loser == "fail_under_levels":
                    without_shares(left, origins, winner)
    for one, other, why in EXCLUDING:
        if left.get(one) and left.get(other):
            message = f"{origins.name(one)} and {origins.name(other)} exclude each other: {why}"
            raise UsageError(message)
    return left


def without_shares(given: dict[str, Any], origins: Origins, winner: str) -> None:
    """The ini file's gates of fast_p gave way: its p was theirs, and asks nothing of each pair."""
    if given.get("thresholds") and "thresholds" not in origins.typed:
        origins.give_way("thresholds", winner)
        del given["thresholds"]
