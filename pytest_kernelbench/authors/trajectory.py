"""The turns of one refinement, kept so that it can go on, be played again and be counted."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from pytest_kernelbench.authors.conversation import Message, Reply, Sampling
from pytest_kernelbench.authors.files import append_line, cut_short_line_removed, read_lines
from pytest_kernelbench.authors.prompt import PromptOptions
from pytest_kernelbench.errors import AuthorError, UsageError
from pytest_kernelbench.verdict import UNJUDGED, Status, Verdict

if TYPE_CHECKING:
    from pathlib import Path

_T = TypeVar("_T")
_HEAD_AND_A_TURN = 2
POLICIES = ("best", "last")
UNTIL = ("never", "right", "fast")


@dataclass(frozen=True)
class Plan:
    """How a refinement goes. Plain values: it heads each trajectory."""

    sampling: Sampling
    options: PromptOptions
    turns: int = 10
    """Answers in all."""
    feedback: tuple[str, ...] = ("execution",)
    choose: str = "best"
    """Which turn is the solution: the ``best`` of all, or the ``last``."""
    until: str = "never"
    """Ends early once a turn is ``right``, or shown to be ``fast``."""
    history: str = "last"
    """What the model sees of itself: its ``last`` solution, or ``all``."""

    def __post_init__(self) -> None:
        known = {"choose": POLICIES, "until": UNTIL, "history": ("last", "all")}
        for name, words in known.items():
            if getattr(self, name) not in words:
                message = f"{name} is {getattr(self, name)!r}, but can be {', '.join(words)}"
                raise UsageError(message)
        if self.turns < 1:
            message = f"{self.turns} turns: at least one is needed"
            raise UsageError(message)


@dataclass(frozen=True)
class Head:
    """The first line of a trajectory's file."""

    problem: str
    sample: int
    plan: Plan
    schema: int = 1


@dataclass(frozen=True)
class Turn:
    """One answer, its verdict, and what was said of it."""

    number: int
    """From 1; 0 is a solution that was there before."""
    asked: str
    """Digest of the messages the model was sent."""
    reply: Reply
    code: str
    """The solution, without a header; empty where the answer holds none."""
    solution: str
    """Its file, relative to the entrant's folder."""
    verdict: dict[str, Any]
    """``Verdict.to_builtins()``."""
    feedback: str
    time: str = ""

    @property
    def judged(self) -> Verdict:
        """The verdict."""
        return Verdict.from_builtins(self.verdict)


class Trajectory:
    """One file: a head, then a line for each turn. ``UsageError`` if it was begun otherwise."""

    def __init__(self, path: Path, head: Head) -> None:
        self.path = path
        self.head = head
        cut_short_line_removed(path, Head, Turn)
        if len(read_lines(path, dict)) < _HEAD_AND_A_TURN:  # nothing came of it so far
            path.unlink(missing_ok=True)
            append_line(path, head)
        self.turns = turns_of(path)
        before = head_of(path)
        # More turns than before is to go on; anything else is another experiment.
        if replace(before, plan=replace(before.plan, turns=head.plan.turns)) != head:
            message = f"{path} was begun in another way: give another --to, or ask as before"
            raise UsageError(message)

    def append(self, turn: Turn) -> None:
        """Keep one more turn."""
        append_line(self.path, turn)
        self.turns.append(turn)


def head_of(path: Path) -> Head:
    """The first line of a trajectory's file; raises ``UsageError`` if it is none."""
    if not path.is_file():
        message = f"there is no file {path} with a trajectory"
        raise UsageError(message)
    first = read_lines(path, dict)[:1]
    if not first:
        message = f"{path} holds no trajectory"
        raise UsageError(message)
    return _converted(path, first[0], Head)


def turns_of(path: Path) -> list[Turn]:
    """The other lines."""
    return [_converted(path, line, Turn) for line in read_lines(path, dict)[1:]]


def _converted(path: Path, line: dict[str, Any], kind: type[_T]) -> _T:
    try:
        return msgspec.convert(line, kind)
    except msgspec.ValidationError as error:
        message = f"{path} is no trajectory: {error}"
        raise UsageError(message) from error


def chosen(turns: list[Turn], policy: str) -> Turn | None:
    """The turn that is the solution: the last, or the best (the earliest of equals)."""
    if not turns:
        return None
    return turns[-1] if policy == "last" else max(turns, key=lambda turn: rank(turn.judged))


_STAGES = (
    (UNJUDGED, 0),
    (frozenset({Status.NOT_BUILT}), 1),
    (frozenset({Status.CRASHED, Status.RAISED, Status.TIMED_OUT, Status.OUT_OF_MEMORY}), 2),
    (frozenset({Status.NOT_A_KERNEL}), 4),
    (frozenset({Status.RIGHT, Status.FAST}), 5),
)


def rank(verdict: Verdict) -> tuple[int, float]:
    """How far a solution came, then its shown speedup."""
    stage = next((number for statuses, number in _STAGES if verdict.status in statuses), 3)
    measured = verdict.measurement
    return stage, measured.low if measured is not None and verdict.status.right else 0.0


def asked_digest(messages: tuple[Message, ...]) -> str:
    """What tells one conversation from another."""
    digest = hashlib.sha256()
    for message in messages:
        for part in (message.role, message.text):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()[:16]


class Replay:
    """An ``Author`` that gives the answers of a trajectory again, in order."""

    def __init__(self, turns: list[Turn]) -> None:
        self._turns = [turn for turn in turns if turn.number > 0]
        self._next = 0
        self.strayed: list[int] = []
        """Turns whose question is not what it was: the judge or a template has changed since."""

    async def reply(self, messages: tuple[Message, ...], sampling: Sampling) -> Reply:  # noqa: ARG002
        """The next recorded answer; raises ``AuthorError`` after the last."""
        if self._next >= len(self._turns):
            message = f"the trajectory has no turn {self._next + 1}"
            raise AuthorError(message)
        turn = self._turns[self._next]
        self._next += 1
        if asked_digest(messages) != turn.asked:
            self.strayed.append(turn.number)
        return turn.reply
