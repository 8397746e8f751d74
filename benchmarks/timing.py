"""Our times beside those of the device's profiler and of triton.testing.do_bench (CUDA only).

    python benchmarks/timing.py

*ours*: the judge's outside clock on a copy of the reference, null batch subtracted. *CUPTI*: the
time of the forward's kernels as torch.profiler has it, summed, in a plain process that flushes the
cache before each call, and *span* from the start of its first kernel to the end of its last one.
*do_bench*: the median that triton.testing.do_bench gives there. *events*: device events around the
forward in the contender, the judge's own evidence. What the sum does not count is the gap between
one kernel and the next, which is time all the same: short kernels and forwards of many kernels are
longer by our clock than the sum of their kernels.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from statistics import fmean, median
from typing import Any

from programs import Program, bench_of, copy_of, judged, product, randn

from pytest_kernelbench.engine.devices import find_device
from pytest_kernelbench.judge.race import TooShort
from pytest_kernelbench.judge.referee import PRELOAD
from pytest_kernelbench.sandbox.client import ForkServer
from pytest_kernelbench.settings import Settings

PROGRAMS = (
    Program("relu_1m", "torch.relu(x)", (randn(1024, 1024),)),
    Program("relu_4m", "torch.relu(x)", (randn(2048, 2048),)),
    Program("add_16m", "x + y", (randn(4096, 4096), randn(4096, 4096))),
    Program("softmax_16m", "torch.softmax(x, 1)", (randn(4096, 4096),)),
    Program("product_1024", "x @ y", product(1024, 1024, 1024)),
    Program("relu_of_product", "torch.relu(x @ y)", product(2048, 256, 2048)),
    Program("gelu_64m", "F.gelu(x)", (randn(8192, 8192),)),
    Program("layernorm_64m", "F.layer_norm(x, (8192,))", (randn(8192, 8192),)),
    Program("product_2048", "x @ y", product(2048, 2048, 2048)),
    Program("sum_256m", "x.sum(1)", (randn(16384, 16384),)),
    Program("product_4096", "x @ y", product(4096, 4096, 4096)),
    Program("conv_3x3", "F.conv2d(x, y)", (randn(32, 64, 128, 128), randn(128, 64, 3, 3))),
    Program("product_8192", "x @ y", product(8192, 8192, 8192)),
    Program("product_10240", "x @ y", product(10240, 10240, 10240)),
)
_LONG_US = 20.0
_ROW = "{:18}{:>11}{:>11}{:>11}{:>11}{:>11}{:>9}{:>12}{:>13}"


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plain", action="store_true", help="in this process, without a judge")
    parser.add_argument("--only", default="", help="programs whose name contains this")
    options = parser.parse_args()
    if options.plain:
        print(json.dumps(_plain(options.only)))
        return
    device = find_device("cuda")
    chosen = [program for program in PROGRAMS if options.only in program.name]
    plain = _in_plain_process(options.only)
    print(f"{device.name}, driver {device.driver}")
    print(
        _ROW.format(
            "us a call", "ours", "CUPTI", "span", "do_bench", "events", "kernels", "ours/CUPTI",
            "db/CUPTI",
        )
    )  # fmt: skip
    errors: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as name, ForkServer(PRELOAD) as server:
        folder = Path(name)
        settings = Settings(cache_dir=folder / "cache")
        for program in chosen:
            with bench_of(program, folder, server, settings, device) as bench:
                try:
                    measured = judged(bench, copy_of(program, folder))
                except TooShort as refusal:
                    print(f"{program.name:18} {refusal}")
                    continue
            found = plain[program.name]
            ours, cupti = measured.time_us, found["cupti_us"]
            errors[program.name] = cupti, ours / cupti - 1.0
            print(
                _ROW.format(
                    program.name,
                    f"{ours:.2f}",
                    f"{cupti:.2f}",
                    f"{found['span_us']:.2f}",
                    f"{found['do_bench_us']:.2f}",
                    f"{measured.events_us:.2f}" if measured.events_us else "-",
                    f"{found['kernels']:g}",
                    f"{errors[program.name][1]:+.1%}",
                    f"{found['do_bench_us'] / cupti - 1.0:+.1%}",
                ),
                flush=True,
            )
    for words, chosen_errors in (
        ("at least", [error for us, error in errors.values() if us >= _LONG_US]),
        ("below", [error for us, error in errors.values() if us < _LONG_US]),
    ):
        if chosen_errors:
            middle = median(abs(error) for error in chosen_errors)
            print(
                f"kernels of {words} {_LONG_US:g} us: median disagreement with CUPTI {middle:.1%} "
                f"(worst {max(chosen_errors, key=abs):+.1%}, {len(chosen_errors)} programs)"
            )


def _in_plain_process(only: str) -> dict[str, dict[str, float]]:
    command = [sys.executable, __file__, "--plain", "--only", only]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    figures: dict[str, dict[str, float]] = json.loads(said.splitlines()[-1])
    return figures


def _plain(only: str) -> dict[str, dict[str, float]]:
    import torch
    from triton.testing import do_bench

    torch.backends.cudnn.allow_tf32 = False
    figures: dict[str, dict[str, float]] = {}
    forwards: dict[str, Callable[[], object]] = {}
    with torch.no_grad(), torch.device("cuda"):
        for program in PROGRAMS:
            if only in program.name:
                forwards[program.name] = _forward(program)
                bench_ms = do_bench(
                    forwards[program.name], warmup=50, rep=300, return_mode="median"
                )
                figures[program.name] = {"do_bench_us": 1e3 * bench_ms}
        # Afterwards: a profiler leaves its process slower than it was.
        for name, forward in forwards.items():
            figures[name].update(_profiled(forward))
    return figures


def _forward(program: Program) -> Callable[[], object]:
    scope: dict[str, Any] = {}
    exec(program.text(), scope)  # noqa: S102 - the text above
    model, inputs = scope["Model"](), scope["get_inputs"]()
    return lambda: model(*inputs)


def _profiled(forward: Callable[[], object]) -> dict[str, float]:
    import torch
    from torch.profiler import ProfilerActivity, profile

    l2_bytes = torch.cuda.get_device_properties("cuda").L2_cache_size
    flush = torch.empty(2 * l2_bytes, dtype=torch.int8)
    start = time.perf_counter()
    calls = 0
    while time.perf_counter() - start < 0.3:  # noqa: PLR2004 - warm
        forward()
        torch.cuda.synchronize()
        calls += 1
    calls = min(calls, 60)

    def kernels(parts: tuple[Callable[[], object], ...], times: int) -> list[Any]:
        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            for _ in range(times):
                for part in parts:
                    part()
            torch.cuda.synchronize()
        return [event for event in profiler.events() if event.device_type.name == "CUDA"]

    of_flush = {event.name for event in kernels((flush.zero_,), 1)}
    both = sorted(kernels((flush.zero_, forward), calls), key=lambda event: event.time_range.start)
    # The cache is flushed before each call, which is no part of it: that kernel is known by name.
    own = [event for event in both if event.name not in of_flush]
    if not own:
        raise RuntimeError(f"nothing was profiled but {', '.join(sorted(of_flush)) or 'nothing'}")
    total_us = sum(event.time_range.elapsed_us() for event in own)
    return {
        "cupti_us": total_us / calls,
        "span_us": fmean(_spans_us(both, of_flush)),
        "kernels": len(own) / calls,
    }


def _spans_us(events: list[Any], of_flush: set[str]) -> list[float]:
    """Of each call, from its first kernel's start to its last one's end; events by their starts."""
    spans = []
    for is_flush, call in groupby(events, key=lambda event: event.name in of_flush):
        if not is_flush:
            ranges = [event.time_range for event in call]
            spans.append(max(each.end for each in ranges) - ranges[0].start)
    return spans


if __name__ == "__main__":
    main()
