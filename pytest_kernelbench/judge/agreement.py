"""Expected outputs of one round, and the rule by which a solution's agree with them.

On inputs as the problem draws them: the tolerance the user chose (``comparison``). On the other input families:
``|got - ref64| <= r |ref64| + 8 max |ref - ref64|``, with the reference in float64 and ``r`` a few roundings of the dtype; a
kernel may be as wrong as the reference itself is, and no more, so that lower precision inside shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import torch

from pytest_kernelbench.judge.comparison import Difference, compare
from pytest_kernelbench.judge.families import ADVICE, PLAIN
from pytest_kernelbench.judge.program import cast_tensor, map_tensors
from pytest_kernelbench.judge.questions import Compared, Prepare
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from pytest_kernelbench.judge.reference import Reference


class Look(Protocol):
    """How two tensors are compared: ``comparison.compare``, or the device's quick one."""

    def __call__(
        self, got: torch.Tensor, expected: torch.Tensor, *, atol: float, rtol: float
    ) -> Difference:
        """As ``comparison.compare``."""

_ROUNDINGS = {"fp32": 1e-5, "fp16": 4e-3, "bf16": 3.2e-2}
_OWN_ERRORS = 8.0


class Expected:
    """What the reference answers to ``arguments``; ``arguments`` may be spoiled afterwards."""

    def __init__(
        self,
        reference: Reference,
        arguments: list[Any],
        rng: int | None,
        family: str,
        order: Prepare,
        look: Look = compare,
    ) -> None:
        self.family = family
        self._look = look
        self._atol, self._rtol = order.atol, order.rtol
        self._dtype = order.dtype
        doubled: list[torch.Tensor] | None = None
        if family != PLAIN and rng is None and fits_in_double(arguments):
            wide = [map_tensors(v, lambda t: cast_tensor(t.clone(), torch.float64)) for v in arguments]
            _, doubled = reference.forward(wide, None, double=True)
        _, self.tensors = reference.forward(arguments, rng)
        self._doubled = doubled

    def compare(self, index: int, got: torch.Tensor) -> Compared:
        """The finding on leaf ``index``."""
        expected = self.tensors[index]
        difference = self._difference(index, got.to(expected.device))
        if difference.agrees:
            return Compared("", "", "")
        where = "" if len(self.tensors) == 1 else f"output {index}: "
        reason = f"{where}{difference}"
        if self.family != PLAIN:
            reason = f"{ADVICE[self.family]}: {reason}"
        return Compared(Status.WRONG_VALUE.value, reason, _table(expected, got, difference))

    def _difference(self, index: int, got: torch.Tensor) -> Difference:
        expected = self.tensors[index]
        if self._doubled is None or not expected.is_floating_point():
            return self._look(got, expected, atol=self._atol, rtol=self._rtol)
        exact = self._doubled[index]
        own = self._look(expected, exact, atol=0.0, rtol=0.0)
        scale = min(1.0, own.rms) or 1.0  # compare() multiplies by it again
        atol = _OWN_ERRORS * own.max_abs / scale
        return self._look(got, exact, atol=atol, rtol=_ROUNDINGS[self._dtype])

    def agreed(self) -> Compared:
        """The finding when no leaf differed."""
        return Compared("", "", "")


def fits_in_double(arguments: list[Any]) -> bool:
    """Whether a float64 copy of everything is small beside the free memory of the device."""
    total = 0
    device = torch.device("cpu")

    def weigh(tensor: torch.Tensor) -> torch.Tensor:
        nonlocal total, device
        total += 8 * tensor.numel()
        device = tensor.device
        return tensor

    for value in arguments:
        map_tensors(value, weigh)
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return total * 8 < free
    return total < 1 << 30


def insensitive(
    reference: Reference,
    outputs: list[torch.Tensor],
    order: Prepare,
    rng: int | None,
    look: Look = compare,
) -> str:
    """Why no kernel can be judged by this problem, or an empty string."""

    def same(got: torch.Tensor, expected: torch.Tensor) -> bool:
        return look(got, expected, atol=order.atol, rtol=order.rtol).agrees

    again = reference.inputs(order.seed + 2, PLAIN)
    _, others = reference.forward(again, rng)
    _, repeated = reference.forward(reference.inputs(order.seed + 1, PLAIN), rng)
    for first, other, twin in zip(outputs, others, repeated, strict=True):
        if first.shape != other.shape:
            return "the reference's output changes its shape from one draw of inputs to the next"
        if not same(twin, first):
            return "the reference does not agree with itself when it is run twice on the same inputs"
    if all(same(a, b) for a, b in zip(outputs, others, strict=True)):
        return (
            "the output hardly depends on the inputs: two draws of inputs agree within the tolerance, "
            "so a constant would pass. Scale the inputs, or change a constant"
        )
    floats = [tensor for tensor in outputs if tensor.is_floating_point() and tensor.numel() > 1]
    if floats and all(same(torch.full_like(t, _mean(t)), t) for t in floats):
        return "a constant agrees with the reference within the tolerance: no kernel can be judged by it"
    return ""


def _mean(tensor: torch.Tensor) -> float:
    return float(tensor.mean(dtype=torch.float64))


def _table(expected: torch.Tensor, got: torch.Tensor, difference: Difference) -> str:
    """A few elements around the first that differs, got beside expected."""
    if difference.first_index is None:
        return ""
    *outer, last = difference.first_index if difference.first_index[:] else (0,)
    if expected.dim() == 0:
        return f"got      {got.item():.7g}\nexpected {expected.item():.7g}"
    start = max(0, last - 1)
    window = slice(start, start + 6)
    ours = got[(*outer, window)].tolist()
    theirs = expected[(*outer, window)].tolist()
    place = ", ".join(map(str, [*outer, f"{start}:{start + len(ours)}"]))
    return (
        f"elements [{place}]\n"
        f"got      {'  '.join(f'{value:.7g}' for value in ours)}\n"
        f"expected {'  '.join(f'{value:.7g}' for value in theirs)}"
    )
