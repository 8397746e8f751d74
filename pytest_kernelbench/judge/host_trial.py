"""A pair on the CPU.

Inputs come in sealed memory after the clock has started. It stops when nothing of the contender
runs any more; the output is what its memory holds then.
"""

from __future__ import annotations

import errno
import os
import secrets
import time
from contextlib import ExitStack, closing, contextmanager
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from pytest_kernelbench.errors import MachineError
from pytest_kernelbench.judge import questions, wire
from pytest_kernelbench.judge.checks import extent_bytes, form_fault
from pytest_kernelbench.judge.crowding import TOO_CROWDED, others_share, remark, ticks
from pytest_kernelbench.judge.families import PLAIN
from pytest_kernelbench.judge.host_memory import HostArena, Pristine
from pytest_kernelbench.judge.rejection import Rejected
from pytest_kernelbench.judge.runners import STIRRED
from pytest_kernelbench.sandbox import kernel
from pytest_kernelbench.timing.paired import CPU_LEAST_OF_NULL
from pytest_kernelbench.timing.stopping import Apart
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_kernelbench.judge.bench import Bench
    from pytest_kernelbench.judge.runners import Runner
    from pytest_kernelbench.timing.device_state import Snapshot

_SLACK = 4
"""A view of a buffer up to this many times the output's size is read whole."""
_LATE_S = 0.3
_SHORT_US = 20_000
_CALLS_OF_SHORT = 5
"""A turn of short calls is the median of several: one interrupt then decides nothing."""


class Round:
    """One draw of inputs in sealed memory."""

    def __init__(self, bench: Bench, family: str) -> None:
        self.bench = bench
        self.family = family
        self.number = bench.next_round()
        order = questions.Draw(self.number, secrets.randbits(48), family)
        self.drawn, (self.fd,) = bench.ask_any(order)
        self.rng = secrets.randbits(48) if bench.prepared.draws_random else None

    def call(self, *, null: bool = False) -> wire.Call:
        """The order to call ``forward`` on these inputs."""
        layout = self.bench.prepared.pickled_layout
        return wire.Call(layout, self.drawn.spans, self.drawn.size_bytes, self.rng, null)

    def close(self) -> None:
        """Give the memory back."""
        os.close(self.fd)


class HostTrial:
    """Calls of contender and baseline under the referee's clock. One contender, one trial."""

    least_of_null = CPU_LEAST_OF_NULL
    apart = Apart(share=0.02, us=10.0)
    state: Snapshot | None = None

    def __init__(self, bench: Bench, contender: Runner) -> None:
        self.bench = bench
        self.contender = contender
        self.baseline: Runner
        self.spoiled: tuple[str, ...] = ()
        self._stirs = 0
        self._began = ticks(bench.pids(contender))
        short = bench.prepared.forward_us < _SHORT_US
        self.calls = _CALLS_OF_SHORT if short else 1
        self._unseen = True
        self.outputs = bench.prepared.outputs
        self._slots = []
        offset = 0
        for span in self.outputs:
            self._slots.append(offset)
            offset += -(-(span.size_bytes * _SLACK + 4096) // 4096) * 4096
        self.arena = HostArena(offset)
        for slot, span in zip(self._slots, self.outputs, strict=True):
            self.arena.touch(slot, span.size_bytes)
        self._spare = HostArena(bench.prepared.inputs_bytes)

    def agree(self, family: str) -> bool:
        """One untimed round; False where the problem does not bear the family.

        Raises ``Rejected``.
        """
        current = Round(self.bench, family)
        try:
            if not current.drawn.usable:
                return False
            returned, _ = self._timed(self.contender, current)
            self._check_inputs(current, returned)
            self._compare(current, returned, closely=self._unseen and self.bench.bounds_plain)
        finally:
            current.close()
        self._unseen = False
        return True

    def pair(self, *, contender_first: bool) -> tuple[float, float]:
        """``(baseline_us, contender_us)``: medians of a turn's calls.

        Both sides have the same inputs, never seen before; each answer of the contender is
        compared.
        """
        with ExitStack() as drawn:
            rounds = (Round(self.bench, PLAIN) for _ in range(self.calls))
            turn = [drawn.enter_context(closing(current)) for current in rounds]
            if contender_first:
                ours = self._contend(turn)
                theirs = self._hold(turn)
            else:
                theirs = self._hold(turn)
                ours = self._contend(turn)
        before, self._stirs = self._stirs, self.contender.stirs + self.baseline.stirs
        self.spoiled = (STIRRED,) if self._stirs != before else ()
        return theirs, ours

    def null(self) -> tuple[float, float]:
        """What the protocol itself costs either side, in microseconds.

        By calls that return memory made before.
        """
        current = Round(self.bench, PLAIN)
        try:
            with self._alone(self.baseline, self.contender):
                times = [
                    self._timed(self.baseline, current, null=True)[1] for _ in range(self.calls)
                ]
        finally:
            current.close()
        return median(times), median(times)

    def _hold(self, turn: list[Round]) -> float:
        """The baseline's answers are compared as well, though they decide nothing.

        Else it would make its calls one behind the other and the contender after a rest, which a
        busy machine's scheduler rewards.
        """
        times = []
        with self._alone(self.baseline, self.contender):
            for current in turn:
                returned, elapsed_us = self._timed(self.baseline, current)
                times.append(elapsed_us)
                self._ask(current, returned, closely=False)
        return median(times)

    def _contend(self, turn: list[Round]) -> float:
        times = []
        with self._alone(self.contender, self.baseline):
            for current in turn:
                returned, elapsed_us = self._timed(self.contender, current)
                times.append(elapsed_us)
                self._compare(current, returned, closely=self.bench.looks_closely())
        return median(times)

    @staticmethod
    @contextmanager
    def _alone(active: Runner, idle: Runner) -> Iterator[None]:
        """Have one side frozen while the other is timed.

        The same for both, so that neither is at an advantage.
        """
        idle.stop()
        active.resume()
        try:
            yield
        finally:
            idle.resume()

    def evidence(self) -> None:
        """There are no device events on a CPU."""

    def remarks(self) -> list[str]:
        """Say so if others had much of the processors since the race began."""
        told = remark(self._others())
        return [told] if told else []

    def doubt(self) -> str:
        """On crowded processors, who has more threads awake is scheduled sooner, on either side."""
        if (restless := self.contender.restlessness()) or self._others() < TOO_CROWDED:
            return restless
        return "the processors were too busy with other work to say which of the two is faster"

    def _others(self) -> float:
        return others_share(self._began, ticks(self.bench.pids(self.contender)))

    def neighbours(self) -> int:
        """Other processes on a CPU are no news."""
        return 0

    def against(self, baseline: str) -> None:
        """Time against this baseline; tell it what its null calls return."""
        self.bench.rest(but=baseline)
        self.baseline = self.bench.start_baseline(baseline)
        order = wire.Outline(self.outputs)
        self.baseline.ask(order, wire.Done, doing="while null calls were prepared")
        first = Round(self.bench, PLAIN)
        try:
            with self.baseline.patiently():
                self._timed(self.baseline, first)
        finally:
            first.close()
        self._began = ticks(self.bench.pids(self.contender))

    def alternate(self) -> bool:
        """On a CPU either side's inputs are the same memory: nothing more can be spared."""
        return False

    def settle(self) -> None:
        """Have the baselines give back what they hold of timed calls."""
        self.bench.rest()

    def profile(self) -> wire.Profiled:
        """One more forward, untimed, for what it runs."""
        current = Round(self.bench, PLAIN)
        try:
            call = current.call()
            order = wire.Profile(call.pickled_layout, call.spans, call.size_bytes, call.rng)
            with self.bench.oracle_at_rest():
                found = self.contender.ask(
                    order, wire.Profiled, (current.fd,), "under the profiler"
                )
            # Over all of the trial: the profile alone takes a few ticks, which tell nothing.
            return msgspec.structs.replace(found, crowded=self._others())
        finally:
            current.close()

    def close(self) -> None:
        """Give the memory back."""
        self.arena.close()
        self._spare.close()

    def _timed(
        self, runner: Runner, current: Round, *, null: bool = False
    ) -> tuple[wire.Returned, float]:
        """One call, by the clock.

        It runs from before the inputs are handed over until all of the runner's processes stand
        still. All bytes of the output are read then: nothing can be added to them meanwhile, and
        what reading costs (it depends on how the memory was got) is in nobody's time.
        """
        order = current.call(null=null)
        with self.bench.oracle_at_rest():
            start = time.perf_counter_ns()
            returned = runner.ask(order, wire.Returned, (current.fd,), "in forward()")
            end = runner.stop()
        try:
            prepared = self.bench.prepared
            got = prepared.structure if null else returned.structure
            fault = form_fault(got, returned.leaves, prepared, "cpu")
            if fault:
                runner.reject(*fault)
            self._read(runner, returned)
        finally:
            runner.resume()
        return returned, (end - start) / 1e3

    def _read(self, runner: Runner, returned: wire.Returned) -> None:
        for slot, span, leaf in zip(self._slots, self.outputs, returned.leaves, strict=True):
            size = extent_bytes(leaf)
            if size > span.size_bytes * _SLACK + 4096:
                text = f"the output is a view of a buffer more than {_SLACK} times its own size"
                runner.reject(Status.WRONG_STRUCTURE, text)
            try:
                runner.child.read(leaf.pointer, self.arena.address + slot, size)
            except OSError as error:
                self._require_reading(error)
                text = f"the output's memory cannot be read: {error.strerror}"
                runner.reject(Status.CRASHED, text)

    def _require_reading(self, error: OSError) -> None:
        """Blame the machine where it lets nobody read another process: not the reference's either.

        Who forbids it for itself alone stays to blame.
        """
        if error.errno == errno.EPERM and not self.bench.start_baseline().child.readable():
            raise MachineError(
                "the kernel lets the judge read no memory of another process, which it compares: "
                "allow ptrace (kernel.yama.ptrace_scope of 0 or 1; in a container --cap-add "
                "SYS_PTRACE)"
            ) from error

    def _check_inputs(self, current: Round, returned: wire.Returned) -> None:
        if self.bench.prepared.mutates:
            return
        size = current.drawn.size_bytes
        if size > self._spare.size_bytes:
            raise MachineError(
                f"the oracle drew {size} bytes of inputs, and {self._spare.size_bytes} were "
                "prepared for: nothing is written past them"
            )
        pristine = Pristine(current.fd, size)
        try:
            self.contender.child.read(returned.inputs_at, self._spare.address, size)
            if not kernel.equal_memory(self._spare.address, pristine.address, size):
                text = "forward() changed its inputs, which the reference leaves as they are"
                raise Rejected(Status.ALTERED_INPUTS, text)
        except OSError as error:
            self._require_reading(error)
            text = f"the inputs' memory cannot be read any more: {error.strerror}"
            raise Rejected(Status.ALTERED_INPUTS, text) from None
        finally:
            pristine.close()

    def _compare(self, current: Round, returned: wire.Returned, *, closely: bool = False) -> None:
        found = self._ask(current, returned, closely=closely)
        if not found.status:
            return
        time.sleep(_LATE_S)
        try:
            self._read(self.contender, returned)
        except Rejected:
            raise Rejected(Status(found.status), found.reason, found.detail, found.notes) from None
        if not self._ask(current, returned, closely=closely).status:
            text = (
                "work escaped: the output was not complete when forward() returned, "
                f"and right {_LATE_S:g} s later"
            )
            raise Rejected(Status.UNSTABLE, text, found.detail)
        raise Rejected(Status(found.status), found.reason, found.detail, found.notes)

    def _ask(self, current: Round, returned: wire.Returned, *, closely: bool) -> questions.Compared:
        leaves = tuple(
            wire.Leaf(leaf.dtype, leaf.shape, leaf.strides, slot, leaf.device, leaf.exact_type)
            for leaf, slot in zip(returned.leaves, self._slots, strict=True)
        )
        order = questions.Compare(current.number, leaves, current.rng, closely)
        return self.bench.ask(order, questions.Compared, (self.arena.fd,))
