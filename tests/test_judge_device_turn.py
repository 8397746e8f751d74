"""A turn on a device is the same for both sides; stations with known costs are its processes."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_kernelbench.errors import MachineError, NoRoomError
from pytest_kernelbench.judge import bench as judge_bench
from pytest_kernelbench.judge import device_trial, own_null, questions, quiet, wire
from pytest_kernelbench.judge.device_trial import DeviceTrial
from pytest_kernelbench.judge.own_null import OwnNull, Shift, measure, shift_of
from pytest_kernelbench.judge.rejection import Rejected
from pytest_kernelbench.timing.device_state import GpuProcess, Snapshot

IDLE_CALLS = 7
NO_ROOM = {"no room for the baseline": "eager", "no room for the contender": "contender"}
NET_US, LONG_US = 60.0, 4000.0


class Process:
    """A runner whose child can be frozen."""

    def __init__(self, bench: Bench, name: str, *, trusted: bool = True) -> None:
        self.bench, self.name, self.trusted = bench, name, trusted
        self.child = SimpleNamespace(pid=1)

    def stop(self) -> None:
        self.bench.frozen.add(self.name)

    def resume(self) -> None:
        self.bench.frozen.discard(self.name)

    def ask(self, order: wire.Message, *_: Any, **__: Any) -> wire.Done:
        self.bench.asked.append((self.name, type(order)))
        return wire.Done()

    def patiently(self) -> nullcontext[None]:
        return nullcontext()


class Station:
    """Tells times by what its process is said to cost."""

    def __init__(self, bench: Bench, runner: Process, _: int = 0) -> None:
        self.bench, self.runner, self.queues = bench, runner, True
        self.closed, self.place = False, 0

    def run(self, calls: int, *, null: bool = False, wait: bool = True, **_: Any) -> Any:
        bench = self.bench
        assert self.runner.name not in bench.frozen
        bench.ran.append((self.runner.name, calls, null, wait, frozenset(bench.frozen)))
        each_us = bench.null_us[self.runner.name] + (0.0 if null else bench.net_us)
        each_us += bench.of_places_us.get((self.runner.name, self.place), 0.0)
        return SimpleNamespace(time_us=calls * each_us)

    def load(self, *_: Any) -> None:
        if self.runner.name == self.bench.has_no_room:
            # As a runner says it: nothing of a solution may be blamed before it is loaded.
            raise NoRoomError("no room") if self.runner.trusted else AssertionError("blamed")

    def move(self, *_: Any) -> None:
        self.place += 1
        self.bench.asked.append((self.runner.name, wire.Move))
        self.load()

    def release(self) -> None:
        self.bench.asked.append((self.runner.name, wire.Release))

    def close(self) -> None:
        self.closed = True


class Bench:
    """As much of a bench as a turn needs."""

    uuid, idle_calls, idle_us, kept_bytes = "GPU-0", IDLE_CALLS, 700.0, 1 << 30
    has_no_room = ""
    strange = 0

    def __init__(self, net_us: float = NET_US) -> None:
        self.net_us = net_us
        self.null_us = {"contender": 100.5, "eager": 100.0, "compile": 100.2}
        self.of_places_us: dict[tuple[str, int], float] = {}
        self.frozen: set[str] = set()
        self.ran: list[tuple[str, int, bool, bool, frozenset[str]]] = []
        self.asked: list[tuple[str, type]] = []
        self.settings = SimpleNamespace(budget_s=2.0, baselines=("eager", "compile"))
        span = wire.Span("float32", (64, 64), 0, 64 * 64 * 4)
        self.prepared = SimpleNamespace(
            inputs=(span,), outputs=(span,), modes=("scale",), inputs_bytes=span.size_bytes,
            launches=1, mutates=False, free_bytes=1 << 34, forward_us=net_us, draws_random=False,
        )  # fmt: skip
        self.own_null: OwnNull | None = None
        self.stations: dict[str, Station] = {}

    def start_station(self, name: str) -> Station:
        if name not in self.stations:
            self.stations[name] = Station(self, Process(self, name))
        return self.stations[name]

    def holds(self, station: Any) -> bool:
        return station in self.stations.values()

    def rest(self, but: str = "") -> None:
        pass

    def next_round(self) -> int:
        return 1

    def ask(self, question: wire.Message, _: type) -> Any:
        return SimpleNamespace(usable=True) if isinstance(question, questions.Draw) else wire.Done()

    def strangers(self, *_: Any) -> int:
        return self.strange


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_trial, "Station", Station)
    monkeypatch.setattr(own_null, "Station", Station)
    monkeypatch.setattr(device_trial, "monitor", lambda _: nullcontext())
    monkeypatch.setattr(DeviceTrial, "_verify", lambda *_: None)


def trial_of(bench: Any, baseline: str = "eager", *, known: bool = True) -> DeviceTrial:
    contender = Process(bench, "contender", trusted=False)
    if known:
        bench.own_null = measure(bench, contender, 1)
    trial = DeviceTrial(bench, contender)
    trial.against(baseline)
    return trial


@pytest.mark.parametrize("contender_first", [False, True])
def test_each_timed_batch_follows_as_many_null_calls_in_its_own_process(
    contender_first: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    bench = Bench()
    trial = trial_of(bench)
    trial.pair(contender_first=contender_first)  # moves memory first
    bench.ran.clear()
    trial.pair(contender_first=contender_first)
    runs = [(name, calls, null) for name, calls, null, *_ in bench.ran]
    for name in ("eager", "contender"):
        at = runs.index((name, trial.calls, False))
        assert runs[at - 1] == (name, IDLE_CALLS, True)
    assert (runs[1][0] == "contender") is contender_first


@pytest.mark.parametrize("alternating", [False, True])
def test_before_any_batch_is_revealed_one_as_long_shows_what_returns_its_memory_again(
    monkeypatch: pytest.MonkeyPatch,
    alternating: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """An output of more than 1 GiB was not held from call to call, and then overwritten."""
    bench, revealed = Bench(LONG_US), list[int]()
    contender = Process(bench, "contender", trusted=False)
    trial = DeviceTrial(bench, contender)  # type: ignore[arg-type]
    monkeypatch.setattr(DeviceTrial, "_verify", lambda *_: revealed.append(len(bench.ran)))
    trial.alternating = alternating
    trial.against("eager")
    assert trial.calls > 1
    assert bench.ran[-1][:3] == ("contender", trial.calls, False)
    before = len(bench.ran)
    trial.pair(contender_first=False)
    assert min(revealed) > before


def test_the_contender_is_frozen_while_the_baseline_and_its_null_are_timed() -> None:
    bench = Bench()
    trial = trial_of(bench)
    trial.pair(contender_first=True)
    bench.ran.clear()
    trial.pair(contender_first=False)
    trial.null()
    trial.null()  # one more than the pair has brought
    theirs = [run for run in bench.ran if run[0] == "eager"]
    assert sum(null and calls == trial.calls for _, calls, null, *_ in theirs) == 2
    assert all(frozen == {"contender"} for *_, frozen in theirs)
    assert not bench.frozen


def test_what_the_contenders_process_adds_is_known_before_and_added_to_its_null() -> None:
    trial = trial_of(Bench())
    trial.pair(contender_first=False)
    assert trial.null() == pytest.approx((100.0, 100.5))
    assert trial.apart.us == pytest.approx(device_trial.APART.us)


def test_what_one_place_in_memory_adds_is_not_the_process() -> None:
    """A process's first memory made null calls of 149 us one microsecond quicker on an H200."""
    bench = Bench()
    bench.of_places_us = {("contender", 0): -1.0, ("contender", 3): 0.7}
    trial = trial_of(bench)
    assert bench.own_null is not None
    assert bench.own_null.shift == Shift(pytest.approx(0.5), pytest.approx(0.0))
    trial.pair(contender_first=False)
    assert trial.null() == pytest.approx((100.0, 100.5))


@pytest.mark.parametrize("size_bytes", [1 << 20, 1 << 30])
def test_large_inputs_stay_where_they_are(size_bytes: int) -> None:
    bench = Bench()
    bench.prepared.inputs_bytes = size_bytes
    trial_of(bench)
    assert ((("eager", wire.Move)) in bench.asked) is (size_bytes < 1 << 28)


def test_a_null_that_slows_down_later_gains_nothing() -> None:
    bench = Bench()
    trial = trial_of(bench)
    bench.null_us["contender"] = 150.0  # once its code is loaded
    trial.pair(contender_first=False)
    assert trial.null() == pytest.approx((100.0, 100.5))


def test_a_second_baseline_is_compared_with_the_first() -> None:
    trial = trial_of(Bench(), "compile")
    trial.pair(contender_first=False)
    assert trial.null() == pytest.approx((100.2, 100.5))


@pytest.mark.parametrize("why", ["not measured", "absurd", "ended", "untrusted", *NO_ROOM, "long"])
def test_where_the_contenders_null_is_unknown_the_interval_is_wider(why: str) -> None:
    bench = Bench(LONG_US if why == "long" else NET_US)
    bench.null_us["contender"] = 120.0 if why == "absurd" else 100.5
    bench.has_no_room = NO_ROOM.get(why, "")
    contender = Process(bench, "contender", trusted=False)
    if why != "not measured":
        bench.own_null = measure(bench, contender, 1)  # type: ignore[arg-type]
    bench.has_no_room = ""
    assert not contender.trusted
    baseline = "compile" if why == "ended" else "eager"
    if why == "ended":
        bench.stations.clear()
    if why == "untrusted":
        bench.start_station("eager").runner.trusted = False
    trial = DeviceTrial(bench, contender)  # type: ignore[arg-type]
    trial.against(baseline)
    trial.pair(contender_first=False)
    theirs, ours = trial.null()
    assert theirs == ours
    assert trial.apart == device_trial.FAR_APART


def test_a_forward_that_waits_has_the_hosts_part_in_its_null() -> None:
    bench = Bench()
    trial = trial_of(bench)
    trial.contender.queues = False  # type: ignore[misc]
    bench.ran.clear()
    trial.pair(contender_first=False)
    assert [wait for _, calls, null, wait, _ in bench.ran if null and calls == trial.calls] == [
        True,
        False,
    ]


@pytest.mark.parametrize("busy", [False, True])
def test_where_strangers_keep_the_device_busy_nothing_is_concluded(
    monkeypatch: pytest.MonkeyPatch,
    busy: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """It may have been the contender's own kernels: nobody can tell, so nobody may gain by it."""
    monkeypatch.setattr(quiet, "_PATIENCE_S", 0.0)
    # From the first turn on: who is on the device is asked before anything is held.
    eyes = SimpleNamespace(snapshot=lambda: Snapshot("GPU-0"))
    monkeypatch.setattr(device_trial, "monitor", lambda _: nullcontext(eyes))
    bench = Bench()
    bench.strange = 1
    trial = trial_of(bench)
    if busy:
        bench.null_us["eager"] = 1000.0
    doubts = []
    for _ in range(3):
        trial.pair(contender_first=False)
        assert ("others kept the device busy" in trial.spoiled) is busy, "measured again"
        doubts.append("others kept the device busy" in trial.doubt())
    assert doubts == [False, False, busy]
    assert trial.neighbours() == 1


@pytest.mark.parametrize("whose", ["the contender", "the control", "others"])
def test_who_keeps_the_device_busy_while_stopped_is_found_out(
    monkeypatch: pytest.MonkeyPatch, whose: str
) -> None:
    monkeypatch.setattr(quiet, "_PATIENCE_S", 0.0)
    monkeypatch.setattr(quiet, "_GONE_S", 0.0)
    bench = Bench()
    bench.null_us["eager"] = 1000.0
    contender = SimpleNamespace(
        trusted=whose == "the control",
        close=lambda: bench.null_us.update(eager=1000.0 if whose == "others" else 100.0),
    )
    error = Rejected if whose == "the contender" else MachineError
    with pytest.raises(error, match=r"device busy|busy with the work of others"):
        quiet.await_quiet(bench.start_station("eager"), contender)  # type: ignore[arg-type]


def test_who_is_below_a_judge_of_the_same_engine_is_no_stranger() -> None:
    bench = SimpleNamespace(kin=lambda: (os.getpid(),), pids=lambda _: [4242])
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    processes = tuple(GpuProcess(pid, 0) for pid in (1, 4242, child.pid))
    try:
        found = judge_bench.Bench.strangers(bench, Snapshot("GPU-0", processes=processes), None)  # type: ignore[arg-type]
    finally:
        child.communicate(b"\n")
    assert found == 1  # pid 1
    unknown = tuple(GpuProcess(10**7 + number, 0) for number in range(3))
    # Pids of another namespace: what exceeds our own.
    assert (
        judge_bench.Bench.strangers(bench, Snapshot("GPU-0", processes=unknown), None) == 2  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(("net_us", "moves"), [(NET_US, 2), (LONG_US, 0)])
def test_memory_of_both_sides_lies_elsewhere_every_other_turn(net_us: float, moves: int) -> None:
    bench = Bench(net_us)
    trial = trial_of(bench)
    bench.asked.clear()
    for turn in range(4):
        trial.pair(contender_first=bool(turn % 2))
    for name in ("eager", "contender"):
        assert bench.asked.count((name, wire.Move)) == moves


def test_a_station_that_cannot_be_compared_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Station] = []

    def station(*given: Any) -> Station:
        made.append(Station(*given))
        return made[-1]

    bench = Bench()
    monkeypatch.setattr(own_null, "Station", station)
    monkeypatch.setattr(bench, "start_station", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        measure(bench, Process(bench, "contender"), 1)  # type: ignore[arg-type]
    assert made[0].closed


def test_shifts_in_a_row_add_up_and_so_do_their_errors() -> None:
    first, second = shift_of([0.3, 0.5, 0.4, 0.4]), shift_of([-0.1, -0.1, -0.1, -0.1])
    assert first is not None
    assert second == Shift(pytest.approx(-0.1), 0.0)
    assert first.plus(second).us == pytest.approx(0.3)
    assert first.plus(second).error_us == first.error_us > 0.0
