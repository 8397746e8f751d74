"""Which wishes for precompiled headers are heard."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_kernelbench.build import precompiled
from pytest_kernelbench.build.driver import PRECOMPILED, flags_key
from pytest_kernelbench.build.leavings import Leavings
from pytest_kernelbench.build.precompiled import Precompiled, known_flags, wishes

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
def test_only_known_flags(wish: object, *, known: bool) -> None:
    assert bool(known_flags(json.dumps(wish).encode())) is known


@pytest.mark.parametrize("wish", [b"{", b"\xff", b"[" * 10_000, b""])
def test_a_wish_that_is_no_json(wish: bytes) -> None:
    assert known_flags(wish) == ()


def test_a_pipe_is_no_wish(tmp_path: Path) -> None:
    (tmp_path / "wishes").mkdir()
    (tmp_path / "wishes" / "a.json").write_text('["-O3"]')
    assert wishes(Leavings(tmp_path)) == [("-O3",)]
    os.mkfifo(tmp_path / "wishes" / "b.json")
    assert wishes(Leavings(tmp_path)) == []


def test_what_killed_makers_left_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = ("-O2",)
    tools: Any = SimpleNamespace(cxx_version="", cxx="c++")
    slots: Any = SimpleNamespace(hold=nullcontext)
    maker = Precompiled(tmp_path, tools, slots)
    monkeypatch.setattr(precompiled, "torch_includes", lambda _: [])
    monkeypatch.setattr(maker, "_text", lambda: "")
    monkeypatch.setattr(maker, "_run", lambda _: True)
    headers = tmp_path / PRECOMPILED
    left, others = headers / f".{flags_key(flags)}-1234", headers / ".0123-1234"
    for folder in (left, others):
        folder.mkdir(parents=True)
    assert maker.make(flags)
    assert (headers / flags_key(flags)).is_dir()
    assert (left.exists(), others.exists()) == (False, True)
