"""Calls on the problem's own inputs that are held against float64, and those that are not."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from pytest_kernelbench.judge.agreement import Expected
from pytest_kernelbench.judge.families import PLAIN
from pytest_kernelbench.judge.questions import Prepare
from pytest_kernelbench.verdict import Status

ORDER = Prepare("p.py", "full", "cpu", "fp32", 1, 1e-4, 1e-4, tf32=False, threads=1)


class Product:
    """Stands for a reference: a product on inputs in [0, 1), as KernelBench draws them."""

    def forward(self, arguments: list[Any], rng: int | None) -> tuple[str, list[torch.Tensor]]:
        assert rng is None
        return "T", [arguments[0] @ arguments[1]]

    def exact(self, arguments: list[Any]) -> list[torch.Tensor]:
        return [arguments[0].double() @ arguments[1].double()]


def draw() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(5)
    return [torch.rand(48, 1024, generator=generator), torch.rand(1024, 48, generator=generator)]


def expected(*, closely: bool) -> Expected:
    return Expected(Product(), draw, None, PLAIN, ORDER, closely=closely)  # type: ignore[arg-type]


def in_order(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """As a naive kernel adds: one term after the other."""
    total = torch.zeros(a.shape[0], b.shape[1])
    for k in range(a.shape[1]):
        total += a[:, k, None] * b[None, k]
    return total


PRODUCTS = {
    "the library's": (lambda a, b: a @ b, True),
    "in another order": (in_order, True),
    "half precision inside": (lambda a, b: a.half().float() @ b.half().float(), False),
}


@pytest.mark.parametrize("how", PRODUCTS)
def test_precision_shows_where_one_looks_closely(how: str) -> None:
    multiply, precise = PRODUCTS[how]
    got = multiply(*draw())
    assert not expected(closely=False).compare(0, got).status, "the tolerance is for all of them"
    found = expected(closely=True).compare(0, got)
    assert found.status == ("" if precise else Status.WRONG_VALUE.value)
    if not precise:
        assert "of lower precision than the reference" in found.reason
