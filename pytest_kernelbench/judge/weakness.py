"""What a problem's own inputs and parameters cannot show.

It is found before any solution is judged by them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from pytest_kernelbench.judge.comparison import compare
from pytest_kernelbench.judge.inside import forms
from pytest_kernelbench.judge.operator_mode import OperatorMode
from pytest_kernelbench.judge.program import map_clone

if TYPE_CHECKING:
    from pytest_kernelbench.judge.agreement import Agrees
    from pytest_kernelbench.judge.questions import Prepare
    from pytest_kernelbench.judge.reference import Reference

_SMALL_PARAMETER = 1e-3
_MORE_THAN_ROUNDING = 1e-6
_BENDS = frozenset({
    "abs", "clamp", "clamp_max", "clamp_min", "hardtanh",
    "leaky_relu", "relu", "relu6", "threshold",
})  # fmt: skip


def negligible_term(reference: Reference, arguments: list[Any], order: Prepare) -> str:
    """Why a term of the reference cannot be judged: without it the output stays within tolerance.

    Empty if there is none. Only parameters that are small throughout are tried, as LayerScale has
    them, in float64: what changes the output by no more than float32 rounds is nobody's fault.
    """
    names = [
        name
        for name, value in reference.model.named_parameters()
        if value.is_floating_point()
        and value.numel()
        and 0 < float(value.detach().abs().max()) <= _SMALL_PARAMETER
    ]
    whole = reference.exact(map_clone(arguments)) if names else None
    if whole is None:
        return ""
    for name in names:
        without = reference.exact(map_clone(arguments), without=name)
        if without is None:
            return ""
        found = [
            compare(got, expected, atol=order.atol, rtol=order.rtol)
            for got, expected in zip(without, whole, strict=True)
        ]
        if all(each.agrees for each in found) and any(
            each.max_abs > _MORE_THAN_ROUNDING * each.rms for each in found
        ):
            most = max(each.max_abs for each in found)
            return (
                f"the parameter {name} is too small for its term to be judged: without it the "
                f"output changes by at most {most:.2g}, which is within the tolerance. "
                "Give it larger values"
            )
    return ""


def hidden_step(
    reference: Reference, arguments: list[Any], rng: int | None, agrees: Agrees, order: Prepare
) -> str:
    """Which step of the reference its own inputs cannot show; empty if each shows.

    The input families then decide. Either the output *is* an input, within the tolerance, or a
    relu, a clamp or the like passes every element on.
    """
    inputs = [tensor.clone() for tensor in forms.flatten(arguments)[1]]
    with _Bends() as bends:
        _, outputs = reference.forward(arguments, rng)
    for output in outputs:
        for given in inputs:
            same = (
                output.shape == given.shape and output.dtype == given.dtype and output.numel() > 1
            )
            if same and agrees(given, output, atol=order.atol, rtol=order.rtol):
                return (
                    "on the problem's own inputs the output equals an input, within the tolerance"
                )
    if bends.idle:
        return f"on the problem's own inputs {', '.join(sorted(bends.idle))} changes nothing"
    return ""


class _Bends(OperatorMode):
    """Notes operators that could change values and changed none in the whole forward."""

    def __init__(self) -> None:
        super().__init__()
        self.idle: set[str] = set()
        self._busy: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kind = str(func.overloadpacket).rpartition(".")[2].rstrip("_")  # in place or not
        watched = (
            kind in _BENDS and isinstance(args[0], torch.Tensor) and args[0].is_floating_point()
        )
        before = args[0].clone() if watched else None
        result = func(*args, **(kwargs or {}))
        if before is not None:
            if torch.equal(before, result):
                self.idle.add(kind)
            else:
                self._busy.add(kind)
        return result

    def __exit__(self, *exc: object) -> None:
        self.idle -= self._busy
        super().__exit__(*exc)  # type: ignore[no-untyped-call] # torch's is untyped
