"""The build child: run a module body where no device is seen, and build what it asks for.

This is the one seam between building and sandboxing: ``main(folder)`` needs an empty process of its
own whose environment is the job's, writes only below ``folder``, and does not return.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import sys
import time
import traceback
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_kernelbench.build.desk import Desk
from pytest_kernelbench.build.driver import DEPENDENCIES_FILE
from pytest_kernelbench.build.job import JOB_FILE, REPORT_FILE, Job, Report
from pytest_kernelbench.build.recorder import Recorder
from pytest_kernelbench.deviceless import lacks_device
from pytest_kernelbench.sandbox import descriptors, walls
from pytest_kernelbench.sandbox.enclosure import Bounds, enclose
from pytest_kernelbench.sandbox.plan import Plan
from pytest_kernelbench.texts import encodable
from pytest_kernelbench.unwritable import advice_on

if TYPE_CHECKING:
    from types import ModuleType

MODULE_NAME = "solution"
_LARGEST_FILE_BYTES = 4 << 30
_MOST_PROCESSES = 160
"""Several times what four compilers start."""


def limit(folder: str) -> None:
    """Bound this process and all below it, and go on inside walls; judging goes first."""
    walls.forbid_cores()
    descriptors.bound()
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE_BYTES, _LARGEST_FILE_BYTES))
    os.nice(5)
    job = _read_job(folder)
    raised = enclose(*_allowed(job), Bounds(job.memory_bytes, _MOST_PROCESSES))
    lines = [f"walls: {'; '.join(raised.up)}", *(f"no wall: {why}" for why in raised.missing)]
    sys.stdout.write("\n".join([*lines, ""]))
    sys.stdout.flush()


def _read_job(folder: str) -> Job:
    return msgspec.json.decode((Path(folder) / JOB_FILE).read_bytes(), type=Job)


def _allowed(job: Job) -> tuple[list[Path], list[Path]]:
    """``(readable, writable)``: system, compilers, what lies beside the solution; work folder."""
    tools = [Path(place) for place in os.environ["PATH"].split(os.pathsep)]
    # Compilers read ../lib and ../include of where they lie.
    tools += [place.parent for place in tools if place.name in ("bin", "sbin")]
    named = [
        Path(place)
        for name, value in job.environment.items()
        if name.endswith(("PATH", "HOME", "PREFIX", "_ENV", "_ROOT", "_DIR"))
        for place in value.split(os.pathsep)
        if os.path.isabs(place)
    ]
    near = [Path(job.solution).parent, *(Path(folder) for folder in job.readable)]
    home = Path.home()
    beside = [place for place in (*tools, *named, *near) if place not in (home, Path("/"))]
    readable, writable = walls.allowed_paths(Plan("", job.folder, tuple(map(str, beside))))
    return readable, [*writable, Path(job.folder), *(Path(place) for place in job.writable)]


def main(folder: str) -> None:
    """Build the job of ``folder`` and end the process, whatever threads the solution left."""
    job = _read_job(folder)
    started = time.monotonic()
    report = _run(job)
    report = msgspec.structs.replace(report, seconds=time.monotonic() - started)
    (Path(folder) / REPORT_FILE).write_bytes(msgspec.json.encode(report))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _run(job: Job) -> Report:
    import torch
    from torch.utils import cpp_extension

    os.environ.update(job.environment)
    sys.pycache_prefix = str(Path(job.folder) / "pycache")
    # Found out when cpp_extension was imported, which may be long ago in a forked child.
    cpp_extension.CUDA_HOME = job.environment.get("CUDA_HOME") or None
    if job.capability is not None:
        _tell_of_device(torch, job.capability)
    recorder = Recorder(job)
    recorder.install()
    recorder.save()
    desk = Desk(Path(job.solution), Path(job.folder))
    desk.sit_down()
    seen = _watch_files(job, desk)
    try:
        module = _run_body(Path(job.solution))
    except BaseException as error:  # noqa: BLE001 - whatever it was, it is the report
        report = _failure(error, job, recorder)
    else:
        report = Report("built") if hasattr(module, job.entry) else Report("no_entry")
    seen.update(_headers(job, desk))
    return msgspec.structs.replace(report, inputs=tuple(sorted(seen)))


def _run_body(path: Path) -> ModuleType:
    sys.argv = [str(path)]
    sys.path.insert(0, str(path.parent))
    loader = SourceFileLoader(MODULE_NAME, str(path))
    spec = importlib.util.spec_from_file_location(MODULE_NAME, path, loader=loader)
    if spec is None:
        message = f"{path} cannot be imported"
        raise ImportError(message)
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE_NAME] = module
    loader.exec_module(module)
    return module


def _tell_of_device(torch: ModuleType, capability: tuple[int, int]) -> None:
    """Answer the usual questions as on the device built for, so that the same branch is taken."""
    answers = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "get_device_capability": lambda *_args, **_kwargs: capability,
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, answer)


def _watch_files(job: Job, desk: Desk) -> set[str]:
    """Names of the files beside the solution that are opened: the cache must know them."""
    own = os.path.basename(job.solution)
    seen: set[str] = set()

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" or not isinstance(arguments[0], (str, bytes, os.PathLike)):
            return
        name = desk.name_beside(os.path.abspath(os.fsdecode(arguments[0])))
        if name and name != own:
            seen.add(name)

    sys.addaudithook(note)
    return seen


def _headers(job: Job, desk: Desk) -> set[str]:
    """Files beside the solution that the compilers read."""
    listed = Path(job.folder) / DEPENDENCIES_FILE
    if not listed.is_file():
        return set()
    lines = listed.read_text(encoding="utf-8").splitlines()
    names = {desk.name_beside(os.path.abspath(line)) for line in lines}
    return names - {"", os.path.basename(job.solution)}


def _failure(error: BaseException, job: Job, recorder: Recorder) -> Report:
    own = _own_traceback(error, job)
    if advice := advice_on(error):
        own += f"; {advice}"
    sys.stderr.write(f"{own}\n")
    line = encodable("".join(traceback.format_exception_only(type(error), error)).strip())
    if recorder.missing:
        return Report("missing_tool", line, own, recorder.missing)
    if isinstance(error, ModuleNotFoundError) and error.name:
        top = error.name.partition(".")[0]
        if importlib.util.find_spec(top) is None:
            return Report("missing_module", line, own, top)
    if lacks_device(error):
        return Report("deferred", line, own)
    if isinstance(error, SystemExit):
        own += f"\nthe module body called sys.exit({error.code!r})"
    return Report("raised", line, own)


def _own_traceback(error: BaseException, job: Job) -> str:
    """The traceback with the solution's own frames alone."""
    own = str(Path(job.solution).parent) + os.sep
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(own)
    ]
    head = (
        ["Traceback (most recent call last):\n", *traceback.format_list(frames)] if frames else []
    )
    said = head + traceback.format_exception_only(type(error), error)
    return encodable("".join(said).rstrip())
