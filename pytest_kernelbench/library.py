"""Verdicts without a pytest session, for training loops, agents and notebooks.

    from pytest_kernelbench import judge
    verdict = judge(problem_source, solution_source)

The same engine, the same walls, the same verdicts as under pytest. ``judge`` may be called from any
thread; ``judge_many`` is for event loops. Both keep one ``Judge`` per ``Settings`` until the
program ends; make a ``Judge`` yourself to say when its processes start and end.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from concurrent.futures import CancelledError, Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pytest_kernelbench.catalog.baseline import check_baselines
from pytest_kernelbench.catalog.material import Material, materialise, too_large, too_long, unsafe
from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.catalog.problems import ProblemCatalog
from pytest_kernelbench.endings import ended, ended_by
from pytest_kernelbench.engine.choice import check_engine, make_engine
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.options import check_values
from pytest_kernelbench.question import (
    Question,
    check_settings,
    check_types,
    names_a_file,
    no_source,
)
from pytest_kernelbench.reading import problem as read_problem_id
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import UNJUDGED, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
    from types import TracebackType

    from pytest_kernelbench.engine.protocol import Engine

_T = TypeVar("_T")
DEFAULT_AHEAD = 8
_CLOSED = "this judge was closed while it was asked: make another one"
_Asked = tuple[Question, "Future[Verdict]"]


class Judge:
    """An engine that many threads and event loops may ask. ``close`` it, or use it in ``with``.

    Pairs are built and judged side by side, as far as the machine or the cluster goes: one at a
    time on each device. A process forked from this one has to make its own. Raises ``UsageError``
    where a setting is none that pytest's option would take, or names a baseline that there is not.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        make_engine: Callable[[Settings], Engine] | None = None,
    ) -> None:
        self.settings = Settings() if settings is None else settings
        check_settings(self.settings)
        check_values(self.settings)
        check_baselines(self.settings)
        if make_engine is None:
            check_engine(self.settings.engine)
        self._starting = ThreadPoolExecutor(1, thread_name_prefix="kb-engine")
        self._engine = self._starting.submit(make_engine or _own_engine, self.settings)
        self._lock = threading.Lock()
        self._open: set[Future[Verdict]] = set()
        self._closed = False
        self._pid = os.getpid()

    def submit(self, question: Question) -> Future[Verdict]:
        """A future of the verdict.

        Cancelling it drops the pair, or its verdict if it is being judged already. Raises
        ``UsageError`` where the problem does not exist or the judge is closed. Whatever the
        solution is or does is a verdict; an exception in the future says that no engine could be
        made.
        """
        check_types(question)
        refusal = no_source(question.solution)
        pair = self._unwritten(question) if refusal else self.pair(question)
        verdict: Future[Verdict] = Future()
        with self._lock:
            if self._closed or self._pid != os.getpid():
                why = "is closed" if self._closed else "belongs to the process that forked this one"
                message = f"this judge {why}: make another one"
                raise UsageError(message)
            self._open.add(verdict)
        verdict.add_done_callback(self._forget)
        if refusal:
            verdict.set_result(ended(pair, Status.NOT_BUILT, refusal))
            return verdict
        self._engine.add_done_callback(lambda made: _ask(made, pair, verdict))
        return verdict

    def judge(self, question: Question) -> Verdict:
        """Wait for the verdict.

        Raises ``UsageError`` as ``submit`` does, and where the judge is closed meanwhile; also why
        no engine could be made.
        """
        verdict = self.submit(question)
        try:
            return verdict.result()
        except CancelledError:
            raise UsageError(_CLOSED) from None
        except BaseException:
            verdict.cancel()
            raise

    async def judge_many(
        self,
        questions: Iterable[Question] | AsyncIterable[Question],
        *,
        ahead: int = DEFAULT_AHEAD,
    ) -> AsyncIterator[tuple[Question, Verdict]]:
        """Verdicts as they come, each with its question.

        At most ``ahead`` questions are taken whose verdicts have not been asked for: a slow
        consumer slows the source down, and memory does not grow with the length of the source.
        Raises ``UsageError`` as ``submit`` does, and where the judge is closed meanwhile; also what
        the source raises. What was asked before that is answered first.
        """
        _check_ahead(ahead)
        source = _asynchronous(questions)
        pending: dict[asyncio.Future[Verdict], Question] = {}
        coming: asyncio.Future[_Asked | None] | None = None
        last: asyncio.Future[_Asked | None] | None = None
        try:
            while last is None or pending:
                if coming is None and last is None and len(pending) < ahead:
                    coming = asyncio.ensure_future(self._next(source))
                waited: list[asyncio.Future[Any]] = [*pending]
                if coming is not None:
                    waited.append(coming)
                await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
                if coming is not None and coming.done():
                    taken, coming = coming, None
                    if (asked := _asked(taken)) is not None:
                        pending[asyncio.wrap_future(asked[1])] = asked[0]
                    else:
                        last = taken
                for future in sorted(filter(asyncio.Future.done, pending), key=_has_failed):
                    yield pending.pop(future), _result(future)
            last.result()  # raises what the source did
        finally:
            for answer in pending:
                answer.cancel()
            if coming is not None and not coming.cancel() and (asked := _asked(coming)):
                asked[1].cancel()

    async def _next(self, source: AsyncIterator[Question]) -> _Asked | None:
        """The next question, asked; in another thread, as sources are read and written for it."""
        try:
            question = await source.__anext__()
        except StopAsyncIteration:
            return None
        asking = asyncio.get_running_loop().run_in_executor(None, self.submit, question)
        try:
            return question, await asyncio.shield(asking)
        except asyncio.CancelledError:
            asking.add_done_callback(_take_back)
            raise

    def pair(self, question: Question) -> Pair:
        """The pair a question is about; sources are written to files below the cache folder."""
        solution = self._file(question.solution, "solution")
        return self._paired(question, solution)

    def _unwritten(self, question: Question) -> Pair:
        """The pair of a source that is not worth a file."""
        given = question.solution
        return self._paired(question, given if isinstance(given, Path) else Path("solution.py"))

    def _paired(self, question: Question, solution: Path) -> Pair:
        return Pair(
            self._problem(question.problem),
            Solution(solution, question.entrant, question.sample, question.entry),
        )

    def close(self) -> None:
        """Drop what has not begun, end what has, and every process."""
        with self._lock:
            if self._closed or self._pid != os.getpid():
                return
            self._closed = True
            left = list(self._open)
        for verdict in left:
            verdict.cancel()
        try:
            self._starting.submit(self._close_engine).result()
        except RuntimeError:  # the interpreter ends: no executor takes anything any more
            self._close_engine()
        self._starting.shutdown(wait=True)

    def __enter__(self) -> Judge:  # noqa: PYI034 - Self is of Python 3.11
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @cached_property
    def _catalog(self) -> ProblemCatalog:
        return ProblemCatalog(self.settings.problem_roots)

    def _problem(self, asked: Problem | Path | str) -> Problem:
        if isinstance(asked, Problem):
            return asked
        if isinstance(asked, str) and names_a_file(asked):
            message = f"{asked!r} is the name of a file, no problem: a file is given as a Path"
            raise UsageError(message)
        if isinstance(asked, str) and "\n" not in asked and "/" in asked:
            return self._known_problem(asked)
        path = self._file(asked, "problem")
        found = ProblemCatalog((path.parent.parent,)).problems if isinstance(asked, Path) else ()
        known = next((each for each in found if each.path == path), None)
        return known or Problem(path, 0, 0, path.stem)

    def _known_problem(self, asked: str) -> Problem:
        catalog = self._catalog
        try:
            level, number = map(int, read_problem_id(asked).split("/"))
        except ValueError as error:
            message = f"{error}; a file is given as a Path"
            raise UsageError(message) from error
        if (problem := catalog.get(level, number)) is None:
            message = f"there is no problem {asked}; searched: {catalog.describe()}"
            raise UsageError(message)
        return problem

    def _file(self, asked: Path | str | Material, what: str) -> Path:
        if isinstance(asked, Path):
            if not asked.is_file():
                message = f"there is no {what} file {asked}; source itself is given as a str"
                raise UsageError(message)
            if refusal := too_large(asked):
                message = f"{what}: {refusal}"
                raise UsageError(message)
            return asked.absolute()
        folder = self.settings.cache_dir.absolute() / "sources"
        if isinstance(asked, str):
            asked = Material(((f"{what}.py", asked),))
        for name, text in asked.files:
            if refusal := unsafe(name) or too_long(text):
                message = f"{what}: {refusal}"
                raise UsageError(message)
        return materialise(asked, folder, what)

    def _close_engine(self) -> None:
        if self._engine.exception() is None:
            self._engine.result().close()

    def _forget(self, verdict: Future[Verdict]) -> None:
        with self._lock:
            self._open.discard(verdict)


def judge(
    problem: Problem | Path | str,
    solution: Path | str | Material,
    *,
    entry: str = "ModelNew",
    settings: Settings | None = None,
) -> Verdict:
    """Judge one pair and wait. See ``Question`` for what each argument may be.

    Raises what ``Judge`` and ``Judge.judge`` raise.
    """
    return _shared(settings).judge(Question(problem, solution, entry))


def judge_many(
    questions: Iterable[Question] | AsyncIterable[Question],
    *,
    ahead: int = DEFAULT_AHEAD,
    settings: Settings | None = None,
) -> AsyncIterator[tuple[Question, Verdict]]:
    """Verdicts as they come: ``async for question, verdict in ...``; see ``Judge.judge_many``."""
    return _shared(settings).judge_many(questions, ahead=ahead)


def reward(
    verdict: Verdict, *, right: float = 0.3, cap: float = 10.0, library: bool = False
) -> float | None:
    """A number to train on: ``right`` for a right answer plus its shown speedup, at most ``cap``.

    The shown speedup is the lower end of the 95 % interval, so that noise is not rewarded. What
    only ran library kernels earns nothing unless ``library`` says so. None says that the machine or
    the problem failed, or that the solution cannot run here: drop the sample, or ask again.
    """
    if verdict.status in UNJUDGED:
        return None
    if not verdict.status.right or (verdict.status is Status.NOT_A_KERNEL and not library):
        return 0.0
    measured = verdict.measurement
    return right + (min(max(measured.low, 0.0), cap) if measured is not None else 0.0)


def _own_engine(settings: Settings) -> Engine:
    return cast("Engine", make_engine(settings))  # check_engine has seen to it that there is one


def _ask(made: Future[Engine], pair: Pair, verdict: Future[Verdict]) -> None:
    """Once the engine is there, or is not."""
    no_engine = made.exception()
    if no_engine is not None:
        with suppress(InvalidStateError):  # cancelled meanwhile
            verdict.set_exception(no_engine)
        return
    if verdict.cancelled():
        return
    try:
        judged = made.result().submit(pair)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a verdict
        with suppress(InvalidStateError):
            verdict.set_result(ended_by(error, pair))
        return
    verdict.add_done_callback(lambda done: done.cancelled() and judged.cancel())
    judged.add_done_callback(lambda done: _settle(done, pair, verdict))


def _settle(judged: Future[Verdict], pair: Pair, verdict: Future[Verdict]) -> None:
    if judged.cancelled():
        verdict.cancel()
        return
    error = judged.exception()
    with suppress(InvalidStateError):  # cancelled by whoever asked
        verdict.set_result(
            ended_by(error, pair) if isinstance(error, Exception) else judged.result()
        )


def _check_ahead(ahead: int) -> None:
    if not isinstance(ahead, int) or ahead < 1:
        message = f"ahead={ahead!r} asks nothing: it is a whole number of at least 1"
        raise UsageError(message)


def _asked(taken: asyncio.Future[_Asked | None]) -> _Asked | None:
    """None where there is no question: the source ended or failed, or is not asked any more."""
    return None if taken.cancelled() or taken.exception() is not None else taken.result()


def _has_failed(verdict: asyncio.Future[Verdict]) -> bool:
    """Those are told last: they end the rest."""
    return verdict.cancelled() or verdict.exception() is not None


def _result(verdict: asyncio.Future[Verdict]) -> Verdict:
    if verdict.cancelled():  # by nobody else: who asked is still here
        raise UsageError(_CLOSED)
    return verdict.result()


def _take_back(asking: asyncio.Future[Future[Verdict]]) -> None:
    if not asking.cancelled() and asking.exception() is None:
        asking.result().cancel()


@cache
def _made(settings: Settings, _pid: int) -> Judge:
    made = Judge(settings)
    atexit.register(made.close)
    return made


def _shared(given: Settings | None) -> Judge:
    settings = Settings() if given is None else given
    check_settings(settings)  # a list, say, could not even be looked up
    with _SHARING:  # the cache alone would make two where two threads ask at once
        return _made(settings, os.getpid())


_SHARING = threading.Lock()


async def _asynchronous(items: Iterable[_T] | AsyncIterable[_T]) -> AsyncIterator[_T]:
    if hasattr(items, "__aiter__"):
        async for item in items:
            yield item
    else:
        for item in items:
            yield item
