"""Expected outputs of one round, and the rule by which a solution's agree with them.

On inputs as the problem draws them, and on small ones: the tolerance the user chose
(``comparison``), or what float64 allows. On the other input families float64 alone, with the
reference in float64, ``r`` a few roundings of the dtype and ``s`` a small share:

    ``|got - ref64| <= r |ref64| + max(8 max |ref - ref64|, s std(ref64))``

A kernel may be a few times as wrong as the reference itself is, which may have summed in double
precision, or as wrong as plain sums in another order are; no more, so lower precision inside shows:
of TF32's products five in six lie outside. The deviation and no mean square: what all outputs have
in common is no measure of how far they may be apart. Where only parts of an input are unlike the
rest, ``s`` is a share of the largest distance from the mean instead: few outputs may be large, as
sums of large terms that nearly cancel have their rounding, and little of all deviation is theirs.
Where inputs are small, an ``exp(x) - 1`` has
the rounding of 1, which no kernel without an ``expm1`` can help.

Some calls on the problem's own inputs are looked at as closely: who tells the families from those
by their signs, or counts its calls, could be precise only where it is asked to be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import torch

from pytest_kernelbench.judge.comparison import (
    Difference,
    compare,
    real_parts,
    surely_agrees,
)
from pytest_kernelbench.judge.families import ADVICE, MIXTURES, PLAIN, SMALL
from pytest_kernelbench.judge.questions import Compared, Prepare
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from pytest_kernelbench.judge.reference import Reference


class Agrees(Protocol):
    """Whether two tensors agree: ``comparison.agrees``, or the device's quick one."""

    def __call__(
        self, got: torch.Tensor, expected: torch.Tensor, *, atol: float, rtol: float
    ) -> bool:
        """As ``comparison.agrees``."""


class Look(Protocol):
    """How two tensors are compared: ``comparison.compare``, or the device's quick one."""

    def __call__(
        self, got: torch.Tensor, expected: torch.Tensor, *, atol: float, rtol: float
    ) -> Difference:
        """As ``comparison.compare``."""


_ROUNDINGS = {"fp32": 1e-5, "fp16": 4e-3, "bf16": 3.2e-2}
_OWN_ERRORS = 8.0
_ORDER_SHARE = {"fp32": 5e-5}
"""Of the standard deviation; the reference's own error in a shorter dtype is large enough."""
_FEW = 64
"""Elements below which errors of lower precision may have averaged out: no share for these."""
_BY_TOLERANCE = (PLAIN, SMALL)
_IMPRECISE = "of lower precision than the reference, on the problem's own inputs"


class Expected:
    """What the reference answers to the inputs that ``draw`` makes (the same at each call)."""

    def __init__(  # noqa: PLR0913, PLR0917 - a round and how it is judged
        self,
        reference: Reference,
        draw: Callable[[], list[Any]],
        rng: int | None,
        family: str,
        order: Prepare,
        look: Look = compare,
        *,
        closely: bool = False,
    ) -> None:
        self.family = family
        self.closely = closely
        self._reference = reference
        self._draw = draw
        self._rng = rng
        self._look = look
        self._order = order
        _, self.tensors = reference.forward(draw(), rng)

    @cached_property
    def exact(self) -> list[torch.Tensor] | None:
        """The outputs in float64, or None.

        None where the reference draws random numbers or does not run in float64, or where memory
        does not suffice.
        """
        return self._reference.exact(self._draw()) if self._rng is None else None

    def compare(self, index: int, got: torch.Tensor) -> Compared:
        """The finding on output ``index``."""
        expected = self.tensors[index]
        there = got.to(expected.device)
        difference, advice = self._difference(index, there), ADVICE.get(self.family, "")
        if difference.agrees and self.closely and self._bounds(index):
            difference, advice = self._bounded(index, there, self._roundings), _IMPRECISE
        if difference.agrees:
            return AGREED
        where = "" if len(self.tensors) == 1 else f"output {index}: "
        reason = f"{where}{difference}"
        if advice:
            reason = f"{advice}: {reason}"
        return Compared(Status.WRONG_VALUE.value, reason, _table(expected, got, difference))

    def _difference(self, index: int, got: torch.Tensor) -> Difference:
        expected = self.tensors[index]
        atol, rtol = self._order.atol, self._order.rtol
        if self.family in _BY_TOLERANCE or not self._bounds(index):
            if self._look is compare and surely_agrees(got, expected, atol=atol, rtol=rtol):
                return Difference(elements=expected.numel(), wrong=0)
            difference = self._look(got, expected, atol=atol, rtol=rtol)
            if difference.agrees or not self._bounds(index):
                return difference
            # Sums that cancel leave small elements with the rounding of large ones: no fixed
            # tolerance fits both.
            bounded = self._bounded(index, got, rtol)
            return bounded if bounded.agrees else difference
        return self._bounded(index, got, self._roundings)

    @property
    def _roundings(self) -> float:
        return _ROUNDINGS[self._order.dtype]

    def _bounds(self, index: int) -> bool:
        """Whether float64 says how far from it output ``index`` may be.

        It does not where the reference itself casts to a shorter dtype.
        """
        if not self.tensors[index].is_floating_point() or self.exact is None:
            return False
        return self.exact[index].dtype is torch.float64

    def _bounded(self, index: int, got: torch.Tensor, rtol: float) -> Difference:
        """Against float64, by the reference's own worst error or a share of the outputs."""
        assert self.exact is not None
        exact = self.exact[index]
        own = self._look(self.tensors[index], exact, atol=0.0, rtol=0.0)
        share = _ORDER_SHARE.get(self._order.dtype, 0.0) if exact.numel() >= _FEW else 0.0
        allowed = max(_OWN_ERRORS * own.max_abs, share and share * self._spread(exact, own.rms))
        scale = min(1.0, own.rms) or 1.0  # the comparison multiplies by it again
        return self._look(got, exact, atol=allowed / scale, rtol=rtol)

    def _spread(self, exact: torch.Tensor, rms: float) -> float:
        return _reach(exact) if self.family in MIXTURES else _deviation(exact, rms)


AGREED = Compared("", "", "")


Same = Callable[[torch.Tensor, torch.Tensor], bool]
"""Whether two tensors of one shape agree within the order's tolerance."""


def inconstant(
    outputs: list[torch.Tensor],
    repeated: list[torch.Tensor],
    others: list[torch.Tensor],
    same: Same,
) -> str:
    """Why nothing can be held against this reference's ``outputs``, or an empty string.

    ``repeated`` are its outputs for the same inputs, ``others`` for another draw.
    """
    if _forms(repeated) != _forms(outputs) or not all(map(same, repeated, outputs)):
        return "the reference does not agree with itself when it is run twice on the same inputs"
    if _forms(others) != _forms(outputs):
        return "the reference's output changes its shape from one draw of inputs to the next"
    return ""


def _forms(outputs: list[torch.Tensor]) -> list[tuple[torch.Size, torch.dtype]]:
    return [(tensor.shape, tensor.dtype) for tensor in outputs]


def insensitive(outputs: list[torch.Tensor], others: list[torch.Tensor], same: Same) -> str:
    """Why a constant would pass for the reference, or an empty string."""
    if all(map(same, outputs, others)):
        return (
            "the output hardly depends on the inputs: two draws of inputs agree within the "
            "tolerance, so a constant would pass. Scale the inputs, or change a constant"
        )
    floats = [tensor for tensor in outputs if tensor.is_floating_point() and tensor.numel() > 1]
    if floats and all(same(torch.full_like(t, _mean(t)), t) for t in floats):
        return (
            "a constant agrees with the reference within the tolerance: "
            "no kernel can be judged by it"
        )
    return ""


def _deviation(exact: torch.Tensor, rms: float) -> float:
    """The standard deviation of all elements, by their mean square; 0 if any is not finite."""
    squared = rms * rms - float(exact.mean()) ** 2
    return math.sqrt(squared) if math.isfinite(squared) and squared > 0.0 else 0.0


def _reach(exact: torch.Tensor) -> float:
    """How far from their mean an element is at most; 0 if any is not finite."""
    low, high = (float(each) for each in exact.aminmax())
    mean = float(exact.mean())
    reach = max(high - mean, mean - low)
    return reach if math.isfinite(reach) else 0.0


def _mean(tensor: torch.Tensor) -> float:
    return float(tensor.mean(dtype=torch.float64))


def _table(expected: torch.Tensor, got: torch.Tensor, difference: Difference) -> str:
    """A few elements around the first that differs, got beside expected."""
    if difference.first_index is None:
        return ""
    got, expected = real_parts(got), real_parts(expected)  # as they were compared
    *outer, last = difference.first_index or (0,)
    if expected.dim() == 0:
        return f"got      {got.item():.7g}\nexpected {expected.item():.7g}"
    start = max(0, last - 1)
    window: tuple[int | slice, ...] = (*outer, slice(start, start + 6))
    ours = got[window].tolist()
    theirs = expected[window].tolist()
    place = ", ".join(map(str, [*outer, f"{start}:{start + len(ours)}"]))
    return (
        f"elements [{place}]\n"
        f"got      {'  '.join(f'{value:.7g}' for value in ours)}\n"
        f"expected {'  '.join(f'{value:.7g}' for value in theirs)}"
    )
