"""What travels to a cluster and back, and who gets what, without a cluster."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from waiting import ends, wait_until

from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.endings import ended
from pytest_kernelbench.engine.cluster import baggage, dispatch, messages, site
from pytest_kernelbench.engine.cluster.dispatch import Dispatcher, LostError
from pytest_kernelbench.engine.cluster.messages import Built, File, Judged, Order, decode, encode
from pytest_kernelbench.engine.cluster.surroundings import environment
from pytest_kernelbench.errors import BuildError, MachineError
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Measurement, Status, Verdict

MEASURED = Measurement("eager", 2.0, 1.9, 2.1, 100.0, 50.0, 1.0, 3, 30, times_us=(49.0, 51.0))


def pair(number: int = 1) -> Pair:
    problem = Problem(Path("/here/problems/level1/019_relu.py"), 1, 19, "relu")
    return Pair(problem, Solution(Path(f"/here/solutions/{number}.py"), "ann", number))


def order(**more: Any) -> Order:
    known = pair()
    values: dict[str, Any] = {
        "judge": messages.identity(),
        "settings": Settings(problem_roots=(Path("/p"),), thresholds=(1.5,), cache_dir=Path("/c")),
        "problem": known.problem,
        "problem_file": File("019_relu.py", b"class Model: pass\n"),
        "solution": known.solution,
        "files": (File("1.py", b"class ModelNew: pass\n"),),
        "capability": "9.0",
        "environment": {"OMP_NUM_THREADS": "4"},
    }
    return Order(**values | more)


# Messages


def test_an_order_arrives_as_it_was() -> None:
    sent = order()
    arrived = decode(encode(sent), Order)
    assert arrived == sent
    assert isinstance(arrived.settings.cache_dir, Path)
    assert arrived.pair == pair()
    before = replace(pair().solution, path=Path("/before/1.py"))
    compared = order(earlier=before, earlier_files=(File("1.py", b"# before\n"),))
    assert decode(encode(compared), Order).pair == replace(pair(), earlier=before)


def test_a_verdict_arrives_as_it_was() -> None:
    verdict = ended(pair(), Status.FAST, "why", detail="d\n", notes=("n",), build_s=0.5)
    verdict = replace(verdict, measurements=(MEASURED,), kernels={"k": 0.25, "inf": float("inf")})
    assert decode(encode(Judged(verdict, b"\xff", "node")), Judged).verdict == verdict


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x80\x04\x95",  # how a pickle begins
        encode(Built()),
        msgspec.msgpack.encode({"verdict": {"status": "splendid"}, "log": b"", "node": ""}),
        object(),
        None,
    ],
)
def test_nothing_else_is_an_answer(data: object) -> None:
    with pytest.raises(MachineError, match="Judged"):
        decode(data, Judged)


def test_an_answer_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "LIMIT_BYTES", 100)
    with pytest.raises(MachineError, match=r"sent [34],\d{3} bytes where a Judged"):
        decode(encode(Judged(ended(pair(), Status.RIGHT), b"x" * 3500, "node")), Judged)


def test_identity_is_of_the_sources() -> None:
    assert messages.identity() == messages.identity()
    assert messages.identity().startswith("0.")


# Sources


def test_a_solution_alone(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"# \xff\n")
    (tmp_path / "b.py").write_text("secret")
    assert baggage.take(tmp_path / "a.py") == (File("a.py", b"# \xff\n"),)


def test_files_that_are_named_and_those_they_name(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('load(sources=["x.cu"])')
    (tmp_path / "x.cu").write_text('#include "y.cuh"')
    (tmp_path / "y.cuh").write_text("int y;")
    (tmp_path / "z.cuh").write_text("int z;")
    taken = baggage.take(tmp_path / "a.py")
    assert [file.name for file in taken] == ["a.py", "x.cu", "y.cuh"]


def test_files_of_a_folder_that_is_named(tmp_path: Path) -> None:
    """The node lays beside the solution what the session would."""
    for name in ("csrc/x.cu", "csrc/z.cu", "helper.py", "b.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "a.py").write_text('import helper\nload(sources=[here + "/csrc/x.cu"])')
    taken = baggage.take(tmp_path / "a.py")
    assert [file.name for file in taken] == ["a.py", "csrc/x.cu", "helper.py"]


def test_a_solution_of_several_files_takes_its_folder(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "solution.py").write_text("import lib.x")
    (tmp_path / "lib" / "x.py").write_text("")
    assert [file.name for file in baggage.take(tmp_path / "solution.py")] == [
        "solution.py",
        "lib/x.py",
    ]


@pytest.mark.parametrize("name", ["a.py", "solution.py"])
def test_no_link_that_leads_out_of_the_folder_is_sent(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (tmp_path / "secret").write_text("the key")
    (folder / name).write_text('load(sources=["x.cu", "y.cu"])')
    (folder / "x.cu").symlink_to(tmp_path / "secret")
    (folder / "y.cu").symlink_to("z.cu")
    (folder / "z.cu").write_text("int z;")
    taken = {file.name: file.data for file in baggage.take(folder / name)}
    assert "x.cu" not in taken
    assert taken["y.cu"] == b"int z;"


def test_what_is_too_long_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baggage, "LIMIT_BYTES", 1 << 20)
    (tmp_path / "solution.py").write_text("")
    (tmp_path / "data.bin").write_bytes(bytes(1 << 20))
    assert len(baggage.take(tmp_path / "solution.py")) == 2
    (tmp_path / "data.bin").write_bytes(bytes((1 << 20) + 1))
    with pytest.raises(MachineError, match=r"more than 1 MiB.*--kb-engine local"):
        baggage.take(tmp_path / "solution.py")


def test_what_cannot_be_read_is_not_built(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"gone\.py cannot be read: No such file"):
        baggage.take(tmp_path / "gone.py")


def test_files_are_laid_out_once_by_content(tmp_path: Path) -> None:
    files = (File("solution.py", b"1"), File("lib/x.bin", b"\x00\xff"))
    place = baggage.lay_out(files, tmp_path / "sources")
    assert place.name == "solution.py"
    assert (place.parent / "lib" / "x.bin").read_bytes() == b"\x00\xff"
    assert baggage.lay_out(files, tmp_path / "sources") == place
    other = baggage.lay_out((File("solution.py", b"2"), files[1]), tmp_path / "sources")
    assert other.parent != place.parent
    assert len([*(tmp_path / "sources").iterdir()]) == 2


@pytest.mark.parametrize("name", ["../x.py", "/etc/x.py", "a/../../x.py"])
def test_no_file_leaves_its_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(MachineError, match="leads out"):
        baggage.lay_out((File(name, b""),), tmp_path / "sources")
    assert not [*(tmp_path / "sources").iterdir()]


# A node


def test_a_folder_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = site.own_folder()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert site.own_folder() == folder
    folder.chmod(0o777)
    with pytest.raises(MachineError, match="not this user's alone"):
        site.own_folder()
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(MachineError, match="not this user's alone"):
        site.own_folder()


def test_what_killed_processes_left_is_removed(tmp_path: Path) -> None:
    dead, elsewhere = (tmp_path / f"2147483001-{name}" for name in "ab")  # no pid is as large
    for folder in (dead, elsewhere):
        (folder / "kb-seat-x").mkdir(parents=True)
    os.utime(dead, (0, 0))
    kept = Path(site.own_temporary(tmp_path))
    (kept / "mine").touch()
    assert not dead.exists()
    assert elsewhere.exists(), "another container's process may well live"
    assert Path(site.own_temporary(tmp_path)) != kept, "so may one of the same number"
    assert (kept / "mine").exists()


def test_the_session_reads_its_own_paths() -> None:
    sent = order()
    here = Pair(
        replace(sent.problem, path=Path("/node/p/019_relu.py")),
        replace(sent.solution, path=Path("/node/s/1.py")),
    )
    verdict = ended(here, Status.RAISED, "/node/s/1.py:3: boom", detail="File /node/p/019_relu.py")
    told = site.Site._there(verdict, here, sent)
    assert told.solution == "/here/solutions/1.py"
    assert told.reasons == ("/here/solutions/1.py:3: boom",)
    assert told.detail == "File /here/problems/level1/019_relu.py"


def test_variables_hold_for_a_while(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import tempfile

    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.delenv("KB_OTHER", raising=False)
    before = tempfile.gettempdir()
    with environment({"OMP_NUM_THREADS": None, "KB_OTHER": "x", "TMPDIR": str(tmp_path)}):
        assert "OMP_NUM_THREADS" not in os.environ
        assert os.environ["KB_OTHER"] == "x"
        assert tempfile.gettempdir() == str(tmp_path)
    assert os.environ["OMP_NUM_THREADS"] == "1"
    assert "KB_OTHER" not in os.environ
    assert tempfile.gettempdir() == before


# Who gets what


class ScriptedTasks:
    """A cluster in this thread: each task answers what the script says, or is lost."""

    def __init__(
        self, script: Callable[[str, bytes, int], Any], slots: int = 2, nodes: int = 2
    ) -> None:
        self.script = script
        self.size = (slots, nodes)
        self.lock = threading.Condition()
        self.answers: dict[int, Any] = {}
        self.begun: list[tuple[str, bytes]] = []
        self.avoided: list[str] = []
        self.cancelled: list[int] = []
        self.parcels: list[object] = []

    def build(self, order: bytes) -> tuple[int, str]:
        return self._begin("build", order), f"parcel of {order.decode()}"

    def judge(self, order: bytes, built: bytes, parcel: object, avoid: str) -> int:
        decode(built, Built)
        self.parcels.append(parcel)
        self.avoided.append(avoid)
        return self._begin("judge", order)

    def _begin(self, what: str, order: bytes) -> int:
        handle = len(self.begun)
        tries = self.begun.count((what, order))
        self.begun.append((what, order))
        self.answers[handle] = self.script(what, order, tries)
        return handle

    def done(self, handles: Sequence[int], timeout_s: float) -> list[int]:
        found = [each for each in handles if self.answers[each] is not None]
        if not found:
            time.sleep(min(timeout_s, 0.01))
        return found

    def answer(self, handle: int) -> bytes:
        answer = self.answers[handle]
        if isinstance(answer, Exception):
            raise answer
        return bytes(answer)

    def cancel(self, handle: int) -> None:
        self.cancelled.append(handle)

    def slots(self) -> tuple[int, int]:
        return self.size


def name(asked: Pair) -> bytes:
    return str(asked.solution.sample).encode()


def verdict_of(data: bytes, status: Status = Status.RIGHT) -> Verdict:
    return ended(pair(int(data)), status, "so it is")


def well(what: str, data: bytes, _: int) -> bytes:
    return encode(Built() if what == "build" else Judged(verdict_of(data), b"", "a"))


@pytest.fixture
def dispatcher() -> Iterator[Callable[..., Dispatcher]]:
    made: list[Dispatcher] = []

    def make(tasks: ScriptedTasks, **more: Any) -> Dispatcher:
        made.append(Dispatcher(tasks, name, lambda verdict, _: verdict, **more))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_each_pair_is_built_and_judged_once(dispatcher: Any) -> None:
    tasks = ScriptedTasks(well)
    engine = dispatcher(tasks)
    futures = [engine.submit(pair(0)), engine.submit(pair(1))]
    assert [future.result(20).sample for future in futures] == [0, 1]
    assert sorted(tasks.begun) == [
        ("build", b"0"),
        ("build", b"1"),
        ("judge", b"0"),
        ("judge", b"1"),
    ]
    assert sorted(map(str, tasks.parcels)) == ["parcel of 0", "parcel of 1"]


def test_a_failed_build_is_not_judged(dispatcher: Any) -> None:
    tasks = ScriptedTasks(
        lambda _, data, __: encode(Built(verdict_of(data, Status.NOT_BUILT), b"log"))
    )
    assert dispatcher(tasks).submit(pair()).result(20).status is Status.NOT_BUILT
    assert tasks.begun == [("build", b"1")]


def test_builds_alone(dispatcher: Any) -> None:
    tasks = ScriptedTasks(well)
    verdict = dispatcher(tasks, build_only=True).submit(pair()).result(20)
    assert verdict.status is Status.SKIPPED
    assert tasks.begun == [("build", b"1")]


def test_how_far_builds_are_is_known(dispatcher: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "_LEAST_UNDER_WAY", 4)
    answers = {b"0": encode(Built()), b"1": encode(Built(verdict_of(b"1", Status.NOT_BUILT)))}
    tasks = ScriptedTasks(
        lambda what, data, _: answers.get(data) if what == "build" else None, slots=0
    )
    engine = dispatcher(tasks)
    for number in range(7):
        engine.submit(pair(number))
    wait_until(lambda: ("judge", b"0") in tasks.begun)
    wait_until(lambda: str(engine.builds) == "1 built, 1 failed, 3 running, 2 waiting")


def test_whom_it_is_about_is_not_the_answers_to_say(dispatcher: Any) -> None:
    about = replace(ended(pair(9), Status.RIGHT), entrant="eve", level=9, solution="/eve.py")
    tasks = ScriptedTasks(
        lambda what, *_: encode(Built() if what == "build" else Judged(about, b"", "a"))
    )
    verdict = dispatcher(tasks).submit(pair(3)).result(20)
    assert verdict == ended(pair(3), Status.RIGHT)


@pytest.mark.parametrize("lost_in", ["build", "judge"])
def test_what_is_lost_is_done_again_and_said(dispatcher: Any, lost_in: str) -> None:
    def script(what: str, data: bytes, tries: int) -> Any:
        return LostError("node 7 died") if (what, tries) == (lost_in, 0) else well(what, data, 0)

    tasks = ScriptedTasks(script)
    verdict = dispatcher(tasks).submit(pair()).result(20)
    assert verdict.status is Status.RIGHT
    assert verdict.notes == ("judged again elsewhere: node 7 died",)
    assert tasks.begun.count(("build", b"1")) == 2


def test_what_is_lost_again_and_again_is_not_judged(dispatcher: Any) -> None:
    def script(what: str, data: bytes, tries: int) -> Any:
        return well(what, data, 0) if what == "build" else LostError(f"loss {tries}")

    tasks = ScriptedTasks(script)
    verdict = dispatcher(tasks).submit(pair()).result(20)
    assert verdict.status is Status.NOT_JUDGED
    assert "3 nodes or processes" in verdict.reasons[0]
    assert "loss 0; loss 1; loss 2" in verdict.reasons[0]
    assert verdict.notes == ()


@pytest.mark.parametrize(("nodes", "judged"), [(1, 1), (2, 2)])
def test_a_node_that_fails_is_avoided_if_there_is_another(
    dispatcher: Any, nodes: int, judged: int
) -> None:
    def script(what: str, data: bytes, tries: int) -> Any:
        if what == "build" or tries:
            return well(what, data, 0)
        return encode(Judged(verdict_of(data, Status.NOT_JUDGED), b"", "broken"))

    tasks = ScriptedTasks(script, nodes=nodes)
    verdict = dispatcher(tasks).submit(pair()).result(20)
    assert verdict.status is (Status.RIGHT if nodes > 1 else Status.NOT_JUDGED)
    assert tasks.avoided == ["", "broken"][:judged]


def test_nobody_waits_for_another_node_than_the_last(
    dispatcher: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(what: str, data: bytes, tries: int) -> Any:
        if what == "build" or tries == 2:
            return well(what, data, 0)
        return (
            encode(Judged(verdict_of(data, Status.NOT_JUDGED), b"", "last")) if not tries else None
        )

    monkeypatch.setattr(dispatch, "_COUNT_EVERY_S", 0.01)
    tasks = ScriptedTasks(script)
    verdict = dispatcher(tasks).submit(pair())
    wait_until(lambda: tasks.avoided == ["", "last"])
    tasks.size = (1, 1)
    wait_until(lambda: bool(tasks.cancelled))
    tasks.answers[tasks.cancelled[0]] = LostError("cancelled")
    assert verdict.result(20).status is Status.RIGHT
    assert tasks.avoided == ["", "last", ""]


def test_an_answer_that_cannot_be_read_is_no_fault_of_the_pair(dispatcher: Any) -> None:
    tasks = ScriptedTasks(lambda *_: b"nonsense")
    verdict = dispatcher(tasks).submit(pair()).result(20)
    assert verdict.status is Status.NOT_JUDGED
    assert "no Built that can be read" in verdict.reasons[0]


def test_only_so_many_are_under_way(dispatcher: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "_LEAST_UNDER_WAY", 3)
    tasks = ScriptedTasks(lambda *_: None, slots=0)
    engine = dispatcher(tasks)
    futures = [engine.submit(pair(n)) for n in range(10)]
    wait_until(lambda: len(tasks.begun) == 3)
    time.sleep(0.1)
    assert [data for _, data in tasks.begun] == [b"0", b"1", b"2"]
    assert futures[9].cancel()
    assert not futures[0].cancel()
    for handle, answer in enumerate([well("build", b"0", 0), well("build", b"1", 0)]):
        tasks.answers[handle] = answer
    wait_until(lambda: len(tasks.begun) == 5)
    assert {what for what, _ in tasks.begun[3:]} == {"judge"}


def test_closing_kills_what_runs_and_tells_who_waits(dispatcher: Any) -> None:
    tasks = ScriptedTasks(lambda *_: None)
    engine = dispatcher(tasks)
    begun = engine.submit(pair())
    wait_until(lambda: bool(tasks.begun))
    ends(engine.close)
    assert tasks.cancelled == [0]
    with pytest.raises(MachineError, match="closed before"):
        begun.result(0)
    with pytest.raises(MachineError, match="closed before"):
        engine.submit(pair()).result(0)


def test_a_cluster_that_cannot_judge_any_more_is_told_of(
    dispatcher: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "_COUNT_EVERY_S", 0.01)
    monkeypatch.setattr(dispatch, "_NO_NODE_PATIENCE_S", 0.05)
    tasks = ScriptedTasks(lambda *_: None, nodes=0)
    verdict = dispatcher(tasks).submit(pair()).result(20)
    assert verdict.status is Status.NOT_JUDGED
    assert "no node of the Ray cluster could have judged" in verdict.reasons[0]


@pytest.mark.parametrize("question", ["slots", "done"])
def test_nobody_waits_for_a_cluster_that_cannot_be_asked_any_more(
    dispatcher: Any, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    """Neither who is under way, nor who waits, nor who comes later; and it can be closed."""

    def refuse(*_: object) -> None:
        message = "Ray has been shut down\nmany more words"
        raise ConnectionError(message)

    monkeypatch.setattr(dispatch, "_COUNT_EVERY_S", 0.01)
    monkeypatch.setattr(dispatch, "_LEAST_UNDER_WAY", 2)
    tasks = ScriptedTasks(lambda *_: None, slots=0)
    engine = dispatcher(tasks)
    asked = [engine.submit(pair(number)) for number in range(4)]
    wait_until(lambda: len(tasks.begun) == 2)
    assert asked[3].cancel()
    monkeypatch.setattr(tasks, "cancel", refuse)
    monkeypatch.setattr(tasks, question, refuse)
    verdicts = [future.result(20) for future in (*asked[:3], engine.submit(pair(4)))]
    assert {verdict.status for verdict in verdicts} == {Status.NOT_JUDGED}
    assert all("Ray has been shut down; see" in verdict.reasons[0] for verdict in verdicts)
    assert str(engine.builds) == "0 built"
