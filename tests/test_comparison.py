from __future__ import annotations

import math

import pytest
import torch

from pytest_kernelbench.judge import comparison
from pytest_kernelbench.judge.comparison import Difference, compare, surely_agrees

NAN, INF = math.nan, math.inf


def difference(got: object, expected: object, tolerance: float = 1e-4) -> Difference:
    return compare(torch.as_tensor(got), torch.as_tensor(expected), atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize(
    ("got", "expected", "agrees"),
    [
        pytest.param([1.0, 2.0], [1.0, 2.0], True, id="equal"),
        pytest.param([1.0, 1000.05], [1.0, 1000.0], True, id="within rtol"),
        pytest.param([1.0, 1000.2], [1.0, 1000.0], False, id="beyond rtol"),
        pytest.param([0.0, 0.00009, 5.0], [0.0, 0.0, 5.0], True, id="within atol"),
        pytest.param([0.0, 0.00011, 5.0], [0.0, 0.0, 5.0], False, id="atol stays below 1 * atol"),
        pytest.param([0.0, 0.0], [1e-6, -1e-6], False, id="zeros for a small output"),
        pytest.param([1.00005e-6], [1e-6], True, id="small output within scaled tolerance"),
        pytest.param([NAN, 1.0], [NAN, 1.0], True, id="NaN where the reference has it"),
        pytest.param([NAN, 1.0], [0.0, 1.0], False, id="NaN of the solution"),
        pytest.param([0.0, 1.0], [NAN, 1.0], False, id="NaN missed by the solution"),
        pytest.param([INF, -INF, 1.0], [INF, -INF, 1.0], True, id="infinities"),
        pytest.param([-INF, 1.0], [INF, 1.0], False, id="sign of infinity"),
        pytest.param([INF, 1.0], [1e38, 1.0], False, id="overflow"),
        pytest.param([NAN, 1.0], [INF, 1.0], False, id="NaN for infinity"),
        pytest.param([2**53 + 1], [2**53], False, id="int64 beyond float64"),
        pytest.param([True, False], [True, False], True, id="bools"),
        pytest.param([True, True], [True, False], False, id="bools differ"),
        pytest.param([1 + 1j], [1 + 1j], True, id="complex"),
        pytest.param([1 - 1j], [1 + 1j], False, id="conjugate"),
    ],
)
def test_rule(got: object, expected: object, *, agrees: bool) -> None:
    assert difference(got, expected).agrees is agrees


def test_infinite_references_leave_the_scale_alone() -> None:
    # The RMS of the finite elements is 1e-3: an error of 1e-4 is ten percent, not "within atol".
    assert difference([INF, 1.1e-3, NAN], [INF, 1e-3, NAN]).wrong == 1


def test_says_where_how_many_how_far() -> None:
    expected = torch.ones(3, 4)
    got = expected.clone()
    got[1, 2], got[2, 3] = 1.5, -1.0
    found = compare(got, expected, atol=1e-4, rtol=1e-4)
    assert (found.elements, found.wrong, found.first_index) == (12, 2, (1, 2))
    assert (found.got, found.expected, found.max_abs, found.rms) == (1.5, 1.0, 2.0, 1.0)
    assert found.used == pytest.approx(2.0 / 2e-4)
    assert found.scaled == 2.0
    assert "2 of 12 elements differ (16.7 %); first at [1, 2]: got 1.5, expected 1.0" in str(found)


def test_counts_unmatched_nonfinite_apart() -> None:
    found = difference([NAN, INF, 3.0, 1.0], [1.0, -INF, 2.0, 1.0])
    assert (found.wrong, found.unmatched_nonfinite, found.max_abs) == (3, 2, 1.0)
    assert "2 NaN or infinite on one side only" in str(found)


def test_all_zero_reference_wants_zeros() -> None:
    assert difference([0.0, 0.0], [0.0, 0.0]).agrees
    found = difference([0.0, 1e-9], [0.0, 0.0])
    assert (found.wrong, found.scaled) == (1, INF)


def test_scalar_and_empty() -> None:
    found = difference(2.0, 1.0)
    assert (found.first_index, found.got, found.expected) == ((), 2.0, 1.0)
    assert difference(torch.empty(0, 3), torch.empty(0, 3)).agrees


def test_shapes_must_match() -> None:
    with pytest.raises(ValueError, match=r"\[2\] and \[1, 2\]"):
        difference([1.0, 1.0], [[1.0, 1.0]])


@pytest.mark.parametrize("shape", [(7,), (1, 100), (5, 3, 2), (2, 11, 3), (4, 1, 9), (3, 3, 3, 3)])
@pytest.mark.parametrize("block_elements", [1, 4, 10, 10_000])
def test_blocks_change_nothing(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], block_elements: int
) -> None:
    generator = torch.Generator().manual_seed(len(shape))
    expected = torch.randn(shape, generator=generator)
    wrong = torch.rand(shape, generator=generator) < 0.3
    wrong.view(-1)[-1] = True
    got = torch.where(wrong, expected + 1, expected)
    monkeypatch.setattr(comparison, "BLOCK_ELEMENTS", block_elements)
    found = compare(got, expected, atol=1e-4, rtol=1e-4)
    assert found.wrong == int(wrong.sum())
    assert found.first_index == tuple(wrong.nonzero()[0].tolist())
    assert found.rms == pytest.approx(float(expected.square().mean().sqrt()))


def test_blocks_are_small_and_cover_each_element_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "BLOCK_ELEMENTS", 6)
    visits = torch.zeros(3, 5, 4)
    for block in comparison._blocks(visits.shape):
        assert visits[block].numel() <= 6
        visits[block] += 1
    assert bool((visits == 1).all())


def test_strided_views() -> None:
    expected = torch.randn(6, 8)
    got = expected.T.contiguous().T
    assert compare(got, expected, atol=0.0, rtol=0.0).agrees
    assert compare(expected[::2, 1::3], expected[::2, 1::3].clone(), atol=0.0, rtol=0.0).agrees


def test_other_dtypes_are_compared_in_float64() -> None:
    expected = torch.tensor([1.0 + 1e-9], dtype=torch.float64)
    assert not compare(torch.tensor([1.0]), expected, atol=0.0, rtol=1e-10).agrees
    half = torch.tensor([65504.0], dtype=torch.float16)
    assert compare(half, half.double(), atol=0.0, rtol=0.0).max_abs == 0.0


def test_inputs_that_require_grad_are_left_alone() -> None:
    expected = torch.ones(3, requires_grad=True)
    assert compare(expected * 1, expected, atol=0.0, rtol=0.0).agrees
    assert expected.grad is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("off", [0.0, 0.5, 0.85, 0.95, 1.0, 1.05, 3.0])
def test_the_quick_look_is_never_more_lenient(dtype: torch.dtype, scale: float, off: float) -> None:
    """One element of 10,000 stands at ``off`` of what it may be wrong by."""
    generator = torch.Generator().manual_seed(1)
    expected = scale * torch.randn(100, 100, generator=generator, dtype=dtype)
    got = expected.clone()
    rms = expected.double().square().mean().sqrt().item()
    allowed = 1e-4 * min(1.0, rms) + 1e-4 * abs(expected[3, 4].item())
    got[3, 4] += off * allowed
    quick = surely_agrees(got, expected, atol=1e-4, rtol=1e-4)
    assert quick is (off < 0.9)
    if quick:
        assert compare(got, expected, atol=1e-4, rtol=1e-4).agrees


@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("where", ["got", "expected", "both"])
def test_what_is_not_finite_is_left_to_the_slow_look(special: float, where: str) -> None:
    got, expected = torch.ones(10), torch.ones(10)
    for name, tensor in {"got": got, "expected": expected}.items():
        if where in (name, "both"):
            tensor[5] = special
    assert not surely_agrees(got, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (torch.ones(3), torch.ones(4)),
        (torch.ones(3), torch.ones(3, dtype=torch.float64)),
        (torch.ones(3, dtype=torch.int32), torch.ones(3, dtype=torch.int32)),
        (torch.ones(3, dtype=torch.float16), torch.ones(3, dtype=torch.float16)),
        (torch.ones(0), torch.ones(0)),
    ],
)
def test_what_the_quick_look_does_not_know(got: torch.Tensor, expected: torch.Tensor) -> None:
    assert not surely_agrees(got, expected, atol=1e-4, rtol=1e-4)
