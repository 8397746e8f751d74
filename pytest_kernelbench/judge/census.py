"""How large a problem is: counted at true size on the meta device, which needs no memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_kernelbench.judge.program import load_program
from pytest_kernelbench.judge.proofs import leaves, run_forward

if TYPE_CHECKING:
    from pathlib import Path

    import torch


@dataclass(frozen=True)
class Size:
    """What one forward at full size reads, computes and writes."""

    input_shapes: tuple[tuple[int, ...], ...]
    output_shapes: tuple[tuple[int, ...], ...]
    parameters: int
    flops: int
    """Of matrix products and convolutions: what torch's own counter counts."""
    moved_bytes: int
    """Inputs and parameters read once, outputs written once: no kernel can move less."""

    @property
    def intensity(self) -> float:
        """FLOPs per byte moved."""
        return self.flops / self.moved_bytes if self.moved_bytes else 0.0


def measure_size(path: Path) -> Size:
    """Trace the problem at ``path`` once. Raises ``ProblemError`` if it does not run."""
    import torch

    from pytest_kernelbench.judge.operators import OperatorLog

    program = load_program(path)
    with torch.no_grad():
        model = program.make_model(0, "meta")
        inputs = program.make_inputs(0, "meta")
        with OperatorLog() as log:
            outputs = run_forward(program, model, inputs)
    read = [tensor for _, tensor in leaves(inputs)]
    return Size(
        input_shapes=tuple(tuple(tensor.shape) for tensor in read),
        output_shapes=tuple(tuple(tensor.shape) for tensor in outputs),
        parameters=sum(each.numel() for each in model.parameters()),
        flops=log.flops,
        moved_bytes=_bytes([*read, *model.parameters(), *outputs]),
    )


def _bytes(tensors: list[torch.Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
