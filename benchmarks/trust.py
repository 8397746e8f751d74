"""The cost of the trust: how long a pair takes in the judge, against a plain check in one process.

    python benchmarks/trust.py --device cpu
    python benchmarks/trust.py --device cuda

The plain check does what harnesses without walls do, in the process of the solution itself: as many
rounds on fresh inputs and on the same input families, compared by ``torch.allclose``, then as many
timed calls of either side, in turns, the cache flushed before each. It has no oracle, no float64,
no processes, no proof. Each pair is judged by both, the first of a problem apart from the others:
it starts the oracle and the baseline. Prints rows for docs/measurements.md.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from pytest_kernelbench.build.extension import Extension
from pytest_kernelbench.engine.devices import find_device
from pytest_kernelbench.judge import families
from pytest_kernelbench.judge.program import load_program, sizes
from pytest_kernelbench.judge.referee import Referee
from pytest_kernelbench.selftest.session import pair_of
from pytest_kernelbench.selftest.table import load_cases
from pytest_kernelbench.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_kernelbench.selftest.table import Case
    from pytest_kernelbench.verdict import Verdict

_CASES = {
    "cpu": ("honest_view_output", "honest_first_call_autotune", "honest_reused_scratch"),
    "cuda": (
        "honest_view_output",
        "honest_triton_matmul",
        "honest_reused_scratch",
        "honest_triton_bias_relu",
    ),
}
_FLUSH_BYTES = 256 << 20


@dataclass(frozen=True)
class Row:
    """One pair, judged both ways."""

    case: str
    first: bool
    judged_s: float
    plain_s: float
    status: str
    calls: int

    def __str__(self) -> str:
        which = "first" if self.first else "next"
        ratio = self.judged_s / self.plain_s
        return (
            f"| {self.case} | {which} | {self.status} | {self.calls} | {self.judged_s:.2f} "
            f"| {self.plain_s:.2f} | {ratio:.1f} |"
        )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--budget", type=float, default=2.0, help="seconds of timing a pair")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of agreement")
    args = parser.parse_args()
    cases = {case.name: case for case in load_cases()}
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            device=args.device, seeds=args.rounds, budget_s=args.budget, cache_dir=Path(folder)
        )
        rows = _rows([cases[name] for name in _CASES[args.device]], settings, Path(folder))
    again = [row.judged_s / row.plain_s for row in rows if not row.first]
    print(f"\nmedian ratio of a pair whose problem is known: {statistics.median(again):.1f}")
    return 0


def _rows(cases: list[Case], settings: Settings, folder: Path) -> list[Row]:
    device = find_device(settings.device)
    print(f"{device.name}, torch {torch.__version__}, Python {sys.version.split()[0]}")
    print("| pair | of its problem | verdict | timed calls a side | judge s | plain s | ratio |")
    print("|---|---|---|---|---|---|---|")
    (folder / "manifest.json").write_text('{"calls": {}}')
    nothing = Extension(folder, folder / "build.log", 0.0, cached=True)
    referee = Referee(settings, device)
    rows: list[Row] = []
    start = time.perf_counter()
    referee.warm_up()
    try:
        referee.judge(pair_of(cases[0]), nothing)  # the control is measured once a session
        started_s = time.perf_counter() - start
        referee.discard_bench()
        for case in cases:
            for first in (True, False):
                start = time.perf_counter()
                verdict = referee.judge(pair_of(case), nothing)
                judged_s = time.perf_counter() - start
                plain_s, calls = _plain(case, settings, verdict, referee.size, device.torch_name)
                rows.append(Row(case.name, first, judged_s, plain_s, verdict.status.value, calls))
                print(rows[-1], flush=True)
            referee.discard_bench()
    finally:
        referee.close()
    print(f"once a session (fork server, A/A control, a first pair): {started_s:.1f} s")
    return rows


def _plain(
    case: Case, settings: Settings, verdict: Verdict, size: str, device: str
) -> tuple[float, int]:
    """``(seconds, timed calls a side)`` of the plain check, with the calls that the judge made."""
    start = time.perf_counter()
    overrides = dict(sizes(load_program(case.problem_path))).get(size, {})
    program = load_program(case.problem_path, overrides)
    there = torch.device(device)
    reference = program.make_model(1, there)
    arguments = program.make_init_inputs(1, there)
    torch.manual_seed(1)
    with torch.device(program.init_on):  # the same parameters as the reference's
        solution = _entry(case.path)(*arguments).to(there)
    names = [families.PLAIN] * settings.seeds + list(families.rounds(program.FAMILIES))
    with torch.no_grad():
        for number, family in enumerate(names):
            drawn = program.make_inputs(number, there, None)
            inputs = families.transformed(drawn, family, program.FAMILIES)
            tolerance = 1e-4 if family == families.PLAIN else 1e-2
            got, expected = solution(*inputs), reference(*inputs)
            if not torch.allclose(got, expected, atol=tolerance, rtol=tolerance):
                raise SystemExit(f"{case.name} is wrong on {family} inputs: choose an honest one")
        measured = verdict.measurement
        calls = measured.calls if measured else 0
        inputs = program.make_inputs(99, there, None)
        _timed((reference, solution), inputs, calls, there)
    return time.perf_counter() - start, calls


def _timed(
    sides: tuple[Callable[..., Any], ...], inputs: list[Any], calls: int, device: torch.device
) -> list[float]:
    """Median seconds of each side: events on a device, the wall clock on a CPU."""
    gpu = device.type == "cuda"
    flush = torch.empty(_FLUSH_BYTES if gpu else 0, dtype=torch.int8, device=device)
    times: list[list[float]] = [[], []]
    for _ in range(calls):
        for side, spent in zip(sides, times, strict=True):
            flush.zero_()
            if gpu:
                first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                first.record()
                side(*inputs)
                last.record()
                torch.cuda.synchronize()
                spent.append(first.elapsed_time(last) / 1e3)
            else:
                start = time.perf_counter()
                side(*inputs)
                spent.append(time.perf_counter() - start)
    return [statistics.median(spent) if spent else 0.0 for spent in times]


def _entry(path: Path) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    entry: Callable[..., Any] = module.ModelNew
    return entry


if __name__ == "__main__":
    sys.exit(main())
