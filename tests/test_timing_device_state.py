"""What NVML says, in words; and judging goes on where it says nothing."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pynvml
import pytest

from pytest_kernelbench.timing import device_state
from pytest_kernelbench.timing.device_state import (
    GpuProcess,
    Snapshot,
    foreign_processes,
    monitor,
    throttled,
)

UUID = "GPU-5e3f"


class FakeNvml(ModuleType):
    """NVML of a machine with one device; ``missing`` functions are not supported there."""

    NVMLError = pynvml.NVMLError
    NVML_CLOCK_SM = pynvml.NVML_CLOCK_SM
    NVML_TEMPERATURE_GPU = pynvml.NVML_TEMPERATURE_GPU

    def __init__(self, *missing: str) -> None:
        super().__init__("pynvml")
        self.open = 0
        answers: dict[str, Any] = {
            "nvmlDeviceGetClockInfo": lambda _, kind: {pynvml.NVML_CLOCK_SM: 1980}[kind],
            "nvmlDeviceGetCurrentClocksEventReasons": lambda _: (
                pynvml.nvmlClocksEventReasonSwPowerCap
                | pynvml.nvmlClocksEventReasonGpuIdle
                | pynvml.nvmlClocksEventReasonHwThermalSlowdown
            ),
            "nvmlDeviceGetTemperature": lambda _, __: 41,
            "nvmlDeviceGetPowerUsage": lambda _: 349_600,
            "nvmlDeviceGetViolationStatus": lambda _, policy: SimpleNamespace(
                violationTime=1000 + policy
            ),
            "nvmlDeviceGetComputeRunningProcesses": lambda _: [
                SimpleNamespace(pid=20, usedGpuMemory=1 << 30),
                SimpleNamespace(pid=10, usedGpuMemory=None),
            ],
            "nvmlDeviceGetGraphicsRunningProcesses": lambda _: [],
            "nvmlDeviceGetHandleByUUID": self._handle,
            "nvmlDeviceGetDeviceHandleFromMigDeviceHandle": lambda handle: f"parent of {handle}",
        }
        for name, answer in answers.items():
            assert hasattr(pynvml, name), name  # the real library has it
            setattr(self, name, _unsupported if name in missing else answer)

    def _handle(self, uuid: str) -> str:
        if uuid not in {UUID, "MIG-1"}:
            raise self.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return uuid

    def nvmlInit(self) -> None:  # noqa: N802 - NVML's name
        self.open += 1

    def nvmlShutdown(self) -> None:  # noqa: N802 - NVML's name
        self.open -= 1


def _unsupported(*_: object) -> None:
    raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)


def install(monkeypatch: pytest.MonkeyPatch, *missing: str) -> FakeNvml:
    fake = FakeNvml(*missing)
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    return fake


@pytest.mark.parametrize("uuid", [UUID, UUID.removeprefix("GPU-")])
def test_snapshot(monkeypatch: pytest.MonkeyPatch, uuid: str) -> None:
    fake = install(monkeypatch)
    with monitor(uuid) as device:
        assert device is not None
        assert fake.open == 1
        found = device.snapshot()
    assert fake.open == 0
    assert found == Snapshot(
        uuid=UUID,
        sm_clock_mhz=1980,
        throttle_reasons=("power cap", "thermal slowdown (hardware)"),
        temperature_c=41,
        power_w=349.6,
        processes=(GpuProcess(10, None), GpuProcess(20, 1 << 30)),
        violation_ns={"power": 1000, "thermal": 1001},
    )
    assert found.words() == "1980 MHz, 41 C, 350 W, power cap, thermal slowdown (hardware)"


def test_what_is_not_supported_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    install(
        monkeypatch,
        "nvmlDeviceGetViolationStatus",
        "nvmlDeviceGetPowerUsage",
        "nvmlDeviceGetComputeRunningProcesses",
        "nvmlDeviceGetCurrentClocksEventReasons",
    )
    with monitor(UUID) as device:
        assert device is not None
        found = device.snapshot()
    assert found.words() == "1980 MHz, 41 C"


def test_an_older_library_has_the_older_name(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(monkeypatch)
    monkeypatch.setattr(
        fake, "nvmlDeviceGetCurrentClocksThrottleReasons", lambda _: 0x80, raising=False
    )
    monkeypatch.delattr(fake, "nvmlDeviceGetCurrentClocksEventReasons")
    with monitor(UUID) as device:
        assert device is not None
        assert device.snapshot().throttle_reasons == ("power brake",)


def test_a_mig_instance_is_asked_through_its_device(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    with monitor("MIG-1") as device:
        assert device is not None
        assert device._handle == "parent of MIG-1"
        assert device.snapshot().uuid == "MIG-1"


def test_an_unknown_device_has_no_monitor(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(monkeypatch)
    with monitor("GPU-other") as device:
        assert device is None
    assert fake.open == 0


def test_without_the_library_there_is_no_monitor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with monitor(UUID) as device:
        assert device is None


def test_without_a_driver_there_is_no_monitor(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(monkeypatch)
    monkeypatch.setattr(fake, "nvmlInit", _unsupported)
    with monitor(UUID) as device:
        assert device is None


def test_the_bits_are_those_of_the_library() -> None:
    assert set(device_state._REASONS) == {
        pynvml.nvmlClocksEventReasonSwPowerCap,
        pynvml.nvmlClocksEventReasonHwSlowdown,
        pynvml.nvmlClocksEventReasonSwThermalSlowdown,
        pynvml.nvmlClocksEventReasonHwThermalSlowdown,
        pynvml.nvmlClocksEventReasonHwPowerBrakeSlowdown,
    }
    assert device_state._POLICIES == {
        "power": pynvml.NVML_PERF_POLICY_POWER,
        "thermal": pynvml.NVML_PERF_POLICY_THERMAL,
    }


@pytest.mark.parametrize(
    ("before", "after", "reasons"),
    [
        (Snapshot(UUID), Snapshot(UUID), ()),
        (
            Snapshot(UUID, throttle_reasons=("hardware slowdown",)),
            Snapshot(UUID, throttle_reasons=("hardware slowdown", "power brake")),
            ("hardware slowdown", "power brake"),
        ),
        (
            Snapshot(UUID, 1980, throttle_reasons=("power cap",)),
            Snapshot(UUID, 1900, throttle_reasons=("power cap",)),
            (),
        ),
        (
            Snapshot(UUID, 1980),
            Snapshot(UUID, 1400, throttle_reasons=("power cap",)),
            ("power cap lowered the clock from 1980 to 1400 MHz",),
        ),
        # Without a cap a lower clock is the device going idle at the end of the batch.
        (Snapshot(UUID, 1980), Snapshot(UUID, 345), ()),
        (
            Snapshot(UUID, violation_ns={"thermal": 5, "power": 5}),
            Snapshot(UUID, violation_ns={"thermal": 2_000_005, "power": 99_000_000}),
            ("throttled by heat for 2 ms",),
        ),
        (Snapshot(UUID), Snapshot(UUID, violation_ns={"thermal": 2_000_005}), ()),
    ],
)
def test_throttled(before: Snapshot, after: Snapshot, reasons: tuple[str, ...]) -> None:
    assert throttled(before, after) == reasons


@pytest.mark.parametrize(
    ("pids", "ours", "foreign"),
    [
        ((), {1}, ()),
        ((1, 2), {1, 2, 3}, ()),
        ((1, 2, 9), {1, 2}, (9,)),
        ((9,), set(), (9,)),
        # None of ours: the driver counts in another pid namespace, only a surplus tells.
        ((100, 101), {1, 2}, ()),
        ((100, 101, 102), {1, 2}, (102,)),
    ],
)
def test_foreign(pids: tuple[int, ...], ours: set[int], foreign: tuple[int, ...]) -> None:
    processes = tuple(GpuProcess(pid, pid) for pid in pids)
    found = foreign_processes(Snapshot(UUID, processes=processes), ours)
    assert tuple(process.pid for process in found) == foreign
