"""A pair's two profiles: the solution's, and the reference's, once a problem. Neither fails it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_kernelbench.errors import MachineError, ProblemError
from pytest_kernelbench.judge import wire
from pytest_kernelbench.judge.rejection import Rejected
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_kernelbench.judge.bench import Bench
    from pytest_kernelbench.judge.rounds import Trial
    from pytest_kernelbench.judge.runners import Runner

_REFUSALS = frozenset({Status.RAISED, Status.CRASHED})
"""After dozens of forwards that did not. Time and memory a profiler may take itself."""


def profile_of(trial: Trial) -> wire.Profiled:
    """What the trial's contender runs; where that cannot be found out, a note says why."""
    try:
        found = trial.profile()
        # Its own word for it that there is nothing: as good as a profiler that it breaks.
        return _unknown(found.note, refused=True) if found.note else found
    except Rejected as rejected:
        return _unknown(rejected.reason, refused=rejected.status in _REFUSALS)
    except (MachineError, ProblemError) as error:
        return _unknown(str(error))


def reference_profile(bench: Bench, make_trial: Callable[[Bench, Runner], Trial]) -> wire.Profiled:
    """What the reference runs, found out once a problem.

    By a twin, not by the baseline that is timed: a profiler may leave a process slower than it was.
    """
    if bench.profiled is None:
        bench.profiled = _of_twin(bench, make_trial)
    return bench.profiled


def _of_twin(bench: Bench, make_trial: Callable[[Bench, Runner], Trial]) -> wire.Profiled:
    try:
        bench.rest()
        twin = bench.start_twin()
        try:
            trial = make_trial(bench, twin)
            try:
                return profile_of(trial)
            finally:
                trial.close()
        finally:
            twin.close()
    except (MachineError, ProblemError) as error:
        return _unknown(str(error))


def _unknown(why: str, *, refused: bool = False) -> wire.Profiled:
    note = why.partition("\n")[0][: wire.NAME_LIMIT]
    return wire.Profiled((), 0.0, 0.0, (), converts=False, note=note, refused=refused)
