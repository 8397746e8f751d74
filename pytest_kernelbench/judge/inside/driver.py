"""The CUDA driver through ctypes: modules, launches, shared device memory.

Used beside torch, in its context. Not torch's own ways, since a solution may have replaced them;
not Triton, since each of its launches costs more.
"""

from __future__ import annotations

import ctypes
from typing import Any

_cuda = ctypes.CDLL("libcuda.so.1")
_u64 = ctypes.c_uint64
_HANDLE_POSIX_FD = 1
_ALLOCATION_PINNED = 1
_LOCATION_DEVICE = 1
_READ_WRITE = 3
_HOST_PORTABLE_MAPPED = 1 | 2
_LIMIT_PERSISTING_L2 = 6


class DriverError(RuntimeError):
    """A call of the driver failed.

    Worded as torch words it, so that it is recognised as a device error.
    """


def check(result: int) -> None:
    """Raise ``DriverError`` unless ``result`` is success."""
    if result:
        text = ctypes.c_char_p()
        _cuda.cuGetErrorString(result, ctypes.byref(text))
        said = text.value.decode() if text.value else f"error {result}"
        raise DriverError(f"CUDA driver error: {said}")


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class _Properties(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", _Location),
        ("win32", ctypes.c_void_p),
        ("flags", ctypes.c_uint8 * 8),
    )


class _Access(ctypes.Structure):
    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


class Kernel:
    """A function of a module, with its parameters' types fixed once."""

    def __init__(self, module: ctypes.c_void_p, name: str, types: tuple[Any, ...]) -> None:
        self._function = ctypes.c_void_p()
        check(_cuda.cuModuleGetFunction(ctypes.byref(self._function), module, name.encode()))
        self._values = [kind() for kind in types]
        self._pointers = (ctypes.c_void_p * len(types))(
            *(ctypes.addressof(value) for value in self._values)
        )
        self._launch = _cuda.cuLaunchKernel

    def __call__(self, blocks: int, threads: int, *arguments: float) -> None:
        """Launch on the legacy default stream, where torch's work is."""
        for value, argument in zip(self._values, arguments, strict=True):
            value.value = argument
        check(
            self._launch(self._function, blocks, 1, 1, threads, 1, 1, 0, None, self._pointers, None)
        )


_GATE = (_u64, _u64, _u64, _u64)
_GENERATE = (
    _u64, _u64, _u64, ctypes.c_uint32, ctypes.c_uint32, _u64, _u64, _u64,
    ctypes.c_uint32, ctypes.c_uint32, _u64,
)  # fmt: skip
_COMPARE = (
    _u64, _u64, _u64, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_double, ctypes.c_double, _u64,
)  # fmt: skip
_DIGEST = (_u64, _u64, _u64, ctypes.c_uint32, ctypes.c_uint32, _u64, _u64, _u64)


class Protocol:
    """The kernels of ``protocol.cu``, loaded into the current context."""

    def __init__(self, cubin: bytes) -> None:
        module = ctypes.c_void_p()
        check(_cuda.cuModuleLoadData(ctypes.byref(module), cubin))
        self.gate = Kernel(module, "kb_gate", _GATE)
        self.generate = Kernel(module, "kb_generate", _GENERATE)
        self.digest = Kernel(module, "kb_digest", _DIGEST)
        self.compare = Kernel(module, "kb_compare", _COMPARE)


def register_host(address: int, size_bytes: int) -> int:
    """Let the device see host memory; returns its address on the device."""
    check(
        _cuda.cuMemHostRegister_v2(
            ctypes.c_void_p(address), ctypes.c_size_t(size_bytes), _HOST_PORTABLE_MAPPED
        )
    )
    pointer = _u64()
    check(_cuda.cuMemHostGetDevicePointer_v2(ctypes.byref(pointer), ctypes.c_void_p(address), 0))
    return pointer.value


def copy(to: int, source: int, size_bytes: int) -> None:
    """Copy on the device, on the legacy default stream; not waited for."""
    check(_cuda.cuMemcpyDtoDAsync_v2(_u64(to), _u64(source), ctypes.c_size_t(size_bytes), None))


def synchronize() -> None:
    """Wait for everything in this context."""
    check(_cuda.cuCtxSynchronize())


def forget_persisting_l2() -> None:
    """Give back lines that were set aside in L2, and set none aside. Waits for the device."""
    _cuda.cuCtxSetLimit(_LIMIT_PERSISTING_L2, ctypes.c_size_t(0))
    _cuda.cuCtxResetPersistingL2Cache()  # both fail where the device has no such thing


class SharedMemory:
    """Device memory that two processes map, by a descriptor.

    A descriptor passes namespaces, unlike IPC handles.
    """

    def __init__(self, handle: ctypes.c_uint64, size_bytes: int, device: int) -> None:
        self._handle = handle
        self.size_bytes = size_bytes
        size, zero, none = ctypes.c_size_t(size_bytes), ctypes.c_size_t(0), _u64(0)
        pointer = _u64()
        check(_cuda.cuMemAddressReserve(ctypes.byref(pointer), size, zero, none, none))
        self.address = pointer.value
        check(_cuda.cuMemMap(_u64(self.address), size, zero, handle, none))
        access = _Access(_Location(_LOCATION_DEVICE, device), _READ_WRITE)
        one = ctypes.c_size_t(1)
        check(_cuda.cuMemSetAccess(_u64(self.address), size, ctypes.byref(access), one))

    @classmethod
    def create(cls, size_bytes: int, device: int = 0) -> SharedMemory:
        """New memory of at least ``size_bytes``."""
        properties = _Properties(
            _ALLOCATION_PINNED, _HANDLE_POSIX_FD, _Location(_LOCATION_DEVICE, device)
        )
        grain = ctypes.c_size_t()
        check(_cuda.cuMemGetAllocationGranularity(ctypes.byref(grain), ctypes.byref(properties), 0))
        size_bytes = -(-size_bytes // grain.value) * grain.value
        handle = _u64()
        size = ctypes.c_size_t(size_bytes)
        check(_cuda.cuMemCreate(ctypes.byref(handle), size, ctypes.byref(properties), _u64(0)))
        return cls(handle, size_bytes, device)

    @classmethod
    def attach(cls, fd: int, size_bytes: int, device: int = 0) -> SharedMemory:
        """Memory that another process exported."""
        handle = _u64()
        check(
            _cuda.cuMemImportFromShareableHandle(
                ctypes.byref(handle), ctypes.c_void_p(fd), _HANDLE_POSIX_FD
            )
        )
        return cls(handle, size_bytes, device)

    def export(self) -> int:
        """A descriptor for the other process (the caller's to close)."""
        fd = ctypes.c_int()
        check(
            _cuda.cuMemExportToShareableHandle(
                ctypes.byref(fd), self._handle, _HANDLE_POSIX_FD, _u64(0)
            )
        )
        return fd.value

    def close(self) -> None:
        """Unmap; the memory goes when the last process has done so."""
        check(_cuda.cuMemUnmap(_u64(self.address), ctypes.c_size_t(self.size_bytes)))
        check(_cuda.cuMemAddressFree(_u64(self.address), ctypes.c_size_t(self.size_bytes)))
        check(_cuda.cuMemRelease(self._handle))
