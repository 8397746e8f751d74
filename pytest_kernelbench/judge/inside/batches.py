"""The timed batch on a device: K hash-chained calls behind a gate that the referee opens."""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
from typing import TYPE_CHECKING, Any

import torch

from pytest_kernelbench.judge import wire
from pytest_kernelbench.judge.inside import driver, forms, generator, loading
from pytest_kernelbench.judge.inside.dense import is_dense
from pytest_kernelbench.judge.inside.memory import dtype

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_kernelbench.judge.inside.runner import Runner

_PATIENCE_NS = 60_000_000_000
_MOST_ALIVE_BYTES = 1 << 30

_empty = torch.empty
_pointer = torch.Tensor.data_ptr
_contiguous = torch.Tensor.contiguous
_clone = torch.Tensor.clone
_Event = torch.cuda.Event
_empty_cache = torch.cuda.empty_cache
_no_grad = torch.no_grad
_OutOfMemory = torch.OutOfMemoryError
_manual_seed = torch.manual_seed


class DeviceRunner:
    """What a runner does on a device beside constructing its model."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.device = "cuda"
        self.protocol: driver.Protocol
        self.control = 0
        self.arena: driver.SharedMemory | None = None
        self.layout = b""
        self.recipes: list[generator.Recipe] = []
        self.kept: list[list[tuple[torch.Tensor, int]]] = []
        self.inputs: list[torch.Tensor] = []
        self._alive: list[list[tuple[torch.Tensor, int]]] = []
        self.reuses = False
        """Whether forward was seen to return memory that it had returned before, still in use."""
        self.nulls: tuple[wire.Span, ...] = ()
        self._spacer: torch.Tensor | None = None

    def handler(self, message: wire.Message) -> Callable[[Any, tuple[int, ...]], wire.Message]:
        """The method that answers ``message``."""
        handlers: dict[type, Callable[[Any, tuple[int, ...]], wire.Message]] = {
            wire.Attach: self.attach,
            wire.Arena: self.map_arena,
            wire.Base: self.base,
            wire.Piece: self.piece,
            wire.Move: self.move,
            wire.Batch: self.batch,
            wire.Reveal: self.reveal,
        }
        return handlers[type(message)]

    def attach(self, order: wire.Attach, fds: tuple[int, ...]) -> wire.Done:
        """Load the protocol and map the control block, which the referee polls."""
        torch.cuda.init()
        self.device = order.device
        self.state = _empty(generator.STATE_BYTES, dtype=torch.uint8, device=self.device)
        self.state.zero_()
        self._flush_seed = order.flush_seed
        self._make_flush(order.flush_bytes)
        self.protocol = driver.Protocol(order.cubin)
        self._control_map = mmap.mmap(fds[0], order.control_bytes)
        os.close(fds[0])
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._control_map))
        self.control = driver.register_host(address, order.control_bytes)
        self._state_at = self.state.data_ptr()
        driver.synchronize()
        return wire.Done()

    def _make_flush(self, size_bytes: int) -> None:
        self.flush_buffer = generator.make_noise(size_bytes, self._flush_seed, self.device)
        self._flush_at = _pointer(self.flush_buffer)
        self._flush_bytes = size_bytes

    def map_arena(self, order: wire.Arena, fds: tuple[int, ...]) -> wire.Done:
        """Map the memory through which the oracle hands over inputs and gets outputs."""
        self.arena = driver.SharedMemory.attach(fds[0], order.size_bytes)
        os.close(fds[0])
        return wire.Done()

    def base(self, order: wire.Base, _: tuple[int, ...]) -> wire.Done:
        """Make room for base inputs."""
        self.recipes = []
        self.layout = order.pickled_layout
        try:
            self.recipes = generator.make_base(order.spans, order.modes, self.device)
        except _OutOfMemory as error:
            raise loading.Stop(loading.failure("inputs", error, "")) from None
        return wire.Done()

    def piece(self, order: wire.Piece, _: tuple[int, ...]) -> wire.Done:
        """Take bytes of a base input out of the arena."""
        assert self.arena is not None
        recipe = self.recipes[order.tensor]
        at = recipe.base.data_ptr() + order.variant * recipe.span.size_bytes + order.offset
        driver.copy(at, self.arena.address, order.size_bytes)
        driver.synchronize()
        return wire.Done()

    def release(self, _: wire.Release, __: tuple[int, ...]) -> wire.Done:
        """Leave the memory to others."""
        self._forget()
        _empty_cache()
        return wire.Done()

    def _forget(self) -> None:
        self.kept, self._alive, self.recipes, self.inputs = [], [], [], []
        self.runner.inputs, self.runner.outputs = None, []
        self._spacer = None
        gc.collect()

    def move(self, order: wire.Move, _: tuple[int, ...]) -> wire.Done:
        """Let all that is made from now on lie in other places of the device's memory."""
        size_bytes = self._flush_bytes
        self.kept, self._alive, self.recipes, self.inputs = [], [], [], []
        del self.flush_buffer
        _empty_cache()
        # Taken while the last one is still held: the driver hands out first what came back last.
        try:
            self._spacer = _empty(order.spacer_bytes, dtype=torch.uint8, device=self.device)
        except _OutOfMemory:
            self._spacer = None  # then things lie where there is room
        _empty_cache()
        self._make_flush(size_bytes)
        driver.synchronize()
        return wire.Done()

    def outline(self, order: wire.Outline) -> None:
        """Remember what null calls return."""
        self.nulls = order.leaves

    def batch(self, order: wire.Batch, _: tuple[int, ...]) -> wire.Batched:
        """Enqueue the calls, say so, wait for the device, and report the outputs' forms.

        Null calls are possible before there is a model.
        """
        construct = self.runner.order
        if construct is not None:
            loading.pin_precision(tf32=construct.tf32)
        # The outputs before live on until the first forward of this batch: memory that comes back
        # although it is still in use is the solution's own buffer.
        if sum(size for outputs in self.kept for _, size in outputs) > _MOST_ALIVE_BYTES:
            self.kept = []
        self._before = {_pointer(block) for outputs in self.kept for block, _ in outputs}
        self._alive, self.kept = self.kept, []
        self.runner.outputs = []
        # Only here: it waits for the device, which waits at the gate once calls are queued. So does
        # a forward that sets lines aside, which then pays for what its host does.
        driver.forget_persisting_l2()
        gc.disable()
        try:
            with _no_grad():
                answer = self._enqueue(order)
                self.runner.channel.send(wire.Done())
                driver.synchronize()
        except loading.Stop:
            raise
        except BaseException as error:  # noqa: BLE001 - it is told
            source = construct.source if construct is not None else ""
            raise loading.Stop(loading.failure("forward", error, source)) from None
        finally:
            gc.enable()
        if order.null:
            # What forward() has returned is still in use, whatever null calls came between.
            self.kept, self._alive = self._alive, []
        events = tuple(1e3 * first.elapsed_time(last) for first, last in self._events)
        return wire.Batched(answer[0], answer[1], answer[2], events)

    def _enqueue(self, order: wire.Batch) -> tuple[str, tuple[wire.Leaf, ...], int]:
        protocol, state, control = self.protocol, self._state_at, self.control
        self._events: list[tuple[Any, Any]] = []
        seen: set[int] = set()
        form: tuple[str, tuple[wire.Leaf, ...]] = ("", ())
        shapes: tuple[Any, ...] = ()
        odd = 0
        protocol.gate(1, 1, control, state, order.number, _PATIENCE_NS)
        for call in range(order.calls):
            tensors = generator.generate(protocol, self.recipes, state, self.device)
            arguments = forms.fill(self.layout, tensors)
            generator.flush(protocol, self._flush_at, self._flush_bytes, state)
            first = _mark() if order.events else None
            structure, outputs = self._forward(arguments, order, call)
            leaves = tuple(map(forms.leaf, outputs))
            facts = tuple((x.dtype, x.shape, x.strides, x.device, x.exact_type) for x in leaves)
            if call == 0:
                form, shapes = (structure, leaves), facts
                if not all(leaf.exact_type and leaf.device.startswith("cuda") for leaf in leaves):
                    return structure, leaves, 0
            elif facts != shapes or structure != form[0]:
                odd += 1
                break
            if not order.null:
                # Within a batch it is too late for what the earlier call returned: the referee has
                # one run that nobody looks at. What is empty lies nowhere.
                known = seen if call else self._before
                self.reuses |= any(leaf.pointer in known for leaf in leaves if leaf.pointer)
                self._alive = []
            blocks = self._blocks(outputs, leaves, seen)
            if first is not None:
                self._events.append((first, _mark()))
            self._commit(blocks, call)
            if order.inputs_too:
                self.inputs = tensors
        return form[0], form[1], odd

    def _forward(
        self, arguments: list[Any], order: wire.Batch, call: int
    ) -> tuple[str, list[torch.Tensor]]:
        if order.null:
            return "null", [
                _empty(span.shape, dtype=dtype(span.dtype), device=self.device)
                for span in self.nulls
            ]
        if order.rngs:
            _manual_seed(order.rngs[call])
        structure, tensors = forms.flatten(self.runner.called(*arguments))
        return structure, [forms.plain(tensor) for tensor in tensors]

    def _blocks(
        self, outputs: list[torch.Tensor], leaves: tuple[wire.Leaf, ...], seen: set[int]
    ) -> list[torch.Tensor]:
        """The outputs as memory without gaps that no later call will overwrite.

        Where that takes a copy, it is part of the solution's time.
        """
        blocks = []
        for tensor, leaf in zip(outputs, leaves, strict=True):
            block = tensor
            if not is_dense(leaf.shape, leaf.strides):
                block = _contiguous(tensor)
            elif self.reuses or leaf.pointer in seen:
                block = _clone(tensor)
            seen.add(_pointer(block))
            blocks.append(block)
        return blocks

    def _commit(self, blocks: list[torch.Tensor], call: int) -> None:
        """Digest every byte of every output, in memory order, and keep the bytes for the reveal."""
        kept = []
        last = len(blocks) - 1
        for index, block in enumerate(blocks):
            size = block.numel() * block.element_size()
            kept.append((block, size))
            at = _pointer(block)
            if index == last:
                generator.finish_digest(
                    self.protocol, at, size, index, call, self._state_at, self.control
                )
            else:
                generator.add_to_digest(self.protocol, at, size, 0, index, self._state_at)
        self.kept.append(kept)

    def reveal(self, order: wire.Reveal, _: tuple[int, ...]) -> wire.Done:
        """Copy bytes of a kept output (``call`` -1: of the last call's inputs) into the arena."""
        assert self.arena is not None
        if order.call < 0:
            at = _pointer(self.inputs[order.leaf])
        else:
            at = _pointer(self.kept[order.call][order.leaf][0])
        driver.copy(self.arena.address, at + order.offset, order.size_bytes)
        driver.synchronize()
        return wire.Done()


def _mark() -> Any:
    event = _Event(enable_timing=True)
    event.record()
    return event
