"""The referee: judges one pair after another.

It holds the clock and the verdict, and loads neither side's code.
"""

from __future__ import annotations

import os
import time
from contextlib import closing, nullcontext
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.baseline import preparation
from pytest_kernelbench.endings import remarks
from pytest_kernelbench.errors import KernelbenchError, NoRoomError, ProblemError
from pytest_kernelbench.judge.bench import EARLIER, Bench, this_process
from pytest_kernelbench.judge.device_trial import DeviceTrial
from pytest_kernelbench.judge.families import PLAIN
from pytest_kernelbench.judge.host_trial import HostTrial
from pytest_kernelbench.judge.kernels import find
from pytest_kernelbench.judge.narrow import humbler, is_narrow, unconfirmed
from pytest_kernelbench.judge.profiles import profile_of, reference_profile
from pytest_kernelbench.judge.progress import Progress
from pytest_kernelbench.judge.quiet import calibrate
from pytest_kernelbench.judge.race import TooShort, race
from pytest_kernelbench.judge.rejection import Rejected, StoodDown, answering
from pytest_kernelbench.judge.roofline import roof_of, roofline, work_of
from pytest_kernelbench.judge.rounds import agree, agree_again
from pytest_kernelbench.judge.silence import silenced
from pytest_kernelbench.judge.sizes import other_sizes
from pytest_kernelbench.sandbox.client import ForkServer
from pytest_kernelbench.timing.floor import Floor, floor
from pytest_kernelbench.timing.roof import Roof
from pytest_kernelbench.verdict import Measurement, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from contextlib import AbstractContextManager

    from pytest_kernelbench.build.extension import Extension
    from pytest_kernelbench.catalog.pair import Pair, Solution
    from pytest_kernelbench.judge.device import Device
    from pytest_kernelbench.judge.rounds import Trial
    from pytest_kernelbench.judge.runners import Runner
    from pytest_kernelbench.judge.wire import Profiled
    from pytest_kernelbench.settings import Settings

PRELOAD = (
    "torch",
    "numpy",
    "torch.utils.cpp_extension",
    "torch.utils.flop_counter",
    "pytest_kernelbench.judge.oracle",
    "pytest_kernelbench.judge.inside.runner",
)
_TRITON = ("triton", "triton.language")
_COMPILERS = ("torch._dynamo",)
"""Takes seconds in each compiled baseline. Not inductor: it notes a folder at its import."""
_TIMING_FAILURES = frozenset(
    {Status.RAISED, Status.CRASHED, Status.TIMED_OUT, Status.OUT_OF_MEMORY}
)


class Referee:
    """Judges on one device. Not thread-safe; ``close`` ends every process.

    ``quiet`` is held while something is timed and while a problem is got ready: if others hold it
    likewise, neither is in the other's time. It is entered while it is held, too. ``kin`` are
    the pids of judges that share it: what is below them is no stranger on the device.
    """

    def __init__(
        self,
        settings: Settings,
        device: Device,
        quiet: Callable[[], AbstractContextManager[None]] = nullcontext,
        *,
        controls: bool = True,
        kin: Callable[[], Collection[int]] = this_process,
    ) -> None:
        self.settings = settings
        self.device = device
        self._quiet = quiet
        self._kin = kin
        self._server: ForkServer | None = None
        self._bench: Bench | None = None
        self._roof: Roof | None = None
        self._controlled = not controls

    @property
    def size(self) -> str:
        """``full`` or ``smoke``: what ``--kb-size`` says, or what fits the device."""
        if self.settings.size != "auto":
            return self.settings.size
        return "full" if self.device.is_gpu else "smoke"

    def warm_up(self) -> None:
        """Start the fork server, so that it imports torch while something else is done."""
        if self._server is None:
            triton = self.device.is_gpu and find_spec("triton") is not None
            # Triton's interpreter wants to be chosen before triton is imported, which torch's
            # counter of operations does by itself.
            settle = {} if self.device.is_gpu else {"TRITON_INTERPRET": "1"}
            if settle and self.settings.correctness_only:
                # Threads without work would spin on processors that other judges need.
                settle["OMP_WAIT_POLICY"] = os.environ.get("OMP_WAIT_POLICY", "PASSIVE")
            compiles = any(preparation(name, self.settings) for name in self.settings.baselines)
            wanted = PRELOAD + (_TRITON if triton else ()) + (_COMPILERS if compiles else ())
            self._server = ForkServer(wanted, settle)

    def prepare(self, pair: Pair) -> None:
        """Get the pair's problem ready, beside other judges.

        Nothing of it is timed, and it keeps no more memory than its processes need. What fails now
        is tried again by ``judge``.
        """
        if self._bench is not None and self._bench.problem == pair.problem:
            return
        try:
            with self._quiet():
                bench = self._bench_for(pair)
                if not self.settings.correctness_only:
                    bench.start_baseline(self.settings.baselines[0])
                bench.rest()
        except (Rejected, KernelbenchError):
            self.discard_bench()

    def judge(self, pair: Pair, extension: Extension) -> Verdict:
        """The verdict on one pair.

        Raises ``MachineError`` where the machine failed, never for the solution.
        """
        start = time.monotonic()
        progress = Progress()
        status, reasons, detail = self._outcome(pair, extension, progress)
        problem, solution = pair.problem, pair.solution
        return Verdict(
            level=problem.level,
            number=problem.number,
            problem=problem.name,
            entrant=solution.entrant,
            solution=str(solution.path),
            sample=solution.sample,
            status=status,
            agreed=progress.agreed,
            reasons=reasons,
            detail=detail,
            notes=(*remarks(extension.warnings), *progress.notes),
            measurements=progress.measurements,
            previous=progress.previous,
            control=progress.control,
            rounds=progress.rounds,
            device=self.device.name,
            device_uuid=self.device.uuid,
            size=self.size,
            dtype=self.settings.dtype,
            walls=progress.walls,
            missing_walls=progress.missing_walls,
            build_s=extension.seconds,
            build_cached=extension.cached,
            judge_s=time.monotonic() - start,
            log=str(extension.log),
            kernels=progress.ran.shares,
            roofline=progress.roofline,
        )

    def _outcome(
        self, pair: Pair, extension: Extension, progress: Progress
    ) -> tuple[Status, tuple[str, ...], str]:
        """Judge; gives how it ended, the reasons, and what there is to read beside them."""
        try:
            self._judge(pair, extension, progress)
        except Rejected as rejected:
            progress.notes.extend(rejected.notes)
            progress.agreed = progress.agreed and rejected.status in _TIMING_FAILURES
            return rejected.status, (rejected.reason,), rejected.detail
        except ProblemError as error:
            return Status.BAD_PROBLEM, (str(error).splitlines()[0],), str(error)
        if not progress.ran.is_kernel:
            return Status.NOT_A_KERNEL, (progress.ran.accusation,), ""
        measured = progress.measurements
        fast = bool(measured) and measured[0].low > self.settings.threshold
        return Status.FAST if fast else Status.RIGHT, (), ""

    def _judge(self, pair: Pair, extension: Extension, progress: Progress) -> None:
        bench = self._bench_for(pair)
        progress.notes.extend(bench.prepared.notes)
        timed = not self.settings.correctness_only
        if self.device.is_gpu and timed:
            with self._quiet():  # before there is anything of the solution
                calibrate(bench, self.settings.baselines[0])
                self._roof = self._roof or roof_of(bench, self.device, self.settings.cache_dir)
        self._control(bench, progress)
        bench.rest()  # an out-of-memory of the solution must be its own
        with answering():
            profiled = self._put_to_proof(pair, extension, bench, progress)
            # Once the contender has given its memory back.
            self._confirm(pair, extension, bench, progress)
        reference = reference_profile(bench, self._trial)
        silent = None if self.device.is_gpu else silenced(extension.folder)
        with answering():
            progress.ran = silent or find(profiled, reference, on_device=self.device.is_gpu)
        progress.notes.extend([progress.ran.note] if progress.ran.note else [])
        if self.settings.shapes:
            self._agree_elsewhere(pair, extension, progress)

    def _put_to_proof(
        self, pair: Pair, extension: Extension, bench: Bench, progress: Progress
    ) -> Profiled:
        """All that the contender is asked in its first process; gives its profile."""
        timed = not self.settings.correctness_only
        contender = self._contender(pair, extension, bench, raced=timed)
        progress.walls = contender.child.walls
        progress.missing_walls = contender.child.missing_walls
        progress.notes.extend(contender.notes)
        with closing(contender), closing(self._trial(bench, contender)) as trial:
            agree(trial, bench, contender, progress)
            if timed:
                self._time(trial, bench, progress)
                agree_again(trial, bench, progress)
                if pair.earlier is not None:
                    self._time_earlier(trial, bench, (pair.earlier, extension), progress)
            profiled = profile_of(trial)
            contender.expect_few_processes()
            if left := contender.leftovers():
                progress.notes.append(f"left {left} processes running; they were ended with it")
        return profiled

    def _agree_elsewhere(self, pair: Pair, extension: Extension, progress: Progress) -> None:
        """Correctness at the other sizes that the problem's file declares."""
        for size, words in other_sizes(pair.problem.path).items():
            there = Progress()
            try:
                self._agree_at(size, pair, extension, there)
            except Rejected as rejected:
                if rejected.status is not Status.BAD_PROBLEM:
                    progress.agreed = False
                    raise rejected.because(f"at another size: {words}") from None
                progress.notes.append(f"{words}: not judged: {rejected.reason}")
            except ProblemError as error:
                progress.notes.append(f"{words}: not judged: {str(error).partition(chr(10))[0]}")
            else:
                progress.notes.append(f"{words}: {there.rounds} rounds agree")
            finally:
                progress.notes.extend(f"{words}: {note}" for note in there.notes)

    def _confirm(self, pair: Pair, extension: Extension, bench: Bench, progress: Progress) -> None:
        """Measure what is won by little again, in new processes on both sides."""
        first, *others = progress.measurements or (None,)
        if first is None or not self.device.is_gpu:
            return
        if not is_narrow(first, self.settings.to_decide):
            return
        bench.end_baselines()
        try:
            runner = self._contender(pair, extension, bench, raced=True)
            with closing(runner) as contender, closing(self._trial(bench, contender)) as trial:
                trial.agree(PLAIN)
                again = self._raced(trial, bench, first.baseline, progress.floor)
            first = humbler(first, again)
        except (TooShort, NoRoomError) as refusal:
            first = unconfirmed(first, str(refusal).partition("\n")[0])
        progress.measurements = (first, *others)

    @staticmethod
    def _contender(pair: Pair, extension: Extension, bench: Bench, *, raced: bool) -> Runner:
        path, entry, folder = pair.solution.path, pair.solution.entry, str(extension.folder)
        return bench.start_runner(path, entry, trusted=False, extension=folder, raced=raced)

    def _agree_at(self, size: str, pair: Pair, extension: Extension, there: Progress) -> None:
        """Another size of the problem, in processes of its own."""
        assert self._server is not None
        bench = Bench(self._server, pair.problem, self.settings, self.device, size)
        with closing(bench), answering():
            runner = self._contender(pair, extension, bench, raced=False)
            with closing(runner) as contender, closing(self._trial(bench, contender)) as trial:
                agree(trial, bench, contender, there)

    def _time(self, trial: Trial, bench: Bench, progress: Progress) -> None:
        progress.floor = self._floor(bench, progress)
        for name in self.settings.baselines:
            try:
                measured = self._raced(trial, bench, name, progress.floor)
            except (TooShort, NoRoomError) as refusal:
                why = str(refusal).partition("\n")[0]
                progress.notes.append(f"not timed against {name}: {why}")
                if not progress.measurements:
                    return  # the first baseline decides: no other may take its place
                continue
            progress.measurements = (*progress.measurements, measured)

    def _time_earlier(
        self, trial: Trial, bench: Bench, what: tuple[Solution, Extension], progress: Progress
    ) -> None:
        """The solution against its own earlier source, in the baseline's place."""
        earlier, extension = what
        limit = 1 / (1 + self.settings.max_slowdown)
        settings = replace(self.settings, thresholds=(limit,))
        if extension.earlier is None:
            progress.notes.append("not timed against its earlier source: that is not built here")
            return
        try:
            with bench.standing_in(earlier.path, earlier.entry, str(extension.earlier)):
                progress.previous = self._raced(trial, bench, EARLIER, None, settings)
        except (StoodDown, TooShort, NoRoomError) as error:
            why = str(error).partition("\n")[0]
            progress.notes.append(f"not timed against its earlier source: {why}")

    def _raced(
        self,
        trial: Trial,
        bench: Bench,
        name: str,
        limit: Floor | None,
        settings: Settings | None = None,
    ) -> Measurement:
        """Where memory is short beside the other side, both sides share it in turns."""
        settings = settings or self.settings
        with self._quiet():
            try:
                return race(trial, settings, name, limit)
            except (NoRoomError, Rejected) as error:
                short = isinstance(error, NoRoomError) or error.status is Status.OUT_OF_MEMORY
                if not (short and trial.alternate()):
                    raise
            bench.end_baselines()
            return race(trial, settings, name, limit)

    def _control(self, bench: Bench, progress: Progress) -> None:
        """The reference against itself, by the same way as any solution: once a session."""
        if self._controlled or self.settings.correctness_only:
            return
        self._controlled = True
        name = self.settings.baselines[0]
        bench.rest()
        try:
            with (
                closing(bench.start_twin(name, raced=True)) as twin,
                closing(self._trial(bench, twin)) as trial,
                twin.patiently(),
            ):
                progress.control = self._raced(trial, bench, name, None)
        except (TooShort, NoRoomError, Rejected) as error:
            why = str(error).partition("\n")[0]
            progress.notes.append(f"the reference was not timed against itself: {why}")

    def _floor(self, bench: Bench, progress: Progress) -> Floor | None:
        """What no kernel can beat on this device; None on a CPU: its caches hold whole problems."""
        if self._roof is None:
            return None
        work = work_of(bench.prepared, self.settings.arithmetic)
        progress.roofline = roofline(work, self._roof, self.settings.arithmetic)
        return floor(work, self._roof)

    def _trial(self, bench: Bench, contender: Runner) -> Trial:
        return (DeviceTrial if self.device.is_gpu else HostTrial)(bench, contender)

    def _bench_for(self, pair: Pair) -> Bench:
        if self._bench is not None and self._bench.problem == pair.problem:
            return self._bench
        self.discard_bench()
        self.warm_up()
        assert self._server is not None
        with self._quiet():
            self._bench = Bench(self._server, pair.problem, self.settings, self.device, self.size)
        self._bench.quiet, self._bench.kin = self._quiet, self._kin
        return self._bench

    def discard_bench(self) -> None:
        """End the processes of the last problem: the next pair starts from nothing."""
        if self._bench is not None:
            self._bench.close()
            self._bench = None

    def close(self) -> None:
        """End every process."""
        self.discard_bench()
        if self._server is not None:
            self._server.close()
            self._server = None
