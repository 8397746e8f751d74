"""What the engine asks for extensions: one at a time, or many ahead of their use."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
import warnings
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pytest_kernelbench.build import inputs, outcome
from pytest_kernelbench.build.environment import (
    base_environment,
    ccache_environment,
    child_environment,
    passed_on,
)
from pytest_kernelbench.build.extension import Extension
from pytest_kernelbench.build.job import JOB_FILE, LOG_FILE, Job
from pytest_kernelbench.build.keeping import keep_libraries, keep_logs
from pytest_kernelbench.build.leavings import Leavings, understanding
from pytest_kernelbench.build.nursery import Nursery
from pytest_kernelbench.build.places import moved
from pytest_kernelbench.build.precompiled import Precompiled
from pytest_kernelbench.build.process import run_child
from pytest_kernelbench.build.slots import Slots, memory_bound, most_useful, usable_slots
from pytest_kernelbench.build.store import Entry, Store, disk_errors
from pytest_kernelbench.build.toolchain import find_toolchain
from pytest_kernelbench.build.waiting import held
from pytest_kernelbench.build.wrappers import lean_folder, prepare_wrappers
from pytest_kernelbench.catalog.material import SOURCE_LIMIT_BYTES
from pytest_kernelbench.errors import BuildError, MachineError, MissingNeedError
from pytest_kernelbench.folders import read_file, remove_tree, tree_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from pytest_kernelbench.build.process import End
    from pytest_kernelbench.settings import Settings

FORMAT = 2
"""Part of every key: raise it whenever the same job would be built differently."""
_EVICT_EVERY = 32
_CHILDS, _KEPT = "child", "kept"
"""Of a work folder: what the build child may write to, and what becomes the entry."""


@dataclass(frozen=True)
class Progress:
    """How far the builds of this session are; a build that was cached counts as built."""

    built: int = 0
    failed: int = 0
    running: int = 0
    waiting: int = 0

    @property
    def unfinished(self) -> int:
        """Builds that are asked for and not done."""
        return self.running + self.waiting

    def __str__(self) -> str:
        parts = [f"{self.built} built"]
        parts += [f"{self.failed} failed"] * bool(self.failed)
        parts += [f"{self.running} running"] * bool(self.running)
        parts += [f"{self.waiting} waiting"] * bool(self.waiting)
        return ", ".join(parts)


class Builder:
    """Builds solutions in child processes that see no device. Thread-safe; ``close`` it at the end.

    ``arch`` is the compute capability of the device, as in ``"9.0"``; None where there is none.
    """

    def __init__(self, settings: Settings, arch: str | None = None) -> None:
        self._settings = settings
        self._tools = find_toolchain(os.environ)
        self._told_of_device = arch
        self._arch = arch or os.environ.get("TORCH_CUDA_ARCH_LIST") or self._tools.default_arch()
        self._store = Store((settings.cache_dir / "build").absolute())
        self._store.prepare()
        self._wrappers = prepare_wrappers(self._store.root / "toolchains", self._tools)
        self._cancelled = threading.Event()
        jobs = usable_slots(settings.build_jobs)
        self._slots = Slots(self._store.root / "slots", jobs, self._cancelled)
        self._precompiled = Precompiled(
            lean_folder(self._store.root / "toolchains", self._tools), self._tools, self._slots
        )
        self._pool = ThreadPoolExecutor(self._slots.count, thread_name_prefix="build")
        self._lock = threading.Lock()
        self._nursery = Nursery(base_environment(os.environ))
        self._futures: dict[str, Future[Extension]] = {}
        self._adopted = 0
        self._coming = 0
        """How many builds are about to be asked for."""

    def build(self, solution: Path, entry: str = "ModelNew") -> Extension:
        """The extension of one solution: from the cache, from a build under way, or built now.

        Raises ``BuildError`` for what is the solution's fault, ``MissingNeedError`` for what is not
        installed, ``MachineError`` for what is the machine's.
        """
        return self.submit(solution, entry).result()

    def ahead(self, solutions: Iterable[tuple[Path, str]]) -> list[Future[Extension]]:
        """Start building each ``(path, entry)``, in order, in the background.

        Raises ``MachineError`` once the builder is closed.
        """
        coming = list(solutions)
        # The first begins before the last is asked for, and must not take the others' slots.
        with self._lock:
            self._coming += len(coming)
        asked: list[Future[Extension]] = []
        try:
            for solution, entry in coming:
                asked.append(self.submit(solution, entry))
                with self._lock:
                    self._coming -= 1
        finally:
            with self._lock:
                self._coming -= len(coming) - len(asked)
        return asked

    @property
    def store(self) -> Store:
        """The cache that it builds into."""
        return self._store

    def alone(self, base: str) -> AbstractContextManager[None]:
        """Wait until nobody else builds ``base``; raises ``MachineError`` once it is closed."""
        return held(self._store.lock(base), self._cancelled)

    def base_key(self, solution: Path, entry: str) -> str:
        """What makes a build what it is, but for files that the solution reads beside itself.

        Raises ``BuildError`` where the source cannot even be parsed.
        """
        return self._base_key(_checked_source(solution.absolute()), entry)

    @property
    def progress(self) -> Progress:
        """Counts of everything asked for so far."""
        with self._lock:
            futures = list(self._futures.values())
        done = [future for future in futures if future.done() and not future.cancelled()]
        failed = sum(future.exception() is not None for future in done)
        running = sum(future.running() for future in futures)
        waiting = len(futures) - len(done) - running
        return Progress(len(done) - failed, failed, running, max(0, waiting))

    def stop(self) -> None:
        """Have what is under way end, and wait for nothing: ``close`` does."""
        self._cancelled.set()
        self._nursery.refuse()

    def close(self) -> None:
        """End what is under way, drop what has not begun, keep the cache within its bound."""
        self.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._precompiled.close()
        self._nursery.close()
        self._tidy()

    def submit(self, solution: Path, entry: str) -> Future[Extension]:
        """What ``build`` waits for; raises ``MachineError`` once the builder is closed."""
        if self._cancelled.is_set():
            message = f"{solution} is not built: the session is over"
            raise MachineError(message)
        solution = solution.absolute()
        try:
            source = _checked_source(solution)
        except BuildError as error:
            refused: Future[Extension] = Future()
            refused.set_exception(error)
            with self._lock:
                return self._futures.setdefault(f"{solution}:{entry}:{error}", refused)
        base = self._base_key(source, entry)
        with self._lock:
            name = f"{base}:{solution}"
            future = self._futures.get(name)
            if future is None or _worth_another_try(future):
                future = self._pool.submit(self._make, solution, entry, base)
                self._futures[name] = future
            return future

    def _base_key(self, source: bytes, entry: str) -> str:
        parts = [
            FORMAT,
            hashlib.sha256(source).hexdigest(),
            entry,
            self._tools.identity,
            self._arch,
            self._told_of_device is not None,
            self._tools.missing,
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _make(self, solution: Path, entry: str, base: str) -> Extension:
        key = self._store.key(base, solution)
        if (known := self._believed(key, solution)) is not None:
            return self._answer(key, known, cached=True)
        with self.alone(base):
            key = self._store.key(base, solution)
            if (known := self._believed(key, solution)) is not None:
                return self._answer(key, known, cached=True)
            key, made = self._build(solution, entry, base)
        with self._lock:
            self._adopted += 1
            many = self._adopted % _EVICT_EVERY == 0
        if many:
            self._tidy()
        return self._answer(key, made, cached=False)

    def _believed(self, key: str, solution: Path) -> Entry | None:
        """What is kept under ``key``, if this solution may be judged by it.

        Which files a build has read is the build's own word. Libraries are of the source that all
        share; but one that failed, or was put off, may have done so for a file that lay beside it
        alone, and have kept quiet about that: it says nothing of the same source elsewhere.
        """
        known = self._store.lookup(key)
        if known is None:
            return None
        here = known.outcome == "built" or known.beside == inputs.surroundings(solution)
        return _told_of(known, solution) if here else None

    def _build(self, solution: Path, entry: str, base: str) -> tuple[str, Entry]:
        work = self._store.begin()
        try:
            most = most_useful(read_file(solution, SOURCE_LIMIT_BYTES))
            others = max(0, self.progress.unfinished + self._coming - 1)
            with self._slots.hold(others, most) as jobs:
                started = time.monotonic()
                job, end = self._run(solution, entry, work, jobs)
            seconds = time.monotonic() - started
            with understanding():
                return self._keep(solution, base, work, (job, end), seconds)
        finally:
            remove_tree(work)

    def _keep(
        self, solution: Path, base: str, work: Path, ran: tuple[Job, End], seconds: float
    ) -> tuple[str, Entry]:
        """Judge what the child left, and take over what is to stay."""
        job, end = ran
        left = Leavings(Path(job.folder))
        result = outcome.judge_child(job, left, end, self._tools)
        made = Entry(
            solution=str(solution),
            outcome=result.outcome,
            beside="" if result.outcome == "built" else inputs.surroundings(solution),
            message=result.message,
            need=result.need,
            warnings=result.warnings,
            seconds=seconds,
            cpu_s=end.cpu_s,
            made_at=time.time(),
            versions=f"torch {self._tools.torch_version}, sm {self._arch}",
        )
        fresh = work / _KEPT
        with disk_errors(work):
            fresh.mkdir(mode=0o700)
            keep_logs(left, end.said, fresh)
            files = keep_libraries(left, result.manifest, fresh) if result.manifest else {}
        self._precompiled.consider(left, self.progress.waiting)
        made = msgspec.structs.replace(made, files=files, size_bytes=tree_bytes(fresh))
        return self._store.adopt(fresh, base, solution, result.inputs, made), made

    def _run(self, solution: Path, entry: str, work: Path, jobs: int) -> tuple[Job, End]:
        """Have a child build it in a folder of its own within ``work``."""
        folder = work / _CHILDS
        with disk_errors(work):
            folder.mkdir(mode=0o700)
            job = self._job(solution, entry, folder, jobs)
            (folder / JOB_FILE).write_bytes(msgspec.json.encode(job))
            (work / LOG_FILE).touch()
        settings = self._settings
        limits_s = settings.build_timeout_s, settings.timeout_s
        return job, run_child(self._nursery, job, work / LOG_FILE, *limits_s, self._cancelled)

    def _job(self, solution: Path, entry: str, work: Path, jobs: int) -> Job:
        capability = None
        if self._told_of_device:
            major, _, minor = self._told_of_device.partition(".")
            capability = (int(major), int(minor))
        passed = passed_on(self._tools, self._wrappers, self._arch)
        environment = child_environment(os.environ, work, passed, jobs)
        # What it prints to, for whoever opens /dev/stdout.
        writable: tuple[str, ...] = (str(work.with_name(LOG_FILE)),)
        if self._tools.ccache:
            environment |= ccache_environment(self._store.root / "ccache", solution, work)
            writable += (environment["CCACHE_DIR"],)
        return Job(
            solution=str(solution),
            entry=entry,
            folder=str(work),
            environment=environment,
            passed_on=passed,
            memory_bytes=memory_bound(jobs, self._slots.count),
            capability=capability,
            writable=writable,
            missing_tools=self._tools.missing,
            readable=(str(self._wrappers), str(lean_folder(self._wrappers.parent, self._tools))),
        )

    def _answer(self, key: str, entry: Entry, *, cached: bool) -> Extension:
        folder = self._store.entries / key
        log = folder / LOG_FILE
        if entry.outcome == "missing":
            raise MissingNeedError(entry.message, entry.need, str(log))
        if entry.outcome == "failed":
            raise BuildError(entry.message, str(log), entry.warnings)
        return Extension(
            folder=folder,
            log=log,
            seconds=0.0 if cached else entry.seconds,
            cached=cached,
            warnings=entry.warnings,
            deferred=entry.message if entry.outcome == "deferred" else "",
        )

    def _tidy(self) -> None:
        self._store.sweep()
        self._store.evict(round(self._settings.cache_limit_gb * 1e9))


def _told_of(entry: Entry, solution: Path) -> Entry:
    """What a build said, as of this solution: the same source may have lain elsewhere then."""

    def told(text: str) -> str:
        return moved(text, Path(entry.solution), solution)

    return msgspec.structs.replace(
        entry, message=told(entry.message), warnings=tuple(map(told, entry.warnings))
    )


def _worth_another_try(future: Future[Extension]) -> bool:
    return future.done() and isinstance(future.exception(), MachineError)


def _checked_source(solution: Path) -> bytes:
    """The bytes of a file that Python can parse; raises ``BuildError`` with the place otherwise."""
    try:
        source = read_file(solution, SOURCE_LIMIT_BYTES)
    except OSError as error:
        message = f"{solution} cannot be read: {error.strerror}"
        raise BuildError(message) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Of "\d" in the C++ of a string: no business of ours.
            compile(source, str(solution), "exec", dont_inherit=True)
    except SyntaxError as error:
        line = (error.text or "").strip()
        # A NUL byte or an unknown encoding has no line.
        place = f"{solution.name}:{error.lineno}" if error.lineno else solution.name
        message = f"{place}: {type(error).__name__}: {error.msg}\n    {line}"
        raise BuildError(message.rstrip()) from None
    except (ValueError, RecursionError, MemoryError) as error:
        why = (
            str(error) or f"Python ends in a {type(error).__name__}, as where it is nested too deep"
        )
        message = f"{solution.name} is no Python source: {why}"
        raise BuildError(message) from None
    return source
