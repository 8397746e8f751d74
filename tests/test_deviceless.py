"""What code says where there is no device, and what only sounds like it."""

from __future__ import annotations

import pytest

from pytest_kernelbench.deviceless import lacks_device

LACKS = [
    RuntimeError("No CUDA GPUs are available"),
    RuntimeError("Found no NVIDIA driver on your system. Please check that you have one"),
    AssertionError("Torch not compiled with CUDA enabled"),
    RuntimeError("0 active drivers ([]). There should only be one."),
    RuntimeError("CUDA driver version is insufficient for CUDA runtime version"),
    RuntimeError("CUDA driver initialization failed, you might not have a CUDA gpu."),
    RuntimeError("CUDA error: no CUDA-capable device is detected"),
    RuntimeError("CUDA_ERROR_NO_DEVICE: no device"),
    RuntimeError("CUDA unknown error - this may be due to an incorrectly set up environment"),
    OSError("libcuda.so.1: cannot open shared object file: No such file or directory"),
    RuntimeError("CUDA error: invalid device ordinal"),
    AssertionError("Invalid device id"),
    RuntimeError("cuInit failed"),
    RuntimeError("Cannot re-initialize CUDA in forked subprocess."),
    RuntimeError(
        "Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before "
        "calling NumCudaDevices() that might have already set an error? Error 304: OS call failed "
        "or operation not supported on this OS"
    ),
    RuntimeError("cudaErrorOperatingSystem: OS call failed"),
    RuntimeError("[304] Call to cuInit results in CUDA_ERROR_OPERATING_SYSTEM"),
]
OTHERS = [
    RuntimeError("CUDA error: an illegal memory access was encountered"),
    RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("CUDA error: invalid configuration argument"),
    RuntimeError("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"),
    RuntimeError("Expected all tensors to be on the same device"),
    ModuleNotFoundError("No module named 'cupy'"),
    RuntimeError(),
]


class Mute(Exception):  # noqa: N818 - what it is
    """Cannot be asked for its message."""

    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize("error", LACKS, ids=str)
def test_no_device(error: Exception) -> None:
    assert lacks_device(error)


@pytest.mark.parametrize("error", OTHERS, ids=str)
def test_another_trouble(error: Exception) -> None:
    assert not lacks_device(error)


@pytest.mark.parametrize("link", ["__cause__", "__context__"])
def test_what_it_came_from_counts(link: str) -> None:
    error = Mute()
    setattr(error, link, LACKS[0])
    assert lacks_device(error)
    setattr(error, link, OTHERS[0])
    assert not lacks_device(error)
