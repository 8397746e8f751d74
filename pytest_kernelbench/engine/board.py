"""The pairs that are to be judged: announced, asked for, built, taken by whoever has a device."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_kernelbench.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_kernelbench.build.extension import Extension
    from pytest_kernelbench.catalog.pair import Pair, Problem
    from pytest_kernelbench.verdict import Verdict


@dataclass(eq=False)
class Task:
    """One pair on its way to a verdict."""

    pair: Pair
    number: int
    """In the order in which pairs were announced or asked for."""
    verdict: Future[Verdict] = field(default_factory=Future)
    """Its exception is what ended the pair before a verdict was reached."""
    extension: Extension | None = None
    """Once it is built."""

    @property
    def built(self) -> Extension:
        """The extension of a pair that was taken."""
        if self.extension is None:
            message = f"{self.pair.solution.path} was taken before it was built"
            raise RuntimeError(message)
        return self.extension

    begun: bool = False
    """Somebody took it."""
    asked: bool = False
    """Somebody waits for it, or will; else it was only announced."""


class Board:
    """Thread-safe. Whoever asks for work gets it in order, with two exceptions.

    Rather another pair of the problem that it had last, whose reference is ready, and rather not
    one of a problem that somebody else is at (never, if they have nothing else to do). No pair is
    taken that lies more than ``ahead`` behind the last one that was asked for: a verdict that
    nobody has asked for is lost if the session is.
    """

    def __init__(self, ahead: int) -> None:
        self._ahead = ahead
        self._changed = threading.Condition()
        self._tasks: dict[int, Task] = {}
        """Those that nobody has taken, in order."""
        self._announced: dict[Pair, Task] = {}
        self._next = 0
        self._last_asked = -1
        self._idle: list[Problem | None] = []
        """What those had last who wait for work."""
        self._closed = False
        self._why: Exception | None = None

    def announce(self, pair: Pair) -> Task | None:
        """It will probably be asked for; None if that is known already."""
        with self._changed:
            if pair in self._announced or self._closed:
                return None
            task = self._announced[pair] = self._add(pair)
            return task

    def ask(self, pair: Pair) -> tuple[Task, bool]:
        """The task of a pair that somebody waits for, and whether it is new."""
        with self._changed:
            task = self._announced.pop(pair, None)
            if task is not None and task.extension is None and task.verdict.done():
                task = None  # it could not be built, and that has been told
            new = task is None
            task = task or self._add(pair)
            task.asked = True
            self._last_asked = max(self._last_asked, task.number)
            if self._closed:
                self._tasks.pop(task.number, None)
                self._refuse(task)
            self._changed.notify_all()
            return task, new

    def built(self, task: Task, extension: Extension) -> None:
        """It can be judged from now on."""
        with self._changed:
            task.extension = extension
            self._changed.notify_all()

    def fail(self, task: Task, error: BaseException) -> None:
        """It cannot be built, and whoever waits for its verdict is told."""
        with self._changed:
            self._tasks.pop(task.number, None)
            if not task.verdict.done() and task.verdict.set_running_or_notify_cancel():
                task.verdict.set_exception(error)

    def end(self, task: Task, verdict: Verdict) -> None:
        """Nobody need judge it: this is its verdict."""
        with self._changed:
            self._tasks.pop(task.number, None)
            if not task.verdict.done() and task.verdict.set_running_or_notify_cancel():
                task.verdict.set_result(verdict)

    def take(self, last: Problem | None, elsewhere: Collection[Problem]) -> Task | None:
        """Wait for a pair to judge; None once the board is closed.

        ``last`` is the problem that the asker had last, ``elsewhere`` those that others are at.
        """
        with self._changed:
            while not self._closed:
                if (task := self._choice(last, elsewhere)) is not None:
                    del self._tasks[task.number]
                    if task.begun or task.verdict.set_running_or_notify_cancel():
                        task.begun = True
                        return task
                else:
                    self._idle.append(last)
                    self._changed.wait()
                    self._idle.remove(last)
            return None

    def put_back(self, task: Task) -> None:
        """Whoever took it cannot judge it; somebody else may."""
        with self._changed:
            if self._closed:
                self._refuse(task)
                return
            self._tasks = dict(sorted({**self._tasks, task.number: task}.items()))
            self._changed.notify_all()

    def close(self, why: Exception | None = None) -> None:
        """Nothing more is taken.

        Who waits for what was not taken gets ``why``; without a reason, it is cancelled.
        """
        with self._changed:
            if self._closed:
                return
            self._closed, self._why = True, why
            left = list(self._tasks.values())
            self._tasks.clear()
            self._changed.notify_all()
        for task in left:
            self._refuse(task)

    def _refuse(self, task: Task) -> None:
        if self._why is None and not task.begun:
            task.verdict.cancel()
        elif not task.verdict.done() and (
            task.begun or task.verdict.set_running_or_notify_cancel()
        ):
            task.verdict.set_exception(self._why or MachineError("the session is over"))

    def _add(self, pair: Pair) -> Task:
        task = self._tasks[self._next] = Task(pair, self._next)
        self._next += 1
        return task

    def _choice(self, last: Problem | None, elsewhere: Collection[Problem]) -> Task | None:
        first = apart = None
        for task in self._tasks.values():
            if not task.asked and task.number > self._last_asked + self._ahead:
                break
            if task.extension is None:
                continue
            if task.pair.problem == last:
                return task
            if task.pair.problem in self._idle:
                continue
            first = first or task
            if apart is None and task.pair.problem not in elsewhere:
                apart = task
        return apart or first
