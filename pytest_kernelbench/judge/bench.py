"""Where one problem is judged: oracle and baseline, alive for all solutions of it."""

from __future__ import annotations

import math
import os
import random
import secrets
import tempfile
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_kernelbench.catalog.baseline import preparation
from pytest_kernelbench.errors import MachineError
from pytest_kernelbench.folders import remove_tree
from pytest_kernelbench.judge import questions, wire
from pytest_kernelbench.judge.adoption import copied, unmatched
from pytest_kernelbench.judge.allowance import process_bytes, runner_bytes
from pytest_kernelbench.judge.kept_code import kept_code
from pytest_kernelbench.judge.nvrtc import protocol_cubin
from pytest_kernelbench.judge.own_null import OwnNull, measure
from pytest_kernelbench.judge.rejection import Rejected, StoodDown
from pytest_kernelbench.judge.runners import ENTRY, MESSAGE_LIMIT_BYTES, Runner
from pytest_kernelbench.judge.staging import staged
from pytest_kernelbench.judge.station import Station
from pytest_kernelbench.sandbox.channel import ChannelError, Silent
from pytest_kernelbench.sandbox.plan import Plan
from pytest_kernelbench.sandbox.tree import ancestors
from pytest_kernelbench.settings import DTYPES
from pytest_kernelbench.timing.device_state import foreign_processes
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from contextlib import AbstractContextManager

    from pytest_kernelbench.catalog.pair import Problem
    from pytest_kernelbench.judge.device import Device
    from pytest_kernelbench.sandbox.child import Child
    from pytest_kernelbench.sandbox.client import ForkServer
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.timing.device_state import Snapshot

ORACLE = "pytest_kernelbench.judge.oracle:main"
_ORACLE_TIMEOUT_S = 600.0
EAGER = "eager"
EARLIER = "an earlier source"
"""In the baseline's place under ``--kb-compare``."""
CONTENDER_SLOT = 1
_FIRST_BASELINE_SLOT = 2
_KEPT_BYTES = 8 << 30
"""Device memory for the outputs of a batch, which are kept until some are revealed."""
_CLOSE_SHARE = 0.25
_LEAST_FLUSH_BYTES = 32 << 20
Answer = TypeVar("Answer", bound=wire.Message)


class Bench:
    """Made once a problem (and size); raises ``Rejected`` where the problem itself is no good."""

    def __init__(
        self, server: ForkServer, problem: Problem, settings: Settings, device: Device, size: str
    ) -> None:
        self.server = server
        self.problem = problem
        self.settings = settings
        self.device = device.torch_name
        self.uuid = device.uuid
        self.size = size
        # The compilers on the PATH of a solution that compiles something itself, with torch.compile
        # for one.
        self._toolchains = str((settings.cache_dir / "build" / "toolchains").absolute())
        self.gpu = device.is_gpu
        self.cubin = protocol_cubin(device.capability) if device.capability else b""
        self.environment = device.environment | ({} if device.is_gpu else {"TRITON_INTERPRET": "1"})
        self.threads = _threads()
        self.seed = secrets.randbits(48)
        self.folder = Path(tempfile.mkdtemp(prefix="kb-bench-"))
        try:
            self._oracle = self._start_oracle()
        except BaseException:
            remove_tree(self.folder)
            raise
        self._baselines: dict[str, Runner] = {}
        self._stations: dict[str, Station] = {}
        self._stand_in: Callable[[], Runner] | None = None
        self.profiled: wire.Profiled | None = None
        """What the reference runs, once somebody has asked."""
        self.flush_seed = secrets.randbits(48)
        self.idle_us = math.inf
        """A batch of null calls on this device when nobody else is on it; see ``quiet``."""
        self.idle_calls = 1
        self.quiet: Callable[[], AbstractContextManager[None]] = nullcontext
        """Held while something is timed; see ``Referee``."""
        self.kin: Callable[[], Collection[int]] = this_process
        """Judges: what is below them is no stranger on the device; see ``Referee``."""
        self.own_null: OwnNull | None = None
        """Of the runner that was started last, if it is to be raced on a device."""
        self._rounds = 0
        self._random = random.SystemRandom()
        try:
            self.prepared, self.state_fd = self._prepare()
        except BaseException:
            self.close()
            raise

    def _start_oracle(self) -> Child:
        plan = Plan(
            entry=ORACLE,
            scratch=str(self.folder / "oracle"),
            untrusted=False,
            gpu=self.gpu,
            environment=self.environment,
        )
        return self.server.spawn(plan, questions.FromOracle, limit_bytes=256 << 20)

    def _prepare(self) -> tuple[questions.Prepared, int]:
        atol, rtol = self.settings.tolerance
        order = questions.Prepare(
            path=str(self.problem.path.resolve()),
            size=self.size,
            device=self.device,
            dtype=self.settings.dtype,
            seed=self.seed,
            atol=atol,
            rtol=rtol,
            tf32=self.settings.tf32,
            threads=self.threads,
        )
        if self.cubin:
            self.ask(wire.Attach(self.cubin, 0, 0), wire.Done)
        answer, fds = self.ask_any(order)
        if not isinstance(answer, questions.Prepared):
            raise MachineError(f"the oracle answered {type(answer).__name__} to Prepare")
        return answer, fds[0]

    def ask_any(
        self, question: wire.Message, fds: tuple[int, ...] = ()
    ) -> tuple[Any, tuple[int, ...]]:
        """Ask the oracle; descriptors in the answer are the caller's to close.

        Raises ``Rejected`` where it refuses the problem.
        """
        try:
            self._oracle.channel.send(question, fds, _ORACLE_TIMEOUT_S)
            answer, out = self._oracle.channel.receive(_ORACLE_TIMEOUT_S)
        except ChannelError as error:
            how = f"died ({type(error).__name__})"
            if isinstance(error, Silent):
                how = f"did not answer within {_ORACLE_TIMEOUT_S:g} s"
            tail = self._oracle.log_tail()
            message = f"the oracle of {self.problem.id} {how}; it printed: {tail}"
            raise MachineError(message) from None
        if isinstance(answer, questions.Refused):
            raise Rejected(Status(answer.status), answer.reason, answer.detail)
        return answer, out

    def ask(self, question: wire.Message, kind: type[Answer], fds: tuple[int, ...] = ()) -> Answer:
        """Ask the oracle for an answer of ``kind`` that brings no descriptors."""
        answer, _ = self.ask_any(question, fds)
        if not isinstance(answer, kind):
            raise MachineError(f"the oracle answered {type(answer).__name__}, not {kind.__name__}")
        return answer

    @contextmanager
    def oracle_at_rest(self) -> Iterator[None]:
        """Have it stand still: when it has compared, its threads spin for 10 ms.

        On processors that what is timed waits for at each of its barriers.
        """
        if self.settings.correctness_only:
            yield
            return
        self._oracle.stop()
        try:
            yield
        finally:
            self._oracle.resume()

    @property
    def flush_bytes(self) -> int:
        """What is read before each call, so that it finds nothing in the device's L2 cache."""
        return max(_LEAST_FLUSH_BYTES, 2 * self.prepared.l2_bytes) // 16 * 16

    @property
    def kept_bytes(self) -> int:
        """Device memory for what a batch keeps, on either side.

        A share of what was free, and bounded.
        """
        return min(_KEPT_BYTES, self.prepared.free_bytes // 8)

    def pids(self, contender: Runner) -> list[int]:
        """The processes of this bench."""
        runners = [contender, *self._baselines.values()]
        return [self._oracle.pid, *(runner.child.pid for runner in runners)]

    def strangers(self, snapshot: Snapshot, contender: Runner) -> int:
        """How many processes on the device are not below this judge, or one of its kin."""
        own, kin = self.pids(contender), set(self.kin())
        found = {process.pid for process in snapshot.processes}
        ours = {pid for pid in found if not kin.isdisjoint(ancestors(pid))}
        return len(foreign_processes(snapshot, {*own, *ours}, len(own)))

    @property
    def bounds_plain(self) -> bool:
        """Whether float64 decides on the problem's own inputs: as on the other families."""
        return self.families_decide and bool(self.prepared.families)

    @property
    def families_decide(self) -> bool:
        """Whether what other families find is more than a note."""
        return self.prepared.native or self.settings.strict or bool(self.prepared.hidden)

    def looks_closely(self) -> bool:
        """Whether a timed call is held against float64: some are, and nobody can foresee which."""
        return self.bounds_plain and self._random.random() < _CLOSE_SHARE

    def next_round(self) -> int:
        """A number no round had before."""
        self._rounds += 1
        return self._rounds

    def start_runner(  # noqa: PLR0913 - all but two by name
        self,
        source: Path,
        entry: str,
        *,
        trusted: bool,
        extension: str = "",
        readable: tuple[str, ...] = (),
        prepare: str = "",
        raced: bool = False,
    ) -> Runner:
        """Start a runner and construct the model in it.

        The same walls and orders for both kinds. For one that is ``raced``, what the protocol costs
        in its process is measured before anything of it is loaded: see ``own_null``.
        """
        scratch = Path(tempfile.mkdtemp(prefix="runner-", dir=self.folder))
        at_hand = staged(source, scratch / "source", alone=trusted)
        readable += (extension, self._toolchains) if extension else ()
        runner = self._spawned(scratch, readable, trusted=trusted)
        order = wire.Construct(
            source=str(at_hand),
            entry=entry,
            pickled_init=self.prepared.pickled_init,
            overrides=self.prepared.overrides if trusted else {},
            seed=self.seed,
            device=self.device,
            dtype=DTYPES[self.settings.dtype],
            construct_on_device=self.prepared.construct_on_device,
            extension=extension,
            tf32=self.settings.tf32,
            threads=self.threads,
            prepare=prepare,
        )
        try:
            self.own_null = None
            if raced and self.gpu and self.idle_us < math.inf:
                self._measure_own_null(runner)
            ready = runner.ask(order, wire.Ready, doing="while it was imported and constructed")
            self._adopt(runner, ready)
        except BaseException:
            if self.own_null is not None:
                self.own_null.station.close()
            runner.close()
            raise
        return runner

    def _spawned(self, scratch: Path, readable: tuple[str, ...], *, trusted: bool) -> Runner:
        """A process behind the walls that has read nothing of its program yet."""
        kept = kept_code(self.settings.cache_dir) if trusted else {}
        host_bytes = runner_bytes(self.prepared)
        plan = Plan(
            entry=ENTRY,
            scratch=str(scratch),
            readable=readable,
            writable=tuple(kept.values()),
            untrusted=True,
            gpu=self.gpu,
            environment=self.environment | kept,
            memory_bytes=None if self.gpu else process_bytes(),
            tree_bytes=host_bytes,
        )
        child = self.server.spawn(plan, wire.FromRunner, limit_bytes=MESSAGE_LIMIT_BYTES)
        timeout_s = self.settings.timeout_s
        return Runner(child, timeout_s, trusted=trusted, on_device=self.gpu, host_bytes=host_bytes)

    def _measure_own_null(self, runner: Runner) -> None:
        with self.quiet():
            self.own_null = measure(self, runner, CONTENDER_SLOT)
        runner.ask(wire.Release(), wire.Done)
        self.rest()

    def _adopt(self, runner: Runner, ready: wire.Ready) -> None:
        prepared = self.prepared
        if not ready.state or not prepared.state_names:
            return
        runner.unmatched = unmatched(ready, prepared)
        order = wire.Adopt(prepared.state_names, prepared.state, prepared.state_bytes)
        adopted = runner.ask(
            order, wire.Adopted, (self.state_fd,), "while parameters were compared"
        )
        runner.notes = copied(adopted, prepared)

    def start_baseline(self, name: str = EAGER) -> Runner:
        """The problem's own model in a runner like the contender's; started once."""
        if name not in self._baselines:
            self._baselines[name] = self.start_twin(name)
        return self._baselines[name]

    def start_twin(self, name: str = EAGER, *, raced: bool = False) -> Runner:
        """One more process like the baseline's; the caller's to close."""
        if self._stand_in is not None and name == EARLIER:
            return self._stand_in()
        prepare = preparation(name, self.settings)
        return self.start_runner(
            self.problem.path, "Model", trusted=True, prepare=prepare, raced=raced
        )

    @contextmanager
    def standing_in(self, source: Path, entry: str, extension: str) -> Iterator[None]:
        """Meanwhile the baseline called ``EARLIER`` is another, untrusted solution.

        Whatever it does wrong is ``StoodDown``, never held against the solution that is judged.
        """

        def start() -> Runner:
            try:
                runner = self.start_runner(source, entry, trusted=False, extension=extension)
            except Rejected as rejected:
                raise StoodDown(rejected.reason) from None
            runner.stands_in = True
            return runner

        self._stand_in = start
        try:
            yield
        finally:
            self._stand_in = None
            self._end_baseline(EARLIER)

    def rest(self, but: str = "") -> None:
        """Have the baselines, ``but`` for one, and the oracle leave their memory to others.

        The processes and their (compiled) models stay: what is forgotten is loaded again.
        """
        for name, runner in self._baselines.items():
            if name != but:
                runner.ask(wire.Release(), wire.Done, doing="while memory was given back")
        if self.gpu:
            self.ask(questions.Forget(), wire.Done)

    def end_baselines(self) -> None:
        """End the baselines' processes; whoever needs one starts it anew."""
        for name in tuple(self._baselines):
            self._end_baseline(name)

    def _end_baseline(self, name: str) -> None:
        if (station := self._stations.pop(name, None)) is not None:
            station.close()
        if (baseline := self._baselines.pop(name, None)) is not None:
            baseline.close()

    def start_station(self, name: str = EAGER) -> Station:
        """A baseline on the device; set up once."""
        if name not in self._stations:
            slot = _FIRST_BASELINE_SLOT + len(self._stations)
            runner = self.start_baseline(name)
            self._stations[name] = Station(self, runner, slot)
        return self._stations[name]

    def holds(self, station: Station) -> bool:
        """Whether it is a baseline's whose process still lives."""
        return any(station is held for held in self._stations.values())

    def close(self) -> None:
        """End the processes and remove their folders."""
        self.end_baselines()
        self._oracle.kill()
        if hasattr(self, "state_fd"):
            os.close(self.state_fd)
        remove_tree(self.folder)


def this_process() -> tuple[int]:
    """The kin of a judge that shares its device with no other of its engine."""
    return (os.getpid(),)


def _threads() -> int:
    return len(os.sched_getaffinity(0))
