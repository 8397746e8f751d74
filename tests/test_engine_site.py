"""What a process of a node does with an order, with a scripted judge and without compilers."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import msgspec
import pytest

from pytest_kernelbench.build.builder import Builder
from pytest_kernelbench.build.extension import Extension
from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.endings import ended
from pytest_kernelbench.engine.cluster import site, tasks
from pytest_kernelbench.engine.cluster.messages import Built, File, Judged, Order, decode, encode
from pytest_kernelbench.engine.cluster.site import Site
from pytest_kernelbench.errors import BuildError, MissingNeedError
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Status, Verdict

SOURCE = b"class ModelNew: pass\n"


class ScriptedSeat:
    made: ClassVar[list[ScriptedSeat]] = []

    def __init__(self, *_: object) -> None:
        self.closed = self.resting = False
        self.asked: list[tuple[Pair, Extension]] = []
        self.made.append(self)

    def open(self) -> None:
        assert not self.closed
        self.resting = False

    def judge(self, pair: Pair, extension: Extension, _: Callable[[str], None]) -> Verdict:
        self.asked.append((pair, extension))
        return ended(pair, Status.RAISED, f"{pair.solution.path}:1: boom")

    def rest(self) -> None:
        self.resting = True

    def close(self) -> None:
        self.closed = True


def order(**more: Any) -> Order:
    values: dict[str, Any] = {
        "judge": "",
        "settings": Settings(device="cpu"),
        "problem": Problem(Path("/here/p.py"), 1, 2, "p"),
        "problem_file": File("p.py", b"class Model: pass\n"),
        "solution": Solution(Path("/here/s.py"), "ann", 3),
        "files": (File("s.py", SOURCE),),
        "capability": None,
        "environment": {},
    }
    return Order(**values | more)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """By a word of the source, what its build ends in; else it is built at once."""
    log = tmp_path / "build.log"
    log.write_text("many\nwords\n")
    outcomes: dict[str, Any] = {}

    def make(_: Builder, solution: Path, *__: object) -> Extension:
        text = solution.read_text()
        found = next((end for word, end in outcomes.items() if word in text), None)
        if found is not None:
            raise found
        return Extension(solution.parent, log, 0.5, cached=False)

    monkeypatch.setattr(Builder, "_make", make)
    return outcomes


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: Any) -> Iterator[Site]:
    assert built == {}
    monkeypatch.setattr(site, "Seat", ScriptedSeat)
    ScriptedSeat.made.clear()
    node = Site(order().settings, None, str(tmp_path / "node"))
    yield node
    node.close()
    assert all(seat.closed for seat in ScriptedSeat.made)
    assert not [*(tmp_path / "node" / "tmp").iterdir()]


def test_a_verdict_in_the_sessions_words(made: Site, tmp_path: Path) -> None:
    asked = order()
    first, parcel = made.build(asked)
    assert first == Built(None, b"many\nwords\n", 0.5, cached=False)
    judged = made.judge(asked, first, parcel, "node 1")
    assert judged.node == "node 1"
    assert judged.verdict.solution == "/here/s.py"
    assert judged.verdict.reasons == ("/here/s.py:1: boom",)
    ((pair, extension),) = ScriptedSeat.made[0].asked
    assert pair.solution.path.is_relative_to(tmp_path / "node")
    assert pair.solution.path.read_bytes() == SOURCE
    assert extension.earlier is None


def test_what_fails_to_build_ends_with_its_log(made: Site, built: Any, tmp_path: Path) -> None:
    built["ModelNew"] = BuildError("s.py:1: error", str(tmp_path / "build.log"))
    end, parcel = made.build(order())
    assert end.verdict is not None
    assert end.verdict.status is Status.NOT_BUILT
    assert end.verdict.solution == "/here/s.py"
    assert (end.log, parcel) == (b"many\nwords\n", b"")


@pytest.mark.parametrize(("build_only", "ends"), [(True, True), (False, False)])
def test_what_is_missing_here_may_be_there(
    made: Site, built: Any, *, build_only: bool, ends: bool
) -> None:
    built["ModelNew"] = MissingNeedError("nvcc is not here", "nvcc")
    made.settings = replace(made.settings, build_only=build_only)
    end, _ = made.build(order())
    assert (end.verdict is not None) is ends
    assert end.verdict is None or end.verdict.status is Status.SKIPPED


def test_an_earlier_source_is_built_beside_it(made: Site, built: Any) -> None:
    before = Solution(Path("/before/s.py"), "ann", 3)
    asked = order(earlier=before, earlier_files=(File("s.py", SOURCE + b"# before\n"),))
    made.judge(asked, *made.build(asked), "n")
    pair, extension = ScriptedSeat.made[0].asked[0]
    assert pair.earlier is not None
    assert extension.earlier == pair.earlier.path.parent != pair.solution.path.parent
    built["before"] = BuildError("it was wrong then")
    other = replace_files(asked, b"# more\n# before\n")
    made.judge(other, *made.build(other), "n")
    assert ScriptedSeat.made[0].asked[1][1].earlier is None


def replace_files(asked: Order, tail: bytes) -> Order:
    return order(earlier=asked.earlier, earlier_files=(File("s.py", SOURCE + tail),))


def test_the_judge_is_kept_between_pairs_and_goes_after_them(
    made: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "_IDLE_S", 0.3)
    for _ in range(3):
        made.judge(order(), Built(), b"", "n")
    (seat,) = ScriptedSeat.made
    assert not seat.resting
    wait_until(lambda: seat.resting)
    made.judge(order(), Built(), b"", "n")
    assert ScriptedSeat.made == [seat], "it knows whether it has run the session's control"
    assert not seat.resting


def test_a_task_raises_nothing_and_leaves_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setattr(tasks, "_kept", {})
    asked = order(judge="0.0.1-of-others", cache=str(tmp_path / "node"))
    data, parcel = tasks.build(encode(asked))
    end = decode(data, Built)
    assert end.verdict is not None
    assert end.verdict.status is Status.NOT_JUDGED
    assert "the session has 0.0.1-of-others: install the same" in end.verdict.reasons[0]
    assert parcel == b""
    assert os.environ["OMP_NUM_THREADS"] == "7"


def test_an_order_of_another_form_is_told_of_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = msgspec.msgpack.encode({"judge": "9.9.9-of-others", "pairs": []})
    monkeypatch.setattr("ray.get_runtime_context", lambda: SimpleNamespace(get_node_id=lambda: "n"))
    data, _ = tasks.build(changed)
    built = decode(data, Built)
    judged = decode(tasks.judge(changed, encode(Built()), b""), Judged)
    for verdict in (built.verdict, judged.verdict):
        assert verdict is not None
        assert verdict.status is Status.NOT_JUDGED
        assert "the session has 9.9.9-of-others: install the same" in verdict.reasons[0]


def test_an_order_that_cannot_be_read_raises_nothing() -> None:
    data, _ = tasks.build(b"nonsense")
    end = decode(data, Built)
    assert end.verdict is not None
    assert end.verdict.status is Status.NOT_JUDGED
    assert "that can be read" in end.verdict.reasons[0]


def test_a_node_that_lives_long_does_not_pass_for_dead(made: Site, tmp_path: Path) -> None:
    (own,) = (tmp_path / "node" / "tmp").iterdir()
    made.judge(order(), Built(), b"", "n")
    os.utime(own, (0, 0))
    made.judge(order(), Built(), b"", "n")
    assert time.time() - own.stat().st_mtime < 60


def wait_until(true: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline_s
        time.sleep(0.005)
