"""A runner on a device with what the referee shares with it: control block, arena, base inputs."""

from __future__ import annotations

import os
import random
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from pytest_kernelbench.errors import MachineError
from pytest_kernelbench.judge import questions, wire
from pytest_kernelbench.judge.chain import Key, keys_of
from pytest_kernelbench.judge.control import SIZE_BYTES, Control
from pytest_kernelbench.judge.variation import FROM_SEVERAL
from pytest_kernelbench.sandbox.channel import Silent
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_kernelbench.judge.bench import Bench
    from pytest_kernelbench.judge.runners import Runner

PIECE_BYTES = 1 << 30
_LOOK_EVERY = 4096
_QUEUE_PATIENCE_S = 0.25
_ATTEMPTS = 3
_SPACER_BYTES = 900 << 20
_GRAIN_BYTES = 1 << 20


@dataclass(frozen=True)
class Batch:
    """A batch that came back."""

    time_us: float
    """From giving the key to the last digest: all calls, by the referee's clock."""
    keys: tuple[Key, ...]
    digests: tuple[Key, ...]
    rngs: tuple[int, ...]
    form: wire.Batched
    queued: bool
    """All calls stood in the device's queue before the key was given."""


class Station:
    """One runner on the bench's device. ``slot`` tells its arena from the other runner's."""

    def __init__(self, bench: Bench, runner: Runner, slot: int) -> None:
        self.bench = bench
        self.runner = runner
        self.slot = slot
        self.refusals = -1
        """How often in a row a batch was not queued in time.

        It starts below 0: first calls load and compile.
        """
        self._number = 0
        self._queued = False
        self._answer: wire.Message | None = None
        self._random = random.SystemRandom()
        self.control = Control()
        try:
            self._set_up()
        except BaseException:
            self.control.close()
            raise

    def _set_up(self) -> None:
        bench, runner = self.bench, self.runner
        order = wire.Attach(
            bench.cubin, SIZE_BYTES, bench.flush_bytes, bench.flush_seed, bench.device
        )
        runner.ask(order, wire.Done, (self.control.fd,), "while the device was set up")
        wanted = max(
            (span.size_bytes for span in (*bench.prepared.inputs, *bench.prepared.outputs)),
            default=1,
        )
        share = questions.Share(self.slot, min(max(wanted, 1), PIECE_BYTES))
        shared, (fd,) = bench.ask_any(share)
        try:
            runner.ask(wire.Arena(shared.size_bytes), wire.Done, (fd,), "while memory was shared")
        finally:
            os.close(fd)

    def load(self, draws: tuple[int, ...], modes: tuple[str, ...]) -> None:
        """Hand over base inputs: ``draws[v]`` is variant v (of inputs that are picked by row)."""
        prepared = self.bench.prepared
        self.runner.ask(wire.Base(prepared.pickled_layout, prepared.inputs, modes), wire.Done)
        for tensor, (span, mode) in enumerate(zip(prepared.inputs, modes, strict=True)):
            for variant, number in enumerate(draws if mode in FROM_SEVERAL else draws[:1]):
                for offset, size in pieces(span.size_bytes):
                    fill = questions.Fill(self.slot, number, tensor, offset, size)
                    self.bench.ask(fill, wire.Done)
                    self.runner.ask(wire.Piece(tensor, variant, offset, size), wire.Done)

    def move(self, draws: tuple[int, ...], modes: tuple[str, ...]) -> None:
        """``load``, with all memory somewhere else than before.

        Where it lies is then noise of the turns; it would otherwise be the same in each of them,
        and look like a speedup.
        """
        most = min(_SPACER_BYTES, self.bench.prepared.free_bytes // 16) // _GRAIN_BYTES
        spacer = self._random.randrange(1, max(most, 2)) * _GRAIN_BYTES
        self.runner.ask(wire.Move(spacer), wire.Done)
        self.load(draws, modes)

    @property
    def queues(self) -> bool:
        """Whether the gate waits until all calls are queued.

        A forward that waits for the device never gets there: after a few attempts its clock starts
        at once, and what the host does is part of its time.
        """
        return self.refusals < _ATTEMPTS

    def run(
        self,
        calls: int,
        *,
        events: bool = False,
        null: bool = False,
        inputs_too: bool = False,
        wait: bool = True,
    ) -> Batch:
        """One batch under the referee's clock.

        With ``wait``, it is given the key when all calls are queued. Whether forward lets them be
        queued is not learnt from null calls.

        Raises ``Rejected`` for what a contender does wrong in it.
        """
        self._number += 1
        draws_random = self.bench.prepared.draws_random
        rngs = tuple(secrets.randbits(48) for _ in range(calls)) if draws_random else ()
        key = (secrets.randbits(64), secrets.randbits(64))
        order = wire.Batch(self._number, calls, rngs, events, null, inputs_too)
        self.control.arm()
        self.runner.tell(order, "in forward()")
        self._queued, self._answer = False, None
        if wait and (null or (self.queues and self.refusals >= 0)):
            self._listen(_QUEUE_PATIENCE_S)
        queued = self._queued
        if queued and not null:
            self.refusals = 0
        elif wait and self.queues and not null:
            self.refusals += 1
        start = time.perf_counter_ns()
        self.control.give(self._number, key)
        self._await(calls)
        elapsed_us = (time.perf_counter_ns() - start) / 1e3
        digests = self.control.digests(calls)
        while self._answer is None:
            self._listen(self.runner.timeout_s)
        form = self.runner.judged(self._answer, wire.Batched, "in forward()")
        if form.odd:
            text = "forward() returned another structure, shape or stride in a later call"
            self.runner.reject(Status.WRONG_STRUCTURE, text)
        keys = (key,) if null else tuple(keys_of(key, digests))
        return Batch(elapsed_us, keys, tuple(digests), rngs, form, queued)

    def _listen(self, timeout_s: float) -> None:
        """Take one message: either "all calls are queued", or the batch's answer."""
        try:
            answer = self.runner.next_message(timeout_s, "in forward()")
        except Silent:
            if timeout_s >= self.runner.timeout_s:
                raise_timeout(self.runner)
            return
        if isinstance(answer, wire.Done) and not self._queued:
            self._queued = True
        else:
            self._answer = answer

    def _await(self, calls: int) -> None:
        """Spin until the last call is finished, or the runner has answered for another reason."""
        done = self.control.done
        deadline = time.monotonic() + self.runner.timeout_s
        while self._answer is None:
            for _ in range(_LOOK_EVERY):
                if done.value >= calls:
                    return
            if self.runner.child.channel.waiting():
                self._listen(self.runner.timeout_s)
            if time.monotonic() > deadline:
                raise_timeout(self.runner)

    def reveal(self, call: int, leaf: int, offset: int, size: int) -> None:
        """Have bytes of a kept output (or input, ``call`` -1) put into the arena."""
        doing = "while outputs were revealed"
        self.runner.ask(wire.Reveal(call, leaf, offset, size), wire.Done, doing=doing)

    def release(self) -> None:
        """Have the runner give back device memory."""
        self.runner.ask(wire.Release(), wire.Done)

    def close(self) -> None:
        """Give back what was shared."""
        self.control.close()


def raise_timeout(runner: Runner) -> NoReturn:
    """The device gave no digest in time."""
    if runner.trusted:
        raise MachineError("the baseline's batch did not finish in time")
    text = f"a kernel or forward() did not finish within {runner.timeout_s:g} s"
    runner.reject(Status.TIMED_OUT, text)


def pieces(size_bytes: int) -> Iterator[tuple[int, int]]:
    """``(offset, size)`` of each piece that fits the arena."""
    for offset in range(0, size_bytes, PIECE_BYTES):
        yield offset, min(PIECE_BYTES, size_bytes - offset)
