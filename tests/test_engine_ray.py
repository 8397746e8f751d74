"""The Ray engine as pytest and the library meet it, with a scripted cluster behind it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from waiting import wait_until

pytest.importorskip("ray", reason="Ray is not installed: pip install 'pytest-kernelbench[ray]'")

from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.endings import ended
from pytest_kernelbench.engine import ray_engine
from pytest_kernelbench.engine.cluster import connection
from pytest_kernelbench.engine.cluster.connection import Cluster, Place
from pytest_kernelbench.engine.cluster.messages import (
    Built,
    Judged,
    Order,
    Seen,
    decode,
    encode,
    identity,
)
from pytest_kernelbench.engine.ray_engine import RayEngine
from pytest_kernelbench.errors import BuildError, MissingNeedError, UsageError
from pytest_kernelbench.judge.device import Device
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Status, Verdict

CPU = Device("A Processor", "cpu-there", "cpu")


class ScriptedCluster:
    """Answers at once: what builds, and what is right, stands in the source."""

    def __init__(self, _: Settings) -> None:
        self.device = CPU
        self.place = Place(gpu=False)
        self.embedded = False
        self.orders: list[Order] = []
        self.answers: list[bytes] = []
        self.closed = False

    def build(self, order: bytes) -> tuple[int, None]:
        asked = decode(order, Order)
        self.orders.append(asked)
        failed = b"not built" in asked.files[0].data
        verdict = (
            ended(asked.pair, Status.NOT_BUILT, "s.py:1: error", detail="here") if failed else None
        )
        return self._answer(encode(Built(verdict, b"a log"))), None

    def judge(self, order: bytes, *_: object) -> int:
        verdict = ended(decode(order, Order).pair, Status.RIGHT)
        return self._answer(encode(Judged(verdict, b"another log", "n")))

    def _answer(self, answer: bytes) -> int:
        self.answers.append(answer)
        return len(self.answers) - 1

    def done(self, handles: list[int], _: float) -> list[int]:
        return handles

    def answer(self, handle: int) -> bytes:
        return self.answers[handle]

    def slots(self) -> tuple[int, int]:
        return 2, 1

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., RayEngine]]:
    monkeypatch.setattr(ray_engine, "Cluster", ScriptedCluster)
    made: list[RayEngine] = []

    def engine(**more: Any) -> RayEngine:
        made.append(RayEngine(Settings(engine="ray", cache_dir=tmp_path / "cache", **more)))
        return made[-1]

    yield engine
    for each in made:
        each.close()
        assert each.cluster.closed


@pytest.fixture
def pair(tmp_path: Path) -> Callable[[str], Pair]:
    def written(source: str) -> Pair:
        (tmp_path / "p.py").write_text("class Model: pass\n")
        (tmp_path / "s.py").write_text(source)
        return Pair(Problem(tmp_path / "p.py", 1, 1, "p"), Solution(tmp_path / "s.py", "ann"))

    return written


def test_what_was_announced_is_asked_once(make: Any, pair: Any) -> None:
    engine, asked = make(), pair("right")
    engine.ahead([asked])
    verdict = engine.judge(asked, engine.build(asked))
    assert verdict.status is Status.RIGHT
    assert Path(verdict.log).read_bytes() == b"another log"
    assert len(engine.cluster.orders) == 1
    assert engine.submit(asked).result(20).status is Status.RIGHT  # asked again: judged again
    assert len(engine.cluster.orders) == 2
    assert str(engine.builds) == "2 built"


def test_what_a_node_is_told(make: Any, pair: Any, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    engine = make(device="auto", json=tmp_path / "out.jsonl", seeds=2, problem_roots=(tmp_path,))
    assert engine.submit(pair("right")).result(20).status is Status.RIGHT
    (order,) = engine.cluster.orders
    assert order.settings.device == "cpu"
    assert order.settings.seeds == 2
    assert order.settings.json is None
    assert order.settings.cache_dir == Settings().cache_dir
    assert order.settings.problem_roots == Settings().problem_roots
    assert order.environment["OMP_NUM_THREADS"] == "3"
    assert order.problem_file.data == b"class Model: pass\n"
    assert (order.judge, order.cache) == (ray_engine.identity(), "")


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("not built", Status.NOT_BUILT),
        ("__global__ void k()", Status.SKIPPED),
        ("DEVICES = ('cuda',)", Status.SKIPPED),
    ],
)
def test_what_never_reaches_a_judge(make: Any, pair: Any, source: str, status: Status) -> None:
    engine, asked = make(), pair(source)
    verdict: Verdict = engine.judge(asked, engine.build(asked))
    assert verdict.status is status


def test_what_cannot_be_read(make: Any, pair: Any) -> None:
    engine, asked = make(), pair("right")
    asked.solution.path.unlink()
    assert engine.submit(asked).result(20).status is Status.NOT_BUILT
    asked.solution.path.write_text("right")
    asked.problem.path.unlink()
    assert engine.submit(asked).result(20).status is Status.BAD_PROBLEM


def test_builds_alone(make: Any, pair: Any) -> None:
    engine = make(build_only=True)
    assert engine.build(pair("__global__")).seconds == 0.0  # no device is needed to build
    with pytest.raises(BuildError, match=r"s\.py:1: error\nhere") as error:
        engine.build(pair("not built"))
    assert Path(error.value.log).read_bytes() == b"a log"


def test_a_need_that_no_node_has(make: Any, pair: Any, monkeypatch: Any) -> None:
    engine, asked = make(build_only=True), pair("right")
    missing = encode(Built(ended(asked, Status.SKIPPED, "nvcc is not here")))
    monkeypatch.setattr(engine.cluster, "answer", lambda _: missing)
    with pytest.raises(MissingNeedError, match="nvcc is not here"):
        engine.build(asked)


def test_stored_times_of_another_device(make: Any, tmp_path: Path) -> None:
    entry = {"mean": 0.3, "std": 0.0, "num_trials": 5, "hardware": "Some GPU"}
    (tmp_path / "times.json").write_text(json.dumps({"level1": {"19_relu.py": entry}}))
    with pytest.raises(UsageError, match="measured on 'Some GPU', but this session judges on 'A P"):
        make(baseline_times=tmp_path / "times.json")
    make(baseline_times=tmp_path / "times.json", foreign_baseline=True)


class ScriptedRay:
    """A Ray of which a node says ``seen``."""

    def __init__(self, seen: bytes = b"") -> None:
        self.seen = seen
        self.place = ""

    def is_initialized(self) -> bool:
        return False

    def init(self, _temp_dir: str = "", **_: object) -> None:
        self.place = _temp_dir

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": {"CPU": 2.0}}]

    def remote(self, *_: object, **__: object) -> Any:
        task = SimpleNamespace(remote=lambda *_: None)
        task.options = lambda **_: task
        return task if _ else lambda _: task

    def get(self, *_: object, **__: object) -> bytes:
        return self.seen

    def shutdown(self) -> None:
        self.place = ""


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[bytes], ScriptedRay]:
    def of(seen: bytes) -> ScriptedRay:
        made = ScriptedRay(seen)
        monkeypatch.setattr(connection, "ray", made)
        monkeypatch.setattr(connection, "_short_place", lambda: str(tmp_path))
        monkeypatch.setattr(connection, "_knock", lambda _: None)
        return made

    return of


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        (
            encode(Seen("9.9.9-theirs", CPU)),
            r"has pytest-kernelbench 9\.9\.9-theirs, the session has",
        ),
        (b"\x81\xa5judge\xa1x", r"could not run the judge: .* no Seen .*; install pytest-kern"),
    ],
)
def test_a_node_with_another_judge_is_refused_at_once(
    scripted: Any, seen: bytes, says: str
) -> None:
    scripted(seen)
    with pytest.raises(UsageError, match=says):
        Cluster(Settings(engine="ray", ray_address="auto"))


def test_a_node_with_the_sessions_judge_is_taken(scripted: Any) -> None:
    scripted(encode(Seen(identity(), CPU)))
    cluster = Cluster(Settings(engine="ray", ray_address="auto"))
    assert cluster.device == CPU
    cluster.close()


def test_folders_of_rays_whose_session_was_killed(
    scripted: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They go after a day; of a session that lives longer, the folder never looks that old."""
    monkeypatch.setattr(connection, "_TOUCH_EVERY_S", 0.01)
    left, young = (tmp_path / f"kb-ray-4194305-{name}" for name in "ab")
    for folder in (left, young):
        folder.mkdir()
    os.utime(left, (0, 0))
    fake = scripted(encode(Seen(identity(), CPU)))
    cluster = Cluster(Settings(engine="ray"))
    own = Path(fake.place)
    os.utime(own, (0, 0))
    assert (left.exists(), young.exists()) == (False, True)
    wait_until(lambda: time.time() - own.stat().st_mtime < 60)
    cluster.close()
    assert not own.exists()
