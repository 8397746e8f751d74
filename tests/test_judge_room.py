"""Memory and compiled code beside a solution: who gives way, and who may see what is kept."""

from __future__ import annotations

import os
import tempfile
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_kernelbench.catalog.pair import Problem
from pytest_kernelbench.engine.devices import cpu
from pytest_kernelbench.errors import MachineError, NoRoomError, ProblemError, Restless
from pytest_kernelbench.judge import host_trial, kept_code, referee, wire
from pytest_kernelbench.judge.bench import Bench
from pytest_kernelbench.judge.host_trial import HostTrial
from pytest_kernelbench.judge.progress import Progress
from pytest_kernelbench.judge.rejection import Rejected
from pytest_kernelbench.judge.runners import Runner
from pytest_kernelbench.judge.station import Station
from pytest_kernelbench.sandbox.plan import Plan
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Status

VARIABLES = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")


class Planned(Exception):  # noqa: N818 - carries the plan out
    """Instead of a process."""


class Server:
    def spawn(self, plan: Plan, *_: Any, **__: Any) -> None:
        raise Planned(plan)


def planned(folder: Path, *, trusted: bool) -> Plan:
    source = folder / "problem.py"
    source.write_text("")
    bench = Bench.__new__(Bench)
    vars(bench).update(
        server=Server(),
        settings=Settings(cache_dir=folder / "cache"),
        problem=Problem(source, 1, 1, "problem"),
        folder=folder,
        gpu=False,
        environment={"HERE": "1"},
        prepared=SimpleNamespace(outputs=(), inputs_bytes=0, state_bytes=0),
        _toolchains="",
    )
    with pytest.raises(Planned) as stopped:
        bench.start_runner(source, "Model", trusted=trusted)
    plan: Plan = stopped.value.args[0]
    return plan


def test_compiled_code_is_kept_for_the_baseline_and_out_of_a_solutions_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_code.landlock, "abi", lambda: 3)
    baseline = planned(tmp_path, trusted=True)
    contender = planned(tmp_path, trusted=False)
    kept = [baseline.environment[name] for name in VARIABLES]
    assert sorted(baseline.writable) == sorted(kept)
    assert all(Path(path).is_relative_to(tmp_path / "cache") for path in kept)
    assert not contender.writable
    assert not set(kept) & set(contender.readable)
    assert contender.environment == {"HERE": "1"}


def test_where_no_wall_would_keep_solutions_out_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_code.landlock, "abi", lambda: 0)
    plan = planned(tmp_path, trusted=True)
    assert not plan.writable
    assert plan.environment == {"HERE": "1"}


@pytest.mark.parametrize(
    ("trusted", "error"), [(True, NoRoomError), (False, Rejected)], ids=["baseline", "contender"]
)
def test_memory_that_the_judge_fills_itself_is_no_bad_problem(
    trusted: bool,  # noqa: FBT001 - a parameter of the test
    error: type[Exception],
) -> None:
    runner = Runner(None, 1.0, trusted=trusted)  # type: ignore[arg-type]
    with pytest.raises(error) as raised:
        runner.reject(Status.OUT_OF_MEMORY, "ran out of memory in forward()")
    assert not isinstance(raised.value, ProblemError)


class Trial:
    """Of which both sides fit only in turns, or not even so."""

    def __init__(self, *, helps: bool) -> None:
        self.helps, self.asked = helps, 0

    def alternate(self) -> bool:
        self.asked += 1
        return self.helps and self.asked == 1


@pytest.mark.parametrize(
    "error", [NoRoomError("no room"), Rejected(Status.OUT_OF_MEMORY, "full")], ids=str
)
def test_where_both_sides_do_not_fit_they_take_turns(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    races, ended = [], []

    def race(trial: Any, *_: Any) -> str:
        races.append(trial)
        if len(races) == 1:
            raise error
        return "measured"

    monkeypatch.setattr(referee, "race", race)
    judge = referee.Referee(Settings(), SimpleNamespace(is_gpu=True))  # type: ignore[arg-type]
    bench: Any = SimpleNamespace(end_baselines=lambda: ended.append(1))
    trial: Any = Trial(helps=True)
    assert judge._raced(trial, bench, "eager", None) == "measured"  # type: ignore[comparison-overlap]
    assert len(races) == 2
    assert ended == [1]


@pytest.mark.parametrize("error", [NoRoomError("no room"), Rejected(Status.RAISED, "oh")], ids=str)
def test_what_turns_cannot_mend_is_told(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def race(*_: Any) -> None:
        raise error

    monkeypatch.setattr(referee, "race", race)
    judge = referee.Referee(Settings(), SimpleNamespace(is_gpu=True))  # type: ignore[arg-type]
    trial: Any = Trial(helps=False)
    with pytest.raises(type(error)):
        judge._raced(trial, SimpleNamespace(), "eager", None)  # type: ignore[arg-type]


@pytest.mark.parametrize("error", [NoRoomError("no room"), Rejected(Status.UNSTABLE, "late")])
def test_what_the_references_twin_does_is_nobodys_fault(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []

    def race(*_: Any) -> None:
        raise error

    def made(name: str) -> Any:
        return SimpleNamespace(close=lambda: closed.append(name), patiently=nullcontext)

    monkeypatch.setattr(referee, "race", race)
    judge = referee.Referee(Settings(), SimpleNamespace(is_gpu=False))  # type: ignore[arg-type]
    monkeypatch.setattr(
        judge, "_trial", lambda *_: SimpleNamespace(**vars(made("trial")), alternate=lambda: False)
    )
    bench: Any = SimpleNamespace(rest=lambda: None, start_twin=lambda *_, **__: made("twin"))
    progress = Progress()
    judge._control(bench, progress)
    assert progress.control is None
    assert progress.notes == [f"the reference was not timed against itself: {error}"]
    assert closed == ["trial", "twin"]


@pytest.mark.parametrize(
    ("trusted", "error"), [(True, MachineError), (False, Rejected)], ids=["baseline", "contender"]
)
def test_only_a_solution_is_to_blame_that_it_cannot_be_frozen(
    trusted: bool,  # noqa: FBT001 - a parameter of the test
    error: type[Exception],
) -> None:
    def stop() -> None:
        raise Restless("2 of its processes do not stand still when stopped")

    runner = Runner(SimpleNamespace(stop=stop), 1.0, trusted=trusted)  # type: ignore[arg-type]
    with pytest.raises(error, match="would not be frozen: 2 of its processes"):
        runner.stop()


def went_on(*worked_ns: int, trusted: bool = False) -> Runner:
    """A runner whose process went on for so long each time that it was stopped."""
    left = iter(worked_ns)
    return Runner(SimpleNamespace(resume=lambda: (next(left), 10_000_000)), 1.0, trusted=trusted)  # type: ignore[arg-type]


def test_the_last_steps_of_an_interrupted_thread_are_no_offence() -> None:
    """As an H200's host had them: 0.146 ms, of a right solution that slept."""
    runner = went_on(0, 146_000, 0, 200_000)
    for _ in range(4):
        runner.resume()
    assert runner.stirs == 1, "what was timed meanwhile is measured again"


@pytest.mark.parametrize("worked_ns", [(24_000_000,), (6_000_000,) * 4])
def test_who_goes_on_while_stopped_is_told_so(worked_ns: tuple[int, ...]) -> None:
    runner = went_on(*worked_ns)
    for _ in worked_ns[1:]:
        runner.resume()
    with pytest.raises(Rejected, match="went on while it was stopped, for 24 ms of processor time"):
        runner.resume()


def test_from_times_of_one_that_goes_on_again_and_again_nothing_is_concluded() -> None:
    runner = went_on(*[160_000] * 4)
    told = []
    for _ in range(4):
        runner.resume()
        told.append(runner.restlessness())
    assert told == ["", "", "", "the solution went on 4 times while it was stopped"]


@pytest.mark.parametrize(("on_device", "stirs"), [(False, 1), (True, 0)])
def test_on_a_cpu_the_share_does_not_grow_with_what_there_is_to_read(
    *, on_device: bool, stirs: int
) -> None:
    """How long it is stopped depends there on its own output's memory: seconds, if it likes."""
    child: Any = SimpleNamespace(resume=lambda: (5_000_000, 1_000_000_000))
    runner = Runner(child, 1.0, trusted=False, on_device=on_device)
    runner.resume()
    assert runner.stirs == stirs


def test_a_turn_in_which_who_was_stopped_went_on_is_measured_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(host_trial, "Round", lambda *_: SimpleNamespace(close=lambda: None))
    contender = SimpleNamespace(stirs=0, restlessness=lambda: "it went on")
    trial: Any = HostTrial.__new__(HostTrial)
    vars(trial).update(
        bench=None, calls=1, contender=contender, baseline=SimpleNamespace(stirs=0), _stirs=0,
        _contend=lambda _: 1.0, _hold=lambda _: 2.0,
    )  # fmt: skip
    spoiled = []
    for contender.stirs in (0, 1, 1, 4):
        assert trial.pair(contender_first=False) == (2.0, 1.0)
        spoiled.append(bool(trial.spoiled))
    assert spoiled == [False, True, False, True]
    assert trial.doubt() == "it went on"


def test_the_baseline_is_not_blamed_for_going_on() -> None:
    runner = went_on(50_000_000, trusted=True)
    runner.resume()
    assert runner.stirs == 1


def test_baselines_rest_but_the_one_that_is_timed() -> None:
    told: list[tuple[str, str]] = []

    def runner(name: str) -> Any:
        def ask(order: object, *_: Any, **__: Any) -> None:
            told.append((name, type(order).__name__))

        return SimpleNamespace(ask=ask)

    bench = Bench.__new__(Bench)
    vars(bench).update(
        _baselines={name: runner(name) for name in ("eager", "compile", "compile-max")}, gpu=False
    )
    bench.rest(but="compile")
    assert told == [("eager", "Release"), ("compile-max", "Release")]


@pytest.mark.parametrize("correctness_only", [False, True])
def test_threads_spin_only_where_something_is_timed(
    monkeypatch: pytest.MonkeyPatch,
    correctness_only: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """Judges beside each other slowed each other down threefold by threads that waited for work."""
    settled: list[dict[str, str]] = []
    monkeypatch.setattr(referee, "ForkServer", lambda _, settle: settled.append(settle))
    settings = Settings(correctness_only=correctness_only)
    referee.Referee(settings, SimpleNamespace(is_gpu=False)).warm_up()  # type: ignore[arg-type]
    assert ("OMP_WAIT_POLICY" in settled[0]) is correctness_only


def open_files() -> list[str]:
    return os.listdir("/proc/self/fd")


def test_a_problem_whose_oracle_cannot_be_started_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    server: Any = Server()
    with pytest.raises(Planned):
        Bench(server, Problem(tmp_path / "p.py", 1, 1, "p"), Settings(), cpu(), "smoke")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("refused", ["Attach", "Arena"])
def test_a_station_that_is_rejected_leaves_nothing_open(refused: str) -> None:
    def ask(order: wire.Message, *_: Any) -> wire.Done:
        if type(order).__name__ == refused:
            raise Rejected(Status.CRASHED, "died")
        return wire.Done()

    bench: Any = SimpleNamespace(
        cubin=b"",
        flush_bytes=0,
        flush_seed=0,
        device="cuda:0",
        prepared=SimpleNamespace(inputs=(), outputs=()),
        ask_any=lambda _: (SimpleNamespace(size_bytes=1), (os.open(os.devnull, os.O_RDONLY),)),
    )
    runner: Any = SimpleNamespace(ask=ask)
    before = open_files()
    with pytest.raises(Rejected):
        Station(bench, runner, 1)
    assert open_files() == before


def test_a_turn_whose_last_inputs_cannot_be_drawn_keeps_none() -> None:
    drawn: list[int] = []

    def draw(_: wire.Message) -> tuple[Any, tuple[int, ...]]:
        if len(drawn) == 2:
            raise NoRoomError("no memory for inputs")
        drawn.append(os.open(os.devnull, os.O_RDONLY))
        return None, (drawn[-1],)

    trial = HostTrial.__new__(HostTrial)
    prepared = SimpleNamespace(draws_random=False)
    bench = SimpleNamespace(next_round=lambda: 1, ask_any=draw, prepared=prepared)
    vars(trial).update(bench=bench, calls=3)
    before = open_files()
    with pytest.raises(NoRoomError):
        trial.pair(contender_first=True)
    assert len(drawn) == 2
    assert open_files() == before
