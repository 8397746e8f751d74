"""Prove that problems can tell kernels apart."""

from __future__ import annotations

import gc
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.errors import KernelbenchError
from pytest_kernelbench.judge.facts import contradictions
from pytest_kernelbench.judge.layout import violations
from pytest_kernelbench.judge.program import load_program
from pytest_kernelbench.judge.proofs import PROOFS, SENSITIVITY, Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future

    from pytest_kernelbench.judge.facts import Facts
    from pytest_kernelbench.judge.program import Program

SMOKE_LIMIT_BYTES = 200e6
FULL_SENSITIVITY = 1e-3
"""At full size means over millions of elements come near each other: ten times the tolerance."""


@dataclass(frozen=True)
class Request:
    """How to audit one problem. Plain values: it is sent to other processes."""

    path: Path
    size: str = "smoke"
    device: str = "cpu"
    facts: Facts | None = None
    """To compare with; like the layout, of no concern to files in plain KernelBench format."""


@dataclass(frozen=True)
class Report:
    """What the audit of one problem found."""

    name: str
    failures: tuple[str, ...] = ()
    forward_ms: float | None = None
    peak_bytes: int | None = None
    moved: float | None = None
    """Change of output from one input seed to another, by its RMS."""
    notes: tuple[str, ...] = ()
    audit_s: float = 0.0

    def __str__(self) -> str:
        """One line: measured numbers if all is well, else what fails."""
        numbers = []
        if self.forward_ms is not None:
            numbers.append(f"{self.forward_ms:.3g} ms")
        if self.peak_bytes is not None:
            numbers.append(f"{self.peak_bytes / 1e6:,.0f} MB")
        if self.moved is not None:
            numbers.append(f"moved {self.moved:.2g}")
        word = "FAIL" if self.failures else "ok  "
        return f"{word}  {self.name}  " + "; ".join(
            [", ".join(numbers), *self.failures, *self.notes]
        )


def audit(request: Request) -> Report:
    """Hold one problem against the facts, its file's layout, and every proof; never raises."""
    started = time.monotonic()
    report = Report(_name(request.path))
    failures: list[str] = []
    try:
        if load_program(request.path).is_native:
            failures += violations(request.path)
            if request.facts is not None:
                failures += contradictions(request.path, request.facts)
        report = _run(request, report, failures)
    except KernelbenchError as error:
        failures.append(str(error))
    except Exception as error:  # noqa: BLE001 - a problem's code may raise anything: it is reported
        failures.append(f"{type(error).__name__}: {error}")
    return replace(report, failures=tuple(failures), audit_s=time.monotonic() - started)


def _run(request: Request, report: Report, failures: list[str]) -> Report:
    import torch

    from pytest_kernelbench.judge.measure import measured_forward

    device = torch.device(request.device)
    program = load_program(request.path)
    if request.size == "smoke":
        program = load_program(request.path, program.SMOKE)
    forward_ms, peak_bytes = measured_forward(program, device)
    report = replace(report, forward_ms=forward_ms, peak_bytes=peak_bytes)
    if request.size == "smoke" and _too_large(peak_bytes, program):
        failures.append(f"SMOKE is too large: it needs over {SMOKE_LIMIT_BYTES / 1e6:.0f} MB")
    sensitivity = SENSITIVITY if request.size == "smoke" else FULL_SENSITIVITY
    evidence = Evidence(program, device, sensitivity)
    for proof in PROOFS:
        failures += proof(evidence)
    return replace(report, moved=evidence.moved, notes=tuple(evidence.notes))


def _too_large(peak_bytes: int | None, program: Program) -> bool:
    """Hold the small size to its promise; parameters that no constant shrinks are not its fault."""
    model = program.make_model(0, "meta")
    allowed = SMOKE_LIMIT_BYTES + sum(each.nbytes for each in model.parameters())
    return peak_bytes is not None and peak_bytes > allowed


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def reports(requests: Sequence[Request], jobs: int) -> Iterator[Report]:
    """Audit in ``jobs`` processes and give the reports in order; a dead process is a failure."""
    if jobs <= 1:
        for request in requests:
            yield audit(request)
            gc.collect()
        return
    with ProcessPoolExecutor(jobs, get_context("spawn"), _share_cores, (jobs,)) as pool:
        for request, future in [(request, pool.submit(audit, request)) for request in requests]:
            yield _result(request, future)


def _result(request: Request, future: Future[Report]) -> Report:
    try:
        return future.result()
    except BrokenProcessPool:  # does not say whose process died: each unfinished one is run alone
        return _audit_alone(request)


def _audit_alone(request: Request) -> Report:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        try:
            return pool.submit(audit, request).result()
        except BrokenProcessPool:
            return Report(_name(request.path), ("the process died (signal or out of memory)",))


def _share_cores(jobs: int) -> None:
    import torch

    torch.set_num_threads(max(1, torch.get_num_threads() // jobs))


def run_audit(requests: Sequence[Request], jobs: int = 1, json_path: Path | None = None) -> int:
    """Print a line for each problem and a summary; progress goes to a terminal only."""
    started = time.monotonic()
    done: list[Report] = []
    for report in _with_progress(reports(requests, jobs), len(requests)):
        print(report, flush=True)
        done.append(report)
    if json_path is not None:
        lines = (json.dumps(asdict(report)) + "\n" for report in done)
        json_path.write_text("".join(lines), encoding="utf-8")
    failed = sum(bool(report.failures) for report in done)
    took_s = time.monotonic() - started
    print(f"{len(done)} problems: {len(done) - failed} ok, {failed} failed, in {took_s:.0f} s")
    return 1 if failed or not done else 0


def _with_progress(done: Iterator[Report], total: int) -> Iterator[Report]:
    shown = sys.stderr.isatty()
    for count in range(total):
        if shown:
            filled = 30 * count // max(1, total)
            bar = "#" * filled + "." * (30 - filled)
            print(f"\r[{bar}] {count}/{total}\x1b[K", end="", file=sys.stderr, flush=True)
        report = next(done)
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        yield report
