"""Verdicts kept in a JSON Lines file, so that no solution is judged twice."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_kernelbench import __version__
from pytest_kernelbench.authors.files import append_line, cut_short_line_removed, read_lines
from pytest_kernelbench.authors.progress import Unseen
from pytest_kernelbench.catalog.fingerprint import hashes
from pytest_kernelbench.provenance import telling, tools, torch_version
from pytest_kernelbench.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pytest_kernelbench.library import Judge
    from pytest_kernelbench.question import Question


@dataclass(frozen=True)
class _Kept:
    key: str
    verdict: dict[str, Any]


class VerdictStore:
    """One file. What changed is judged again, and what the machine could not judge."""

    def __init__(self, path: Path) -> None:
        self.path = path
        cut_short_line_removed(path, _Kept)
        self._known = {
            kept.key: Verdict.from_builtins(kept.verdict) for kept in read_lines(path, _Kept)
        }

    async def verdicts(
        self,
        questions: Iterable[Question],
        judge: Judge,
        watch: Callable[[int], Unseen] = lambda _: Unseen(),
    ) -> list[Verdict]:
        """A verdict on each, in order; what is not known is judged, and kept as it comes.

        ``watch`` gets how many are to be judged.
        """
        wanted = [(question, _key(question, judge)) for question in questions]
        new = [
            question
            for question, key in wanted
            if key not in self._known or self._known[key].status.asked_again
        ]
        keys = {id(question): key for question, key in wanted}
        progress = watch(len(new))
        async for question, verdict in judge.judge_many(new):
            progress.step(verdict.status.value)
            key = keys[id(question)]
            self._known[key] = verdict
            append_line(self.path, _Kept(key, verdict.to_builtins()))
        progress.end()
        return [self._known[key] for _, key in wanted]


def _key(question: Question, judge: Judge) -> str:
    """Of what a record's provenance holds, and where it is judged; time and machine aside."""
    pair = judge.pair(question)
    settings = judge.settings
    made_from = (
        (pair.solution.entrant, pair.solution.sample, pair.problem.id),
        (*hashes(pair), settings.device, telling(settings)),
        (torch_version(), tools(), __version__),
    )
    return hashlib.sha256(msgspec.json.encode(made_from)).hexdigest()[:32]
