"""Outputs of a batch live until they are revealed, whoever returns the same memory each call."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")

from pytest_kernelbench.judge import inside, wire  # noqa: E402 - torch may be missing
from pytest_kernelbench.judge.inside import forms  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = 4
DRIVER = "pytest_kernelbench.judge.inside.driver"


def nothing(*_: Any) -> None:
    """A call of the driver."""


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module with a driver that does nothing: tensors on the CPU say that they lie on CUDA."""
    driver = SimpleNamespace(forget_persisting_l2=nothing, synchronize=nothing)
    monkeypatch.setitem(sys.modules, DRIVER, driver)  # type: ignore[arg-type]
    monkeypatch.setattr(inside, "driver", driver, raising=False)
    path = Path(inside.__file__).with_name("batches.py")
    spec = importlib.util.spec_from_file_location("batches_without_a_driver", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    names = ("flush", "add_to_digest", "finish_digest")
    generate = {"generate": lambda *_: []}
    module.generator = SimpleNamespace(**generate, **dict.fromkeys(names, nothing))  # type: ignore[attr-defined]
    module.forms = SimpleNamespace(  # type: ignore[attr-defined]
        leaf=on_cuda, flatten=forms.flatten, plain=forms.plain, fill=lambda *_: []
    )
    return module


def on_cuda(tensor: torch.Tensor) -> wire.Leaf:
    leaf = forms.leaf(tensor)
    return wire.Leaf(leaf.dtype, leaf.shape, leaf.strides, leaf.pointer, "cuda:0", exact_type=True)


def device_runner(batches: ModuleType, forward: Callable[[], Any]) -> Any:
    channel = SimpleNamespace(send=nothing)
    runner = SimpleNamespace(order=None, channel=channel, called=forward, outputs=[], inputs=None)
    made = batches.DeviceRunner(runner)
    made.protocol = SimpleNamespace(gate=nothing)
    made._state_at = made._flush_at = made._flush_bytes = 0
    return made


def kept_by(runner: Any, number: int, calls: int = CALLS) -> list[list[float]]:
    """The first element of each output that one batch keeps."""
    runner.batch(wire.Batch(number, calls, (), events=False, null=False, inputs_too=False), ())
    return [[float(block.view(-1)[0]) for block, size in call if size] for call in runner.kept]


def counted(buffers: int) -> Callable[[], torch.Tensor]:
    """Answers 0, 1, 2, ... in so many buffers by turns; in new memory where there are none."""
    numbers, own = itertools.count(), [torch.empty(64) for _ in range(buffers)]

    def forward() -> torch.Tensor:
        number = next(numbers)
        return (own[number % buffers] if buffers else torch.empty(64)).fill_(number)

    return forward


@pytest.mark.parametrize("most_alive_bytes", [0, 1 << 30])
@pytest.mark.parametrize("buffers", [1, 2, 3])
def test_after_one_batch_no_output_is_overwritten_by_the_next_call(
    batches: ModuleType, monkeypatch: pytest.MonkeyPatch, buffers: int, most_alive_bytes: int
) -> None:
    monkeypatch.setattr(batches, "_MOST_ALIVE_BYTES", most_alive_bytes)
    runner = device_runner(batches, counted(buffers))
    kept_by(runner, 1)
    assert runner.reuses
    assert kept_by(runner, 2) == [[CALLS], [CALLS + 1], [CALLS + 2], [CALLS + 3]]


def test_a_single_call_is_enough_where_its_output_is_held(batches: ModuleType) -> None:
    runner = device_runner(batches, counted(1))
    kept_by(runner, 1, calls=1)
    assert kept_by(runner, 2) == [[1], [2], [3], [4]]


@pytest.mark.parametrize("most_alive_bytes", [0, 1 << 30])
@pytest.mark.parametrize("twice", [False, True])
def test_who_takes_new_memory_is_not_seen_to_return_it_again(
    batches: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    most_alive_bytes: int,
    twice: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """Nor does who returns one tensor twice, or an empty one: none has been overwritten."""
    monkeypatch.setattr(batches, "_MOST_ALIVE_BYTES", most_alive_bytes)
    fresh = counted(0)

    def forward() -> Any:
        made = fresh()
        return (made, made, torch.empty(0)) if twice else made

    runner = device_runner(batches, forward)
    for number in range(3):
        kept_by(runner, number)
    assert not runner.reuses
