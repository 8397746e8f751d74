"""A pair's two profiles: the reference's, once a problem, and the solution's. Neither fails it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_kernelbench.errors import MachineError, ProblemError
from pytest_kernelbench.judge import wire
from pytest_kernelbench.judge.kernels import Finding, find
from pytest_kernelbench.judge.rejection import Rejected

if TYPE_CHECKING:
    from pytest_kernelbench.judge.bench import Bench
    from pytest_kernelbench.judge.device_trial import DeviceTrial
    from pytest_kernelbench.judge.host_trial import HostTrial
    from pytest_kernelbench.judge.runners import Runner


def kernels_that_ran(trial: HostTrial | DeviceTrial, bench: Bench, contender: Runner) -> Finding:
    """What the solution runs, beside what the reference runs; a note tells what went wrong."""
    profiled = _taken(trial, reference=False)
    if bench.profiled is None:
        contender.child.stop()
        try:
            bench.profiled = _taken(trial, reference=True)
        finally:
            contender.child.resume()
    return find(profiled, bench.profiled, on_device=bench.gpu)


def _taken(trial: HostTrial | DeviceTrial, *, reference: bool) -> wire.Profiled:
    try:
        return trial.profile(reference=reference)
    except Rejected as rejected:
        why = rejected.reason
    except (MachineError, ProblemError) as error:
        why = str(error).partition("\n")[0]
    return wire.Profiled((), 0.0, 0.0, (), converts=False, start_us=0.0, note=why)
