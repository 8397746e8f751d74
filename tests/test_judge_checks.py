"""Form before value: what is wrong with a result, told from numbers alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_kernelbench.judge.checks import ITEM_BYTES, extent_bytes, form_fault, overlaps
from pytest_kernelbench.judge.inside.dense import is_dense
from pytest_kernelbench.judge.wire import Leaf, Span
from pytest_kernelbench.verdict import Status

OUTPUT = Span("float32", (4, 8), 0, 128)


def leaf(**changes: object) -> Leaf:
    facts = {
        "dtype": "float32",
        "shape": (4, 8),
        "strides": (8, 1),
        "pointer": 4096,
        "device": "cpu",
        "exact_type": True,
    }
    return Leaf(**(facts | changes))


def expected(*, expanded: bool = False) -> Any:
    return SimpleNamespace(structure="T", outputs=(OUTPUT,), expanded=(expanded,))


def fault(structure: str = "T", **changes: object) -> tuple[Status, str] | None:
    return form_fault(structure, (leaf(**changes),), expected(), "cpu")


def test_places_that_take_turns_are_no_overlap() -> None:
    """As of six elements at 0, 2, 4, 3, 5 and 7."""
    form = SimpleNamespace(
        structure="T", outputs=(Span("float32", (2, 3), 0, 24),), expanded=(False,)
    )
    assert form_fault("T", (leaf(shape=(2, 3), strides=(3, 2)),), form, "cpu") is None


def test_the_right_form_has_no_fault() -> None:
    assert fault() is None


@pytest.mark.parametrize("strides", [(8, 1), (1, 4), (16, 1), (16, 2)])
def test_views_and_padded_storage_are_legal(strides: tuple[int, int]) -> None:
    assert fault(strides=strides) is None


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"structure": "(T,)"}, Status.WRONG_STRUCTURE, "returned (T,)"),
        ({"structure": "<Answer>"}, Status.WRONG_STRUCTURE, "<Answer>"),
        ({"exact_type": False, "dtype": "Lazy"}, Status.WRONG_STRUCTURE, "is a Lazy"),
        ({"device": "cuda:0"}, Status.WRONG_STRUCTURE, "lies on cuda:0"),
        ({"shape": (8, 4), "strides": (4, 1)}, Status.WRONG_SHAPE, "[8, 4]"),
        ({"shape": (4, 1), "strides": (1, 1)}, Status.WRONG_SHAPE, "[4, 1]"),
        ({"dtype": "float64"}, Status.WRONG_DTYPE, "float64"),
        ({"strides": (0, 1)}, Status.WRONG_STRUCTURE, "share memory"),
        ({"strides": (4, 1)}, Status.WRONG_STRUCTURE, "share memory"),
        ({"strides": (-8, 1)}, Status.WRONG_STRUCTURE, "share memory"),
        ({"strides": (1,)}, Status.WRONG_STRUCTURE, "share memory"),
    ],
)
def test_fault(changes: dict[str, object], status: Status, words: str) -> None:
    found = fault(**changes)
    assert found is not None
    assert found[0] is status
    assert words in found[1]


@pytest.mark.parametrize("strides", [(0, 1), (0, 0), (8, 1)])
def test_what_the_reference_expands_a_solution_may(strides: tuple[int, int]) -> None:
    assert form_fault("T", (leaf(strides=strides),), expected(expanded=True), "cpu") is None
    backwards = form_fault("T", (leaf(strides=(-8, 1)),), expected(expanded=True), "cpu")
    assert backwards is not None
    assert backwards[0] is Status.WRONG_STRUCTURE


def test_each_dtype_of_torch_has_its_size() -> None:
    torch = pytest.importorskip("torch")
    kinds = {
        str(kind).removeprefix("torch."): kind
        for kind in vars(torch).values()
        if isinstance(kind, torch.dtype)
    }
    plain = {name: kind for name, kind in kinds.items() if name in ITEM_BYTES}
    assert {name: kind.itemsize for name, kind in plain.items()} == ITEM_BYTES
    floats = {name for name, kind in kinds.items() if kind.is_floating_point and "x2" not in name}
    assert floats <= set(plain)


def test_a_missing_output_is_a_fault_of_structure() -> None:
    found = form_fault("T", (), expected(), "cpu")
    assert found is not None
    assert found[0] is Status.WRONG_STRUCTURE


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((2, 3), (3, 1), False),
        ((2, 3), (1, 2), False),
        ((5,), (0,), True),
        ((1, 5), (0, 1), False),
        ((2, 3), (2, 1), True),
        ((0, 3), (0, 0), False),
        ((2, 3), (3, 2), False),
        ((3, 4), (3, 2), True),
        ((1000, 2, 3), (8, 3, 2), False),
        ((1000, 2, 3), (7, 3, 2), True),
        ((1 << 16, 2, 3), (8, 3, 2), True),
        ((2, 3), (-3, 2), True),
    ],
)
def test_overlaps(shape: tuple[int, ...], strides: tuple[int, ...], *, expected: bool) -> None:
    assert overlaps(shape, strides) is expected


@pytest.mark.parametrize(
    ("shape", "strides", "dense"),
    [
        ((2, 3), (3, 1), True),
        ((2, 3), (1, 2), True),
        ((2, 3), (4, 1), False),
        ((2, 1), (1, 9), True),
    ],
)
def test_is_dense(shape: tuple[int, ...], strides: tuple[int, ...], *, dense: bool) -> None:
    assert is_dense(shape, strides) is dense


def test_extent_reaches_from_first_to_last_byte() -> None:
    assert extent_bytes(leaf(strides=(16, 1))) == (3 * 16 + 7 + 1) * 4
    assert extent_bytes(leaf(shape=(0, 8))) == 0
