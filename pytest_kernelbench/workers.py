"""pytest-xdist: a device for each worker, a problem's solutions on one, and workers that die."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_kernelbench.endings import ended
from pytest_kernelbench.reporting import ATTRIBUTE
from pytest_kernelbench.state import STATE
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdist.scheduler import LoadScopeScheduling
    from xdist.workermanage import WorkerController

    from pytest_kernelbench.settings import Settings

DEVICE = "kernelbench_device"
"""Key of ``workerinput``: what the worker sets CUDA_VISIBLE_DEVICES to."""


class Foreman:
    """The controller's side. A dead worker's device goes to the worker that replaces it.

    Worker ids do not serve for this: gw0's replacement is called gw2.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._state = config.stash[STATE]
        self._devices: Sequence[str] | None = None
        self._held: dict[object, str] = {}
        self._tried_again: set[str] = set()

    @property
    def devices(self) -> Sequence[str]:
        """What there is to lease; looked up when the first worker starts."""
        if self._devices is None:
            self._devices = _leasable(self._state.settings.device)
        return self._devices

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: WorkerController) -> None:
        """Lease the device that fewest workers hold."""
        if self.devices:
            holders = Counter(self._held.values())
            device = min(self.devices, key=lambda name: holders[name])
            node.workerinput[DEVICE] = self._held[node] = device

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: WorkerController) -> None:
        """Take the device back; xdist calls this before it starts a replacement."""
        self._held.pop(node, None)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(
        self,
        config: pytest.Config,
        log: Any,  # noqa: ANN401 - xdist's own, untyped
    ) -> LoadScopeScheduling | None:
        """Keep a problem's solutions together, unless somebody chose another scheduler."""
        if config.getoption("dist") != "load" or not self._state.runs_solutions(config):
            return None
        from pytest_kernelbench.scheduling import ProblemScheduling

        return ProblemScheduling(config, log)

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: Any, sched: Any) -> None:  # noqa: ANN401
        """A worker is a referee: when it dies the pair is judged once more, then ``not_judged``."""
        pair = self._state.pair_of(crashitem)
        if pair is None:
            return
        if crashitem not in self._tried_again:
            self._tried_again.add(crashitem)
            try:
                sched.mark_test_pending(crashitem)
            except NotImplementedError:
                pass  # one of xdist's schedulers that cannot: the pair ends here
            else:
                report.outcome = "rerun"
                return
        reason = f"the pytest worker died while it judged this pair: {report.longrepr}"
        verdict = ended(pair, Status.NOT_JUDGED, reason)
        report.outcome = "failed"
        setattr(report, ATTRIBUTE, verdict.to_builtins())


def _leasable(wanted: str) -> list[str]:
    """By UUID: that stays right whatever CUDA_VISIBLE_DEVICES this process has."""
    from pytest_kernelbench.engine.devices import find_devices

    return [device.uuid for device in find_devices(wanted) if device.is_gpu]


def take_device(workerinput: Mapping[str, Any], settings: Settings) -> Settings:
    """The worker's side: see one device only, before anything looks for one."""
    device = workerinput.get(DEVICE)
    if device is None:
        return settings
    os.environ["CUDA_VISIBLE_DEVICES"] = device
    return replace(settings, device="cuda")
