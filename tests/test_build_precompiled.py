"""Which wishes for precompiled headers are heard."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.build.precompiled import known_flags

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("wish", "known"),
    [
        (["-fPIC", "-std=c++20"], True),
        (["-fPIC", "-std=c++17", "-O3", "-march=native", "-fopenmp", "-ffast-math"], True),
        (["-fplugin=/tmp/evil.so"], False),
        (["-wrapper", "evil"], False),
        (["-fPIC", "-specs=/tmp/x"], False),
        (["-O3\n-fplugin=x"], False),
        (["-O3"] * 100, False),
        ("-O3", False),
        ([7], False),
    ],
)
def test_only_known_flags(tmp_path: Path, wish: object, *, known: bool) -> None:
    path = tmp_path / "wish.json"
    path.write_text(json.dumps(wish))
    assert bool(known_flags(path)) is known


def test_a_wish_that_is_no_json(tmp_path: Path) -> None:
    path = tmp_path / "wish.json"
    path.write_text("{")
    assert known_flags(path) == ()
