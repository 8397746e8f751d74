"""This machine: builds in parallel, judges on one device, one pair at a time."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_kernelbench.build.builder import Builder
from pytest_kernelbench.engine.devices import find_device
from pytest_kernelbench.engine.needs import declared_devices, needs_cuda
from pytest_kernelbench.errors import MachineError, MissingNeedError, SandboxError
from pytest_kernelbench.judge.referee import Referee
from pytest_kernelbench.timing.lease import lease

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_kernelbench.build.extension import Extension
    from pytest_kernelbench.catalog.pair import Pair
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Verdict

_LEASE_PATIENCE_S = 3600.0
_LOOK_EVERY_S = 0.05


class LocalEngine:
    """Implements ``engine.protocol.Engine``.

    Raises ``UsageError`` if the device asked for is not there.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.device = find_device(settings.device)
        self.builder = Builder(settings, self.device.capability)
        self.referee = Referee(settings, self.device)
        if not settings.build_only:
            self.referee.warm_up()

    def ahead(self, pairs: Iterable[Pair]) -> None:
        """Start building these pairs in the background, in order."""
        self.builder.ahead(
            (pair.solution.path, pair.solution.entry) for pair in pairs if not self._lacks(pair)
        )

    def build(self, pair: Pair) -> Extension:
        """Compile the solution, or take it from the cache."""
        if need := self._lacks(pair):
            raise MissingNeedError(need, "CUDA device")
        return self.builder.build(pair.solution.path, pair.solution.entry)

    def judge(self, pair: Pair, extension: Extension) -> Verdict:
        """Judge once; once more, from fresh processes, if the machine failed."""
        try:
            return self._judge(pair, extension)
        except (MachineError, SandboxError):
            self.referee.close()
        try:
            return self._judge(pair, extension)
        except SandboxError as error:
            raise MachineError(str(error)) from error

    def close(self) -> None:
        """End every process."""
        self.referee.close()
        self.builder.close()

    def _judge(self, pair: Pair, extension: Extension) -> Verdict:
        if self.settings.correctness_only and not self.device.is_gpu:
            return self.referee.judge(
                pair, extension
            )  # nothing is timed, and a CPU is shared anyway
        self._await_quiet()
        waited: list[str] = []
        start = time.monotonic()
        with lease(self.device.uuid, _LEASE_PATIENCE_S, on_wait=waited.append):
            waited_s = time.monotonic() - start
            verdict = self.referee.judge(pair, extension)
        if not waited:
            return verdict
        return replace(verdict, notes=(*verdict.notes, f"waited {waited_s:.0f} s: {waited[0]}"))

    def _await_quiet(self) -> None:
        """On a CPU, let the builds end first: a compiler beside it would be in the time."""
        while not self.device.is_gpu and self.builder.progress.unfinished:
            time.sleep(_LOOK_EVERY_S)

    def _lacks(self, pair: Pair) -> str:
        if self.settings.build_only:
            return ""
        kind = "cuda" if self.device.is_gpu else "cpu"
        devices = declared_devices(pair.solution.path)
        if devices and kind not in devices:
            wanted = " or ".join(devices)
            here = f"{self.device.name} ({kind})"
            return f"is made for {wanted} (its DEVICES); this session judges on {here}"
        if kind == "cpu" and not devices and needs_cuda(pair.solution.path):
            return f"needs a CUDA device; this session judges on {self.device.name} (cpu)"
        return ""
