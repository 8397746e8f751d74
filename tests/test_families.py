"""What the input families make of arguments, and which of them a problem is asked with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from pytest_kernelbench.judge.agreement import Expected
from pytest_kernelbench.judge.families import ADVICE, MIXTURES, rounds, transformed
from pytest_kernelbench.judge.program import ALL_FAMILIES
from pytest_kernelbench.judge.questions import Prepare
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Callable

ORDER = Prepare("p.py", "full", "cpu", "fp32", 1, 1e-4, 1e-4, tf32=False, threads=1)


def drawn() -> torch.Tensor:
    return torch.rand(64, 400) + 0.5


def test_a_problem_is_asked_with_what_it_bears() -> None:
    assert tuple(rounds(("large", "negated"))) == ("negated", "large")
    assert tuple(rounds(())) == ()
    assert tuple(rounds(("mixed", "small", "huge"))) == ("small", "mixed", "mixed", "spotted")
    assert set(rounds(ALL_FAMILIES)) == set(ADVICE)


@pytest.mark.parametrize("family", MIXTURES)
def test_a_mixture_has_only_ways_that_the_problem_bears(family: str) -> None:
    x = drawn()
    (got,) = transformed([x], family, ("negated", "small", "mixed"))
    assert torch.equal(got.abs(), x)
    assert 0 < int((got < 0).sum()) < x.numel()
    (same,) = transformed([x], family, ("small", "mixed"))
    assert torch.equal(same, x)


@pytest.mark.parametrize("family", MIXTURES)
def test_a_triangular_matrix_stays_one(family: str) -> None:
    (got,) = transformed([drawn().tril()], family, ("negated", "large", "mixed"))
    assert torch.equal(got.tril(), got)


@pytest.mark.parametrize("family", MIXTURES)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3fn", "complex64"])
def test_every_float_is_mixed_and_keeps_its_type(family: str, dtype: str) -> None:
    kind = getattr(torch, dtype)
    x = drawn().to(kind)
    (got,) = transformed([x], family)
    assert (got.dtype, got.shape) == (kind, x.shape)
    assert not torch.equal(got.to(torch.complex64), x.to(torch.complex64))


@pytest.mark.parametrize("family", MIXTURES)
def test_integers_masks_and_plain_values_stay(family: str) -> None:
    index, mask = torch.arange(64), torch.ones(64, dtype=torch.bool)
    got = transformed([index, {"mask": mask}, 3], family)
    assert torch.equal(got[0], index)
    assert torch.equal(got[1]["mask"], mask)
    assert got[2] == 3


# --- what the first numbers tell, and what it is worth


def guarded_relu(x: torch.Tensor) -> torch.Tensor:
    v = x + 0.1
    return v.relu() if bool((x.flatten()[:64] < 0).any()) else v


def guarded_softmax(x: torch.Tensor) -> torch.Tensor:
    small = bool((x.flatten()[:64].abs() < 12).all())
    top = 0.0 if small else x.amax(1, keepdim=True)
    powers = (x - top).exp()
    return powers / powers.sum(1, keepdim=True)


def relu_of_rows(x: torch.Tensor) -> torch.Tensor:
    """The first numbers of each row decide for it."""
    v = x + 0.1
    return v.relu().where((x[:, :16] < 0).any(1, keepdim=True), v)


class Reference:
    """A problem's model in few words."""

    def __init__(self, forward: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self._forward = forward

    def forward(self, arguments: list[Any], rng: int | None) -> tuple[str, list[torch.Tensor]]:
        assert rng is None
        return "T", [self._forward(*arguments)]

    def exact(self, arguments: list[Any]) -> list[torch.Tensor]:
        return [self._forward(*(each.double() for each in arguments))]


def relu(x: torch.Tensor) -> torch.Tensor:
    return (x + 0.1).relu()


def softmax(x: torch.Tensor) -> torch.Tensor:
    return x.softmax(1)


SHORTCUTS = {
    "relu": (relu, guarded_relu, drawn, "mixed"),
    "softmax": (softmax, guarded_softmax, lambda: 2.0 * torch.randn(64, 400), "mixed"),
    "relu of rows": (relu, relu_of_rows, drawn, "spotted"),
}


def agrees(
    forward: Callable[[torch.Tensor], torch.Tensor],
    kernel: Callable[[torch.Tensor], torch.Tensor],
    made: Callable[[], torch.Tensor],
    family: str,
    seed: int,
) -> bool:
    def draw() -> list[Any]:
        torch.manual_seed(seed)
        return transformed([made()], family)

    expected = Expected(Reference(forward), draw, None, family, ORDER)  # type: ignore[arg-type]
    status = expected.compare(0, kernel(*draw())).status
    assert status in ("", Status.WRONG_VALUE.value)
    return not status


@pytest.mark.parametrize("name", SHORTCUTS)
def test_a_shortcut_by_the_first_numbers_is_seen_by_mixtures_alone(name: str) -> None:
    forward, shortcut, made, mixture = SHORTCUTS[name]
    for family in rounds(ALL_FAMILIES):
        if family not in MIXTURES:
            assert agrees(forward, shortcut, made, family, 1), family
    passed = [agrees(forward, shortcut, made, mixture, seed) for seed in range(40)]
    assert sum(passed) / 40 < 1 / 4, (
        "the most allowed is an eighth; 40 draws deviate by a twentieth"
    )
    for seed in range(20):
        assert agrees(forward, forward, made, mixture, seed)
