"""A pair on the CPU: inputs in sealed memory after the clock has started, all output bytes read before it stops."""

from __future__ import annotations

import os
import secrets
import time
from typing import TYPE_CHECKING

from pytest_kernelbench.judge import questions, wire
from pytest_kernelbench.judge.checks import extent_bytes, form_fault
from pytest_kernelbench.judge.families import PLAIN
from pytest_kernelbench.judge.host_memory import HostArena, Pristine
from pytest_kernelbench.judge.rejection import Rejected
from pytest_kernelbench.sandbox import kernel
from pytest_kernelbench.sandbox.channel import close_all
from pytest_kernelbench.timing.paired import CPU_LEAST_OF_NULL
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from pytest_kernelbench.judge.bench import Bench
    from pytest_kernelbench.judge.runners import Runner

_SLACK = 4
"""A view of a buffer up to this many times the output's size is read whole."""
_LATE_S = 0.3


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

    def __init__(self, bench: Bench, contender: Runner) -> None:
        self.bench = bench
        self.contender = contender
        self.outputs = bench.prepared.outputs
        self._slots = []
        offset = 0
        for span in self.outputs:
            self._slots.append(offset)
            offset += -(-(span.size_bytes * _SLACK + 4096) // 4096) * 4096
        self.arena = HostArena(offset)
        self.arena.touch(offset // _SLACK)
        self._spare = HostArena(bench.prepared.inputs_bytes)

    def agree(self, family: str) -> bool:
        """One untimed round; False where the problem does not bear the family. Raises ``Rejected``."""
        current = Round(self.bench, family)
        try:
            if not current.drawn.usable:
                return False
            returned, _ = self._timed(self.contender, current)
            self._check_inputs(current, returned)
            self._compare(current, returned)
        finally:
            current.close()
        return True

    def pair(self, *, contender_first: bool) -> tuple[float, float]:
        """``(baseline_us, contender_us)``: both on the same inputs, never seen before; the answer is compared."""
        current = Round(self.bench, PLAIN)
        baseline = self.bench.start_baseline()
        times: dict[bool, float] = {}
        try:
            for trusted in (False, True) if contender_first else (True, False):
                if trusted:
                    self.contender.child.stop()
                    _, times[True] = self._timed(baseline, current)
                    self.contender.child.resume()
                else:
                    returned, times[False] = self._timed(self.contender, current)
                    self._compare(current, returned)
        finally:
            current.close()
        return times[True], times[False]

    def null(self) -> tuple[float, float]:
        """What the protocol itself costs either side, in microseconds: a call that returns memory made before."""
        current = Round(self.bench, PLAIN)
        try:
            self.contender.child.stop()
            _, elapsed_us = self._timed(self.bench.start_baseline(), current, null=True)
            return elapsed_us, elapsed_us
        finally:
            self.contender.child.resume()
            current.close()

    calls = 1
    least_of_null = CPU_LEAST_OF_NULL

    def evidence(self) -> None:
        """There are no device events on a CPU."""

    def outline(self) -> None:
        """Tell the baseline what its null calls return."""
        order = wire.Outline(self.outputs)
        self.bench.start_baseline().ask(order, wire.Done, doing="while null calls were prepared")

    def close(self) -> None:
        """Give the memory back."""
        self.arena.close()
        self._spare.close()

    def _timed(
        self, runner: Runner, current: Round, *, null: bool = False
    ) -> tuple[wire.Returned, float]:
        """One call: the clock runs from before the inputs are handed over until all bytes have been read."""
        order = current.call(null=null)
        start = time.perf_counter_ns()
        returned = runner.ask(order, wire.Returned, (current.fd,), "in forward()")
        structure = self.bench.prepared.structure
        got = structure if null else returned.structure
        fault = form_fault(got, returned.leaves, structure, self.outputs, "cpu")
        if fault:
            raise Rejected(*fault)
        self._read(runner, returned)
        return returned, (time.perf_counter_ns() - start) / 1e3

    def _read(self, runner: Runner, returned: wire.Returned) -> None:
        for slot, span, leaf in zip(self._slots, self.outputs, returned.leaves, strict=True):
            size = extent_bytes(leaf)
            if size > span.size_bytes * _SLACK + 4096:
                text = f"the output is a view of a buffer more than {_SLACK} times its own size"
                raise Rejected(Status.WRONG_STRUCTURE, text)
            try:
                kernel.read_memory(runner.child.pid, leaf.pointer, self.arena.address + slot, size)
            except OSError as error:
                text = f"the output's memory cannot be read: {error.strerror}"
                raise Rejected(Status.CRASHED, text) from None

    def _check_inputs(self, current: Round, returned: wire.Returned) -> None:
        if self.bench.prepared.mutates:
            return
        size = current.drawn.size_bytes
        pristine = Pristine(current.fd, size)
        try:
            kernel.read_memory(
                self.contender.child.pid, returned.inputs_at, self._spare.address, size
            )
            if not kernel.equal_memory(self._spare.address, pristine.address, size):
                text = "forward() changed its inputs, which the reference leaves as they are"
                raise Rejected(Status.ALTERED_INPUTS, text)
        except OSError as error:
            text = f"the inputs' memory cannot be read any more: {error.strerror}"
            raise Rejected(Status.ALTERED_INPUTS, text) from None
        finally:
            pristine.close()

    def _compare(self, current: Round, returned: wire.Returned) -> None:
        found = self._ask(current, returned)
        if not found.status:
            return
        time.sleep(_LATE_S)
        try:
            self._read(self.contender, returned)
        except Rejected:
            raise Rejected(Status(found.status), found.reason, found.detail, found.notes) from None
        if not self._ask(current, returned).status:
            text = (
                "work escaped: the output was not complete when forward() returned, "
                f"and right {_LATE_S:g} s later"
            )
            raise Rejected(Status.UNSTABLE, text, found.detail)
        raise Rejected(Status(found.status), found.reason, found.detail, found.notes)

    def _ask(self, current: Round, returned: wire.Returned) -> questions.Compared:
        leaves = tuple(
            wire.Leaf(leaf.dtype, leaf.shape, leaf.strides, slot, leaf.device, leaf.exact_type)
            for leaf, slot in zip(returned.leaves, self._slots, strict=True)
        )
        order = questions.Compare(current.number, leaves, current.rng)
        answer, fds = self.bench.ask_any(order, (self.arena.fd,))
        close_all(fds)
        if not isinstance(answer, questions.Compared):
            raise TypeError(f"the oracle answered {type(answer).__name__} to Compare")
        return answer
