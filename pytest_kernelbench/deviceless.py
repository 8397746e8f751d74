"""What code says where it finds no CUDA device, whosever it is."""

from __future__ import annotations

from pytest_kernelbench.errors import origins, said

# torch, Triton and the CUDA runtime, without a device or without a driver.
_WORDS = (
    "no cuda gpus are available",
    "no nvidia driver",
    "torch not compiled with cuda enabled",
    "0 active drivers",
    "driver version is insufficient",
    "driver initialization failed",
    "no cuda-capable device",
    "cuda_error_no_device",
    "cuda unknown error",
    "libcuda.so",
    "invalid device ordinal",
    "invalid device id",
    "cuinit",
    "cannot re-initialize cuda in forked",
    # 304: so the driver names whatever it could not have of the system, walls among it.
    "os call failed",
    "cudaerroroperatingsystem",
    "cuda_error_operating_system",
)


def lacks_device(error: BaseException) -> bool:
    """Whether it, or what it came from, is the lack of a device."""
    text = "\n".join(said(link) for link in origins(error)).lower()
    return any(words in text for words in _WORDS)
