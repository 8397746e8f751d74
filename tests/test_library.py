"""Verdicts without pytest, from an engine that reads them out of the solutions."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_engine import FakeEngine

import pytest_kernelbench
from pytest_kernelbench import library
from pytest_kernelbench.build.extension import Extension
from pytest_kernelbench.catalog.material import Material
from pytest_kernelbench.catalog.pair import Pair
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.library import Judge, reward
from pytest_kernelbench.question import Question
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Measurement, Status, Verdict

PROBLEM = "class Model: pass\n"


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def solution(fake: str) -> str:
    return f"# fake: {fake}\nclass ModelNew: pass\n"


class Pooled(FakeEngine):
    """Judges in the background, in one thread, whatever is not cancelled before."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._pool = ThreadPoolExecutor(1)

    def submit(self, pair: Pair) -> Future[Verdict]:
        return self._pool.submit(lambda: super(Pooled, self).submit(pair).result())

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        super().close()


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "problems" / "level1"
    folder.mkdir(parents=True)
    (folder / "019_relu.py").write_text(PROBLEM)
    return Settings(problem_roots=(tmp_path / "problems",), cache_dir=tmp_path / "cache")


@pytest.fixture
def judge(settings: Settings) -> Iterator[Judge]:
    with Judge(settings, Pooled) as made:
        yield made


def test_sources_become_files_that_stay(judge: Judge, settings: Settings) -> None:
    verdict = judge.judge(Question(PROBLEM, solution("fast 2")))
    assert verdict.status is Status.FAST
    assert (verdict.level, verdict.number, verdict.entrant) == (0, 0, "library")
    file = Path(verdict.solution)
    assert file.is_relative_to(settings.cache_dir)
    assert file.read_text() == solution("fast 2")
    assert judge.judge(Question(PROBLEM, solution("fast 2"))).solution == str(file)


def test_problem_by_number_and_by_file(judge: Judge, settings: Settings) -> None:
    path = settings.problem_roots[0] / "level1" / "019_relu.py"
    for problem in ("1/19", "level1/019", path):
        verdict = judge.judge(Question(problem, solution("right 1")))
        assert (verdict.level, verdict.number, verdict.problem) == (1, 19, "relu")


@pytest.mark.parametrize(
    ("question", "says"),
    [
        (Question("1/20", "x"), r"no problem 1/20; searched: .*1 problems"),
        (Question("problems/level1", "x"), "a file is given as a Path"),
        (Question(Path("nowhere.py"), "x"), "no problem file nowhere.py"),
        (Question(PROBLEM, Path("nowhere.py")), "no solution file nowhere.py"),
        (Question(PROBLEM, Material((("../x.py", ""),))), "leads out of the solution's folder"),
        (Question("#" * (5 << 20), "x"), "its source has 5,242,880 bytes"),
        (
            Question("problems/level1/019_relu.py", "x"),
            "_relu.py' is the name of a file, no problem",
        ),
        (Question("019_relu.py", "x"), "'019_relu.py' is the name of a file, no problem"),
    ],
)
def test_what_does_not_exist(judge: Judge, question: Question, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        judge.judge(question)


def test_a_file_that_is_too_long(judge: Judge, tmp_path: Path) -> None:
    long = tmp_path / "long.py"
    long.write_bytes(b"#" * (5 << 20))
    verdict = judge.judge(Question(PROBLEM, long))
    assert verdict.status is Status.NOT_BUILT
    assert verdict.reasons[0].startswith("long.py has 5,242,880 bytes")
    with pytest.raises(UsageError, match=r"problem: long\.py has 5,242,880 bytes"):
        judge.judge(Question(long, "x"))


@pytest.mark.parametrize(
    ("question", "says"),
    [
        (Question("1/19", None), "a solution is a str, a Path or a Material, not None"),  # type: ignore[arg-type]
        (Question("1/19", 5), "or a Material, not int"),  # type: ignore[arg-type]
        (Question("1/19", b"x"), "or a Material, not bytes"),  # type: ignore[arg-type]
        (Question(119, "x"), "a problem is a str, a Path or a Problem, not int"),  # type: ignore[arg-type]
        (Question("1/19", "x", entry=None), "an entry is the name of a class, not None"),  # type: ignore[arg-type]
        (Question("1/19", "x", entry="a b"), "an entry is the name of a class, not 'a b'"),
        (Question("1/19", Material(())), "pairs of a name and a text"),
        (Question("1/19", Material((("solution.py", None),))), "both str"),  # type: ignore[arg-type]
        (("1/19", "x"), "a question is a Question, not tuple"),
        (Question("1/19", "x", entrant=None), "an entrant is a str, not None"),  # type: ignore[arg-type]
        (Question("1/19", "x", sample="1"), "a sample is an int, not str"),  # type: ignore[arg-type]
    ],
)
def test_what_is_of_another_type(judge: Judge, question: Question, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        judge.judge(question)


LONG = "#" * (5 << 20)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (LONG, "its source has 5,242,880 bytes, more than 4,194,304"),
        (Material((("solution.py", "x"), ("k.cu", LONG))), "its source has 5,242,880 bytes"),
        (Path("long.py"), "long.py has 5,242,880 bytes"),
        ("solutions/x.py", "its source is a name, 'solutions/x.py'; a file is given as a Path"),
    ],
)
def test_what_is_no_source_is_not_built(
    judge: Judge, settings: Settings, source: Path | str | Material, says: str
) -> None:
    Path("long.py").write_text(LONG)
    verdict = judge.judge(Question("1/19", source, entrant="ann"))
    assert (verdict.status, verdict.number, verdict.entrant) == (Status.NOT_BUILT, 19, "ann")
    assert says in verdict.reasons[0]
    assert not (settings.cache_dir / "sources").exists()


@pytest.mark.parametrize(
    ("baselines", "says"),
    [
        (("compiled",), "baseline 'compiled' is unknown; there are compile, compile-max, eager"),
        (("eager", "half"), "baseline 'half' is unknown"),
        ((), "measured against one at least"),
    ],
)
def test_baselines_that_there_are_not(
    settings: Settings, baselines: tuple[str, ...], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        Judge(replace(settings, baselines=baselines), Pooled)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"seeds": 0}, "seeds: '0' is not a whole number of at least 1"),
        ({"thresholds": (-1.0,)}, "thresholds: '-1.0' is not a number"),
        ({"engine": "cloud"}, "engine: 'cloud' is none of local, ray"),
    ],
)
def test_settings_that_make_no_sense(settings: Settings, change: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        Judge(replace(settings, **change))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"problem_roots": [Path("problems")]}, "is no tuple[Path, ...]"),
        ({"problem_roots": ("problems",)}, "problem_roots: ('problems',) is no tuple[Path, ...]"),
        ({"problem_roots": "problems"}, "problem_roots: 'problems' is no tuple[Path, ...]"),
        ({"cache_dir": "kept"}, "cache_dir: 'kept' is no Path"),
        ({"json": "verdicts.json"}, "json: 'verdicts.json' is no Path | None"),
        ({"baselines": ["eager"]}, "baselines: ['eager'] is no tuple[str, ...]"),
        ({"baselines": "compile"}, "baselines: 'compile' is no tuple[str, ...]"),
        ({"baseline_prepare": (("half",),)}, "baseline_prepare: (('half',),) is no tuple["),
        ({"thresholds": (1, "2")}, "thresholds: (1, '2') is no tuple[float, ...]"),
        ({"seeds": "5"}, "seeds: '5' is no int"),
        ({"seeds": True}, "seeds: True is no int"),
        ({"budget_s": "2"}, "budget_s: '2' is no float"),
        ({"strict": "no"}, "strict: 'no' is no bool"),
        ({"device": None}, "device: None is no str"),
    ],
)
def test_settings_of_another_type(settings: Settings, change: dict[str, Any], says: str) -> None:
    changed = replace(settings, **change)
    for ask in (
        lambda: Judge(changed, Pooled),
        lambda: library.judge("1/19", "x", settings=changed),
    ):
        with pytest.raises(UsageError, match=re.escape(says)):
            ask()


def test_settings_that_are_none_of_ours() -> None:
    with pytest.raises(UsageError, match="settings are a Settings, not dict"):
        library.judge("1/19", "x", settings={})  # type: ignore[arg-type]


def test_numbers_may_be_whole(settings: Settings) -> None:
    with Judge(replace(settings, thresholds=(1, 2), budget_s=1, atol=None), Pooled) as judge:
        assert judge.judge(Question("1/19", solution("right 1"))).status is Status.RIGHT


def test_a_baseline_of_your_own(settings: Settings) -> None:
    mine = replace(settings, baselines=("half",), baseline_prepare=(("half", "mine:half"),))
    with Judge(mine, Pooled) as judge:
        assert judge.judge(Question("1/19", solution("right 1"))).status is Status.RIGHT


@pytest.mark.parametrize(
    ("fake", "status"),
    [
        ("not_built", Status.NOT_BUILT),
        ("missing", Status.SKIPPED),
        ("bad_problem", Status.BAD_PROBLEM),
        ("not_judged", Status.NOT_JUDGED),
        ("bug", Status.NOT_JUDGED),
        ("wrong_value", Status.WRONG_VALUE),
    ],
)
def test_whatever_happens_is_a_verdict(judge: Judge, fake: str, status: Status) -> None:
    assert judge.judge(Question(PROBLEM, solution(fake))).status is status


def test_one_engine_for_all_threads(settings: Settings) -> None:
    made: list[Pooled] = []

    def make(settings: Settings) -> Pooled:
        made.append(Pooled(settings))
        return made[0]

    with Judge(settings, make) as judge, ThreadPoolExecutor(8) as threads:
        questions = [Question(PROBLEM, solution(f"fast {n}")) for n in range(2, 32)]
        verdicts = [*threads.map(judge.judge, questions)]
        speedups = [each.measurement.speedup for each in verdicts if each.measurement]
        assert speedups == list(range(2, 32))
    assert len(made) == 1
    assert Path("closed").exists()


def test_a_loop_in_each_of_several_threads(judge: Judge) -> None:
    async def ask(first: int) -> set[object]:
        questions = [Question(PROBLEM, solution("right"), key=first + n) for n in range(20)]
        return {question.key async for question, _ in judge.judge_many(questions, ahead=4)}

    with ThreadPoolExecutor(4) as threads:
        found = [*threads.map(lambda first: asyncio.run(ask(first)), range(0, 80, 20))]
    assert found == [set(range(first, first + 20)) for first in range(0, 80, 20)]


def test_files_of_one_solution(judge: Judge) -> None:
    several = Material((("solution.py", solution("fast 3")), ("lib/kernel.cu", "// empty\n")))
    verdict = judge.judge(Question(PROBLEM, several))
    assert verdict.status is Status.FAST
    assert (Path(verdict.solution).parent / "lib/kernel.cu").read_text() == "// empty\n"


def test_no_engine_no_verdict(settings: Settings) -> None:
    def make(_: Settings) -> FakeEngine:
        message = "0 CUDA devices are visible here"
        raise UsageError(message)

    with Judge(settings, make) as judge, pytest.raises(UsageError, match="0 CUDA devices"):
        judge.judge(Question(PROBLEM, solution("right")))


def test_closed_judge_refuses(settings: Settings) -> None:
    judge = Judge(settings, FakeEngine)
    judge.close()
    judge.close()
    with pytest.raises(UsageError, match="closed"):
        judge.submit(Question(PROBLEM, solution("right")))


def test_closing_cancels_what_waits(settings: Settings) -> None:
    gate, judging = threading.Event(), threading.Event()

    class Slow(Pooled):
        def judge(self, pair: Pair, extension: Extension) -> Verdict:
            judging.set()
            gate.wait(20)
            return super().judge(pair, extension)

    judge = Judge(settings, Slow)
    first, *others = (judge.submit(Question(PROBLEM, solution(f"right {n}"))) for n in range(1, 9))
    assert judging.wait(20)
    closing = threading.Thread(target=judge.close)
    closing.start()
    wait_until(lambda: all(each.cancelled() for each in (first, *others)))
    gate.set()
    closing.join(20)
    assert not closing.is_alive()


def test_what_is_cancelled_is_not_judged(settings: Settings) -> None:
    gate, judged = threading.Event(), []

    class Slow(Pooled):
        def judge(self, pair: Pair, extension: Extension) -> Verdict:
            gate.wait(20)
            judged.append(pair.solution.sample)
            return super().judge(pair, extension)

    with Judge(settings, Slow) as judge:
        asked = [judge.submit(Question(PROBLEM, solution("right"), sample=n)) for n in range(4)]
        wait_until(judge._engine.done)
        assert asked[2].cancel()
        gate.set()
        assert [asked[n].result(20).status for n in (0, 1, 3)] == [Status.RIGHT] * 3
    assert judged == [0, 1, 3]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_makes_its_own(judge: Judge) -> None:
    assert judge.judge(Question(PROBLEM, solution("right"))).status is Status.RIGHT
    read_end, write_end = os.pipe()
    if (child := os.fork()) == 0:
        try:
            judge.submit(Question(PROBLEM, solution("right")))
        except UsageError as error:
            os.write(write_end, str(error).encode())
        judge.close()  # must not end what the parent still uses
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        assert "belongs to the process that forked this one" in pipe.read()
    os.waitpid(child, 0)
    assert judge.judge(Question(PROBLEM, solution("right"))).status is Status.RIGHT


def test_many_come_back_with_their_questions(judge: Judge) -> None:
    questions = [Question(PROBLEM, solution(f"fast {n}"), key=n) for n in range(2, 22)]

    async def ask() -> dict[object, float]:
        found = {}
        async for question, verdict in judge.judge_many(questions):
            assert verdict.measurement is not None
            found[question.key] = verdict.measurement.speedup
        return found

    assert asyncio.run(ask()) == {n: float(n) for n in range(2, 22)}


def test_a_slow_consumer_holds_the_source_back(judge: Judge) -> None:
    taken = 0

    async def source() -> AsyncIterator[Question]:
        nonlocal taken
        for number in range(1000):
            taken += 1
            yield Question(PROBLEM, solution("right"), key=number)

    async def ask() -> int:
        seen = 0
        answers = judge.judge_many(source(), ahead=3)
        async for _ in answers:
            seen += 1
            await asyncio.sleep(0.005)
            assert taken <= seen + 4
            if seen == 20:
                break
        await answers.aclose()  # type: ignore[attr-defined]
        return seen

    assert asyncio.run(ask()) == 20
    assert taken < 40


def test_a_slow_source_does_not_hold_verdicts_back(judge: Judge) -> None:
    async def source() -> AsyncIterator[Question]:
        yield Question(PROBLEM, solution("right"), key="first")
        await asyncio.sleep(30)
        yield Question(PROBLEM, solution("right"), key="second")

    async def first() -> object:
        async for question, _ in judge.judge_many(source()):
            return question.key
        return None

    assert asyncio.run(asyncio.wait_for(first(), 10)) == "first"


def test_what_was_asked_before_a_wrong_question_is_answered(settings: Settings) -> None:
    class Slow(Pooled):
        def judge(self, pair: Pair, extension: Extension) -> Verdict:
            time.sleep(0.1)  # so that the wrong question is met first
            return super().judge(pair, extension)

    questions = [Question(PROBLEM, solution("right"), key=n) for n in range(3)]
    wrong = Question("1/20", solution("right"))
    taken: list[object] = []

    async def ask(judge: Judge) -> None:
        asked = iter([*questions, wrong, *questions])
        async for question, _ in judge.judge_many(asked):
            taken.append(question.key)

    with Judge(settings, Slow) as judge, pytest.raises(UsageError, match="no problem 1/20"):
        asyncio.run(ask(judge))
    assert sorted(taken) == [0, 1, 2]


def test_what_was_asked_before_its_source_fails_is_answered(judge: Judge) -> None:
    taken: list[object] = []

    async def source() -> AsyncIterator[Question]:
        yield Question(PROBLEM, solution("right"), key="first")
        message = "the policy died"
        raise RuntimeError(message)

    async def ask() -> None:
        async for question, _ in judge.judge_many(source()):
            taken.append(question.key)

    with pytest.raises(RuntimeError, match="the policy died"):
        asyncio.run(ask())
    assert taken == ["first"]


def test_what_was_asked_for_who_has_left_is_cancelled(settings: Settings) -> None:
    """The second is asked while the consumer works on the first verdict, and then leaves."""
    gate, asked = threading.Event(), list[Future[Verdict]]()

    class Slow(Pooled):
        def judge(self, pair: Pair, extension: Extension) -> Verdict:
            if asked[1:]:
                gate.wait(20)
            return super().judge(pair, extension)

    class Watched(Judge):
        def submit(self, question: Question) -> Future[Verdict]:
            asked.append(super().submit(question))
            return asked[-1]

    async def source(first_is_known: asyncio.Event) -> AsyncIterator[Question]:
        yield Question(PROBLEM, solution("right"), key="first")
        await first_is_known.wait()
        yield Question(PROBLEM, solution("right"), key="second")

    async def ask(judge: Judge) -> None:
        first_is_known = asyncio.Event()
        answers = judge.judge_many(source(first_is_known))
        await answers.__anext__()
        first_is_known.set()
        await asyncio.to_thread(wait_until, lambda: len(asked) > 1)
        await asyncio.sleep(0.05)  # until the answer to having asked has come
        await answers.aclose()  # type: ignore[attr-defined]

    with Watched(settings, Slow) as judge:
        asyncio.run(ask(judge))
        cancelled = asked[1].cancelled()
        gate.set()
    assert cancelled


@pytest.mark.parametrize("ahead", [0, -1, None])
def test_none_ahead_asks_nothing(judge: Judge, ahead: Any) -> None:
    async def ask() -> None:
        async for _ in judge.judge_many([Question(PROBLEM, solution("right"))], ahead=ahead):
            pytest.fail("a verdict on what cannot have been asked")

    with pytest.raises(UsageError, match=f"ahead={ahead} asks nothing"):
        asyncio.run(ask())


def held(gate: threading.Event) -> type[Pooled]:
    """An engine that judges nothing before the gate is open."""

    class Held(Pooled):
        def judge(self, pair: Pair, extension: Extension) -> Verdict:
            gate.wait(20)
            return super().judge(pair, extension)

    return Held


def test_closed_in_the_midst_says_so(settings: Settings) -> None:
    gate = threading.Event()

    async def ask(judge: Judge) -> None:
        async for _ in judge.judge_many([Question(PROBLEM, solution("right"))]):
            pytest.fail("a verdict of a judge that is closed")

    judge = Judge(settings, held(gate))
    with ThreadPoolExecutor(2) as threads:
        asking = threads.submit(asyncio.run, ask(judge))
        wait_until(lambda: bool(judge._open))
        closing = threads.submit(judge.close)
        with pytest.raises(UsageError, match="was closed while it was asked"):
            asking.result(20)
        gate.set()
        closing.result(20)


def test_closed_while_one_is_asked_says_so(settings: Settings) -> None:
    gate = threading.Event()

    judge = Judge(settings, held(gate))
    with ThreadPoolExecutor(2) as threads:
        asking = threads.submit(judge.judge, Question(PROBLEM, solution("right")))
        wait_until(lambda: bool(judge._open))
        closing = threads.submit(judge.close)
        try:
            with pytest.raises(UsageError, match="was closed while it was asked"):
                asking.result(20)
        finally:
            gate.set()
        closing.result(20)


def measured(low: float, status: Status = Status.FAST) -> Verdict:
    times = Measurement("eager", low * 1.1, low, low * 1.2, 100, 50, 1, 3, 30)
    return Verdict(1, 1, "relu", "ann", "x.py", status, measurements=(times,))


@pytest.mark.parametrize(
    ("verdict", "value"),
    [
        (measured(2.0), 2.3),
        (measured(50.0), 10.3),
        (measured(0.5, Status.RIGHT), 0.8),
        (measured(2.0, Status.NOT_A_KERNEL), 0.0),
        (measured(2.0, Status.WRONG_VALUE), 0.0),
        (Verdict(1, 1, "relu", "ann", "x.py", Status.RIGHT), 0.3),
        (Verdict(1, 1, "relu", "ann", "x.py", Status.NOT_BUILT), 0.0),
        (Verdict(1, 1, "relu", "ann", "x.py", Status.NOT_JUDGED), None),
        (Verdict(1, 1, "relu", "ann", "x.py", Status.SKIPPED), None),
    ],
)
def test_reward(verdict: Verdict, value: float | None) -> None:
    assert reward(verdict) == (value if value is None else pytest.approx(value))


def test_reward_of_library_kernels_if_wanted() -> None:
    assert reward(measured(2.0, Status.NOT_A_KERNEL), library=True) == pytest.approx(2.3)


def test_every_public_name_is_there() -> None:
    found = {name: getattr(pytest_kernelbench, name) for name in pytest_kernelbench.__all__}
    assert found["UsageError"] is UsageError
    assert sorted(found) == sorted([*pytest_kernelbench._HOME, "judge"])


@pytest.mark.parametrize(
    "order",
    [
        "from pytest_kernelbench import judge",
        "import pytest_kernelbench.judge.wire; from pytest_kernelbench import judge",
        "from pytest_kernelbench import judge; import pytest_kernelbench.judge.wire",
    ],
)
def test_judge_is_a_function_and_a_room_and_no_torch(order: str) -> None:
    code = (
        f"{order}\nimport sys, pytest_kernelbench\nassert callable(judge)\n"
        "from pytest_kernelbench import judge_many, reward, Judge, Question, Settings, Verdict\n"
        "from pytest_kernelbench.judge import rejection\n"
        "try:\n    judge('1/1', 'x', settings=Settings(problem_roots=()))\n"
        "except Exception as error:\n    assert 'no problem 1/1' in str(error), error\n"
        "assert 'torch' not in sys.modules\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr


def test_the_shared_judge_is_closed_when_the_interpreter_ends() -> None:
    """Executors take nothing any more by then."""
    code = (
        "from pytest_kernelbench import library\n"
        "from pytest_kernelbench.settings import Settings\n"
        "class Engine:\n"
        "    def close(self): print('closed')\n"
        "library._own_engine = lambda _: Engine()\n"
        "library._shared(Settings())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("closed\n", "")
