"""The oracle on a device.

Inputs and outputs pass through shared memory in pieces, digests are recomputed.
"""

from __future__ import annotations

import gc
import struct
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from pytest_kernelbench.judge import chain, families, questions, wire
from pytest_kernelbench.judge.agreement import AGREED, Expected
from pytest_kernelbench.judge.inside import driver, forms, generator
from pytest_kernelbench.judge.inside.dense import is_dense
from pytest_kernelbench.judge.inside.memory import dtype
from pytest_kernelbench.judge.quick import QuickLook
from pytest_kernelbench.judge.rates import bandwidth, matrix_rates
from pytest_kernelbench.judge.spans import contiguous_spans
from pytest_kernelbench.judge.variation import FROM_SEVERAL
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_kernelbench.judge.oracle import Answer, Oracle


class DeviceOracle:
    """What an oracle does on a device beside preparing a problem."""

    def __init__(self, oracle: Oracle, cubin: bytes, device: str = "cuda:0") -> None:
        """Load the protocol's kernels: the same machine code as in the runners."""
        self.oracle = oracle
        self.device = device
        torch.cuda.init()
        self.state = torch.zeros(generator.STATE_BYTES, dtype=torch.uint8, device=device)
        self.protocol = driver.Protocol(cubin)
        self.look = QuickLook(self.protocol)
        self.arenas: dict[int, driver.SharedMemory] = {}
        self.drawn: tuple[int, list[torch.Tensor]] | None = None
        self.bases: tuple[tuple[int, ...], bytes, list[generator.Recipe]] | None = None
        self.varied: tuple[int, tuple[int, ...], chain.Key] | None = None
        self.expected: Expected | None = None
        self.leaves: tuple[wire.Leaf, ...] = ()
        self.got: list[torch.Tensor] = []
        self.key = (0, 0)
        self._noise: torch.Tensor | None = None

    def handler(self, question: wire.Message) -> Callable[[Any, tuple[int, ...]], Answer]:
        """The method that answers ``question``."""
        handlers: dict[type, Callable[[Any, tuple[int, ...]], Answer]] = {
            questions.Share: self.share,
            questions.Fill: self.fill,
            questions.Same: self.same,
            questions.Varied: self.vary,
            questions.Expect: self.expect,
            questions.Check: self.check,
            questions.Conclude: self.conclude,
            questions.Forget: self.forget,
            questions.MeasureRates: self.measure_rates,
        }
        return handlers[type(question)]

    def share(self, order: questions.Share, _: tuple[int, ...]) -> Answer:
        """New memory for one runner; what was shared under that slot before is given back."""
        if order.slot in self.arenas:
            self.arenas.pop(order.slot).close()
        arena = driver.SharedMemory.create(order.size_bytes)
        self.arenas[order.slot] = arena
        return questions.Shared(arena.size_bytes), (arena.export(),)

    def fill(self, order: questions.Fill, _: tuple[int, ...]) -> Answer:
        """Bytes of an input into the arena."""
        tensor = self._inputs(order.number)[order.tensor]
        driver.copy(
            self.arenas[order.slot].address, tensor.data_ptr() + order.offset, order.size_bytes
        )
        driver.synchronize()
        return wire.Done(), ()

    def same(self, order: questions.Same, _: tuple[int, ...]) -> Answer:
        """Whether an input is still as it was drawn."""
        tensor = self._inputs(order.number)[order.tensor]
        seen = torch.empty(order.size_bytes, dtype=torch.uint8, device=self.device)
        driver.copy(seen.data_ptr(), self.arenas[order.slot].address, order.size_bytes)
        end = order.offset + order.size_bytes
        drawn = tensor.view(-1).view(torch.uint8)[order.offset : end]
        if torch.equal(seen, drawn):
            return AGREED, ()
        reason = "forward() changed its inputs, which the reference leaves as they are"
        return questions.Compared(Status.ALTERED_INPUTS.value, reason, ""), ()

    def vary(self, order: questions.Varied, _: tuple[int, ...]) -> Answer:
        """Remember how a batch's call got its inputs: by the same kernel under the same key."""
        self.varied = (order.number, order.bases, order.key)
        return wire.Done(), ()

    def _varied_inputs(self, bases: tuple[int, ...], key: chain.Key) -> list[Any]:
        layout, recipes = self._recipes(bases)
        self._set_key(key)
        tensors = generator.generate(self.protocol, recipes, self.state.data_ptr(), self.device)
        return forms.fill(layout, tensors)

    def expect(self, order: questions.Expect, _: tuple[int, ...]) -> Answer:
        """The expected outputs; room for those that will be revealed."""
        oracle = self.oracle
        if self.varied is not None and self.varied[0] == order.number:
            family = families.PLAIN
            draw = partial(self._varied_inputs, *self.varied[1:])
        else:
            family = oracle.draws[order.number][1]
            draw = partial(oracle.arguments, order.number)
            self.drawn = None  # its memory is wanted; the seed makes it again
        self.expected = Expected(
            oracle.reference,
            draw,
            order.rng,
            family,
            oracle.order,
            self.look,
            closely=order.closely,
        )
        self.leaves = order.leaves
        self.got = [
            torch.empty(size_bytes(leaf), dtype=torch.uint8, device=self.device)
            for leaf in order.leaves
        ]
        noise = self._noise_of(order.flush_bytes, order.flush_seed)
        self.key = order.key
        self._set_key(order.key)
        generator.flush(self.protocol, noise.data_ptr(), order.flush_bytes, self.state.data_ptr())
        return wire.Done(), ()

    def _noise_of(self, size_bytes: int, seed: int) -> torch.Tensor:
        if self._noise is None:
            self._noise = generator.make_noise(size_bytes, seed, self.device)
        return self._noise

    def check(self, order: questions.Check, _: tuple[int, ...]) -> Answer:
        """Take revealed bytes into our own memory, where nobody changes them, and digest them."""
        got = self.got[order.leaf]
        at = got.data_ptr() + order.offset
        driver.copy(at, self.arenas[order.slot].address, order.size_bytes)
        generator.add_to_digest(
            self.protocol, at, order.size_bytes, order.offset, order.leaf, self.state.data_ptr()
        )
        driver.synchronize()
        return wire.Done(), ()

    def conclude(self, _: questions.Conclude, __: tuple[int, ...]) -> Answer:
        """The digest of what was revealed, and the comparison."""
        assert self.expected is not None
        sums = struct.unpack_from("<4Q", bytes(self.state[:32].cpu().tolist()))[2:]
        digested = chain.digest((sums[0], sums[1]), self.key)
        found = AGREED
        for index, (leaf, raw) in enumerate(zip(self.leaves, self.got, strict=True)):
            found = self.expected.compare(index, in_form(raw, leaf))
            if found.status:
                break
        self.expected, self.got = None, []
        return questions.Concluded(digested, found), ()

    def measure_rates(self, _: questions.MeasureRates, __: tuple[int, ...]) -> Answer:
        """What this device can do at its best, measured rather than read off a data sheet."""
        self.forget(questions.Forget(), ())
        return questions.Rates(bandwidth(self.device), matrix_rates(self.device)), ()

    def forget(self, _: questions.Forget, __: tuple[int, ...]) -> Answer:
        """Free what can be made again."""
        self.drawn = self.bases = self.varied = self.expected = self._noise = None
        self.got = []
        gc.collect()
        torch.cuda.empty_cache()
        return wire.Done(), ()

    def _inputs(self, number: int) -> list[torch.Tensor]:
        if self.drawn is None or self.drawn[0] != number:
            self.drawn = None
            _, tensors = self.oracle.layout(self.oracle.arguments(number))
            self.drawn = (number, tensors)
        return self.drawn[1]

    def _recipes(self, bases: tuple[int, ...]) -> tuple[bytes, list[generator.Recipe]]:
        if self.bases is None or self.bases[0] != bases:
            self.bases = None
            layout, tensors = self.oracle.layout(self.oracle.arguments(bases[0]))
            spans, _ = contiguous_spans(tensors)
            recipes = generator.make_base(spans, self.oracle.modes, self.device)
            for variant, number in enumerate(bases):
                _, tensors = self.oracle.layout(self.oracle.arguments(number))
                for recipe, tensor in zip(recipes, tensors, strict=True):
                    if variant == 0 or recipe.mode in FROM_SEVERAL:
                        size = recipe.span.size_bytes
                        recipe.base[variant * size : (variant + 1) * size] = tensor.view(-1).view(
                            torch.uint8
                        )
            self.bases = (bases, layout, recipes)
        return self.bases[1], self.bases[2]

    def _set_key(self, key: tuple[int, int]) -> None:
        raw = struct.pack("<4Q4I4Q", key[0], key[1], 0, 0, 0, 0, 0, 0, *([0] * 2), 0, 0)
        host = torch.frombuffer(bytearray(raw[: generator.STATE_BYTES]), dtype=torch.uint8)
        self.state[: len(host)] = host.to(self.device)


def size_bytes(leaf: wire.Leaf) -> int:
    """Bytes of all elements."""
    count = 1
    for size in leaf.shape:
        count *= size
    return count * dtype(leaf.dtype).itemsize


def in_form(raw: torch.Tensor, leaf: wire.Leaf) -> torch.Tensor:
    """The tensor whose bytes, in memory order, are ``raw``."""
    flat = raw.view(dtype(leaf.dtype))
    if is_dense(leaf.shape, leaf.strides):
        return flat.as_strided(leaf.shape, leaf.strides)
    return flat.view(leaf.shape)
