"""Host memory for a runner: enough for any honest one, and never all that there is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_kernelbench.judge.allowance import process_bytes, runner_bytes
from pytest_kernelbench.judge.wire import Span

GB = 1 << 30


def free(monkeypatch: pytest.MonkeyPatch, size_bytes: int) -> None:
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=size_bytes))


def problem(inputs_bytes: int = 0, state_bytes: int = 0, *outputs_bytes: int) -> Any:
    outputs = [Span("uint8", (each,), 0, each) for each in outputs_bytes]
    return SimpleNamespace(inputs_bytes=inputs_bytes, state_bytes=state_bytes, outputs=outputs)


@pytest.mark.parametrize(("available", "allowed"), [(100, 50), (8, 4), (6, 4), (0, 4)])
def test_a_process_has_half_of_what_is_free_but_can_import_torch(
    monkeypatch: pytest.MonkeyPatch, available: int, allowed: int
) -> None:
    free(monkeypatch, available * GB)
    assert process_bytes() == allowed * GB


@pytest.mark.parametrize(
    ("needs", "available", "allowed"),
    [
        ((), 1000, 16),
        ((1,), 1000, 32),
        ((0, 1), 1000, 32),
        ((0, 0, 1), 1000, 32),
        ((1, 2, 3, 4), 1000, 176),
        ((1, 2, 3, 4), 100, 50),
        ((), 20, 10),
        ((), 2, 4),
    ],
)
def test_a_runner_has_many_times_what_its_problem_has(
    monkeypatch: pytest.MonkeyPatch, needs: tuple[int, ...], available: int, allowed: int
) -> None:
    free(monkeypatch, available * GB)
    assert runner_bytes(problem(*(each * GB for each in needs))) == allowed * GB
