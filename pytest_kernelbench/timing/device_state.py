"""What the device was doing while it was timed: clocks, heat, power, throttling, neighbours.

Asked of NVML, the driver's own library, which needs no CUDA context and so may be used by the
referee. Everything here is evidence: where the driver, the library or a single figure is missing,
the field is None and the judge works on without it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeVar

# Bits of NVML's "clocks event reasons" (nvml.h), in words. Not here, since they are no disturbance:
# idle, application clocks (a user locked them: good), display clock setting, sync boost.
_REASONS = {
    0x004: "power cap",
    0x008: "hardware slowdown",
    0x020: "thermal slowdown (driver)",
    0x040: "thermal slowdown (hardware)",
    0x080: "power brake",
}
# A power cap is the ordinary state of a large matrix product, at a clock that holds; it spoils a
# batch only where the clock moves. The others always do.
_POWER_CAP = _REASONS[0x004]
_CLOCK_DROP = 0.05
# NVML's performance policies whose violation time (ns since the driver started) is read.
_POLICIES = {"power": 0, "thermal": 1}
_SPOILING_POLICY = "thermal"

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class GpuProcess:
    """A process that holds memory on the device."""

    pid: int
    """In the driver's pid namespace, which is not ours inside some containers."""
    used_bytes: int | None


@dataclass(frozen=True)
class Snapshot:
    """The device at one moment; None where it does not say."""

    uuid: str
    sm_clock_mhz: int | None = None
    throttle_reasons: tuple[str, ...] = ()
    temperature_c: int | None = None
    power_w: float | None = None
    processes: tuple[GpuProcess, ...] = ()
    violation_ns: Mapping[str, int] = field(default_factory=dict)
    """Time spent throttled so far, by policy (``power``, ``thermal``)."""

    def words(self) -> str:
        """``1980 MHz, 41 C, 350 W, power cap``: only what is known."""
        parts = [
            None if self.sm_clock_mhz is None else f"{self.sm_clock_mhz} MHz",
            None if self.temperature_c is None else f"{self.temperature_c} C",
            None if self.power_w is None else f"{self.power_w:.0f} W",
            *self.throttle_reasons,
        ]
        return ", ".join(part for part in parts if part is not None)


def throttled(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """Why what ran between two snapshots must be measured again; empty when it need not be."""
    reasons = [
        reason
        for reason in dict.fromkeys((*before.throttle_reasons, *after.throttle_reasons))
        if reason != _POWER_CAP
    ]
    passed_ns = after.violation_ns.get(_SPOILING_POLICY, 0) - before.violation_ns.get(
        _SPOILING_POLICY, 0
    )
    if passed_ns > 0 and _SPOILING_POLICY in before.violation_ns:
        reasons.append(f"throttled by heat for {passed_ns / 1e6:.3g} ms")
    capped = _POWER_CAP in before.throttle_reasons or _POWER_CAP in after.throttle_reasons
    if capped and before.sm_clock_mhz and after.sm_clock_mhz:
        change = after.sm_clock_mhz / before.sm_clock_mhz - 1.0
        if change < -_CLOCK_DROP:
            reasons.append(
                f"power cap lowered the clock from {before.sm_clock_mhz} "
                f"to {after.sm_clock_mhz} MHz"
            )
    return tuple(reasons)


def foreign_processes(
    snapshot: Snapshot, our_pids: Collection[int], on_device: int | None = None
) -> tuple[GpuProcess, ...]:
    """Processes on the device that are not ours.

    In a container the driver may report pids of the host. Then none of ours is among them, nobody
    can be told apart, and only a surplus is reported: as many (the largest) as exceed those of ours
    that are ``on_device`` (by default all).
    """
    others = [process for process in snapshot.processes if process.pid not in our_pids]
    if len(others) < len(snapshot.processes) or not our_pids:
        return tuple(others)
    surplus = len(others) - (len(our_pids) if on_device is None else on_device)
    by_size = sorted(others, key=lambda process: process.used_bytes or 0, reverse=True)
    return tuple(by_size[: max(surplus, 0)])


class DeviceMonitor:
    """Reads snapshots of one device; made by ``monitor``."""

    def __init__(self, nvml: Any, handle: Any, uuid: str) -> None:  # noqa: ANN401 - NVML is untyped
        """``handle`` is NVML's for the device ``uuid``."""
        self._nvml = nvml
        self._handle = handle
        self._uuid = uuid

    def snapshot(self) -> Snapshot:
        """Ask the driver; about a millisecond, so never inside a timed interval."""
        nvml, handle = self._nvml, self._handle
        reasons = self._ask(_reasons_function(nvml), handle)
        power_mw = self._ask(nvml.nvmlDeviceGetPowerUsage, handle)
        violations = {
            name: self._ask(nvml.nvmlDeviceGetViolationStatus, handle, policy)
            for name, policy in _POLICIES.items()
        }
        return Snapshot(
            uuid=self._uuid,
            sm_clock_mhz=self._ask(nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_SM),
            throttle_reasons=_names(reasons or 0),
            temperature_c=self._ask(
                nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU
            ),
            power_w=None if power_mw is None else power_mw / 1000.0,
            processes=self._processes(),
            violation_ns={
                name: int(status.violationTime)
                for name, status in violations.items()
                if status is not None
            },
        )

    def _processes(self) -> tuple[GpuProcess, ...]:
        lists = (
            self._ask(self._nvml.nvmlDeviceGetComputeRunningProcesses, self._handle),
            self._ask(self._nvml.nvmlDeviceGetGraphicsRunningProcesses, self._handle),
        )
        found = {
            process.pid: GpuProcess(process.pid, process.usedGpuMemory)
            for processes in lists
            for process in processes or ()
        }
        return tuple(found[pid] for pid in sorted(found))

    def _ask(self, function: Callable[..., _Value], *arguments: object) -> _Value | None:
        try:
            return function(*arguments)
        except self._nvml.NVMLError:
            # Not supported on this model, or not permitted here: the figure is unknown.
            return None


@contextmanager
def monitor(uuid: str) -> Iterator[DeviceMonitor | None]:
    """A monitor of the device with this UUID (with or without ``GPU-``), or None.

    None where nvidia-ml-py or the driver's library is missing, or NVML does not know the device: a
    container may hide it, and a judge without this evidence is still a judge.
    """
    try:
        nvml: Any = import_module("pynvml")
    except ImportError:
        yield None
        return
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        yield None
        return
    try:
        yield _find(nvml, uuid)
    finally:
        nvml.nvmlShutdown()


def _find(nvml: Any, uuid: str) -> DeviceMonitor | None:  # noqa: ANN401 - NVML is untyped
    full = uuid if uuid.startswith(("GPU-", "MIG-")) else f"GPU-{uuid}"
    try:
        handle = nvml.nvmlDeviceGetHandleByUUID(full)
        if full.startswith("MIG-"):
            # An instance has no clocks of its own: its whole device is asked.
            handle = nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(handle)
    except nvml.NVMLError:
        return None
    return DeviceMonitor(nvml, handle, full)


def _reasons_function(nvml: Any) -> Callable[[Any], int]:  # noqa: ANN401 - NVML is untyped
    # Renamed in driver 535; an older library knows only the old name, a later one may drop it.
    name = "nvmlDeviceGetCurrentClocksEventReasons"
    function: Callable[[Any], int] = (
        getattr(nvml, name, None) or nvml.nvmlDeviceGetCurrentClocksThrottleReasons
    )
    return function


def _names(bits: int) -> tuple[str, ...]:
    return tuple(name for bit, name in _REASONS.items() if bits & bit)
