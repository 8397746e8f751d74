"""Which operators a program runs: what it computes, apart from how its author spelt it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from torch.utils.flop_counter import flop_registry

from pytest_kernelbench.judge.kernel_names import VIEWS
from pytest_kernelbench.judge.operator_mode import OperatorMode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch._ops import OpOverload

SAME = {"addmm": "mm", "_safe_softmax": "_softmax", "hardtanh": "clamp", "clamp_min": "clamp"}
"""Spellings of one operation."""

INSIGNIFICANT = frozenset(
    # Arithmetic around operators is written in many ways ...
    {"add", "sub", "rsub", "mul", "div", "neg", "pow"}
    # ... so are views and copies ...
    | VIEWS
    | {"split_with_sizes", "clone", "copy", "_to_copy", "lift_fresh", "cat", "stack", "repeat"}
    # ... and constants.
    | {"empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like"}
    | {"new_empty", "new_zeros", "new_ones", "new_full", "arange", "scalar_tensor", "fill"}
)


def significant(runs: Mapping[str, int]) -> dict[str, int]:
    """Sum up operators by name, without overloads, in-place marks, views, copies and arithmetic."""
    counts: Counter[str] = Counter()
    for name, count in runs.items():
        if _plain(name) not in INSIGNIFICANT:
            counts[_plain(name)] += count
    return dict(sorted(counts.items()))


def _plain(name: str) -> str:
    name = name.partition(".")[0].rstrip("_")
    return SAME.get(name, name)


class OperatorLog(OperatorMode):
    """While it is active, notes the name of each operator that runs, and its FLOPs.

    Counts as torch's ``FlopCounterMode`` does, which takes several times as long: a recurrent
    network runs 60,000 operators at true size.
    """

    def __init__(self) -> None:
        super().__init__()
        self._runs: Counter[OpOverload] = Counter()
        self.flops = 0

    @property
    def count(self) -> int:
        """How many operators ran, of whatever kind."""
        return sum(self._runs.values())

    @property
    def operators(self) -> dict[str, int]:
        """How often each significant operator ran, by plain name."""
        return significant({str(op).removeprefix("aten."): n for op, n in self._runs.items()})

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> object:
        """Run ``func`` as it is."""
        self._runs[func] += 1
        kwargs = kwargs or {}
        result: object = func(*args, **kwargs)
        if count := flop_registry.get(func.overloadpacket):
            self.flops += count(*args, **kwargs, out_val=result)
        return result
