"""The oracle: a trusted process that makes inputs and expected outputs, and compares.

It never loads a solution.
"""

from __future__ import annotations

import mmap
import os
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from pytest_kernelbench.errors import ProblemError
from pytest_kernelbench.judge import families, questions, wire
from pytest_kernelbench.judge.agreement import AGREED, Agrees, Expected
from pytest_kernelbench.judge.comparison import agrees
from pytest_kernelbench.judge.examination import Examination
from pytest_kernelbench.judge.handover import Form, laid_out, pickled
from pytest_kernelbench.judge.inside.memory import dtype
from pytest_kernelbench.judge.program import map_clone
from pytest_kernelbench.judge.reference import Reference, finite
from pytest_kernelbench.judge.spans import contiguous_spans, sealed_memory
from pytest_kernelbench.sandbox.channel import Channel, Closed

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from pytest_kernelbench.judge.examination import Facts

Answer = tuple[wire.Message, tuple[int, ...]]
_SMALL_BYTES, _MOST_KNOWN = 16 << 20, 8


def main(sock: socket.socket) -> None:
    """Answer the referee until it closes the channel."""
    channel: Channel[Any] = Channel(sock, questions.ToOracle, limit_bytes=256 << 20)
    Oracle().serve(channel)


class Oracle:
    """Holds one problem; draws are remembered by seed, and made again when they are needed."""

    def __init__(self) -> None:
        self.reference: Reference
        self.order: questions.Prepare
        self.draws: dict[int, tuple[int, str]] = {}
        self.modes: tuple[str, ...] = ()
        """How each input may be varied, as the runners were told."""
        self.form: Form
        """Of each draw's inputs, as the runners were told."""
        self._handlers: dict[type, Callable[[Any, tuple[int, ...]], Answer]] = {
            questions.Prepare: self.prepare,
            wire.Attach: self.attach,
            questions.Draw: self.draw,
            questions.Compare: self.compare,
        }
        self._device: Any = None
        self._known: dict[tuple[int, int | None], Expected] = {}

    def serve(self, channel: Channel[Any]) -> None:
        """One answer for each question."""
        while True:
            try:
                question, fds = channel.receive()
            except Closed:
                return
            handler = self._handlers.get(type(question)) or self._device.handler(question)
            try:
                answer, out = handler(question, fds)
            except ProblemError as error:  # of a draw that its own file does not bear
                answer, out = questions.Refused("bad_problem", str(error)), ()
            for fd in fds:
                os.close(fd)
            channel.send(answer, out)
            for fd in out:
                os.close(fd)

    def attach(self, order: wire.Attach, _: tuple[int, ...]) -> Answer:
        """Load the protocol's kernels (before a problem is prepared on a device)."""
        from pytest_kernelbench.judge.device_oracle import DeviceOracle

        self._device = DeviceOracle(self, order.cubin)
        return wire.Done(), ()

    def agrees(self) -> Agrees:
        """How tensors are compared: by torch on a CPU, by one kernel on a device that has it."""
        return agrees if self._device is None else self._device.look.agrees

    def prepare(self, order: questions.Prepare, _: tuple[int, ...]) -> Answer:
        """Load the problem and find out all that runners and referee must know."""
        torch.set_num_threads(order.threads)
        self.order = order
        try:
            self.reference = Reference(order)
            return self._prepared(order)
        except torch.OutOfMemoryError as error:
            reason = f"the reference needs more memory than {order.device} has"
            return questions.Refused("skipped", reason, str(error)), ()

    def _prepared(self, order: questions.Prepare) -> Answer:
        reference = self.reference
        declared = reference.program.DTYPES
        if order.dtype not in declared:
            reason = f"the problem is defined for {', '.join(declared)}, not for {order.dtype}"
            return questions.Refused("skipped", reason), ()
        facts = Examination(reference, order, self.agrees()).facts()
        self.modes = facts.modes
        self.form = Form(facts.pickled_layout, facts.inputs)
        reference.restore()
        return self._told(facts)

    def _told(self, facts: Facts) -> Answer:
        """The facts, the state's memory, and what constructing the model takes."""
        reference = self.reference
        program, device = reference.program, reference.device
        l2_bytes, free_bytes = device_memory(device)
        state = reference.state()
        state_spans, state_bytes = contiguous_spans(list(state.values()))
        init = pickled(reference.init_inputs())
        memory = sealed_memory(list(state.values()), state_spans, state_bytes)
        notes = facts.notes
        if program.init_on != device.type:
            reason = "the problem's constructor does not work under a device context"
            notes += (f"{reason}: constructed on the CPU",)
        answer = questions.Prepared(
            **(vars(facts) | {"notes": notes}),
            overrides=reference.overrides,
            pickled_init=init,
            construct_on_device=program.init_on != "cpu" or device.type == "cpu",
            state_names=tuple(state),
            state=state_spans,
            state_bytes=state_bytes,
            native=program.is_native,
            l2_bytes=l2_bytes,
            free_bytes=free_bytes,
        )
        return answer, (memory,)

    @staticmethod
    def layout(arguments: list[Any]) -> tuple[bytes, list[torch.Tensor]]:
        """See ``laid_out``."""
        return laid_out(arguments)

    def arguments(self, number: int) -> list[Any]:
        """The arguments of round ``number``, made from its seed.

        Raises ``ProblemError`` where they have not the form for which memory was set up.
        """
        seed, family = self.draws[number]
        arguments = self.reference.inputs(seed, family)
        self.form.require(arguments)
        return arguments

    def draw(self, order: questions.Draw, _: tuple[int, ...]) -> Answer:
        """Make a round's inputs; on the CPU they are handed over in sealed memory."""
        self.draws[order.number] = (order.seed, order.family)
        arguments = self.arguments(order.number)
        usable = order.family == families.PLAIN or self.bears(arguments)
        tensors = laid_out(arguments)[1]
        spans, size = contiguous_spans(tensors)
        if self.reference.device.type != "cpu":
            return questions.Drawn(spans, size, usable), ()
        return questions.Drawn(spans, size, usable), (sealed_memory(tensors, spans, size),)

    def bears(self, arguments: list[Any]) -> bool:
        """Whether the reference has numbers for an answer to these inputs."""
        try:
            return finite(self.reference.forward(map_clone(arguments), None)[1])
        except ProblemError:
            return False

    def compare(self, order: questions.Compare, fds: tuple[int, ...]) -> Answer:
        """Compare outputs in the referee's memory with the expected ones of the round."""
        expected = self._expected(order.number, order.rng)
        expected.closely = order.closely
        arena = mmap.mmap(fds[0], 0, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED)
        for index, leaf in enumerate(order.leaves):
            got = strided(arena, leaf)
            found = expected.compare(index, got)
            if found.status:
                return found, ()
        return AGREED, ()

    def _expected(self, number: int, rng: int | None) -> Expected:
        """What was asked for last is kept where it is small: the other side's answer comes soon."""
        known = self._known.pop((number, rng), None)
        if known is None:
            _, family = self.draws[number]
            known = Expected(
                self.reference, partial(self.arguments, number), rng, family, self.order
            )
        if sum(tensor.nbytes for tensor in known.tensors) <= _SMALL_BYTES:
            self._known[number, rng] = known
            while len(self._known) > _MOST_KNOWN:
                del self._known[next(iter(self._known))]
        return known


def strided(arena: mmap.mmap, leaf: wire.Leaf) -> torch.Tensor:
    """The tensor that ``leaf`` describes, at its offset in the arena.

    The referee has checked the bounds.
    """
    kind = dtype(leaf.dtype)
    if 0 in leaf.shape:
        return torch.empty(leaf.shape, dtype=kind)
    extent = 1 + sum((n - 1) * s for n, s in zip(leaf.shape, leaf.strides, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a read-only buffer; we only read
        raw = torch.frombuffer(
            arena, dtype=torch.uint8, count=extent * kind.itemsize, offset=leaf.pointer
        )
    return raw.view(kind).as_strided(leaf.shape, leaf.strides)


def device_memory(device: torch.device) -> tuple[int, int]:
    """``(L2 bytes, free bytes)`` of a CUDA device; zeros on a CPU."""
    if device.type != "cuda":
        return 0, 0
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info(device)
    return int(torch.cuda.get_device_properties(device).L2_cache_size), int(free)
