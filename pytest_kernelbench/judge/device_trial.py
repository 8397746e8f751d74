"""A pair on a device: agreement by single calls, time by hash-chained batches.

The outputs of batches are revealed afterwards.
"""

from __future__ import annotations

import math
import random
import secrets
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from pytest_kernelbench.judge import questions, wire
from pytest_kernelbench.judge.bench import CONTENDER_SLOT
from pytest_kernelbench.judge.checks import form_fault
from pytest_kernelbench.judge.families import PLAIN
from pytest_kernelbench.judge.quiet import await_quiet, can_move, lead_in, quietens
from pytest_kernelbench.judge.rejection import Rejected
from pytest_kernelbench.judge.station import Batch, Station, pieces
from pytest_kernelbench.judge.variation import variants
from pytest_kernelbench.timing.device_state import Snapshot, monitor, throttled
from pytest_kernelbench.timing.schedule import BatchBounds, calls_of_batch
from pytest_kernelbench.timing.stopping import Apart
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_kernelbench.judge.bench import Bench
    from pytest_kernelbench.judge.runners import Runner

_REVEAL_BYTES = 1 << 30
_LEAST_REVEALED, _MOST_REVEALED = 2, 4
_QUEUE_LAUNCHES = 900
"""A device's queue holds about a thousand launches; beyond, one waits for the gate itself."""
_PROTOCOL_LAUNCHES = 4
APART = Apart(share=0.002, us=0.2)
"""By what two processes with one program are apart when each has its own null subtracted.

``benchmarks/placement.py`` measures it: on an H200 0.05 to 0.1 us, one standard deviation each.
"""
FAR_APART = replace(APART, us=2.5)
"""The same where the contender's own null is not known."""
MOVED_US = 1000.0
"""Above, what lies where makes no difference."""
_TURNS_A_PLACE = 2
_BUSY_TURNS = 3
"""One or two are measured again. More could be a contender that chooses its turns."""


class DeviceTrial:
    """Calls of contender and baseline on a device. One contender, one trial."""

    least_of_null = 0.0

    def __init__(self, bench: Bench, contender: Runner) -> None:
        self.bench = bench
        self.prepared = bench.prepared
        own = bench.own_null
        self._own = own if own is not None and own.station.runner is contender else None
        self.contender = (
            self._own.station if self._own else Station(bench, contender, CONTENDER_SLOT)
        )
        self.baseline: Station
        self._shift_us = 0.0
        self.apart = FAR_APART
        self._null: tuple[float, float] | None = None
        self._turns, self._moves, self._busy_turns = 0, False, 0
        self._closing = ExitStack()
        self._monitor = self._closing.enter_context(monitor(bench.uuid))
        self.spoiled: tuple[str, ...] = ()
        self.state: Snapshot | None = None
        self.calls = 1
        self._unseen = True
        self.alternating = False
        """Whether only one side at a time has its inputs and outputs on the device."""
        self._copy = tuple("copy" for _ in self.prepared.inputs)
        self.bases: tuple[int, ...] = ()
        self._random = random.SystemRandom()

    def agree(self, family: str) -> bool:
        """One untimed round; False where the problem does not bear the family.

        Raises ``Rejected``.
        """
        number = self._draw(family)
        if number is None:
            return False
        self.contender.load((number,), self._copy)
        batch = self.contender.run(1, inputs_too=not self.prepared.mutates)
        self._check_form(batch.form)
        if not self.prepared.mutates:
            self._check_inputs(number)
        closely = self._unseen and self.bench.bounds_plain
        self._check_call(self.contender, batch, 0, number, closely=closely)
        self._unseen = False
        return True

    def against(self, baseline: str) -> None:
        """Choose a batch's length from the baseline alone; give both sides the same base inputs."""
        self.bench.rest(but=baseline)
        self.baseline = self.bench.start_station(baseline)
        self._busy_turns = 0
        self._measure_shift()
        for station in (self.baseline, self.contender):
            station.runner.ask(wire.Outline(self.prepared.outputs), wire.Done)
        self.bases = tuple(self._draw_plain() for _ in range(variants(self.prepared.modes)))
        if self.alternating:
            self.contender.release()
        else:
            self.contender.load(self.bases, self.prepared.modes)
        self.baseline.load(self.bases, self.prepared.modes)
        self.bench.ask(questions.Forget(), wire.Done)
        with self.baseline.runner.patiently():
            self.baseline.run(2)  # the first calls load (or compile) what is loaded lazily
        few = 4
        null_us = self.baseline.run(few, null=True).time_us / few
        net_us = max(self.baseline.run(few).time_us / few - null_us, 1.0)
        out_bytes = sum(span.size_bytes for span in self.prepared.outputs)
        bounds = BatchBounds(
            budget_us=self.bench.settings.budget_s * 1e6,
            memory_bytes=self.bench.kept_bytes,
            most_calls=max(1, _QUEUE_LAUNCHES // (self.prepared.launches + self._launches())),
        )
        self.calls = calls_of_batch(net_us, null_us, out_bytes + self.prepared.inputs_bytes, bounds)
        self._moves = net_us < MOVED_US and can_move(self.bench)
        self._show_reuse()

    def _show_reuse(self) -> None:
        """A batch that nobody looks at: memory that it returns twice is copied from then on.

        The rounds of agreement do not show buffers that take turns, nor one that is too large to be
        held beside the next call's.
        """
        if self.calls > 1:
            self._give_way(self.baseline, self.contender)
            self.contender.run(self.calls)

    def _measure_shift(self) -> None:
        self._null, self._shift_us, self.apart = None, 0.0, FAR_APART
        if self._own is None or self.alternating:
            return
        with self._frozen():
            shift = self._own.against(self.baseline)
        if shift is not None:
            self._shift_us = shift.us
            self.apart = replace(APART, us=math.hypot(APART.us, shift.error_us))

    def alternate(self) -> bool:
        """From now on only one side at a time has memory, beside its model; False if that is so.

        Slower, since inputs are handed over anew for each turn: where both do not fit.
        """
        before, self.alternating = self.alternating, True
        return not before

    def settle(self) -> None:
        """Have both sides give back what they hold of timed calls."""
        self.bench.rest()
        self.contender.release()

    def profile(self) -> wire.Profiled:
        """One more forward, untimed, for what it runs."""
        self.bench.rest()
        self.contender.load((self._draw_plain(),), self._copy)
        self.bench.ask(questions.Forget(), wire.Done)
        rng = secrets.randbits(48) if self.prepared.draws_random else None
        order = wire.Profile(rng=rng)
        return self.contender.runner.ask(order, wire.Profiled, doing="under the profiler")

    def pair(self, *, contender_first: bool) -> tuple[float, float]:
        """``(baseline_us, contender_us)`` per call of a batch each.

        Calls chosen afterwards are revealed and checked.
        """
        if self._moves and not self.alternating and self._turns % _TURNS_A_PLACE == 0:
            self._move()
        self._turns += 1
        before = self._snapshot()
        self.state = before or self.state  # who is on the device, before anything is held
        busy = self._busy_turns
        if contender_first:
            ours = self._contend()
            theirs = self._hold()
        else:
            theirs = self._hold()
            ours = self._contend()
        after = self._snapshot()
        self.state = after or self.state
        self.spoiled = throttled(before, after) if before and after else ()
        if self._busy_turns > busy:
            self.spoiled = (*self.spoiled, "others kept the device busy")
        if not self.alternating:
            self._verify(ours)
        return theirs.time_us / self.calls, ours.time_us / self.calls

    def null(self) -> tuple[float, float]:
        """Microseconds per call of the protocol around an empty forward, as each side runs it.

        In the baseline's process: with all calls queued, or (where a forward waits for the device)
        with the host's part in the time. What the contender's process was seen to add is added.
        """
        if self._null is None:
            self._give_way(self.contender, self.baseline)
            with self._alone():
                self._measure_null()
        assert self._null is not None
        found, self._null = self._null, None
        return found

    def _measure_null(self) -> None:
        theirs = ours = self.baseline.run(self.calls, null=True).time_us
        if not self.contender.queues:
            ours = self.baseline.run(self.calls, null=True, wait=False).time_us
        self._null = theirs / self.calls, ours / self.calls + self._shift_us

    def evidence(self) -> float | None:
        """Median of device events around each forward of one more batch.

        Evidence beside the referee's clock.
        """
        self._give_way(self.baseline, self.contender)
        batch = self.contender.run(min(self.calls, 50), events=True)
        self._verify(batch)
        return median(batch.form.events_us) if batch.form.events_us else None

    def remarks(self) -> list[str]:
        """What a reader should know beside the time."""
        if self.contender.queues:
            return []
        return ["forward() waits for the device: what the host does is part of its time"]

    def doubt(self) -> str:
        """Single turns that the device's own state spoils are measured again, and no reason."""
        if self._busy_turns < _BUSY_TURNS:
            return ""
        return (
            f"others kept the device busy while the baseline was to be timed ({self._busy_turns} "
            "turns): nothing is concluded from its times"
        )

    def neighbours(self) -> int:
        """How many processes that are not the judge's are on the device."""
        if self.state is None:
            return 0
        return self.bench.strangers(self.state, self.contender.runner)

    def _snapshot(self) -> Snapshot | None:
        return self._monitor.snapshot() if self._monitor is not None else None

    def close(self) -> None:
        """Give back what was shared with the contender."""
        self._closing.close()
        self.contender.close()

    def _contend(self) -> Batch:
        self._give_way(self.baseline, self.contender)
        lead_in(self.contender)  # whatever its process does in these, the gain is not its own
        batch = self.contender.run(self.calls)
        if self.alternating:
            self._verify(batch)  # now: its outputs make way for the other side
        return batch

    def _give_way(self, idle: Station, active: Station) -> None:
        if self.alternating:
            idle.release()
            self.bench.ask(questions.Forget(), wire.Done)
            active.load(self.bases, self.prepared.modes)
            active.run(1)  # untimed: it takes memory from the driver again

    def _hold(self) -> Batch:
        self._give_way(self.contender, self.baseline)
        with self._alone():
            batch = self.baseline.run(self.calls)
            self._measure_null()  # now that the baseline is alone: the next to be asked for
            return batch

    def _move(self) -> None:
        for station in (self.contender, self.baseline):
            station.move(self.bases, self.prepared.modes)
            station.run(self.calls)  # untimed: it takes memory from the driver again

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Have the baseline alone on the device.

        The contender is frozen, and what it has left in the device's queues is waited for: stopping
        a process does not stop its kernels.
        """
        with self._frozen():
            if not self.neighbours():
                await_quiet(self.baseline, self.contender.runner)
            elif self._busy_turns >= _BUSY_TURNS:
                lead_in(self.baseline)  # nothing will be concluded in any case
            elif not quietens(self.baseline):
                self._busy_turns += 1  # by whom, nobody can tell
            yield

    @contextmanager
    def _frozen(self) -> Iterator[None]:
        self.contender.runner.stop()
        try:
            yield
        finally:
            self.contender.runner.resume()

    def _verify(self, batch: Batch) -> None:
        """Reveal calls that nobody could foresee, and compare every element of them."""
        self._check_form(batch.form)
        out_bytes = sum(span.size_bytes for span in self.prepared.outputs)
        affordable = _REVEAL_BYTES // max(out_bytes, 1)
        count = min(len(batch.digests), max(_LEAST_REVEALED, min(_MOST_REVEALED, affordable)))
        for call in self._random.sample(range(len(batch.digests)), count):
            number = self.bench.next_round()
            self.bench.ask(questions.Varied(number, self.bases, batch.keys[call]), wire.Done)
            closely = self.bench.looks_closely()
            self._check_call(self.contender, batch, call, number, closely=closely)

    def _check_call(
        self, station: Station, batch: Batch, call: int, number: int, *, closely: bool = False
    ) -> None:
        rng = batch.rngs[call] if batch.rngs else None
        leaves = batch.form.leaves
        bench = self.bench
        expect = questions.Expect(
            number, leaves, rng, batch.keys[call], bench.flush_bytes, bench.flush_seed, closely
        )
        self.bench.ask(expect, wire.Done)
        for index, span in enumerate(self.prepared.outputs):
            for offset, size in pieces(span.size_bytes):
                station.reveal(call, index, offset, size)
                self.bench.ask(questions.Check(station.slot, index, offset, size), wire.Done)
        concluded = self.bench.ask(questions.Conclude(), questions.Concluded)
        found = concluded.found
        if found.status:
            where = f"call {call + 1} of a timed batch: " if len(batch.digests) > 1 else ""
            raise Rejected(Status(found.status), where + found.reason, found.detail, found.notes)
        if concluded.digest != batch.digests[call]:
            text = (
                "work escaped: the output was not complete when it was due (its digest then "
                "differs from that of the bytes revealed later)"
            )
            raise Rejected(Status.UNSTABLE, text)

    def _check_form(self, form: wire.Batched) -> None:
        fault = form_fault(form.structure, form.leaves, self.prepared, self.bench.device)
        if fault:
            self.contender.runner.reject(*fault)

    def _check_inputs(self, number: int) -> None:
        for tensor, span in enumerate(self.prepared.inputs):
            for offset, size in pieces(span.size_bytes):
                self.contender.reveal(-1, tensor, offset, size)
                same = questions.Same(CONTENDER_SLOT, number, tensor, offset, size)
                found = self.bench.ask(same, questions.Compared)
                if found.status:
                    raise Rejected(Status(found.status), found.reason)

    def _draw(self, family: str) -> int | None:
        number = self.bench.next_round()
        order = questions.Draw(number, secrets.randbits(48), family)
        drawn = self.bench.ask(order, questions.Drawn)
        return number if drawn.usable else None

    def _draw_plain(self) -> int:
        number = self._draw(PLAIN)
        assert number is not None
        return number

    def _launches(self) -> int:
        return _PROTOCOL_LAUNCHES + len(self.prepared.inputs) + len(self.prepared.outputs)
