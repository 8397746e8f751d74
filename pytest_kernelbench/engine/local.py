"""This machine: builds in parallel, judges on all of its devices, one pair at a time on each."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import CancelledError, Future, InvalidStateError, wait
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_kernelbench.build.builder import Builder, Progress
from pytest_kernelbench.endings import built_only, ended_by
from pytest_kernelbench.engine.board import Board, Task
from pytest_kernelbench.engine.devices import find_devices, lost, silent_gpus
from pytest_kernelbench.engine.needs import lacking
from pytest_kernelbench.engine.seat import Dismissed, Seat
from pytest_kernelbench.errors import MachineError, MissingNeedError
from pytest_kernelbench.sandbox.descriptors import hold_standard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_kernelbench.build.extension import Extension
    from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
    from pytest_kernelbench.judge.device import Device
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Verdict

_LOOK_EVERY_S = 0.05
_AHEAD_OF_DEVICE = 16
"""Pairs that may be judged before pytest comes to them: the cost of a killed session."""
_NOTICES_EVERY_S = 0.2
_SEATS_OF_GPU = 2


class LocalEngine:
    """Implements ``engine.protocol.Engine``; thread-safe.

    ``devices`` are those to judge on, by default all that ``--kb-device`` names; ``tell`` gets a
    sentence while a device is held by somebody else, in a thread that waits for a verdict.
    Raises ``UsageError`` if the device asked for is not there.
    """

    def __init__(
        self,
        settings: Settings,
        devices: Sequence[Device] | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        hold_standard()
        self.settings = settings
        self.devices = tuple(devices or find_devices(settings.device))
        self.device = self.devices[0]
        self.builder = Builder(settings, self.device.capability)
        self._tell = tell
        self._notices: queue.SimpleQueue[str] = queue.SimpleQueue()
        for words in () if devices else silent_gpus():
            self._notices.put(words)
        # What is timed on a CPU is alone on it: pytest must not report the last pair meanwhile.
        self._times_on_cpu = not self.device.is_gpu and not settings.correctness_only
        self._board = Board(0 if self._times_on_cpu else _AHEAD_OF_DEVICE * len(self.devices))
        self._at: dict[Seat, Problem] = {}
        # Two for a GPU: one gets its problem ready while the other's contender is not timed.
        each = _SEATS_OF_GPU if self.device.is_gpu else 1
        places = () if settings.build_only else self.devices * each
        self._seats = [
            Seat(settings, device, controls=number < len(self.devices))
            for number, device in enumerate(places)
        ]
        self._in_service = len(self._seats)
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._unfinished = 0
        if self._seats:
            self._open_another()

    def ahead(self, pairs: Iterable[Pair]) -> None:
        """Start on these pairs in the background, in order: build them, and judge what is built."""
        coming: list[tuple[Solution, Task | None]] = []
        for pair in pairs:
            if self._lacks(pair):
                continue
            task = None if self.settings.build_only else self._board.announce(pair)
            if task is not None:
                self._count(task)
            coming.append((pair.solution, task))
        builds = self.builder.ahead((solution.path, solution.entry) for solution, _ in coming)
        for (_, task), building in zip(coming, builds, strict=True):
            if task is not None:
                self._follow(task, building)

    def submit(self, pair: Pair) -> Future[Verdict]:
        """A future of the verdict, whatever happens; cancelling it works until it is judged."""
        verdict: Future[Verdict] = Future()
        try:
            self.build_needs(pair)
            task = self._ask(pair)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a verdict
            verdict.set_result(ended_by(error, pair))
            return verdict

        def settle(outcome: Future[Verdict]) -> None:
            if outcome.cancelled():
                verdict.cancel()
                verdict.set_running_or_notify_cancel()
                return
            with suppress(InvalidStateError):  # cancelled by whoever asked
                error = outcome.exception()
                verdict.set_result(
                    ended_by(error, pair) if isinstance(error, Exception) else outcome.result()
                )

        verdict.add_done_callback(lambda done: done.cancelled() and task.verdict.cancel())
        task.verdict.add_done_callback(settle)
        return verdict

    @property
    def builds(self) -> Progress:
        """How far the builds are."""
        return self.builder.progress

    def build(self, pair: Pair) -> Extension:
        """Compile the solution, or take it from the cache."""
        self.build_needs(pair)
        extension = self.builder.build(pair.solution.path, pair.solution.entry)
        if pair.earlier is None:
            return extension
        earlier = self.builder.submit(pair.earlier.path, pair.earlier.entry)
        wait((earlier,))
        return _beside(extension, earlier)

    def build_needs(self, pair: Pair) -> None:
        """Raise ``MissingNeedError`` where the devices here are not what the solution is for."""
        if need := self._lacks(pair):
            raise MissingNeedError(need, "CUDA device")

    def judge(self, pair: Pair, extension: Extension) -> Verdict:
        """Wait for the verdict; judged once more, by fresh processes, if the machine failed."""
        if self.settings.build_only:  # there is nobody who would judge it
            return built_only(pair)
        task = self._ask(pair, extension)
        try:
            while not task.verdict.done():
                wait((task.verdict,), _NOTICES_EVERY_S)
                self._pass_on_notices()
            self._pass_on_notices()
            return task.verdict.result()
        except CancelledError:
            message = "the engine was closed before this pair was judged"
            raise MachineError(message) from None

    def close(self) -> None:
        """Drop what has not begun, end what has, and every process with it."""
        with self._lock:
            self._over.set()
        self._board.close()
        self.builder.stop()
        _close_all(self._seats)
        for thread in self._threads:
            thread.join()
        self.builder.close()

    def _ask(self, pair: Pair, extension: Extension | None = None) -> Task:
        task, new = self._board.ask(pair)
        if new:
            self._count(task)
        if extension is not None and (new or task.extension is None):
            self._board.built(task, extension)
        elif new:
            self._start(task)
        return task

    def _start(self, task: Task) -> None:
        """Have the pair built."""
        solution = task.pair.solution
        self._follow(task, self.builder.submit(solution.path, solution.entry))

    def _follow(self, task: Task, building: Future[Extension]) -> None:
        """Once it is built it can be judged."""
        building.add_done_callback(lambda built: self._built(task, built))

    def _count(self, task: Task) -> None:
        """There is one pair more: as many seats are opened as there are pairs at a time."""
        with self._lock:
            self._unfinished += 1
            more = len(self._threads) < min(self._unfinished, len(self._seats))
        task.verdict.add_done_callback(self._finished)
        if more:
            self._open_another()

    def _finished(self, _: Future[Verdict]) -> None:
        with self._lock:
            self._unfinished -= 1

    def _open_another(self) -> None:
        """One more seat, which imports torch while its first pair is built."""
        with self._lock:
            if len(self._threads) == len(self._seats) or self._over.is_set():
                return
            seat = self._seats[len(self._threads)]
            thread = threading.Thread(target=self._work, args=(seat,), name="kb-seat", daemon=True)
            thread.start()
            self._threads.append(thread)

    def _built(self, task: Task, built: Future[Extension]) -> None:
        if built.cancelled():
            self._board.fail(task, MachineError("the session was over before this pair was built"))
        elif (error := built.exception()) is not None:
            self._board.fail(task, error)
        elif self.settings.build_only:
            self._board.end(task, built_only(task.pair))
        elif (earlier := task.pair.earlier) is None:
            self._board.built(task, built.result())
        else:
            extension = built.result()
            self.builder.submit(earlier.path, earlier.entry).add_done_callback(
                lambda done: self._board.built(task, _beside(extension, done))
            )

    def _work(self, seat: Seat) -> None:
        """What each seat's thread does until the engine is closed or the device is lost."""
        # Whatever it is, it is met again, and told, by the first pair.
        with suppress(Exception):
            seat.open()
        while (task := self._take(seat)) is not None:
            try:
                if not self._judge_on(seat, task):
                    return
            except Exception as error:  # noqa: BLE001 - given to whoever waits for the verdict
                task.verdict.set_exception(error)

    def _judge_on(self, seat: Seat, task: Task) -> bool:
        """Give the task its verdict; False where the seat can judge nothing more."""
        try:
            self._await_quiet()
            verdict = seat.judge(task.pair, task.built, self._notices.put)
        except Dismissed:
            task.verdict.set_exception(MachineError("the session was over before its verdict"))
            return False
        except MachineError as error:
            if lost(seat.device):
                self._retire(seat, task, error)
                return False
            raise
        task.verdict.set_result(verdict)
        return True

    def _take(self, seat: Seat) -> Task | None:
        with self._lock:
            last = self._at.get(seat)
            elsewhere = [problem for other, problem in self._at.items() if other is not seat]
        task = self._board.take(last, elsewhere)
        if task is not None:
            with self._lock:
                self._at[seat] = task.pair.problem
        return task

    def _retire(self, seat: Seat, task: Task, error: MachineError) -> None:
        """The device is gone: others judge what it was to judge, if there are any."""
        with self._lock:
            self._in_service -= 1
            self._at.pop(seat, None)
            left = self._in_service
        if len(self._threads) < len(self._seats):
            self._open_another()
        name = f"{seat.device.name} ({seat.device.uuid})"
        self._notices.put(f"{name} is lost: {left} of {len(self._seats)} judges go on")
        if left:
            self._board.put_back(task)
            return
        task.verdict.set_exception(error)
        self._board.close(MachineError(f"{name} is lost, and no other device is left to judge on"))

    def _await_quiet(self) -> None:
        """On a CPU, let the builds end first: a compiler beside it would be in the time."""
        while self._times_on_cpu and self.builder.progress.unfinished:
            if self._over.wait(_LOOK_EVERY_S):
                raise Dismissed

    def _pass_on_notices(self) -> None:
        with suppress(queue.Empty):
            while True:
                text = self._notices.get_nowait()
                if self._tell is not None:
                    self._tell(text)

    def _lacks(self, pair: Pair) -> str:
        if self.settings.build_only:
            return ""
        return lacking(pair.solution.path, self.device)


def _close_all(seats: Sequence[Seat]) -> None:
    """At once: each takes a while, and a machine may have sixteen."""
    closing = [threading.Thread(target=seat.close, name="kb-close") for seat in seats]
    for thread, seat in zip(closing, seats, strict=True):
        try:
            thread.start()
        except RuntimeError:  # the interpreter ends, and starts no thread any more
            seat.close()
    for thread in closing:
        if thread.ident is not None:
            thread.join()


def _beside(extension: Extension, earlier: Future[Extension]) -> Extension:
    """With the earlier source, if that could be built: its failure is no matter of the pair."""
    if earlier.cancelled() or earlier.exception() is not None:
        return extension
    return replace(extension, earlier=earlier.result().folder)
