"""The engine of one machine, with seats that need no device: order, devices, endings."""

from __future__ import annotations

import errno
import os
import pickle
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import psutil
import pytest
from waiting import ends, wait_until

from pytest_kernelbench.build.builder import Builder
from pytest_kernelbench.build.extension import Extension
from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.endings import ended
from pytest_kernelbench.engine import devices, local, orders, seat_process
from pytest_kernelbench.engine import seat as seat_module
from pytest_kernelbench.engine.board import Board
from pytest_kernelbench.engine.local import LocalEngine
from pytest_kernelbench.engine.seat import Dismissed, Seat
from pytest_kernelbench.errors import BuildError, MachineError, SandboxError, UsageError
from pytest_kernelbench.judge.device import Device
from pytest_kernelbench.sandbox.channel import Channel, Closed
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Measurement, Status, Verdict

A, B = (Device(f"gpu {name}", f"GPU-{name}", "cuda:0", "9.0") for name in "ab")
SOURCE = "class ModelNew:\n    pass\n"
MEASURED = Measurement("eager", 1.0, 0.99, 1.01, 50.0, 50.0, 1.0, 3, 30)
BUILT = Extension(Path("built"), Path("log"), 0.0, cached=True)


class ScriptedSeat:
    """Judges by a function of the test."""

    script: Callable[[Device, Pair], Verdict]
    made: ClassVar[list[ScriptedSeat]]

    def __init__(self, _: Settings, device: Device, *, controls: bool = True) -> None:
        self.controls = controls
        self.device = device
        self.opened = False
        self.closed = threading.Event()
        self.pairs: list[Pair] = []
        self.made.append(self)

    def open(self) -> None:
        self.opened = True

    def judge(self, pair: Pair, _: Extension, tell: Callable[[str], None]) -> Verdict:
        self.pairs.append(pair)
        tell("a seat says hello")
        verdict = type(self).script(self.device, pair)
        if self.closed.is_set():
            raise Dismissed
        return verdict

    def close(self) -> None:
        self.closed.set()


@pytest.fixture
def seats(monkeypatch: pytest.MonkeyPatch) -> type[ScriptedSeat]:
    class Seat(ScriptedSeat):
        made: ClassVar[list[ScriptedSeat]] = []
        script = staticmethod(lambda _, pair: ended(pair, Status.RIGHT))

    monkeypatch.setattr(local, "Seat", Seat)
    # What cannot be read or parsed is told without a compiler; all else is built at once.
    monkeypatch.setattr(Builder, "_make", lambda *_: BUILT)
    monkeypatch.setattr(local, "lost", lambda _: False)
    monkeypatch.setattr(local, "_SEATS_OF_GPU", 1)
    return Seat


@pytest.fixture
def make(tmp_path: Path, seats: Any) -> Iterator[Callable[..., LocalEngine]]:
    assert not seats.made
    made: list[LocalEngine] = []

    def engine(*devices: Device, **more: Any) -> LocalEngine:
        settings = Settings(cache_dir=tmp_path / "cache", build_only=more.pop("build_only", False))
        made.append(LocalEngine(settings, more.pop("devices", devices or (A, B)), **more))
        return made[-1]

    yield engine
    for each in made:
        each.close()


@pytest.fixture
def pairs(tmp_path: Path) -> Callable[..., list[Pair]]:
    """``count`` pairs a problem; of a source that builds out of hand."""

    def make_pairs(problems: int, count: int = 1, source: str = SOURCE) -> list[Pair]:
        made = []
        for number in range(problems):
            problem = Problem(tmp_path / f"{number}.py", 1, number, "p")
            for sample in range(count):
                path = tmp_path / f"{number}_{sample}.py"
                path.write_text(source)
                made.append(Pair(problem, Solution(path, "ann", sample)))
        return made

    return make_pairs


def test_all_devices_are_kept_busy_from_one_thread(make: Any, seats: Any, pairs: Any) -> None:
    """Two pairs meet: each is judged only while the other is."""
    meeting = threading.Barrier(2, timeout=20)

    def script(_: Device, pair: Pair) -> Verdict:
        meeting.wait()
        return ended(pair, Status.RIGHT)

    seats.script = staticmethod(script)
    engine = make()
    asked = pairs(6)
    engine.ahead(asked)
    for pair in asked:
        verdict = engine.judge(pair, engine.build(pair))
        assert verdict.solution == str(pair.solution.path)
    judged = [pair for seat in seats.made for pair in seat.pairs]
    assert sorted(judged, key=lambda pair: pair.problem.number) == asked, "each once"
    assert [len(seat.pairs) for seat in seats.made] == [3, 3]


def test_two_take_turns_on_a_gpu_and_one_of_them_controls(
    make: Any, seats: Any, pairs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one's contender is judged, the other gets its problem ready."""
    monkeypatch.setattr(local, "_SEATS_OF_GPU", 2)
    meeting = threading.Barrier(4, timeout=20)

    def script(_: Device, pair: Pair) -> Verdict:
        meeting.wait()
        return ended(pair, Status.RIGHT)

    seats.script = staticmethod(script)
    engine = make()
    engine.ahead(pairs(4))
    for pair in pairs(4):
        engine.judge(pair, engine.build(pair))
    places = [(seat.device, seat.controls) for seat in seats.made]
    assert places == [(A, True), (B, True), (A, False), (B, False)]


def test_one_after_another_needs_one_seat(make: Any, seats: Any, pairs: Any) -> None:
    """As in a worker of pytest-xdist: nothing is announced."""
    engine = make()
    for pair in pairs(3, 2):
        engine.judge(pair, engine.build(pair))
    assert [len(seat.pairs) for seat in seats.made] == [6, 0]
    assert [seat.opened for seat in seats.made] == [True, False]


def test_an_idle_seat_gets_the_problem_that_it_had(pairs: Any) -> None:
    board = Board(ahead=4)
    one, two = pairs(2)
    taken: list[Any] = []
    waiting = threading.Thread(target=lambda: taken.append(board.take(one.problem, ())))
    waiting.start()
    wait_until(lambda: board._idle == [one.problem])
    for pair in (one, two):
        board.built(board.ask(pair)[0], BUILT)
    other = board.take(None, ())
    assert other is not None
    assert other.pair is two
    waiting.join(10)
    assert taken[0].pair is one


def test_pairs_of_one_problem_stay_on_one_device(make: Any, seats: Any, pairs: Any) -> None:
    engine = make()
    asked = pairs(4, 5)
    engine.ahead(asked)
    for pair in asked:
        engine.judge(pair, engine.build(pair))
    for seat in seats.made:
        changes = [pair.problem for pair in seat.pairs]
        groups = [p for i, p in enumerate(changes) if i == 0 or changes[i - 1] != p]
        assert len(groups) <= len(set(groups)) + 1, changes


def test_nothing_is_judged_long_before_it_is_asked_for(make: Any, seats: Any, pairs: Any) -> None:
    engine = make(A)
    asked = pairs(60)
    engine.ahead(asked)
    first = engine.judge(asked[0], engine.build(asked[0]))
    assert first.status is Status.RIGHT
    wait_until(lambda: len(seats.made[0].pairs) == 17)
    time.sleep(0.1)
    assert len(seats.made[0].pairs) == 17
    # Builds end in any order.
    assert sorted(pair.problem.number for pair in seats.made[0].pairs) == list(range(17))


def test_on_a_timed_cpu_nothing_is_judged_beside_pytest(make: Any, seats: Any, pairs: Any) -> None:
    engine = make(Device("cpu", "cpu-a", "cpu"))
    asked = pairs(3)
    engine.ahead(asked)
    engine.judge(asked[0], engine.build(asked[0]))
    time.sleep(0.1)
    assert seats.made[0].pairs == asked[:1]


def test_build_only_judges_nothing(make: Any, seats: Any, pairs: Any) -> None:
    engine = make(build_only=True)
    asked = pairs(2)
    engine.ahead(asked)
    assert engine.build(asked[1]) is BUILT
    unbuilt = pairs(3)[2]
    unbuilt.solution.path.write_text("def (:")
    verdicts = [engine.submit(pair).result(30) for pair in (asked[0], unbuilt)]
    assert [each.status for each in verdicts] == [Status.SKIPPED, Status.NOT_BUILT]
    assert verdicts[0].reasons == ("built; not judged (--kb-build-only)",)
    assert engine.judge(asked[1], BUILT).status is Status.SKIPPED
    assert seats.made == []


def test_a_future_holds_a_verdict_whatever_happens(make: Any, seats: Any, pairs: Any) -> None:
    def script(_: Device, pair: Pair) -> Verdict:
        if pair.solution.sample == 1:
            message = "the oracle died"
            raise MachineError(message)
        return ended(pair, Status.FAST)

    seats.script = staticmethod(script)
    engine = make()
    good, ill, unbuilt = pairs(1, 3)
    unbuilt.solution.path.write_text("def (:")
    statuses = [engine.submit(pair).result(30).status for pair in (good, ill, unbuilt)]
    assert statuses == [Status.FAST, Status.NOT_JUDGED, Status.NOT_BUILT]


def test_a_pair_asked_for_twice_is_judged_twice(make: Any, seats: Any, pairs: Any) -> None:
    """A rerun, or the same source again in a training loop; what was announced counts once."""
    engine = make(A)
    (pair,) = pairs(1)
    engine.ahead([pair, pair])
    extension = engine.build(pair)
    engine.judge(pair, extension)
    engine.judge(pair, extension)
    assert seats.made[0].pairs == [pair, pair]


def test_all_that_are_coming_are_known_before_the_first_is_built(
    make: Any, pairs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the first would take compilers that are the others'."""
    known: list[int] = []

    def note(builder: Builder, *_: object) -> Extension:
        known.append(builder.progress.unfinished + builder._coming)
        return BUILT

    monkeypatch.setattr(Builder, "_make", note)
    submit = Builder.submit

    def submit_and_wait(builder: Builder, solution: Path, entry: str) -> Any:
        building = submit(builder, solution, entry)
        building.result(20)
        return building

    monkeypatch.setattr(Builder, "submit", submit_and_wait)
    engine = make(A)
    engine.ahead(pairs(4))
    assert known == [5, 4, 3, 2], "each is counted twice while it is being asked for"
    assert engine.builder._coming == 0


def test_what_a_plugin_built_is_what_is_judged(make: Any, pairs: Any) -> None:
    engine = make(A)
    (pair,) = pairs(1, source="def (:")
    engine.ahead([pair])
    with pytest.raises(BuildError):
        engine.build(pair)
    assert engine.judge(pair, BUILT).status is Status.RIGHT


def test_a_closed_engine_leaves_nobody_waiting(make: Any, seats: Any, pairs: Any) -> None:
    begun = threading.Event()

    def script(_: Device, pair: Pair) -> Verdict:
        begun.set()
        assert seats.made[0].closed.wait(60)  # longer than anybody waits
        return ended(pair, Status.RIGHT)

    seats.script = staticmethod(script)
    engine = make(A)
    futures = [engine.submit(pair) for pair in pairs(3)]
    assert begun.wait(20)
    ends(engine.close)
    assert futures[0].result(5).status is Status.NOT_JUDGED
    for future in futures[1:]:
        with pytest.raises(CancelledError):
            future.result(5)
    assert [len(seat.pairs) for seat in seats.made] == [1]


def test_a_cancelled_pair_is_not_judged(make: Any, seats: Any, pairs: Any) -> None:
    gate = threading.Event()

    def script(_: Device, pair: Pair) -> Verdict:
        assert gate.wait(20)
        return ended(pair, Status.RIGHT)

    seats.script = staticmethod(script)
    engine = make(A)
    asked = pairs(3)
    first, second, third = (engine.submit(pair) for pair in asked)
    wait_until(lambda: len(seats.made[0].pairs) == 1)
    assert second.cancel()
    gate.set()
    assert third.result(20).status is first.result(20).status is Status.RIGHT
    assert seats.made[0].pairs == [asked[0], asked[2]]


def test_the_rest_of_a_lost_devices_work_goes_to_others(
    make: Any, seats: Any, pairs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(device: Device, pair: Pair) -> Verdict:
        if device is A:
            message = "the device was lost"
            raise MachineError(message)
        return ended(pair, Status.RIGHT)

    seats.script = staticmethod(script)
    monkeypatch.setattr(local, "lost", lambda device: device is A)
    told: list[str] = []
    engine = make(A, B, tell=told.append)
    asked = pairs(6)
    engine.ahead(asked)
    assert [engine.judge(p, engine.build(p)).status for p in asked] == [Status.RIGHT] * 6
    assert len(seats.made[0].pairs) <= 1
    if seats.made[0].pairs:
        assert "gpu a (GPU-a) is lost: 1 of 2 judges go on" in told


def test_without_a_device_the_session_ends_clearly(
    make: Any, seats: Any, pairs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(_: Device, __: Pair) -> Verdict:
        message = "CUDA error: device lost"
        raise MachineError(message)

    seats.script = staticmethod(script)
    monkeypatch.setattr(local, "lost", lambda _: True)
    engine = make(A)
    verdicts = [engine.submit(pair).result(20) for pair in pairs(4)]
    assert {verdict.status for verdict in verdicts} == {Status.NOT_JUDGED}
    assert "device lost" in verdicts[0].reasons[0]
    assert "gpu a (GPU-a) is lost, and no other device is left" in verdicts[3].reasons[0]
    assert len(seats.made[0].pairs) == 1


def test_nobody_waits_for_a_seat_that_fails_in_ways_of_its_own(
    make: Any, seats: Any, pairs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is opened, and where the driver is asked whether the device is there."""

    def script(_: Device, __: Pair) -> Verdict:
        message = "CUDA error: device lost"
        raise MachineError(message)

    def fail(_: object) -> bool:
        message = "the driver itself is gone"
        raise OSError(message)

    seats.script = staticmethod(script)
    monkeypatch.setattr(seats, "open", fail)
    monkeypatch.setattr(local, "lost", fail)
    engine = make(A)
    verdicts = [engine.submit(pair).result(20) for pair in pairs(2)]
    assert {verdict.status for verdict in verdicts} == {Status.NOT_JUDGED}
    assert all("the driver itself is gone" in verdict.reasons[0] for verdict in verdicts)


def test_whoever_waits_is_told(make: Any, pairs: Any) -> None:
    told: list[str] = []
    engine = make(A, tell=told.append)
    (pair,) = pairs(1)
    engine.judge(pair, engine.build(pair))
    assert told == ["a seat says hello"]


@pytest.mark.parametrize("trouble", ["missing", "folder"])
def test_a_solution_that_cannot_be_read_is_not_built(make: Any, pairs: Any, trouble: str) -> None:
    good, bad = pairs(2)
    bad.solution.path.unlink()
    if trouble == "folder":
        bad.solution.path.mkdir()
    engine = make()
    engine.ahead([bad, good])
    with pytest.raises(BuildError, match="cannot be read"):
        engine.build(bad)
    assert engine.judge(good, engine.build(good)).status is Status.RIGHT


def test_a_board_gives_what_was_taken_back_to_others(pairs: Any) -> None:
    board = Board(ahead=4)
    one, two = (board.ask(pair)[0] for pair in pairs(2))
    for task in (one, two):
        board.built(task, BUILT)
    assert board.take(None, ()) is one
    board.put_back(one)
    assert board.take(None, ()) is one
    assert board.take(None, ()) is two
    board.close()
    assert board.take(None, ()) is None


@pytest.mark.parametrize(
    ("where", "error"),
    [
        ("tempfile.mkdtemp", OSError(errno.ENOSPC, "No space left on device")),
        ("tempfile.TemporaryFile", OSError(errno.ENOSPC, "No space left on device")),
        ("socket.socketpair", OSError(errno.EMFILE, "Too many open files")),
        ("subprocess.Popen", OSError(errno.ENOMEM, "Cannot allocate memory")),
        ("pytest_kernelbench.engine.seat.Channel.send", Closed("it died at once")),
    ],
)
def test_a_process_that_cannot_be_started_is_the_machines_fault_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, where: str, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    def held() -> tuple[list[Path], list[str], list[psutil.Process]]:
        return [*tmp_path.iterdir()], os.listdir("/proc/self/fd"), psutil.Process().children()

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = held()
    monkeypatch.setattr(where, fail)
    seat = Seat(Settings(), A)
    with pytest.raises(MachineError, match="no process that judges can be started: "):
        seat.open()
    assert held() == before


class ScriptedProcess:
    """In a seat's process's place: answers what the test says, and dies where there is nothing."""

    answers: ClassVar[list[Verdict]] = []
    opened: ClassVar[list[bool]] = []

    def __init__(self, opening: orders.Order, _: str) -> None:
        self.opened.append(pickle.loads(opening.pickled)[2])  # noqa: S301 - our own
        self.channel = self

    def send(self, _: orders.Order, timeout_s: float) -> None:
        assert timeout_s

    def answer(self, _: float) -> orders.Judged:
        if not self.answers:
            raise Closed("it died")
        return orders.Judged(self.answers.pop(0))

    def epitaph(self, *_: object) -> str:
        return "it died"

    def end(self) -> None:
        pass


def test_a_process_that_takes_anothers_place_does_not_repeat_its_control(
    pairs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seat_module, "_Process", ScriptedProcess)
    monkeypatch.setattr(ScriptedProcess, "opened", opened := [])
    (pair,) = pairs(1)
    plain = ended(pair, Status.RIGHT)
    controlled = replace(plain, control=MEASURED)

    def judge() -> None:
        seat.judge(pair, BUILT, print)

    seat = Seat(Settings(), A)
    monkeypatch.setattr(ScriptedProcess, "answers", [plain])
    judge()
    seat.rest()
    monkeypatch.setattr(ScriptedProcess, "answers", [controlled, plain])
    judge()
    judge()
    with pytest.raises(MachineError, match="it died"):
        judge()
    assert opened == [True, True, False]


@pytest.mark.parametrize("timeout_s", [60.0, 6000.0])
def test_a_judge_that_hangs_is_given_up_and_no_other_is_waited_for(
    pairs: Any, monkeypatch: pytest.MonkeyPatch, timeout_s: float
) -> None:
    waited: list[float] = []

    def answer(_: object, patience_s: float) -> orders.Answer:
        waited.append(patience_s)
        raise seat_module.Idle("it has done nothing for long")

    monkeypatch.setattr(seat_module, "_Process", ScriptedProcess)
    monkeypatch.setattr(ScriptedProcess, "answer", answer)
    seat = Seat(Settings(timeout_s=timeout_s), A)
    with pytest.raises(MachineError, match="on gpu a hangs: it has done nothing for long"):
        seat.judge(pairs(1)[0], BUILT, print)
    assert waited == [max(7200.0, 2 * timeout_s)]
    assert seat._process is None


def seat_of(process: subprocess.Popen[bytes], ours: socket.socket) -> Any:
    """A seat's process, with ``process`` in its place."""
    made = seat_module._Process.__new__(seat_module._Process)
    made._process = process  # type: ignore[assignment]
    made.channel = Channel(ours, orders.Answer)
    return made


@pytest.mark.parametrize("code", ["import time; time.sleep(60)", "while True: pass"])
def test_who_judges_is_waited_for_as_long_as_it_works(
    monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    monkeypatch.setattr(seat_module, "_AWAIT_S", 0.3)
    ours, theirs = socket.socketpair()
    words: Channel[orders.Answer] = Channel(theirs, orders.Answer)
    speak = threading.Timer(5.0, words.send, [orders.Waiting("at last")])
    with ours, theirs, subprocess.Popen([sys.executable, "-c", code]) as process:
        judge = seat_of(process, ours)
        try:
            if "sleep" in code:
                with pytest.raises(seat_module.Idle, match="has done nothing for"):
                    judge.answer(1.0)
            speak.start()
            assert judge.answer(3.0 if "while" in code else 60.0) == orders.Waiting("at last")
        finally:
            speak.join()
            process.kill()


def test_the_control_stands_where_a_pair_is_judged_once_more_for_want_of_memory(
    pairs: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KB_LEASE_DIR", str(tmp_path / "leases"))
    (pair,) = pairs(1)
    full = replace(ended(pair, Status.OUT_OF_MEMORY), control=MEASURED)
    answers = [full, ended(pair, Status.RIGHT)]
    channel: Any = None
    judge = seat_process._Seat(Settings(), A, channel, controls=True)
    referee = SimpleNamespace(prepare=lambda _: None, judge=lambda *_: answers.pop(0))
    monkeypatch.setattr(judge, "_referee", referee)
    verdict = judge._judge(pair, BUILT)
    assert verdict.status is Status.RIGHT
    assert verdict.control == MEASURED


@pytest.mark.parametrize(
    ("cause", "said", "again"),
    [
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "no fork server", True),
        (OSError(errno.ENOSPC, "No space left", "/small/x"), "disk is full .*/small/x", False),
    ],
)
def test_a_judge_without_a_fork_server_says_so_to_its_first_pair(
    pairs: Any, monkeypatch: pytest.MonkeyPatch, cause: OSError, said: str, *, again: bool
) -> None:
    def fail(*_: object) -> None:
        message = "no fork server can be started"
        raise SandboxError(message) from cause

    (pair,) = pairs(1)
    orders_left = [orders.Order(pickle.dumps((pair, BUILT)))]
    answers: list[orders.Failed] = []

    def receive() -> tuple[orders.Order, tuple[()]]:
        if not orders_left:
            raise Closed("the engine is gone")
        return orders_left.pop(), ()

    channel: Any = SimpleNamespace(receive=receive, send=answers.append)
    cpu = Device("cpu", "cpu-a", "cpu")
    judge = seat_process._Seat(Settings(correctness_only=True), cpu, channel, controls=True)
    referee = SimpleNamespace(warm_up=fail, judge=fail, close=lambda: None)
    monkeypatch.setattr(judge, "_referee", referee)
    with pytest.raises(Closed):
        judge.work()
    (answer,) = answers
    assert re.search(said, answer.text)
    assert answer.again is again


UUIDS = ("GPU-11aa", "GPU-22bb", "GPU-33cc")
GPUS = tuple(
    Device("H200", uuid, "cuda:0", "9.0", index=number) for number, uuid in enumerate(UUIDS)
)


@pytest.mark.parametrize(
    ("listed", "indices"),
    [
        (None, [0, 1, 2]),
        ("", []),
        ("1", [1]),
        ("2,0", [2, 0]),
        ("GPU-22bb", [1]),
        ("GPU-33,GPU-11", [2, 0]),
        ("1,7,0", [1]),
        ("-1", []),
        (" 1 , 2 ", [1, 2]),
    ],
)
def test_p2_the_callers_devices_in_the_callers_order(
    monkeypatch: pytest.MonkeyPatch, listed: str | None, indices: list[int]
) -> None:
    monkeypatch.setattr(devices, "_all_gpus", lambda: GPUS)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if listed is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", listed)
    assert [gpu.index for gpu in devices.visible_gpus()] == indices
    found = devices.find_devices("auto")
    assert [gpu.index for gpu in found if gpu.is_gpu] == indices
    for gpu in found:
        expected = str(gpu.index) if gpu.is_gpu else ""
        assert gpu.environment["CUDA_VISIBLE_DEVICES"] == expected


def test_p2_parts_of_a_gpu_by_their_uuids(monkeypatch: pytest.MonkeyPatch) -> None:
    part = Device("H200 MIG 1g", "MIG-77", "cuda:0", "9.0", index=1, visible="MIG-77")
    monkeypatch.setattr(devices, "_all_gpus", lambda: GPUS)
    monkeypatch.setattr(devices, "_part", {"MIG-77": part}.get)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-77,MIG-88")
    assert devices.find_devices("cuda") == (part,)
    assert part.environment["CUDA_VISIBLE_DEVICES"] == "MIG-77"


def test_devices_of_another_model_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Device("L4", "GPU-44", "cuda:0", "8.9", index=3)
    monkeypatch.setattr(devices, "_all_gpus", lambda: (*GPUS[:1], other, *GPUS[1:]))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert devices.find_devices("cuda") == GPUS
    assert devices.find_devices("cuda:1") == (other,)


class Driver:
    """NVML, with three GPUs; those in ``gone`` have fallen off the bus."""

    class NVMLError(Exception):
        pass

    def __init__(self) -> None:
        self.gone: set[int] = set()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        answers = {
            "nvmlSystemGetDriverVersion": "570",
            "nvmlDeviceGetCount": 3,
            "nvmlDeviceGetCudaComputeCapability": (9, 0),
            "nvmlDeviceGetName": "H200",
        }
        return lambda *_: answers.get(name)

    def nvmlDeviceGetHandleByIndex(self, number: int) -> int:  # noqa: N802 - as NVML calls it
        if number in self.gone:
            raise self.NVMLError("GPU is lost")
        return number

    def nvmlDeviceGetUUID(self, handle: int) -> str:  # noqa: N802 - likewise
        return UUIDS[handle]

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> int:  # noqa: N802 - likewise
        raise self.NVMLError(f"{uuid} is no part of a GPU")


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    made = Driver()
    monkeypatch.setattr(devices, "import_module", lambda _: made)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    devices._survey.cache_clear()
    devices._part.cache_clear()
    yield made
    devices._survey.cache_clear()
    devices._part.cache_clear()


def test_whether_a_device_is_lost_is_asked_anew(driver: Driver) -> None:
    one, *_, last = devices.find_devices("cuda")
    driver.gone.add(2)
    assert devices.lost(last)
    assert not devices.lost(one)
    assert not devices.lost(devices.cpu())


def test_a_gpu_that_the_driver_cannot_speak_for_is_left_out(
    driver: Driver, make: Any, pairs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [gpu.environment["CUDA_VISIBLE_DEVICES"] for gpu in devices.visible_gpus()] == [*"012"]
    assert not devices.silent_gpus()
    driver.gone.add(1)
    devices._survey.cache_clear()
    left = devices.find_devices("cuda")
    assert [gpu.environment["CUDA_VISIBLE_DEVICES"] for gpu in left] == [UUIDS[0], UUIDS[2]]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,1")
    assert [gpu.uuid for gpu in devices.visible_gpus()] == [UUIDS[2]]
    words = "GPU 1 is left out: the driver says 'GPU is lost'"
    with pytest.raises(UsageError, match=f"1 CUDA devices are visible.*; {words}"):
        devices.find_device("cuda:1")
    told: list[str] = []
    engine = make(tell=told.append, devices=None)
    (pair,) = pairs(1)
    engine.judge(pair, engine.build(pair))
    assert words in told


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (RuntimeError("can't start new thread"), True),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), True),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), True),
        (RuntimeError("an error of ours"), False),
        (OSError(errno.EBADF, "Bad file descriptor"), False),
    ],
)
def test_a_crowded_machine_is_tried_again(
    pairs: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, *, again: bool
) -> None:
    def judge(*_: object) -> None:
        raise error

    channel: Any = None
    seat = seat_process._Seat(Settings(), A, channel, controls=True)
    monkeypatch.setattr(seat, "_judge", judge)
    (pair,) = pairs(1)
    answer = seat._answer(pair, BUILT)
    assert isinstance(answer, orders.Failed)
    assert answer.again is again
    assert answer.text.startswith("the judge itself failed") is not again
    assert str(error) in answer.text


@pytest.mark.parametrize(
    ("worker", "above", "said"),
    [
        ("gw1", [40, 30, 2, 1], "held by another worker of this session"),
        ("gw1", [50, 31, 2, 1], "held by pid 7 of eve (python)"),
        ("gw1", [], "held by pid 7 of eve (python)"),
        ("", [40, 30, 2, 1], "held by pid 7 of eve (python)"),
    ],
)
def test_a_worker_of_the_same_session_is_called_so(
    monkeypatch: pytest.MonkeyPatch, worker: str, above: list[int], said: str
) -> None:
    """The controller is 30, this one's worker 41; 2 is the shell of both sessions."""
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    if worker:
        monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
    chains = {os.getppid(): [30, 2, 1], 7: above}
    monkeypatch.setattr(seat_process, "ancestors", chains.__getitem__)
    sent: list[orders.Waiting] = []
    channel: Any = SimpleNamespace(send=sent.append)
    seat = seat_process._Seat(Settings(), A, channel, controls=True)
    seat._telling([])("waiting for the device GPU-1, held by pid 7 of eve (python)", 7)
    assert [each.text for each in sent] == [f"waiting for the device GPU-1, {said}"]


def test_neither_other_children_of_the_engine_nor_judges_of_other_devices_are_kin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    boot = [b"python", b"-I", b"-c", b"from pytest_kernelbench..."]
    words = {
        os.getpid(): [*boot, b"7", b"GPU-a"],
        11: [*boot, b"8", b"GPU-a"],
        14: [*boot, b"9", b"GPU-b"],
        12: [b"python", b"-m", b"vllm"],
        13: [],
    }
    monkeypatch.setattr(seat_process, "children", lambda _: list(words))
    monkeypatch.setattr(seat_process, "command", words.__getitem__)
    assert seat_process._seats_beside() == [os.getpid(), 11]


def test_seats_are_closed_where_no_thread_starts_any_more(
    make: Any, seats: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the end of the interpreter."""
    closed: list[Any] = []
    engine = make()

    def close(seat: Any) -> None:
        closed.append(seat)

    monkeypatch.setattr(seats, "close", close)

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    local._close_all(engine._seats)
    monkeypatch.undo()
    assert closed == seats.made
