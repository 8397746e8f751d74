"""How long a reference's forward takes and how much memory it needs: figures to plan with.

Not a verdict's clock: nothing here defends itself, since only the problem's own code runs.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.judge.proofs import INPUT_SEED, MODEL_SEED, run_forward

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from pytest_kernelbench.judge.program import Program

RUNS, BUDGET_S = 10, 1.0


def measured_forward(program: Program, device: torch.device) -> tuple[float, int | None]:
    """Median milliseconds of one forward, and peak bytes of model, inputs and forward together.

    The peak is None where the system does not tell it.
    """
    import torch

    memory = _cuda_peak(device) if device.type == "cuda" else _process_peak()
    with torch.no_grad():
        model = program.make_model(MODEL_SEED, device)
        inputs = program.make_inputs(INPUT_SEED, device)

        def forward() -> None:
            run_forward(program, model, inputs)
            if device.type == "cuda":
                torch.cuda.synchronize(device)

        forward()
        times_ms = _times_ms(forward)
    return statistics.median(times_ms), memory()


def _times_ms(forward: Callable[[], None]) -> list[float]:
    times_ms: list[float] = []
    deadline = time.perf_counter() + BUDGET_S
    while not times_ms or (len(times_ms) < RUNS and time.perf_counter() < deadline):
        start = time.perf_counter()
        forward()
        times_ms.append(1e3 * (time.perf_counter() - start))
    return times_ms


def _cuda_peak(device: torch.device) -> Callable[[], int | None]:
    import torch

    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats(device)
    return lambda: torch.cuda.max_memory_allocated(device)


def _process_peak() -> Callable[[], int | None]:
    """Growth of this process's resident memory above what it is now, as Linux accounts it."""
    try:
        Path("/proc/self/clear_refs").write_text(
            "5", encoding="ascii"
        )  # resets the high-water mark
        before = _status_bytes("VmRSS")
    except (OSError, KeyError):
        return lambda: None
    return lambda: max(0, _status_bytes("VmHWM") - before)


def _status_bytes(key: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return 1024 * int(fields[key].split()[0])
