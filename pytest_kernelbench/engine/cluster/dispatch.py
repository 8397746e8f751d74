"""Who gets the next task: pairs on their way through a cluster, each to exactly one verdict."""

from __future__ import annotations

import threading
import time
from collections import deque
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from pytest_kernelbench.build.builder import Progress
from pytest_kernelbench.endings import built_only, ended_by
from pytest_kernelbench.engine.cluster.messages import Built, Judged, decode
from pytest_kernelbench.errors import MachineError
from pytest_kernelbench.verdict import Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_kernelbench.catalog.pair import Pair

Handle = Any
"""A reference of Ray's: it is waited for and passed on, and nothing else is known of it."""
_TRIES = 3
"""Of a pair whose node or process is lost: nodes that may be taken back are lost now and then."""
_LOOK_EVERY_S = 0.1
_LEAST_UNDER_WAY = 16
_UNDER_WAY_A_SLOT = 4
_COUNT_EVERY_S = 5.0
_NO_NODE_PATIENCE_S = 300.0


class LostError(Exception):
    """A task ended without an answer: its node, its process or what it was given is gone."""


class Tasks(Protocol):
    """What is needed of a cluster."""

    def build(self, order: bytes) -> tuple[Handle, Handle]:
        """Start a build: a handle on ``Built``, and one on the extension, to be passed on."""
        ...  # pragma: no cover

    def judge(self, order: bytes, built: bytes, parcel: Handle, avoid: str) -> Handle:
        """Start a judgement: a handle on ``Judged``; rather not on the node ``avoid``."""
        ...  # pragma: no cover

    def done(self, handles: Sequence[Handle], timeout_s: float) -> Sequence[Handle]:
        """Those with an answer, as soon as there is one."""
        ...  # pragma: no cover

    def answer(self, handle: Handle) -> bytes:
        """What it answered; raises ``LostError`` if it never will."""
        ...  # pragma: no cover

    def cancel(self, handle: Handle) -> None:
        """Drop it, or kill it if it runs."""
        ...  # pragma: no cover

    def slots(self) -> tuple[int, int]:
        """How many tasks could run at once, and on how many nodes pairs can be judged."""
        ...  # pragma: no cover


@dataclass(eq=False)
class _Trip:
    """One pair on its way."""

    pair: Pair
    verdict: Future[Verdict] = field(default_factory=Future)
    order: bytes = b""
    built: bytes = b""
    judging: bool = False
    losses: list[str] = field(default_factory=list)
    avoid: str = ""


class Dispatcher:
    """Keeps a bounded number of pairs under way, in the order they were asked for."""

    def __init__(
        self,
        tasks: Tasks,
        order: Callable[[Pair], bytes],
        keep_log: Callable[[Verdict, bytes], Verdict],
        *,
        build_only: bool = False,
    ) -> None:
        self._tasks = tasks
        self._order = order
        self._keep_log = keep_log
        self._build_only = build_only
        self._changed = threading.Condition()
        self._waiting: deque[_Trip] = deque()
        self._under_way: dict[Handle, _Trip] = {}
        self._parcels: dict[Handle, Handle] = {}
        self._closed = False
        self._built = self._failed = self._building = 0
        self._slots, self._nodes = tasks.slots()
        self._counted_s = self._able_s = time.monotonic()
        self._thread = threading.Thread(target=self._work, name="kb-dispatch", daemon=True)
        self._thread.start()

    def submit(self, pair: Pair) -> Future[Verdict]:
        """Its verdict, to come; cancelling it works until its build is given to a node."""
        trip = _Trip(pair)
        with self._changed:
            if self._closed:
                trip.verdict.set_exception(_over())
                return trip.verdict
            self._waiting.append(trip)
            self._changed.notify()
        return trip.verdict

    @property
    def builds(self) -> Progress:
        """How far the builds are of what was submitted."""
        return Progress(self._built, self._failed, self._building, len(self._waiting))

    def close(self) -> None:
        """Drop what has not begun, kill what has."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()
        for trip in (*self._waiting, *self._under_way.values()):
            if not trip.verdict.cancel():
                with suppress(InvalidStateError):
                    trip.verdict.set_exception(_over())
        self._drop(self._under_way)

    def _work(self) -> None:
        while self._await_work():
            try:
                self._go_round()
            except Exception as error:  # noqa: BLE001 - nobody may wait for a cluster that is gone
                said = str(error).strip().partition("\n")[0]
                self._give_up(f"the Ray cluster cannot be asked: {type(error).__name__}: {said}")

    def _go_round(self) -> None:
        self._count()
        self._start_some()
        if not self._under_way:
            return
        for handle in self._tasks.done([*self._under_way], _LOOK_EVERY_S):
            trip = self._under_way.pop(handle)
            try:
                self._go_on(handle, trip)
            except Exception as error:  # noqa: BLE001 - a pair's end, not the session's
                self._end(trip, ended_by(error, trip.pair))

    def _await_work(self) -> bool:
        with self._changed:
            while not (self._closed or self._waiting or self._under_way):
                self._changed.wait()
            return not self._closed

    def _start_some(self) -> None:
        most = max(_LEAST_UNDER_WAY, _UNDER_WAY_A_SLOT * self._slots)
        while len(self._under_way) < most:
            with self._changed:
                if not self._waiting:
                    return
                trip = self._waiting.popleft()
            if not trip.verdict.set_running_or_notify_cancel():
                continue
            try:
                trip.order = self._order(trip.pair)
                self._build(trip)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a verdict
                self._end(trip, ended_by(error, trip.pair))

    def _build(self, trip: _Trip) -> None:
        handle, parcel = self._tasks.build(trip.order)
        trip.judging = False
        self._building += 1
        self._parcels[handle] = parcel
        self._under_way[handle] = trip

    def _go_on(self, handle: Handle, trip: _Trip) -> None:
        parcel = self._parcels.pop(handle, None)
        self._building -= not trip.judging
        try:
            answer = self._tasks.answer(handle)
        except LostError as error:
            self._again(trip, str(error))
            return
        if trip.judging:
            self._judged(trip, decode(answer, Judged))
            return
        built = decode(answer, Built)
        self._built += built.verdict is None
        self._failed += built.verdict is not None
        if built.verdict is not None:
            self._end(trip, self._keep_log(built.verdict, built.log))
        elif self._build_only:
            self._end(trip, built_only(trip.pair))
        else:
            trip.judging = True
            self._under_way[self._tasks.judge(trip.order, answer, parcel, trip.avoid)] = trip

    def _judged(self, trip: _Trip, judged: Judged) -> None:
        verdict = judged.verdict
        if verdict.status is Status.NOT_JUDGED and self._nodes > 1 and not trip.avoid:
            # Its machine failed twice; another one may fare better.
            trip.avoid = judged.node
            self._again(trip, "; ".join(verdict.reasons))
            return
        self._end(trip, self._keep_log(verdict, judged.log))

    def _again(self, trip: _Trip, loss: str) -> None:
        trip.losses.append(loss)
        if len(trip.losses) < _TRIES:
            self._build(trip)
            return
        losses = "; ".join(trip.losses)
        error = MachineError(
            f"{len(trip.losses)} nodes or processes that were to judge it were lost; "
            f"see `ray status` and the nodes' logs: {losses}"
        )
        trip.losses.clear()
        self._end(trip, ended_by(error, trip.pair))

    @staticmethod
    def _end(trip: _Trip, verdict: Verdict) -> None:
        if trip.losses:
            note = f"judged again elsewhere: {'; '.join(trip.losses)}"
            verdict = replace(verdict, notes=(*verdict.notes, note))
        # Whom it is about is known from what was asked, whatever the answer says.
        problem, solution = trip.pair.problem, trip.pair.solution
        named = replace(
            verdict,
            level=problem.level,
            number=problem.number,
            problem=problem.name,
            entrant=solution.entrant,
            solution=str(solution.path),
            sample=solution.sample,
        )
        trip.verdict.set_result(named)

    def _count(self) -> None:
        """Clusters grow, shrink and end."""
        now_s = time.monotonic()
        if now_s - self._counted_s < _COUNT_EVERY_S:
            return
        self._counted_s = now_s
        self._slots, self._nodes = self._tasks.slots()
        if self._nodes == 1:
            self._avoid_nobody()
        if self._nodes:
            self._able_s = now_s
        elif now_s - self._able_s > _NO_NODE_PATIENCE_S:
            patience = f"for {_NO_NODE_PATIENCE_S:.0f} s"
            self._give_up(f"{patience} no node of the Ray cluster could have judged this pair")

    def _avoid_nobody(self) -> None:
        """Who was to avoid the only node that is left would wait for ever."""
        for handle, trip in self._under_way.items():
            if trip.judging and trip.avoid:
                trip.avoid = ""
                self._tasks.cancel(handle)  # lost, and so judged again

    def _give_up(self, why: str) -> None:
        """End what is under way and what waits."""
        error = MachineError(f"{why}; see `ray status`")
        with self._changed:
            waiting = [*self._waiting]
            self._waiting.clear()
        under_way = dict(self._under_way)
        self._under_way.clear()
        self._parcels.clear()
        self._building = 0
        begun = [trip for trip in waiting if trip.verdict.set_running_or_notify_cancel()]
        for trip in (*under_way.values(), *begun):
            self._end(trip, ended_by(error, trip.pair))
        self._drop(under_way)

    def _drop(self, handles: Iterable[Handle]) -> None:
        for handle in handles:
            with suppress(Exception):  # a cluster that cannot be told has nothing left to do
                self._tasks.cancel(handle)


def _over() -> MachineError:
    return MachineError("the engine was closed before this pair was judged")
