"""A Ray cluster as an engine: builds on any CPU, pairs judged where the devices are.

A pair is two tasks, its build and its judgement. What is lost with a node or a process is done
again elsewhere, from the build on, which a cache makes short.
"""

from __future__ import annotations

import hashlib
import os
import threading
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.build.extension import Extension
from pytest_kernelbench.catalog import stored_times
from pytest_kernelbench.engine.cluster.baggage import take
from pytest_kernelbench.engine.cluster.connection import Cluster
from pytest_kernelbench.engine.cluster.dispatch import Dispatcher
from pytest_kernelbench.engine.cluster.messages import File, Order, encode, identity
from pytest_kernelbench.engine.needs import lacking
from pytest_kernelbench.errors import BuildError, MachineError, MissingNeedError, ProblemError
from pytest_kernelbench.sandbox.descriptors import hold_standard
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Future

    from pytest_kernelbench.build.builder import Progress
    from pytest_kernelbench.catalog.pair import Pair
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Verdict

_TIMING_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class RayEngine:
    """Implements ``engine.protocol.Engine``; thread-safe.

    Raises ``UsageError`` where the cluster is not there or has not what was asked for.
    """

    def __init__(self, settings: Settings) -> None:
        hold_standard()
        self.settings = settings
        self.cluster = Cluster(settings)
        self.device = self.cluster.device
        self._lock = threading.Lock()
        self._known: dict[Pair, Future[Verdict]] = {}
        try:
            self._check_times()
            self._dispatcher = Dispatcher(
                self.cluster, self._order, self._keep_log, build_only=settings.build_only
            )
        except BaseException:
            self.cluster.close()
            raise

    def _check_times(self) -> None:
        """Which device it will be is known only now."""
        path = self.settings.baseline_times
        if path is not None and not self.settings.foreign_baseline:
            stored_times.read(path).refuse_other(self.device.name)

    def ahead(self, pairs: Iterable[Pair]) -> None:
        """Start on these pairs in the background, in order."""
        for pair in pairs:
            future = self._dispatcher.submit(pair)
            with self._lock:
                self._known[pair] = future

    def submit(self, pair: Pair) -> Future[Verdict]:
        """A future of the verdict, whatever happens; cancelling it works until it is begun."""
        with self._lock:
            future = self._known.pop(pair, None)
        return future or self._dispatcher.submit(pair)

    @property
    def builds(self) -> Progress:
        """How far the builds are of everything asked for so far."""
        return self._dispatcher.builds

    def build(self, pair: Pair) -> Extension:
        """Wait for the build, if it is all that was asked for; else ``judge`` waits for both."""
        if self.settings.build_only:
            verdict = self.submit(pair).result()
            said = "\n".join(filter(None, (*verdict.reasons, verdict.detail)))
            if verdict.status is Status.NOT_BUILT:
                raise BuildError(said, verdict.log)
            if verdict.status is not Status.SKIPPED:
                raise MachineError(said)
            if not verdict.reasons[0].startswith("built"):
                raise MissingNeedError(said, "", verdict.log)
        return Extension(Path(), Path(), 0.0, cached=False)

    def judge(self, pair: Pair, extension: Extension) -> Verdict:  # noqa: ARG002 - lies on a node
        """Wait for the verdict."""
        return self.submit(pair).result()

    def close(self) -> None:
        """Drop what has not begun, kill what has, leave the cluster."""
        self._dispatcher.close()
        self.cluster.close()

    def _order(self, pair: Pair) -> bytes:
        if not self.settings.build_only and (need := lacking(pair.solution.path, self.device)):
            raise MissingNeedError(need, "CUDA device")
        try:
            problem = File(pair.problem.path.name, pair.problem.path.read_bytes())
        except OSError as error:
            message = f"{pair.problem.path} cannot be read: {error.strerror}"
            raise ProblemError(message) from error
        cache = str(self.settings.cache_dir.absolute()) if self.cluster.embedded else ""
        order = Order(
            judge="" if self.cluster.embedded else identity(),
            settings=self._node_settings(),
            problem=pair.problem,
            problem_file=problem,
            solution=pair.solution,
            files=take(pair.solution.path),
            capability=self.device.capability,
            earlier=pair.earlier,
            earlier_files=take(pair.earlier.path) if pair.earlier is not None else (),
            environment={
                name: os.environ[name] for name in _TIMING_VARIABLES if name in os.environ
            },
            cache=cache,
        )
        return encode(order)

    def _node_settings(self) -> Settings:
        """What a node must know; files and folders of this machine mean nothing there."""
        local: dict[str, Any] = {
            each.name: each.default
            for each in fields(self.settings)
            if isinstance(value := getattr(self.settings, each.name), Path)
            or (isinstance(value, tuple) and any(isinstance(part, Path) for part in value))
        }
        device = "cuda" if self.cluster.place.gpu else "cpu"
        return replace(self.settings, **local, device=device, engine="local")

    def _keep_log(self, verdict: Verdict, log: bytes) -> Verdict:
        """The log of a build as a file of this machine."""
        if self.cluster.embedded or not log:
            return verdict
        folder = self.settings.cache_dir / "logs"
        path = folder / f"{hashlib.sha256(log).hexdigest()[:16]}.log"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(log)
        except OSError as error:
            note = f"its log could not be kept: {error.strerror}"
            return replace(verdict, log="", notes=(*verdict.notes, note))
        return replace(verdict, log=str(path))
