"""Best rates of a device: bytes moved and matrix products per second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

_TRIALS = 5
_SIDE = 8192
_MOST_BYTES = 4 << 30


def _best_s(work: Callable[[], object]) -> float:
    """The shortest of several trials, by device events."""
    work()
    times: list[float] = []
    for _ in range(_TRIALS):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return min(times)


def bandwidth(device: str) -> float:
    """Bytes per second: the best of reading, writing and copying far more than any cache holds."""
    free, _ = torch.cuda.mem_get_info(device)
    size = min(_MOST_BYTES, free // 4)
    source = torch.empty(size // 4, dtype=torch.float32, device=device).normal_()
    target = torch.empty_like(source)
    return max(
        2 * size / _best_s(lambda: target.copy_(source)),
        size / _best_s(lambda: target.fill_(1.0)),
        size / _best_s(source.amax),
    )


def matrix_rates(device: str) -> dict[str, float]:
    """Operations per second of a large product of random numbers, by dtype."""
    flops = 2.0 * _SIDE**3
    rates = {}
    for name, kind, tf32 in (
        ("fp32", torch.float32, False),
        ("tf32", torch.float32, True),
        ("bf16", torch.bfloat16, False),
        ("fp16", torch.float16, False),
    ):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        square = torch.randn(_SIDE, _SIDE, device=device, dtype=kind)
        rates[name] = flops / _best_s(lambda square=square: square @ square)  # type: ignore[misc]
    torch.backends.cuda.matmul.allow_tf32 = False
    return rates
