"""What float64 allows on the input families: plain float32 in any order, and no lower precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from pytest_kernelbench.judge.agreement import Expected
from pytest_kernelbench.judge.questions import Prepare
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Callable

ORDER = Prepare("p.py", "full", "cpu", "fp32", 1, 1e-4, 1e-4, tf32=False, threads=1)


class Exact:
    """A reference as torch's on a CPU often is: float32 that was float64 inside."""

    def __init__(self, forward: Callable[..., torch.Tensor]) -> None:
        self._forward = forward

    def forward(self, arguments: list[Any], rng: int | None) -> tuple[str, list[torch.Tensor]]:
        assert rng is None
        return "T", [out.float() for out in self.exact(arguments)]

    def exact(self, arguments: list[Any]) -> list[torch.Tensor]:
        return [self._forward(*(tensor.double() for tensor in arguments))]


def found(
    forward: Callable[..., torch.Tensor], inputs: list[torch.Tensor], family: str, got: torch.Tensor
) -> str:
    """The finding's status; empty if all agree."""
    reference = Exact(forward)
    expected = Expected(reference, lambda: inputs, None, family, ORDER)  # type: ignore[arg-type]
    return expected.compare(0, got).status


def noise(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(3))


def one_after_the_other(x: torch.Tensor) -> torch.Tensor:
    total, sums = torch.zeros(x.shape[0]), []
    for column in x.unbind(1):
        total = total + column
        sums.append(total)
    return torch.stack(sums, 1)


def by_mean_of_squares(x: torch.Tensor) -> torch.Tensor:
    """A norm from sums of x and of its squares, as a kernel of one pass has it."""
    n, first, second = x.shape[0], torch.zeros(x.shape[1]), torch.zeros(x.shape[1])
    for row in x:
        first = first + row
        second = second + row * row
    mean = first / n
    return (x - mean) * torch.rsqrt(second / n - mean * mean + 1e-5)


def normed(x: torch.Tensor) -> torch.Tensor:
    return (x - x.mean(0)) * torch.rsqrt(x.var(0, unbiased=False) + 1e-5)


@pytest.mark.parametrize("scale", [1.0, 30.0])
@pytest.mark.parametrize("family", ["zero_mean", "large"])
def test_plain_sums_are_no_lower_precision(scale: float, family: str) -> None:
    x = scale * noise(4, 4000)
    assert not found(lambda x: x.cumsum(1), [x], family, one_after_the_other(x))
    x = scale * noise(3000, 16)
    assert not found(normed, [x], family, by_mean_of_squares(x))


def short(x: torch.Tensor, bits: int) -> torch.Tensor:
    """Rounded to ``bits`` of a mantissa: ten are TF32's."""
    mantissa, exponent = torch.frexp(x)
    return torch.ldexp((mantissa * 2 ** (bits + 1)).round() / 2 ** (bits + 1), exponent)


@pytest.mark.parametrize(("bits", "agrees"), [(24, True), (14, False), (10, False), (7, False)])
@pytest.mark.parametrize("family", ["zero_mean", "negated", "large"])
def test_lower_precision_shows(family: str, bits: int, agrees: bool) -> None:  # noqa: FBT001
    a, b = noise(40, 512), noise(512, 40)
    got = short(a, bits) @ short(b, bits)
    assert (found(torch.matmul, [a, b], family, got) == "") is agrees


def test_few_outputs_have_no_share() -> None:
    """In one sum errors of lower precision average out: it is held to the reference's own."""
    x = noise(1000) + 1.0
    got = torch.sum(x.bfloat16().double()).float()
    assert abs(float(got) / float(x.sum()) - 1.0) > 2e-5
    assert found(torch.sum, [x], "zero_mean", got) == Status.WRONG_VALUE.value


def test_near_zero_the_tolerance_decides() -> None:
    x = 1e-3 * noise(64, 64)
    assert not found(torch.expm1, [x], "small", torch.exp(x) - 1.0)
    assert found(torch.expm1, [x], "small", x) == Status.WRONG_VALUE.value, "its square is missing"


def test_what_all_outputs_have_in_common_allows_nothing() -> None:
    """TF32's errors are small beside outputs of 1000 that differ by one."""
    a, b = noise(40, 512), noise(512, 40)

    def raised(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b + 1e3

    got = short(a, 10) @ short(b, 10) + 1e3
    assert found(raised, [a, b], "zero_mean", got) == Status.WRONG_VALUE.value


@pytest.mark.parametrize("family", ["mixed", "spotted"])
def test_where_few_outputs_are_large_these_are_the_measure(family: str) -> None:
    """A sum of large terms that nearly cancel is a small one with their rounding."""
    x = noise(4096)
    x[7] = 1e3
    near, far = x.clone(), x.clone()
    near[9] += 0.02
    far[9] += 0.2
    assert not found(torch.clone, [x], family, near)
    assert found(torch.clone, [x], "zero_mean", near) == Status.WRONG_VALUE.value
    assert found(torch.clone, [x], family, far) == Status.WRONG_VALUE.value
