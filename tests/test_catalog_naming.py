"""Names tell level, number, name and sample in the usual ways."""

from __future__ import annotations

import pytest

from pytest_kernelbench.catalog.naming import Place, letters, level_of, parse


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("level_1_problem_19_sample_3_kernel.py", Place(1, 19, "", 3)),
        ("level1/019_relu", Place(1, 19, "relu")),
        ("level1_19_relu_attempt2", Place(1, 19, "relu", 2)),
        ("level1_problem19_kernel_relu", Place(1, 19, "relu")),
        ("Level 1: 1_Square_matrix_multiplication_", Place(1, 1, "Square_matrix_multiplication")),
        ("l1_p19", Place(1, 19)),
        ("L1-P19_relu_s4", Place(1, 19, "relu", 4)),
        ("1/19", Place(1, 19)),
        ("1_19.py", Place(1, 19)),
        ("19_ReLU.py", Place(None, 19, "ReLU")),
        ("problem_12_kernel.py", Place(None, 12)),
        ("10_google-bert-base_bs1_seq32.py", Place(None, 10, "google-bert-base_bs1_seq32")),
        ("38_L1Norm_.py", Place(None, 38, "L1Norm")),
        ("039_l2norm", Place(None, 39, "l2norm")),
        ("relu.txt", Place(name="relu")),
        ("gemm_n128_k2048", Place(name="gemm_n128_k2048")),
        ("kernel.py", Place()),
        ("", Place()),
        ("levels", Place(name="levels")),
        ("resnet18", Place(name="resnet18")),
    ],
)
def test_parse(text: str, place: Place) -> None:
    assert parse(text) == place


@pytest.mark.parametrize(
    ("folder", "level"),
    [
        ("level2", 2),
        ("opus4_level2_20250101", 2),
        ("Level_3", 3),
        ("multilevel", None),
        ("x", None),
    ],
)
def test_level_of(folder: str, level: int | None) -> None:
    assert level_of(folder) == level


def test_letters() -> None:
    assert letters("1_Add_-x") == letters("1addX") == "1addx"
