"""How far processes that run the same program are apart, and where that comes from (CUDA only).

    python benchmarks/placement.py [--processes 6] [--placements 4] [--turns 5] [--only NAME]

Several runners hold the same model. Each is timed in turns with the others, with full batches and
with null batches; then all of them lay out their memory anew, and so on. From this it is told, in
microseconds a call, how much of the difference stays with a process, how much with a placement of
its memory, and how much is noise from turn to turn. ``net (own null)`` subtracts the null of the
same process and placement, ``net (one null)`` that of the first process, as a judge must that
does not believe a contender's null. ``events`` are device events around the forward alone.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from programs import Program, problem_of, product, randn

from pytest_kernelbench.engine.devices import find_device
from pytest_kernelbench.judge import wire
from pytest_kernelbench.judge.bench import Bench
from pytest_kernelbench.judge.device_trial import DeviceTrial
from pytest_kernelbench.judge.referee import PRELOAD
from pytest_kernelbench.sandbox.client import ForkServer
from pytest_kernelbench.settings import Settings

PROGRAMS = (
    Program("relu_1m", "torch.relu(x)", (randn(1024, 1024),)),
    Program("relu_16m", "torch.relu(x)", (randn(4096, 4096),)),
    Program("softmax_16m", "torch.softmax(x, 1)", (randn(4096, 4096),)),
    Program("relu_of_product", "torch.relu(x @ y)", product(2048, 256, 2048)),
    Program("relu_64m", "torch.relu(x)", (randn(8192, 8192),)),
    Program("product_2048", "x @ y", product(2048, 2048, 2048)),
)
_random = random.SystemRandom()
_MIB = 1 << 20
_MOST_EVENTS = 50


@dataclass
class Cell:
    """All turns of one process at one placement, in microseconds a call."""

    whole_us: list[float]
    null_us: list[float]
    events_us: float = 0.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=6)
    parser.add_argument("--placements", type=int, default=4)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    device = find_device("cuda")
    print(f"{device.name}, driver {device.driver}")
    with tempfile.TemporaryDirectory() as name, ForkServer(PRELOAD) as server:
        settings = Settings(cache_dir=Path(name) / "cache")
        for program in PROGRAMS:
            if options.only in program.name:
                start = time.monotonic()
                bench = Bench(server, problem_of(program, Path(name)), settings, device, "full")
                try:
                    cells, calls = _measured(
                        bench, options.processes, options.placements, options.turns
                    )
                finally:
                    bench.close()
                _print(program.name, calls, cells, time.monotonic() - start)


def _measured(
    bench: Bench, processes: int, placements: int, turns: int
) -> tuple[list[list[Cell]], int]:
    """``cells[process][placement]``, and calls of a batch."""
    first = DeviceTrial(bench, bench.start_runner(bench.problem.path, "Model", trusted=True))
    first.against("eager")
    stations = [first.contender, first.baseline]
    for slot in range(len(stations), processes):
        name = f"twin {slot}"
        stations.append(bench.start_station(name))
    for station in stations:
        station.runner.ask(wire.Outline(bench.prepared.outputs), wire.Done)
    calls = first.calls
    cells: list[list[Cell]] = [[] for _ in stations]
    for _ in range(placements):
        for station in stations:
            station.runner.ask(wire.Move(_random.randrange(2, 900) * _MIB), wire.Done)
            station.load(first.bases, bench.prepared.modes)
            station.run(calls)
            station.run(calls, null=True)
        here = [Cell([], []) for _ in stations]
        for _ in range(turns):
            order = list(range(len(stations)))
            _random.shuffle(order)
            for who in order:
                here[who].whole_us.append(stations[who].run(calls).time_us / calls)
            for who in order:
                null = stations[who].run(calls, null=True)
                here[who].null_us.append(null.time_us / calls)
        for who, station in enumerate(stations):
            batch = station.run(min(calls, _MOST_EVENTS), events=True)
            here[who].events_us = median(batch.form.events_us)
            cells[who].append(here[who])
    first.contender.runner.close()
    first.close()
    return cells, calls


def _print(name: str, calls: int, cells: list[list[Cell]], seconds: float) -> None:
    flat = [cell for row in cells for cell in row]
    net = median(median(cell.whole_us) - median(cell.null_us) for cell in flat)
    null = median(median(cell.null_us) for cell in flat)
    print(f"\n{name}: net {net:.2f} us, null {null:.2f} us, {calls} calls a turn, {seconds:.0f} s")
    print(f"  {'sd, us a call':18}{'process':>9}{'placement':>11}{'turn':>8}")
    first = cells[0]
    figures = {
        "whole": [[cell.whole_us for cell in row] for row in cells],
        "null": [[cell.null_us for cell in row] for row in cells],
        "net (own null)": [[_less(cell, cell) for cell in row] for row in cells],
        "net (one null)": [
            [_less(cell, one) for cell, one in zip(row, first, strict=True)] for row in cells
        ],
    }
    for what, values in figures.items():
        process, placement, turn = _components(values)
        print(f"  {what:18}{process:9.3f}{placement:11.3f}{turn:8.3f}")
    for what, table in (
        ("null", [[median(cell.null_us) for cell in row] for row in cells]),
        ("net", [[median(cell.whole_us) - median(cell.null_us) for cell in row] for row in cells]),
        ("events", [[cell.events_us for cell in row] for row in cells]),
    ):
        rows = "; ".join(" ".join(f"{value:.2f}" for value in row) for row in table)
        print(f"  {what} by process; placements: {rows}")


def _less(cell: Cell, other: Cell) -> list[float]:
    null = median(other.null_us)
    return [whole - null for whole in cell.whole_us]


def _components(values: list[list[list[float]]]) -> tuple[float, float, float]:
    """Standard deviations of processes, of placements within one, of turns within one placement.

    What all processes share at a time (the clock) is taken off first.
    """
    processes, placements, turns = len(values), len(values[0]), len(values[0][0])
    own = [
        [
            [
                values[p][r][t] - fmean(values[q][r][t] for q in range(processes))
                for t in range(turns)
            ]
            for r in range(placements)
        ]
        for p in range(processes)
    ]
    share = processes / (processes - 1)
    turn = share * fmean(_variance(cell) for row in own for cell in row)
    means = [[fmean(cell) for cell in row] for row in own]
    placement = share * fmean(_variance(row) for row in means) - turn / turns
    process = (
        _variance([fmean(row) for row in means])
        - max(placement, 0.0) / placements
        - turn / turns / placements
    )
    return max(process, 0.0) ** 0.5, max(placement, 0.0) ** 0.5, turn**0.5


def _variance(values: list[float]) -> float:
    center = fmean(values)
    return sum((value - center) ** 2 for value in values) / (len(values) - 1)


if __name__ == "__main__":
    main()
