"""What a build child's end means: built, deferred, failed or missing, in plain words."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.build import diagnostics
from pytest_kernelbench.build.desk import Desk
from pytest_kernelbench.build.job import Job, Manifest, Report, read_manifest, read_report
from pytest_kernelbench.catalog.material import source_text
from pytest_kernelbench.errors import BuildError, MachineError
from pytest_kernelbench.languages import lacks
from pytest_kernelbench.sandbox.tree import signal_name

if TYPE_CHECKING:
    from pytest_kernelbench.build.leavings import Leavings
    from pytest_kernelbench.build.process import End
    from pytest_kernelbench.build.toolchain import Toolchain

_SOME_SPACE_BYTES = 64 << 20
_LIBRARY_BYTES = 2 << 30
"""Of all libraries of a build together."""
_UNDEFINED_SYMBOL = re.compile(r"undefined symbol: (\w{1,2000})\b")
_SPELL = 'ulimit -v 100000 && exec "$0" "$1"'
"""In 100 MB: short names can stand for endless ones."""
_SPELL_TIMEOUT_S = 10.0
_LONGEST_NAME = 2000
_BY_TORCH = "Error building extension"
_NO_SPACE = "No space left on device"
_KILLED = "Killed"
"""What compilers say when one of their programs is."""
_HOW_TO_GET = {
    "ninja": "pip install ninja",
    "c++": "install g++ (Debian: apt-get install g++), or name a compiler in CXX",
}


@dataclass(frozen=True)
class Outcome:
    """In plain words, ready for the cache."""

    outcome: str
    message: str = ""
    need: str = ""
    warnings: tuple[str, ...] = ()
    manifest: Manifest | None = None
    """What the contender needs; None where there will be none."""
    inputs: tuple[str, ...] = ()


def judge_child(job: Job, left: Leavings, end: End, tools: Toolchain) -> Outcome:
    """Judge by what the child left and printed.

    Raises ``MachineError`` for what is not the solution's fault.
    """
    try:
        found = _judge(job, left, end, tools)
    except BuildError as error:
        found = Outcome("failed", f"{Path(job.solution).name}: {error}")
    told = Desk(Path(job.solution), Path(job.folder)).told
    return replace(found, message=told(found.message), warnings=tuple(map(told, found.warnings)))


def _judge(job: Job, left: Leavings, end: End, tools: Toolchain) -> Outcome:
    logs = [log for name, log in left.tool_logs.items() if name.endswith(".log")]
    text = "\n".join(log.decode(errors="replace") for log in logs)
    report = read_report(left)
    manifest = read_manifest(left)
    libraries = manifest.libraries if manifest is not None else ()
    if sum(left.size_bytes(name) or 0 for name in libraries) > _LIBRARY_BYTES:
        raise BuildError(f"its libraries take more than {_LIBRARY_BYTES >> 30} GiB")
    _require_space(Path(job.folder), text + end.said.decode(errors="replace"))
    _require_memory(Path(job.solution), end, report, text)
    if report is not None and report.kind == "missing_tool":
        return _missing_tool(report, tools)
    if end.idle:
        # Whether it ever ends is for the judge to say, who waits as long as for any other step.
        return Outcome("deferred", end.stopped, manifest=manifest or Manifest())
    warnings = tuple(found.text() for found in diagnostics.warnings(text))
    message = _message(job, end, report, text)
    if message:
        return Outcome("failed", message, warnings=warnings, inputs=_inputs(report))
    if report is None or manifest is None:
        return Outcome("failed", "the build child left no manifest that can be read")
    if report.kind == "missing_module":
        return _missing_module(report)
    caught = tuple(
        f"{call.name} was not built, and the solution went on without it: {_first_line(call.error)}"
        for call in manifest.calls.values()
        if call.error
    )
    deferred = report.kind == "deferred"
    return Outcome(
        "deferred" if deferred else "built",
        report.error if deferred else "",
        warnings=warnings + caught,
        manifest=manifest,
        inputs=report.inputs,
    )


def _message(job: Job, end: End, report: Report | None, text: str) -> str:
    """Why the build failed; empty if it did not."""
    name = Path(job.solution).name
    if end.stopped:
        return f"{name}: {end.stopped}"
    if report is None or end.exit_status:  # a child that has reported ends with 0
        said = end.said.decode(errors="replace")[-2000:]
        return f"{name}: the module body {_how_it_died(end)}\n{said}".rstrip()
    if report.kind == "no_entry":
        return f"{name} defines no {job.entry}: a solution is a class of that name"
    if report.kind != "raised":
        return ""
    return _words(job, report, text)


def _words(job: Job, report: Report, text: str) -> str:
    """The compiler's first errors, and the solution's own traceback."""
    solution = source_text(Path(job.solution))
    first = "\n".join(found.text(solution) for found in diagnostics.errors(text))
    own = _without_noise(_readable(report.traceback)) or report.error
    if not first:
        return own
    if _BY_TORCH not in report.error:  # It caught the compiler's errors, and failed afterwards.
        return f"{own}\n{first}"
    # The last line is torch's, with all that ninja said: the compiler's own words are the reason.
    return "\n".join([first, *own.splitlines()[:-1]])


def _readable(text: str) -> str:
    """The same with C++ symbols spelled out: ``undefined symbol: relu_cuda(at::Tensor)``."""
    symbol = _UNDEFINED_SYMBOL.search(text)
    program = shutil.which("c++filt")
    if symbol is None or program is None:
        return text
    try:
        asked = subprocess.run(
            ["/bin/sh", "-c", _SPELL, program, symbol[1]],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=_SPELL_TIMEOUT_S,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        return text
    name = asked.stdout.strip()[:_LONGEST_NAME] or symbol[1]
    hint = f"undefined symbol: {name} (declared, but no source defines it)"
    return text.replace(symbol[0], hint)


def _how_it_died(end: End) -> str:
    if end.exit_status < 0:
        return f"was ended by {signal_name(-end.exit_status)}"
    return f"ended its process (exit status {end.exit_status})"


def _missing_tool(report: Report, tools: Toolchain) -> Outcome:
    if report.missing not in tools.missing:  # The child is not believed: the tool is here.
        return Outcome("failed", report.traceback or report.error)
    if report.missing == "nvcc":
        message = "it needs nvcc, and there is none here: set CUDA_HOME to a CUDA toolkit"
        return Outcome("missing", message, "nvcc (the CUDA toolkit)")
    advice = _HOW_TO_GET[report.missing]
    message = f"no {report.missing} on this machine, without which nothing can be built: {advice}"
    raise MachineError(message)


def _missing_module(report: Report) -> Outcome:
    if lacks(report.missing):
        message = f"environment: module {report.missing} missing (pip install it, or run elsewhere)"
        return Outcome("missing", message, f"module {report.missing}", inputs=report.inputs)
    return Outcome("failed", report.traceback or report.error, inputs=report.inputs)


def _require_space(folder: Path, text: str) -> None:
    if _NO_SPACE in text and shutil.disk_usage(folder).free < _SOME_SPACE_BYTES:
        message = f"the disk of {folder.parent} is full: free some space, or `kb cache prune`"
        raise MachineError(message)


def _require_memory(solution: Path, end: End, report: Report | None, text: str) -> None:
    by_kernel = end.exit_status == -signal.SIGKILL and not end.stopped
    if report is not None and report.kind == "raised":
        by_kernel = _KILLED in text
    if end.starved and by_kernel:
        message = f"memory ran out on this machine while {solution.name} was built"
        raise MachineError(message)


def _inputs(report: Report | None) -> tuple[str, ...]:
    return report.inputs if report is not None else ()


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:200]


def _without_noise(text: str) -> str:
    """A traceback whose last line may carry the whole output of ninja: its start is enough."""
    head, found, _ = text.partition(_BY_TORCH)
    return f"{head}{found}" if found else text
