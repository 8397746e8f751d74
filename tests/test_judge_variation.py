"""How each kind of input is varied on a device; found by looking at it, so a CPU's will do."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from pytest_kernelbench.judge.variation import MIX, PICK, SCALE, SYMMETRIC, mode_of, variants


def noise(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(3))


def symmetric(*shape: int) -> torch.Tensor:
    matrix = noise(*shape)
    return matrix + matrix.mT


def shares(*shape: int) -> torch.Tensor:
    return noise(*shape).softmax(-1)


def doubly(n: int) -> torch.Tensor:
    """Symmetric, and its rows sum to one."""
    return torch.eye(n) * 0.5 + 0.5 / n


INPUTS: dict[str, tuple[str, Callable[[], torch.Tensor]]] = {
    "a matrix": (SCALE, lambda: noise(64, 32)),
    "a square matrix": (SCALE, lambda: noise(32, 32)),
    "a vector": (SCALE, lambda: noise(100)),
    "a number": (SCALE, lambda: torch.tensor(2.5)),
    "positive numbers": (SCALE, lambda: noise(64, 32).abs()),
    "float64": (SCALE, lambda: noise(64, 32).double()),
    "float16": (SCALE, lambda: noise(64, 32).half()),
    "bfloat16": (SCALE, lambda: noise(64, 32).bfloat16()),
    "few numbers in few places": (SCALE, lambda: torch.ones(4, 4)[:2]),
    "transposed": (SCALE, lambda: noise(64, 32).T),
    "symmetric": (SYMMETRIC, lambda: symmetric(32, 32)),
    "symmetric, by the batch": (SYMMETRIC, lambda: symmetric(3, 32, 32)),
    "one of a batch is not symmetric": (
        SCALE,
        lambda: torch.stack([symmetric(32, 32), noise(32, 32)]),
    ),
    "symmetric in two other dimensions": (
        SCALE,
        lambda: symmetric(8, 8).repeat(5, 1, 1).permute(1, 2, 0),
    ),
    "symmetric before its rows sum to one": (SYMMETRIC, lambda: doubly(32) + torch.diag(noise(32))),
    "symmetric, and its rows sum to one": (PICK, lambda: doubly(32)),
    "integers": (PICK, lambda: torch.arange(100)),
    "bytes": (PICK, lambda: torch.arange(100, dtype=torch.uint8)),
    "a mask": (PICK, lambda: noise(64, 32) > 0),
    "a mask of floats": (PICK, lambda: noise(64, 32).sign().relu()),
    "labels of floats": (PICK, lambda: torch.arange(160).remainder(16).half()),
    "seventeen labels": (SCALE, lambda: torch.arange(170).remainder(17).half()),
    "symmetric signs": (PICK, lambda: symmetric(32, 32).sign()),
    "constant": (PICK, lambda: torch.full((64, 32), 0.5)),
    "complex": (PICK, lambda: noise(64, 32) + 1j),
    "eight bits": (PICK, lambda: noise(64, 32).to(torch.float8_e4m3fn)),
    "empty": (PICK, lambda: noise(0, 32)),
    "rows that sum to one": (MIX, lambda: shares(64, 32)),
    "rows that sum to one, by the batch": (MIX, lambda: shares(4, 8, 32)),
    "square, and rows sum to one": (MIX, lambda: shares(32, 32)),
    "in half precision, rows sum to one": (MIX, lambda: shares(64, 32).half()),
    "rows that nearly sum to one": (SCALE, lambda: shares(64, 32) * 1.002),
    "one row does not sum to one": (SCALE, lambda: torch.cat([shares(9, 32), noise(1, 32)])),
    "columns that sum to one": (SCALE, lambda: shares(64, 32).T),
    "a vector that sums to one": (SCALE, lambda: shares(100)),
    "ones in a column": (SCALE, lambda: torch.ones(8, 1)),
}


@pytest.mark.parametrize(("mode", "make"), INPUTS.values(), ids=INPUTS)
def test_an_input_stays_what_it_is(mode: str, make: Callable[[], torch.Tensor]) -> None:
    assert mode_of(make()) == mode


@pytest.mark.parametrize(
    ("modes", "draws"),
    [((), 1), ((SCALE,), 1), ((SCALE, SYMMETRIC), 1), ((SCALE, PICK), 4), ((MIX,), 4)],
)
def test_so_many_draws_are_taken(modes: tuple[str, ...], draws: int) -> None:
    assert variants(modes) == draws
