"""What a problem shows of itself before any solution is judged by it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.errors import ProblemError
from pytest_kernelbench.judge import families
from pytest_kernelbench.judge.agreement import inconstant, insensitive
from pytest_kernelbench.judge.checks import overlaps
from pytest_kernelbench.judge.handover import Form, laid_out
from pytest_kernelbench.judge.program import map_clone
from pytest_kernelbench.judge.spans import contiguous_spans
from pytest_kernelbench.judge.variation import mode_of
from pytest_kernelbench.judge.weakness import hidden_step, negligible_term
from pytest_kernelbench.settings import DEFAULT_TOLERANCE

if TYPE_CHECKING:
    import torch

    from pytest_kernelbench.judge.agreement import Agrees, Same
    from pytest_kernelbench.judge.questions import Prepare
    from pytest_kernelbench.judge.reference import Reference
    from pytest_kernelbench.judge.wire import Span

_CLOSER_DRAWS = 8


@dataclass(frozen=True)
class Facts:
    """Of one draw of inputs and of forwards on it; see ``questions.Prepared``."""

    structure: str
    outputs: tuple[Span, ...]
    expanded: tuple[bool, ...]
    pickled_layout: bytes
    inputs: tuple[Span, ...]
    inputs_bytes: int
    modes: tuple[str, ...]
    draws_random: bool
    mutates: bool
    families: tuple[str, ...]
    forward_us: float
    launches: int
    flops: float
    hidden: str
    notes: tuple[str, ...]


class Examination:
    """Runs the reference on a few draws of inputs. No memory of theirs outlives it."""

    def __init__(self, reference: Reference, order: Prepare, agrees: Agrees) -> None:
        self._reference = reference
        self._order = order
        self._agrees = agrees
        self._arguments = reference.inputs(order.seed + 1, families.PLAIN)
        self._form = Form.of(self._arguments)
        self._draws_random = reference.draws_random(map_clone(self._arguments))
        self._rng = 0 if self._draws_random else None
        self._structure, self._outputs = reference.forward(map_clone(self._arguments), self._rng)
        usable = () if self._draws_random else reference.program.FAMILIES
        self._families = tuple(families.rounds(usable))

    def facts(self) -> Facts:
        """Raises ``ProblemError`` where no solution can be judged by the problem."""
        reference, rng = self._reference, self._rng
        blind, notes = self._tolerance()
        hidden = self._hidden(blind)
        _, inputs = laid_out(self._arguments)
        spans, size_bytes = contiguous_spans(inputs)
        output_spans, _ = contiguous_spans(self._outputs)
        mutates = reference.mutates(self._inputs(1), rng)
        forward_us = reference.forward_us(self._arguments, rng)
        operators = reference.operators(self._arguments, rng)
        return Facts(
            structure=self._structure,
            outputs=output_spans,
            expanded=tuple(overlaps(each.shape, each.stride()) for each in self._outputs),
            pickled_layout=self._form.layout,
            inputs=spans,
            inputs_bytes=size_bytes,
            modes=tuple(map(mode_of, inputs)),
            draws_random=self._draws_random,
            mutates=mutates,
            families=self._families,
            forward_us=forward_us,
            launches=operators.count,
            flops=float(operators.flops),
            hidden=hidden,
            notes=notes,
        )

    def _tolerance(self) -> tuple[str, tuple[str, ...]]:
        """What the tolerance does not see, or empty; and notes on what else there is to see it."""
        same = self._same(self._order.atol, self._order.rtol)
        _, repeated = self._reference.forward(map_clone(self._arguments), self._rng)
        others = self._other_outputs(2)
        if refusal := inconstant(self._outputs, repeated, others, same):
            raise ProblemError(refusal)
        notes = self._notes_on_float64()
        return insensitive(self._outputs, others, same), notes

    def _notes_on_float64(self) -> tuple[str, ...]:
        if not self._families:
            return ()
        self._reference.exact(map_clone(self._arguments))
        why = self._reference.no_double.partition("\n")[0]
        return (f"not held against float64: {why}",) if why else ()

    def _hidden(self, blind: str) -> str:
        """Which step the problem's own inputs cannot show, or empty."""
        if blind and not self._seen_closer():
            raise ProblemError(blind)
        reference, order = self._reference, self._order
        arguments = map_clone(self._arguments)
        if not self._draws_random and (tiny := negligible_term(reference, arguments, order)):
            raise ProblemError(tiny)
        # Ours have been audited, and all their families decide.
        if blind or reference.program.is_native:
            return blind
        arguments = map_clone(self._arguments)
        return hidden_step(reference, arguments, self._rng, self._agrees, order)

    def _seen_closer(self) -> bool:
        """Whether float32's tolerance tells some other draw of inputs from the first.

        A single number in a short dtype repeats by chance, so several are tried.
        """
        finest = DEFAULT_TOLERANCE["fp32"]
        if not self._families and self._order.atol > finest:
            return False  # nothing else would decide
        same = self._same(min(self._order.atol, finest), min(self._order.rtol, finest))
        for number in range(3, 3 + _CLOSER_DRAWS):
            others = self._other_outputs(number)
            if not all(same(a, b) for a, b in zip(self._outputs, others, strict=True)):
                return True
        return False

    def _other_outputs(self, number: int) -> list[torch.Tensor]:
        return self._reference.forward(self._inputs(number), self._rng)[1]

    def _inputs(self, number: int) -> list[Any]:
        inputs = self._reference.inputs(self._order.seed + number, families.PLAIN)
        self._form.require(inputs)
        return inputs

    def _same(self, atol: float, rtol: float) -> Same:
        return partial(self._agrees, atol=atol, rtol=rtol)
