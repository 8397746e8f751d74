"""The summary's lines: the same from a session that has just ended and from its records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_kernelbench.gates import gates, pairs_gate
from pytest_kernelbench.reports import terminal
from pytest_kernelbench.reports.controls import control_line
from pytest_kernelbench.reports.records import latest
from pytest_kernelbench.slowdowns import by_name, slowdown_gates
from pytest_kernelbench.tally import by_family, leaders, rows, thresholds
from pytest_kernelbench.untimed import untimed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_kernelbench.gates import Gate
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.tally import Asked
    from pytest_kernelbench.verdict import Verdict

NO_SELFTEST = "no selftest here yet: kb selftest"
_SLOWEST = 3
_MOST_REASONS, _MOST_NAMED = 4, 10
_SLOW_BUILD_S = 1.0


@dataclass(frozen=True)
class Outcome:
    """What a session came to, or several whose records were put together."""

    verdicts: Sequence[Verdict]
    """Those that are scored."""
    asked: Asked
    settings: Settings
    selftests: Mapping[str, str] = field(default_factory=dict)
    """By a device's UUID, what the last selftest there said."""
    verbose: bool = False
    """With the families of operators, and the names of what has no speedup."""
    meant_to_fail: Sequence[Verdict] = ()
    """``--kb-expect-failure``: nobody's entries."""

    @property
    def baseline(self) -> str:
        """The one that decides."""
        measured = (verdict.measurement for verdict in self.verdicts)
        return next((m.baseline for m in measured if m is not None), self.settings.baselines[0])


def summary(outcome: Outcome) -> Iterator[str]:
    """Tables, what they leave out, where they come from, and what took long to build."""
    shown = outcome.verdicts, outcome.asked, outcome.settings
    columns = thresholds(outcome.settings)
    made = rows(*shown)
    if meant := outcome.meant_to_fail:
        right = sum(verdict.status.right for verdict in meant)
        yield f"meant to fail: {len(meant)}, of which {right} were right; none of them is scored"
    yield from terminal.table(made, columns)
    if len({row.entrant for row in made}) > 1:
        yield from terminal.leaderboard(leaders(*shown), columns)
    if outcome.verbose:
        yield from terminal.families(by_family(*shown), columns)
    yield from terminal.legend(outcome.baseline)
    yield from without_speedup(outcome)
    yield from circumstances(outcome)
    yield from _slowest_builds(outcome.verdicts)


def all_gates(outcome: Outcome) -> list[Gate]:
    """Every gate that was asked for, passed or not."""
    settings = outcome.settings
    found: list[Gate] = [*gates(rows(outcome.verdicts, outcome.asked, settings), settings)]
    found += pairs_gate(outcome.verdicts, settings)
    if settings.compare is not None:
        before = by_name(each.verdict for each in latest([settings.compare]).values())
        name = settings.compare.name
        found += slowdown_gates(outcome.verdicts, before, name, settings.max_slowdown)
    return found


def circumstances(outcome: Outcome) -> Iterator[str]:
    """Where it was judged, how steady that place was, and how far its walls reach."""
    judged = [verdict for verdict in outcome.verdicts if verdict.device]
    places: dict[tuple[str, str, str], list[str]] = {}
    for v in judged:
        places.setdefault((v.device, v.size, v.dtype), []).append(v.device_uuid)
    for (device, size, dtype), uuids in places.items():
        yield f"judged on {device}, {size} sizes, {dtype}"
        # A place may be several GPUs of one kind, and a selftest is of one of them.
        said = (outcome.selftests.get(uuid) for uuid in uuids)
        yield from terminal.sentence(next(filter(None, said), NO_SELFTEST))
    for verdict in judged:
        if (control := verdict.control) is not None:
            yield from terminal.sentence(control_line(control))
    if up := walls(judged):
        yield from terminal.sentence("walls: " + "; ".join(up))
    if missing := sorted({wall for verdict in judged for wall in verdict.missing_walls}):
        yield from terminal.sentence("reduced isolation: no " + "; no ".join(missing))


def walls(verdicts: Iterable[Verdict]) -> list[str]:
    """Those that were up around every contender; whoever never had one has no walls either."""
    every = [verdict.walls for verdict in verdicts if verdict.walls]
    return [wall for wall in every[0] if all(wall in up for up in every)] if every else []


def without_speedup(outcome: Outcome) -> Iterator[str]:
    """Why what is right has none, a reason each; nothing where no time was asked for."""
    settings = outcome.settings
    if settings.correctness_only:
        return
    reasons = untimed(outcome.verdicts, strict=settings.strict)
    if reasons:
        yield "right, no speedup:"
    for each in reasons[:_MOST_REASONS]:
        yield from terminal.sentence(f"{len(each.verdicts)}: {each.reason}")
        if outcome.verbose:
            titles = [verdict.title for verdict in each.verdicts]
            yield from terminal.named(titles, _MOST_NAMED)
    if others := sum(len(each.verdicts) for each in reasons[_MOST_REASONS:]):
        yield from terminal.sentence(f"{others}: for other reasons")


def _slowest_builds(verdicts: Sequence[Verdict]) -> Iterator[str]:
    built = [v for v in verdicts if not v.build_cached and v.build_s >= _SLOW_BUILD_S]
    if not built:
        return
    slowest = sorted(built, key=lambda verdict: -verdict.build_s)[:_SLOWEST]
    told = [f"{v.build_s:.1f} s {v.title}" for v in slowest]
    yield from terminal.wrapped([f"slowest of {len(built)} builds: {told[0]}", *told[1:]], "", "  ")
