"""What the profiler recorded, as rows of time: nesting, annotations, and who launched a kernel."""

from __future__ import annotations

import msgspec
import pytest

from pytest_kernelbench.judge.inside.events import (
    CALL,
    FORWARD,
    TRITON,
    Event,
    host_times,
    kernel_times,
)

MAIN, OTHER = 1, 2


def host(name: str, start_us: int, end_us: int, number: int = 0, thread: int = MAIN) -> Event:
    return Event(
        name, start_us * 1000, end_us * 1000, thread, number, 0, device=False, annotation=False
    )


def device(name: str, length_us: int, launcher: int, *, annotation: bool = False) -> Event:
    return Event(name, 0, length_us * 1000, 7, 99, launcher, device=True, annotation=annotation)


def test_own_time_is_without_what_was_called() -> None:
    times = host_times(
        [
            host(FORWARD, 0, 100),
            host("aten::linear", 10, 60),
            host("aten::mm", 20, 50),
            host(CALL + "bias_relu", 70, 90),
            host("aten::empty", 72, 75),
        ]
    )
    assert dict(times.rows) == {
        ("operator", "aten::linear"): 20,
        ("operator", "aten::mm"): 30,
        ("call", "bias_relu"): 17,
        ("operator", "aten::empty"): 3,
    }
    assert times.outside_us == 30


def test_an_annotation_belongs_to_what_it_stands_in() -> None:
    times = host_times(
        [
            host(FORWARD, 0, 100),
            host("my region", 0, 40),
            host(CALL + "fast", 50, 90),
            host("my other region", 55, 85),
        ]
    )
    assert dict(times.rows) == {("call", "fast"): 40}
    assert times.outside_us == 60


def test_waiting_for_operators_of_other_threads_is_not_time_outside() -> None:
    times = host_times([host(FORWARD, 0, 100), host("aten::mm", 10, 70, thread=OTHER)])
    assert dict(times.rows) == {("operator", "aten::mm"): 60}
    assert times.outside_us == 40


def test_what_ran_before_the_forward_is_not_counted_as_outside() -> None:
    times = host_times([host("setting up", 0, 50), host(FORWARD, 60, 100)])
    assert times.outside_us == 40


@pytest.mark.parametrize(
    ("name", "row"),
    [
        (TRITON + "_softmax", ("triton", "_softmax")),
        ("Torch-Compiled Region: 0/0", ("compiled", "torch.compile")),
        ("## Call CompiledFxGraph fabc ##", ("compiled", "torch.compile")),
        ("my_ops::swish", ("operator", "my_ops::swish")),
    ],
)
def test_kinds(name: str, row: tuple[str, str]) -> None:
    assert dict(host_times([host(FORWARD, 0, 10), host(name, 2, 6)]).rows) == {row: 4}


def test_a_kernel_and_the_operator_that_launched_it() -> None:
    recorded = [
        host(FORWARD, 0, 100, number=1),
        host("aten::mm", 10, 20, number=2),
        host("a region within mm", 12, 15, number=3),
        host("Torch-Compiled Region: 0/0", 30, 40, number=4),
        device("gemm", 5, 2),
        device("gemm", 6, 3),
        device("own", 7, 1),
        device("own", 8, 0),
        device("triton_poi_fused_0", 9, 4),
        device(FORWARD, 50, 1),
        device("marked", 50, 1, annotation=True),
    ]
    host_times(recorded)
    assert dict(kernel_times(recorded)) == {
        ("gemm", "aten::mm"): 11,
        ("own", ""): 15,
        ("triton_poi_fused_0", "torch.compile"): 9,
    }


def test_thousands_of_rows_are_few_that_fit_into_a_message() -> None:
    pytest.importorskip("torch")
    from pytest_kernelbench.judge import wire
    from pytest_kernelbench.judge.inside.profile import _longest

    kinds = ("kernel", "operator", "compiled", "call", "triton")
    rows = [wire.Ran(kind, f"k{n}", "", float(n)) for n in range(400) for kind in kinds]
    kept = _longest(rows)
    assert kept[0].time_us == 399
    assert sum(row.time_us for row in kept) == sum(row.time_us for row in rows)
    told = wire.Profiled(kept, 1.0, 0.0, (), converts=False, note="")
    assert msgspec.convert(msgspec.to_builtins(told), wire.Profiled) == told


def test_whatever_waited_in_one_run_did_not_in_another() -> None:
    pytest.importorskip("torch")
    from pytest_kernelbench.judge import wire
    from pytest_kernelbench.judge.inside.profile import least_disturbed

    def run(product_us: float, own_us: float, outside_us: float) -> wire.Profiled:
        rows = (
            wire.Ran("operator", "aten::addmm", "", product_us),
            wire.Ran("call", "relu", "", own_us),
        )
        wall_us = product_us + own_us + outside_us
        return wire.Profiled(rows, wall_us, outside_us, ("relu.so",), converts=False)

    found = least_disturbed([run(9000, 20, 3), run(80, 9500, 5), run(8000, 25, 4)])
    assert [row.time_us for row in found.rows] == [80, 20]
    assert found.outside_us == 3
    assert found.own_code == ("relu.so",)


@pytest.mark.parametrize(
    ("walls_us", "seconds", "goes_on"),
    [
        ([900.0], 0.01, True),
        ([900, 90, 80, 85], 0.01, False),
        ([900, 90, 8000, 9000], 0.05, True),  # only one was calm
        ([900, 90, 8000, 80], 0.05, False),
        ([900, 90, 8000, 9000], 1.1, False),
        ([900, *range(100, 16000, 1000)], 0.5, False),
    ],
)
def test_a_profile_is_looked_for_longer_where_runs_are_disturbed(
    walls_us: list[float],
    seconds: float,
    goes_on: bool,  # noqa: FBT001 - what is awaited
) -> None:
    pytest.importorskip("torch")
    from pytest_kernelbench.judge import wire
    from pytest_kernelbench.judge.inside.profile import _goes_on

    runs = [wire.Profiled((), wall_us, 0.0, (), converts=False) for wall_us in walls_us]
    assert _goes_on(runs, seconds) is goes_on
