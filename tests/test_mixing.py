"""Tensors changed in stretches: how many, where, and that nobody can tell from a few numbers."""

from __future__ import annotations

import pytest
import torch

from pytest_kernelbench.judge.mixing import mixed

WAYS = ("negated", "large", "shifted")
SHAPES = [(2,), (5,), (300,), (30_000,), (1, 64, 64), (2, 3, 40, 40), (7, 1000), (100, 320)]
DRAWS = 40


def change(tensor: torch.Tensor, way: str) -> torch.Tensor:
    return {"negated": -tensor, "large": 30.0 * tensor, "shifted": tensor + 1000.0}[way]


def made(
    tensor: torch.Tensor, seed: int, *, spots: bool, ways: tuple[str, ...] = WAYS
) -> torch.Tensor:
    torch.manual_seed(seed)
    return mixed(tensor, ways, change, spots=spots)


def drawn(*shape: int) -> torch.Tensor:
    return 0.5 + torch.rand(shape, generator=torch.Generator().manual_seed(4))


@pytest.mark.parametrize("spots", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_some_is_changed_and_never_all(shape: tuple[int, ...], spots: bool) -> None:  # noqa: FBT001
    tensor = drawn(*shape)
    for seed in range(DRAWS):
        changed = made(tensor, seed, spots=spots) != tensor
        assert 0 < int(changed.sum()) < tensor.numel()


@pytest.mark.parametrize("spots", [False, True])
def test_the_seed_decides_all_of_it(spots: bool) -> None:  # noqa: FBT001
    tensor = drawn(100, 320)
    first, again, other = (made(tensor, seed, spots=spots) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_rows_change_whole_and_each_in_one_way() -> None:
    tensor = drawn(100, 320)
    got = made(tensor, 3, spots=False)
    ways = {way: (got == change(tensor, way)).all(1) for way in WAYS}
    kept = (got == tensor).all(1)
    assert sum(rows.int() for rows in ways.values()).add(kept.int()).eq(1).all()
    counts = [int(rows.sum()) for rows in ways.values()]
    assert max(counts) - min(counts) <= 1, "each way has its part"


def test_about_an_eighth_and_nobody_foresees_how_many() -> None:
    tensor = drawn(100, 320)
    counts = [
        int((made(tensor, seed, spots=False) != tensor).any(1).sum()) for seed in range(DRAWS)
    ]
    assert 100 / 8 * 0.8 < sum(counts) / DRAWS < 100 / 8 * 1.25
    assert len(set(counts)) > 5


@pytest.mark.parametrize("shape", [(30_000,), (128, 10, 8), (100, 320), (4, 3, 48, 48)], ids=str)
def test_the_first_numbers_say_nothing_in_seven_of_eight_draws(shape: tuple[int, ...]) -> None:
    """Where there are at least 16 slices of 64 numbers: also of short rows, or of few long ones.

    (Tensors so small that torch takes one thread: a test waits for no other process.)
    """
    tensor, draws = drawn(*shape), 400
    for spots, most in ((False, 1 / 8), (True, 1 / 8)):
        seen = sum(
            not torch.equal(made(tensor, seed, spots=spots).flatten()[:64], tensor.flatten()[:64])
            for seed in range(draws)
        )
        assert seen / draws < most + 0.05, "three deviations of 400 draws"


def test_numbers_that_lie_evenly_mostly_miss_the_spots() -> None:
    tensor, draws = drawn(128, 240), 200
    every = tensor.numel() // 64
    seen = sum(
        not torch.equal(made(tensor, seed, spots=True).view(-1)[::every], tensor.view(-1)[::every])
        for seed in range(draws)
    )
    assert seen / draws < 1 / 2


def test_one_element_alone_is_changed_and_none_stays_none() -> None:
    for spots in (False, True):
        for shape in ((), (1,), (1, 1)):
            got = made(torch.full(shape, 2.0), 1, spots=spots)
            assert got.shape == shape
            assert float(got) in (-2.0, 60.0, 1002.0)
        assert made(torch.empty(0, 3), 1, spots=spots).shape == (0, 3)


def test_without_a_way_all_is_as_drawn() -> None:
    tensor = drawn(8, 8)
    assert torch.equal(made(tensor, 1, spots=False, ways=()), tensor)


def test_strides_stay_and_the_draw_is_left_alone() -> None:
    tensor = drawn(64, 96).T
    before = tensor.clone()
    got = made(tensor, 1, spots=False)
    assert got.stride() == tensor.stride()
    assert torch.equal(tensor, before)
    assert made(torch.ones(1).expand(64, 4), 1, spots=True).shape == (64, 4)
