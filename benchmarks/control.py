"""What a verdict's interval is worth: copies of references, and kernels 3 % faster than theirs.

    python benchmarks/control.py [--device cuda|cpu] [--pairs 200] [--seconds 165]
        [--parts three,budgets,copies] [--still]

*copies*: each pair is a program and its copy, in a new process, by the judge's own race with the
default budget. An honest judge counts none of them in fast_1, at most 2.5 %. *budgets*: how the
interval narrows where nothing stops it but the budget. *three*: references that compute 3 % more
rows than they return, against solutions that do not; each must be decided at ``--kb-p 1``.

Copies end after ``--seconds``, each program with its share of them, if need be with fewer pairs.
With ``--still``, memory stays where it is during a race (the judge lays it out anew).
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING

from programs import Program, bench_of, copy_of, judged, product, randn

from pytest_kernelbench.engine.devices import find_device
from pytest_kernelbench.judge import device_trial
from pytest_kernelbench.judge.race import TooShort
from pytest_kernelbench.judge.referee import PRELOAD
from pytest_kernelbench.sandbox.client import ForkServer
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.timing.stopping import Rules

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from pytest_kernelbench.judge.bench import Bench
    from pytest_kernelbench.judge.device import Device
    from pytest_kernelbench.verdict import Measurement

CUDA = (
    Program("relu_4m", "torch.relu(x)", (randn(2048, 2048),)),
    Program("product_1024", "x @ y", product(1024, 1024, 1024)),
    Program("relu_of_product", "torch.relu(x @ y)", product(2048, 256, 2048)),
    Program("relu_64m", "torch.relu(x)", (randn(8192, 8192),)),
    Program("product_2048", "x @ y", product(2048, 2048, 2048)),
    Program("softmax_128m", "torch.softmax(x, 1)", (randn(16384, 8192),)),
    Program("gelu_layernorm", "F.gelu(F.layer_norm(x, (8192,)))", (randn(8192, 8192),)),
    Program("product_5120", "x @ y", product(5120, 5120, 5120)),
)
CPU = (
    Program("relu_1m", "torch.relu(x)", (randn(1024, 1024),)),
    Program("product_512", "x @ y", product(512, 512, 512)),
    Program("softmax_4m", "torch.softmax(x, 1)", (randn(2048, 2048),)),
    Program("layernorm_4m", "F.layer_norm(x, (2048,))", (randn(2048, 2048),)),
)
BUDGETS_S = (0.5, 1.0, 2.0)
_OF_BUDGETS = (
    "product_1024",
    "relu_of_product",
    "relu_64m",
    "product_2048",
    "product_512",
    "softmax_4m",
)
_SHARE = 0.03
_REPEATS = 4


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=165.0)
    parser.add_argument("--parts", default="three,budgets,copies")
    parser.add_argument("--still", action="store_true", help="leave memory where it is")
    parser.add_argument("--only", default="", help="programs whose name contains this")
    options = parser.parse_args()
    if options.still:
        device_trial.MOVED_US = 0.0
    device = find_device(options.device)
    programs = CUDA if device.is_gpu else CPU
    programs = tuple(program for program in programs if options.only in program.name)
    print(f"{device.name}, driver {device.driver or 'none'}")
    settle = {} if device.is_gpu else {"TRITON_INTERPRET": "1"}
    with tempfile.TemporaryDirectory() as name, ForkServer(PRELOAD, settle) as server:
        run = Run(Path(name), server, device, options.seconds)
        for part in options.parts.split(","):
            start = time.monotonic()
            {"copies": run.copies, "budgets": run.budgets, "three": run.three}[part](
                programs, options.pairs
            )
            print(f"({part}: {time.monotonic() - start:.0f} s)\n", flush=True)


class Run:
    """One fork server, one device."""

    def __init__(self, folder: Path, server: ForkServer, device: Device, seconds: float) -> None:
        self.folder, self.server, self.device = folder, server, device
        self.seconds = seconds
        self.settings = Settings(cache_dir=folder / "cache")

    def bench(self, program: Program) -> AbstractContextManager[Bench]:
        """Oracle and baseline of a program."""
        return bench_of(program, self.folder, self.server, self.settings, self.device)

    def copies(self, programs: tuple[Program, ...], pairs: int) -> None:
        """The false fast_1."""
        row = "{:18}{:>9}{:>7}{:>9}{:>10}{:>13}{:>12}{:>10}{:>8}{:>8}{:>9}"
        print(
            row.format(
                "copies", "us", "pairs", "fast_1", "point > 1", "misses 1",
                "half-width", "point sd", "turns", "lag 1", "s a pair",
            )
        )  # fmt: skip
        found: list[Measurement] = []
        start = time.monotonic()
        for number, program in enumerate(programs):
            left_s = self.seconds - (time.monotonic() - start)
            ends = time.monotonic() + left_s / (len(programs) - number)
            with self.bench(program) as bench:
                copy = copy_of(program, self.folder)
                some: list[Measurement] = []
                began = time.monotonic()
                for _ in range(-(-pairs // len(programs))):
                    try:
                        some.append(judged(bench, copy))
                    except TooShort as refusal:
                        print(f"{program.name}: {refusal}")
                    if time.monotonic() > ends:
                        break
                seconds = time.monotonic() - began
            if some:
                found += some
                cells = row.format(program.name, *_figures(some), f"{seconds / len(some):.2f}")
                print(cells, flush=True)
        seconds = time.monotonic() - start
        print(row.format("all", *_figures(found), f"{seconds / max(len(found), 1):.2f}"))

    def budgets(self, programs: tuple[Program, ...], _: int) -> None:
        """Half of the interval's width by what was spent."""
        print("half-width by budget".ljust(30) + "".join(f"{s:>16g} s" for s in BUDGETS_S))
        for program in programs:
            if program.name not in _OF_BUDGETS:
                continue
            cells, time_us = [], 0.0
            with self.bench(program) as bench:
                copy = copy_of(program, self.folder)
                for budget_s in BUDGETS_S:
                    rules = Rules(thresholds=(), width=0.0, budget_s=budget_s)
                    try:
                        measured = judged(bench, copy, rules)
                    except TooShort:
                        cells.append("too short")
                        continue
                    cells.append(f"{_half(measured):.2%} ({measured.turns} turns)")
                    time_us = measured.time_us
            row = f"{program.name:18}{time_us:9.1f} us" + "".join(f"{c:>18}" for c in cells)
            print(row, flush=True)

    def three(self, _: tuple[Program, ...], __: int) -> None:
        """Decided, or not, at 1."""
        print(f"references that compute {_SHARE:.0%} more rows than they return")
        shapes = CUDA_ROWS if self.device.is_gpu else CPU_ROWS
        for forward, rows, columns in shapes:
            more = round(rows * (1.0 + _SHARE))
            name = f"{forward}_{rows}x{columns}"
            call = {"relu": "torch.relu({})", "softmax": "torch.softmax({}, 1)"}[forward]
            program = Program(name, call.format("x") + f"[:{rows}]", (randn(more, columns),))
            with self.bench(program) as bench:
                better = copy_of(program, self.folder, call.format(f"x[:{rows}]"))
                found = [judged(bench, better) for _ in range(_REPEATS)]
            fast = sum(each.low > 1.0 for each in found)
            intervals = ", ".join(f"{m.speedup:.3f} ({m.low:.3f}-{m.high:.3f})" for m in found)
            turns = median(each.turns for each in found)
            print(
                f"{name:22}{found[0].time_us:9.1f} us  shown faster {fast}/{len(found)}, "
                f"{turns:g} turns: {intervals}",
                flush=True,
            )


CUDA_ROWS = (
    ("relu", 6144, 4096),
    ("softmax", 6144, 4096),
    ("relu", 8192, 8192),
    ("softmax", 16384, 8192),
)
CPU_ROWS = (("relu", 4096, 1024), ("softmax", 2048, 2048))


def _figures(found: list[Measurement]) -> tuple[str, ...]:
    fast = sum(each.low > 1.0 for each in found)
    missed = sum(each.low > 1.0 or each.high < 1.0 for each in found)
    points = [each.speedup for each in found]
    spread = (fmean((point - fmean(points)) ** 2 for point in points)) ** 0.5
    return (
        f"{median(each.time_us for each in found):.1f}",
        str(len(found)),
        f"{fast / len(found):.1%}",
        f"{sum(point > 1.0 for point in points) / len(found):.0%}",
        f"{missed / len(found):.1%}",
        f"{median(map(_half, found)):.2%}",
        f"{spread:.2%}",
        f"{median(each.turns for each in found):g}",
        f"{fmean(map(_likeness, found)):+.2f}",
    )


def _likeness(measured: Measurement) -> float:
    """Correlation of neighbouring turns' log ratios: 0 where noise is independent.

    Freed of its bias, which is large for few turns.
    """
    pairs = zip(measured.baseline_times_us, measured.times_us, strict=True)
    logs = [math.log(theirs / ours) for theirs, ours in pairs]
    off = [value - fmean(logs) for value in logs]
    raw = sum(a * b for a, b in pairwise(off)) / sum(value * value for value in off)
    return raw + 1.0 / len(logs)


def _half(measured: Measurement) -> float:
    return (measured.high / measured.low - 1.0) / 2.0 if measured.low > 0.0 else float("inf")


if __name__ == "__main__":
    main()
