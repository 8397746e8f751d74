"""One forward under torch's profiler: kernels of a device; operators and compiled code of the host.

What comes out is evidence for a flag: a solution that lies here is spared that, and gains no time.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgspec
import torch

# There is no public way to follow other threads, nor to mark a stretch at the cost of less than a
# microsecond: ``record_function`` takes seven, as much as a small kernel.
from torch._C._profiler import _ExperimentalConfig, _RecordFunctionFast
from torch.autograd.profiler import profile  # torch.profiler imports for seconds when it starts

from pytest_kernelbench.judge import wire
from pytest_kernelbench.judge.inside import events, forms, generator
from pytest_kernelbench.judge.inside.own_code import module_of, modules_of, own_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from pytest_kernelbench.judge.inside.batches import DeviceRunner

_RUNS_S, _RUNS = 0.2, 4
"""So long, and so often, where nothing disturbs."""
_MOST_RUNS_S, _MOST_RUNS = 1.0, 16
_CALM = 1.5
"""Two runs that differ by less than this were not disturbed."""
_MOST_ROWS = wire.MOST_ROWS - 50
"""What is left is a row for the rest of each kind, of which there are a handful."""
_NAME_LIMIT = wire.NAME_LIMIT
_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # malloc.h
_CONVERSIONS = frozenset({"numpy", "from_numpy", "__array__", "frombuffer"})
_clock_ns = time.perf_counter_ns
_synchronize = torch.cuda.synchronize


def on_device(forward: Callable[[], object]) -> wire.Profiled:
    """Which kernels one forward runs, and which operator launched each."""
    _synchronize()
    profiler = profile(use_device="cuda", use_kineto=True)
    if failed := _start(profiler):
        return _nothing(failed)
    start_ns = _clock_ns()
    try:
        with _RecordFunctionFast(events.FORWARD):
            forward()
            _synchronize()
        wall_us = (_clock_ns() - start_ns) / 1e3
    finally:
        profiler.__exit__(None, None, None)
    recorded = events.read(profiler)
    times = events.host_times(recorded)
    rows = [
        wire.Ran("kernel", name[:_NAME_LIMIT], within[:_NAME_LIMIT], time_us)
        for (name, within), time_us in events.kernel_times(recorded).items()
    ]
    rows += [row for row in _host_rows(times) if row.kind == "compiled"]
    return wire.Profiled(_longest(rows), wall_us, times.outside_us, (), converts=False)


def on_host(forward: Callable[[], object]) -> wire.Profiled:
    """Where the time of one forward goes when nothing disturbs it, by a few runs."""
    _keep_freed_memory()
    own = own_code()
    start_ns = _clock_ns()
    runs = [_once_on_host(forward, own)]
    while not runs[-1].note and _goes_on(runs, (_clock_ns() - start_ns) / 1e9):
        runs.append(_once_on_host(forward, own))
    # The first run also fills caches: it counts only if it is the only one.
    return least_disturbed(runs[1:] or runs)


def _goes_on(runs: list[wire.Profiled], seconds: float) -> bool:
    if seconds < _RUNS_S and len(runs) < _RUNS:
        return True
    walls = sorted(run.wall_us for run in runs[1:])
    calm = len(walls) > 1 and walls[1] < _CALM * walls[0]
    return not calm and seconds < _MOST_RUNS_S and len(runs) < _MOST_RUNS


def least_disturbed(runs: list[wire.Profiled]) -> wire.Profiled:
    """What the shortest run did, and each part of it in the least time it took in any run.

    An operator whose threads wait for a processor takes a hundred times its time, and then all
    else is a small share. In each run that may be another one.
    """
    least_us: dict[tuple[str, str, str], float] = {}
    for row in (row for run in runs for row in run.rows):
        key = (row.kind, row.name, row.within)
        least_us[key] = min(row.time_us, least_us.get(key, row.time_us))
    shortest = min(runs, key=lambda run: run.wall_us)
    rows = tuple(
        wire.Ran(row.kind, row.name, row.within, least_us[row.kind, row.name, row.within])
        for row in shortest.rows
    )
    outside_us = min(run.outside_us for run in runs)
    return msgspec.structs.replace(shortest, rows=rows, outside_us=outside_us)


def _once_on_host(forward: Callable[[], object], own: tuple[str, ...]) -> wire.Profiled:
    profiler = profile(experimental_config=_ExperimentalConfig(profile_all_threads=True))
    if failed := _start(profiler):
        return _nothing(failed)
    watch = _Watch(modules_of(own))
    try:
        with _marked_triton(), _RecordFunctionFast(events.FORWARD):
            start_ns = _clock_ns()
            sys.setprofile(watch)
            try:
                forward()
            finally:
                sys.setprofile(None)
            wall_us = (_clock_ns() - start_ns) / 1e3
    finally:
        profiler.__exit__(None, None, None)
    times = events.host_times(events.read(profiler))
    rows = _longest(_host_rows(times))
    outside_us = min(times.outside_us, wall_us)  # the marks themselves may have been interrupted
    return wire.Profiled(rows, wall_us, outside_us, own, converts=watch.converts)


class _Watch:
    """A hook for ``sys.setprofile``: marks calls into the solution's own extension modules."""

    def __init__(self, modules: frozenset[str]) -> None:
        self.converts = False
        self._modules = modules
        self._open: list[tuple[Any, _RecordFunctionFast]] = []

    def __call__(self, _: FrameType, event: str, function: Any) -> None:
        """Python calls this before and after each call, also of compiled code."""
        if event == "c_call":
            name = getattr(function, "__name__", "")
            if name in _CONVERSIONS:
                self.converts = True
            if self._modules and module_of(function) in self._modules:
                mark = _RecordFunctionFast(events.CALL + str(name))
                self._open.append((function, mark))
                mark.__enter__()
        elif event != "call" and self._open and self._open[-1][0] is function:
            _, mark = self._open.pop()
            mark.__exit__(None, None, None)


@contextlib.contextmanager
def _marked_triton() -> Iterator[None]:
    """Mark each kernel that Triton's interpreter runs: it has no hook, so wrap its launcher."""
    interpreter = sys.modules.get("triton.runtime.interpreter")
    executor = getattr(interpreter, "GridExecutor", None)
    if executor is None:
        yield
        return
    launch = executor.__call__

    def marked(self: Any, *args: Any, **kwargs: Any) -> Any:
        hook = sys.getprofile()
        sys.setprofile(None)  # the interpreter makes millions of calls, none of them of interest
        try:
            with _RecordFunctionFast(events.TRITON + str(getattr(self.fn, "__name__", "kernel"))):
                return launch(self, *args, **kwargs)
        finally:
            sys.setprofile(hook)

    executor.__call__ = marked
    try:
        yield
    finally:
        executor.__call__ = launch


def device_arguments(device: DeviceRunner) -> list[Any]:
    """Inputs such as a timed call would have, of the base inputs that the runner holds."""
    device.kept = []
    tensors = generator.generate(
        device.protocol, device.recipes, device.state.data_ptr(), device.device
    )
    return forms.fill(device.layout, tensors)


def _start(profiler: profile) -> str:
    """Start it; why not, or nothing."""
    try:
        profiler.__enter__()
    except Exception as error:  # noqa: BLE001 - whatever it is: no profile, and a note that says so
        return f"torch's profiler does not start: {type(error).__name__}: {error}"
    return ""


def _nothing(why: str) -> wire.Profiled:
    return wire.Profiled((), 0.0, 0.0, (), converts=False, note=why[:_NAME_LIMIT])


def _host_rows(times: events.HostTimes) -> list[wire.Ran]:
    return [
        wire.Ran(kind, name[:_NAME_LIMIT], "", time_us)
        for (kind, name), time_us in times.rows.items()
    ]


def _longest(rows: list[wire.Ran]) -> tuple[wire.Ran, ...]:
    """The rows that matter, the rest summed by kind: a forward may run thousands of kernels."""
    rows = sorted(rows, key=lambda row: -row.time_us)
    rest: dict[str, float] = defaultdict(float)
    for row in rows[_MOST_ROWS:]:
        rest[row.kind] += row.time_us
    tail = [wire.Ran(kind, "", "", time_us) for kind, time_us in rest.items()]
    return (*rows[:_MOST_ROWS], *tail)


def _keep_freed_memory() -> None:
    """Have the C library keep what is freed.

    Unmapping a temporary of many megabytes takes as long as a kernel, and would count as work of
    whoever freed it.
    """
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_MAX, 0)
        mallopt(_M_TRIM_THRESHOLD, (1 << 31) - 1)
