"""What runners are told once of a problem's inputs holds for each draw of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from pytest_kernelbench.errors import ProblemError  # noqa: E402 - torch may be missing
from pytest_kernelbench.judge.handover import Form  # noqa: E402
from pytest_kernelbench.judge.oracle import Oracle  # noqa: E402


def drawn(rows: int = 4, kind: Any = torch.float32, scale: float = 2.0) -> list[Any]:
    return [torch.zeros(3), {"x": torch.rand(rows, 8).to(kind)}, scale]


def test_other_values_are_the_same_form() -> None:
    Form.of(drawn()).require(drawn())


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (drawn(rows=5), r"tensor 1 .* is float32 \[5, 8\] in one draw and float32 \[4, 8\] in an"),
        (drawn(rows=3), r"float32 \[3, 8\]"),
        (drawn(kind=torch.float16), "is float16"),
        (drawn(scale=3.0), "beside tensors"),
        (drawn()[1:], "beside tensors, or how many there are"),
    ],
    ids=["more rows", "fewer rows", "dtype", "plain value", "fewer tensors"],
)
def test_another_form_is_the_problems_fault(other: list[Any], words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        Form.of(drawn()).require(other)


def test_no_round_is_made_of_a_draw_of_another_form() -> None:
    """On a device the referee asks for so many bytes out of it as runners were told."""
    oracle = Oracle()
    oracle.form = Form.of(drawn())
    oracle.reference = SimpleNamespace(inputs=lambda seed, _: drawn(rows=seed))  # type: ignore[assignment]
    oracle.draws = {1: (4, "plain"), 2: (5, "plain")}
    assert oracle.arguments(1)
    with pytest.raises(ProblemError, match="memory is set up once"):
        oracle.arguments(2)
