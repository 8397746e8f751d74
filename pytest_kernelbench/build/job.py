"""What a build child is told and what it answers: plain values in files of its work folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pytest_kernelbench.folders import is_plain

if TYPE_CHECKING:
    from pathlib import Path

JOB_FILE = "job.json"
REPORT_FILE = "report.json"
MANIFEST_FILE = "manifest.json"
LOG_FILE = "build.log"
TOOL_LOGS = "tools"
CALLS = "calls"
_REPORT_LIMIT_BYTES = 4 << 20


class Job(msgspec.Struct, frozen=True):
    """One solution to build. Every path is absolute."""

    solution: str
    entry: str
    folder: str
    """The work folder: libraries, logs and the answer go there and nowhere else."""
    environment: dict[str, str]
    """Of the child and its compilers, whole."""
    passed_on: dict[str, str]
    """What the contender needs too when it has to build by itself."""
    capability: tuple[int, int] | None = None
    """Of the device the extension is for: what the solution is told when it asks."""
    missing_tools: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    """Folders with our compilers and stand-in headers."""
    writable: tuple[str, ...] = ()
    """Beside the work folder: what ccache keeps for solutions of the same folder."""


class Call(msgspec.Struct):
    """One ``load`` or ``load_inline``: an entry of the manifest."""

    name: str
    library: str = ""
    """Relative to the folder."""
    kind: str = "module"
    """``module``, ``operators`` or ``program``."""
    error: str = ""


class Manifest(msgspec.Struct):
    """``manifest.json``: what the contender's stand-in looks up."""

    calls: dict[str, Call] = {}
    environment: dict[str, str] = {}


class Report(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the module body ended: the child's word, believed only against its own solution."""

    kind: str
    """``built``, ``deferred``, ``raised``, ``no_entry``, ``missing_module``, ``missing_tool``."""
    error: str = ""
    """The exception in one line."""
    traceback: str = ""
    """The solution's own frames."""
    missing: str = ""
    inputs: tuple[str, ...] = ()
    """Files beside the solution that it read, relative to its folder."""
    seconds: float = 0.0


def read_report(folder: Path) -> Report | None:
    """The child's answer, or None where there is none that can be understood."""
    path = folder / REPORT_FILE
    if not is_plain(path):
        return None
    try:
        with path.open("rb") as file:
            data = file.read(_REPORT_LIMIT_BYTES + 1)
    except OSError:
        return None
    if len(data) > _REPORT_LIMIT_BYTES:
        return None
    try:
        return msgspec.json.decode(data, type=Report)
    except msgspec.MsgspecError:
        return None


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest, if it is one and names nothing outside its folder."""
    path = folder / MANIFEST_FILE
    if not is_plain(path):
        return None
    try:
        with path.open("rb") as file:
            manifest = msgspec.json.decode(file.read(_REPORT_LIMIT_BYTES), type=Manifest)
    except (OSError, msgspec.MsgspecError):
        return None
    inside = folder.resolve()
    for call in manifest.calls.values():
        library = (folder / call.library).resolve()
        if call.library and (inside not in library.parents or not library.is_file()):
            return None
    return manifest
