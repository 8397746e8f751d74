"""Which devices there are, asked of the driver's own library: no torch, no CUDA context."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.judge.device import Device


def find_device(wanted: str) -> Device:
    """The device that ``--kb-device`` names (``auto``: the first visible GPU, else the CPU).

    Raises ``UsageError`` where a GPU was asked for by name and none is visible.
    """
    if wanted == "cpu":
        return cpu()
    gpus = visible_gpus()
    if wanted == "auto":
        return gpus[0] if gpus else cpu()
    number = int(wanted.partition(":")[2] or 0)
    if number >= len(gpus):
        seen = os.environ.get("CUDA_VISIBLE_DEVICES")
        hint = "" if seen is None else f" (CUDA_VISIBLE_DEVICES is {seen!r})"
        hint += "".join(f"; {words}" for words in silent_gpus())
        raise UsageError(
            f"--kb-device={wanted}: {len(gpus)} CUDA devices are visible here{hint}; "
            "use --kb-device=auto or cpu"
        )
    return gpus[number]


def find_devices(wanted: str) -> tuple[Device, ...]:
    """All devices that ``--kb-device`` names: with ``auto`` or ``cuda``, every visible GPU.

    Of the first one's model, that is: times of another model cannot be compared with its own.
    """
    first = find_device(wanted)
    if not first.is_gpu or ":" in wanted:
        return (first,)
    return tuple(gpu for gpu in visible_gpus() if gpu.name == first.name)


def lost(device: Device) -> bool:
    """Whether a GPU that was there is there no more; asked of the driver anew."""
    if not device.is_gpu:
        return False
    _survey.cache_clear()
    _part.cache_clear()
    known = {gpu.uuid for gpu in _all_gpus()}
    return device.uuid not in known and _part(device.uuid) is None


def cpu() -> Device:
    """This machine's processor."""
    return Device(_processor(), f"cpu-{platform.node()}", "cpu")


def silent_gpus() -> tuple[str, ...]:
    """A sentence on each GPU that the driver counts and cannot speak for, as one that was lost."""
    return _survey().silent


def _all_gpus() -> tuple[Device, ...]:
    return _survey().gpus


@dataclass(frozen=True)
class _Survey:
    """What the driver says of all GPUs of this machine."""

    gpus: tuple[Device, ...] = ()
    silent: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def _survey() -> _Survey:
    try:
        nvml: Any = import_module("pynvml")
        nvml.nvmlInit()
    except Exception:  # noqa: BLE001 - no library, no driver, no permission: there is no GPU for us
        return _Survey()
    gpus, silent = [], []
    try:
        driver = nvml.nvmlSystemGetDriverVersion()
        for number in range(nvml.nvmlDeviceGetCount()):
            try:
                gpus.append(_gpu(nvml, number, driver))
            except nvml.NVMLError as error:
                silent.append(f"GPU {number} is left out: the driver says {str(error)!r}")
    except nvml.NVMLError:
        return _Survey()  # as above
    finally:
        nvml.nvmlShutdown()
    if silent:
        # CUDA may count the others anew.
        gpus = [replace(gpu, visible=gpu.uuid) for gpu in gpus]
    return _Survey(tuple(gpus), tuple(silent))


@lru_cache
def _part(uuid: str) -> Device | None:
    """A part of a GPU (MIG) by its UUID; None if there is no such part."""
    try:
        nvml: Any = import_module("pynvml")
        nvml.nvmlInit()
    except Exception:  # noqa: BLE001 - as above
        return None
    try:
        handle = nvml.nvmlDeviceGetHandleByUUID(uuid)
        whole = nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(handle)
        number = nvml.nvmlDeviceGetIndex(whole)
        gpu = _gpu(nvml, number, nvml.nvmlSystemGetDriverVersion())
        return replace(gpu, name=nvml.nvmlDeviceGetName(handle), uuid=uuid, visible=uuid)
    except nvml.NVMLError:
        return None
    finally:
        nvml.nvmlShutdown()


def _gpu(nvml: Any, number: int, driver: str) -> Device:  # noqa: ANN401 - NVML is untyped
    handle = nvml.nvmlDeviceGetHandleByIndex(number)
    major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
    name, uuid = nvml.nvmlDeviceGetName(handle), nvml.nvmlDeviceGetUUID(handle)
    return Device(name, uuid, "cuda:0", f"{major}.{minor}", driver, number)


def visible_gpus() -> tuple[Device, ...]:
    """The GPUs that ``CUDA_VISIBLE_DEVICES`` leaves, in its order.

    It names them by numbers, by UUIDs or by their beginnings; parts of a GPU by their whole UUIDs.
    """
    gpus = _all_gpus()
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if listed is None:
        return gpus
    chosen = []
    for entry in filter(None, map(str.strip, listed.split(","))):
        match = [
            gpu
            for gpu in gpus
            if entry == str(gpu.index) or (entry.startswith("GPU-") and gpu.uuid.startswith(entry))
        ]
        if entry.startswith("MIG-") and (part := _part(entry)) is not None:
            match = [part]
        if not match:
            break  # as CUDA does: what follows an unknown entry is invisible
        chosen.append(match[0])
    return tuple(chosen)


def alike(wanted: str) -> frozenset[str]:
    """UUIDs of this machine's devices of the kind that ``--kb-device`` names, visible or not.

    A verdict of one of them holds for another: a worker of pytest-xdist sees only its own.
    """
    name = find_device(wanted).name
    return frozenset(device.uuid for device in (*_all_gpus(), cpu()) if device.name == name)


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        return platform.machine()
    return platform.machine()
