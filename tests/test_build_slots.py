"""How many compilers run at a time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import psutil
import pytest

from pytest_kernelbench.build.slots import (
    COMPILER_BYTES,
    MOST_FOR_ONE,
    Slots,
    memory_bound,
    most_useful,
    usable_slots,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_one_build_alone_takes_several(tmp_path: Path) -> None:
    with Slots(tmp_path, 8).hold() as jobs:
        assert jobs == MOST_FOR_ONE


def test_what_others_wait_for_is_left_to_them(tmp_path: Path) -> None:
    with Slots(tmp_path, 4).hold(others=10) as jobs:
        assert jobs == 1
    with Slots(tmp_path, 4).hold(others=2) as jobs:
        assert jobs == 2


def test_never_more_than_there_are_between_two_users_of_one_folder(tmp_path: Path) -> None:
    one, other = Slots(tmp_path, 3), Slots(tmp_path, 3)
    with one.hold(others=1) as first, other.hold() as second:
        assert (first, second) == (2, 1)
        third = threading.Event()
        thread = threading.Thread(target=_hold, args=(one, third))
        thread.start()
        assert not third.wait(0.2)
    assert third.wait(5)
    thread.join()


def _hold(slots: Slots, held: threading.Event) -> None:
    with slots.hold():
        held.set()


@pytest.mark.parametrize(
    ("wanted", "cores", "free", "expected"),
    [
        (None, 4, 100, 4),
        (2, 4, 100, 2),
        (8, 4, 100, 8),
        (None, 16, 3, 3),
        (None, 4, 0, 1),
    ],
)
def test_bounded_by_cores_and_memory(
    monkeypatch: pytest.MonkeyPatch, wanted: int | None, cores: int, free: int, expected: int
) -> None:
    memory = psutil.virtual_memory()._replace(available=free * COMPILER_BYTES)
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)))
    assert usable_slots(wanted) == expected


INLINE = b"load_inline('x', cpp_sources=a, "


@pytest.mark.parametrize(
    ("source", "most"),
    [
        (b"import triton", 1),
        (INLINE + b"functions=['f'])", 1),
        (INLINE + b"cuda_sources=b)", 2),
        (INLINE + b"'__global__ void k() {}')", 2),
        (b"load('x', ['a.cu', 'b.cpp', here + 'c.cu'])", 3),
        (b"load('x', ['a.cu', 'b.cu', 'c.cu', 'd.cu', 'e.cu'])", MOST_FOR_ONE),
        (b"open('a.cu')", 1),
    ],
)
def test_what_a_solution_can_keep_busy(source: bytes, most: int) -> None:
    assert most_useful(source) == most


def test_nobody_takes_more_than_is_of_use(tmp_path: Path) -> None:
    with Slots(tmp_path, 8).hold(most=2) as jobs:
        assert jobs == 2


def test_names_of_sources_are_counted_whole() -> None:
    text = b'load("x", ["a-b.cu", "csrc/c.cpp", "c.cpp", "d.cuh", "' + b"e" * 100 + b'.cu"])'
    assert most_useful(text) == 3


@pytest.mark.parametrize(
    ("total_gib", "jobs", "count", "bound_gib"),
    [(2048, 1, 64, 16), (2048, 4, 64, 64), (24, 1, 2, 8), (24, 2, 2, 12), (8, 1, 2, 6)],
)
def test_a_build_may_hold_its_share_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, total_gib: int, jobs: int, count: int, bound_gib: int
) -> None:
    memory = psutil.virtual_memory()._replace(total=total_gib << 30)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    assert memory_bound(jobs, count) == bound_gib << 30
