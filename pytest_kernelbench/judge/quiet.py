"""A device that is left alone: null calls take as long as when there was no contender.

A stopped process does not stop its kernels: they go on, and two processes that have kernels on one
device are given it in turns of milliseconds. So a few milliseconds of null calls tell.

They run before every timed batch of either side, in the process that is timed: a device that comes
from another process, or from doing nothing, is in the same state then whoever is next.
"""

from __future__ import annotations

import math
import secrets
import time
from typing import TYPE_CHECKING

from pytest_kernelbench.errors import MachineError
from pytest_kernelbench.judge import questions, wire
from pytest_kernelbench.judge.families import PLAIN
from pytest_kernelbench.judge.rejection import Rejected
from pytest_kernelbench.judge.variation import variants
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from pytest_kernelbench.judge.bench import Bench
    from pytest_kernelbench.judge.runners import Runner
    from pytest_kernelbench.judge.station import Station

_LENGTH_US = 6000.0
"""Longer than a process keeps the device to itself while another one waits for it."""
_MOST_CALLS = 100
_LOOKS = 5
_MOVED_BYTES = 256 << 20
"""Handing over more inputs anew takes long."""
_SLOWED, _SLACK_US = 1.6, 300.0
_PATIENCE_S = 3.0
_PAUSE_S = 0.005
_GONE_S = 0.5


def calibrate(bench: Bench, baseline: str) -> None:
    """Find out what null calls take, before there is a contender; once a bench."""
    if bench.idle_us < math.inf:
        return
    station = bench.start_station(baseline)
    get_ready(station, draw(bench))
    with station.runner.patiently():
        station.run(2, null=True)
    each_us = station.run(4, null=True).time_us / 4
    out_bytes = sum(span.size_bytes for span in bench.prepared.outputs)
    most = min(_MOST_CALLS, bench.kept_bytes // max(1, out_bytes))
    bench.idle_calls = max(1, min(most, math.ceil(_LENGTH_US / each_us)))
    bench.idle_us = min(lead_in(station) for _ in range(_LOOKS))


def draw(bench: Bench) -> int:
    """A draw of plain inputs, for calls whose answers nobody asks for."""
    number = bench.next_round()
    bench.ask(questions.Draw(number, secrets.randbits(48), PLAIN), questions.Drawn)
    return number


def get_ready(station: Station, number: int) -> None:
    """Have a process ready for null calls on the inputs of that draw."""
    station.runner.ask(wire.Outline(station.bench.prepared.outputs), wire.Done)
    modes = station.bench.prepared.modes
    station.load((number,) * variants(modes), modes)


def move(station: Station, number: int) -> None:
    """The same, with memory in another place."""
    modes = station.bench.prepared.modes
    station.move((number,) * variants(modes), modes)


def can_move(bench: Bench) -> bool:
    """Whether inputs are small enough to be handed over anew again and again."""
    prepared = bench.prepared
    return prepared.inputs_bytes * variants(prepared.modes) <= _MOVED_BYTES


def lead_in(station: Station) -> float:
    """Null calls of a few milliseconds; gives what they took, in microseconds."""
    return station.run(station.bench.idle_calls, null=True).time_us


def await_quiet(baseline: Station, contender: Runner) -> None:
    """Wait until nothing of ``contender``, which is stopped, runs on the device any more.

    Raises ``Rejected`` if that does not come about and the contender was the reason: with it, the
    slowness goes away.
    """
    took_us = _settled_us(baseline)
    if not _is_quiet(baseline.bench, took_us):
        trusted = contender.trusted  # the control's twin: it may be anybody, but not a solution
        contender.close()
        time.sleep(_GONE_S)
        _accuse(baseline.bench, took_us, lead_in(baseline), trusted=trusted)


def quietens(baseline: Station) -> bool:
    """Whether the device is quiet before long; nobody is accused if it is not."""
    return _is_quiet(baseline.bench, _settled_us(baseline))


def _settled_us(baseline: Station) -> float:
    """What null calls take once the device is quiet, or in the end."""
    deadline = time.monotonic() + _PATIENCE_S
    while not _is_quiet(baseline.bench, took_us := lead_in(baseline)):
        if time.monotonic() > deadline:
            break
        time.sleep(_PAUSE_S)
    return took_us


def _is_quiet(bench: Bench, took_us: float) -> bool:
    return took_us <= _SLOWED * bench.idle_us + _SLACK_US


def _accuse(bench: Bench, before_us: float, after_us: float, *, trusted: bool) -> None:
    took = (
        f"{bench.idle_calls} null calls took {before_us / 1e3:.3g} ms, and "
        f"{bench.idle_us / 1e3:.3g} ms on a device that is left alone"
    )
    if trusted or not _is_quiet(bench, after_us):
        raise MachineError(
            f"the device is busy with the work of others ({took}): wait for it, or choose another"
        )
    text = f"kept the device busy while it was stopped and the baseline was to be timed: {took}"
    raise Rejected(Status.CRASHED, text)
