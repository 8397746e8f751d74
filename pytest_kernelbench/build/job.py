"""What a build child is told and what it answers: plain values in files of its work folder."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeVar

import msgspec

from pytest_kernelbench.decoding import decoded

if TYPE_CHECKING:
    from pytest_kernelbench.build.leavings import Leavings

JOB_FILE = "job.json"
REPORT_FILE = "report.json"
MANIFEST_FILE = "manifest.json"
LOG_FILE = "build.log"
CALLS = "calls"
_REPORT_LIMIT_BYTES = 4 << 20
_Answer = TypeVar("_Answer", bound=msgspec.Struct)


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
    memory_bytes: int
    """What the child and all its compilers may hold between them."""
    capability: tuple[int, int] | None = None
    """Of the device the extension is for: what the solution is told when it asks."""
    missing_tools: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    """Folders with our compilers and stand-in headers."""
    writable: tuple[str, ...] = ()
    """Beside the work folder: the log, and what ccache keeps for this solution."""


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

    @property
    def libraries(self) -> tuple[str, ...]:
        """What the calls have made, each once."""
        return tuple(dict.fromkeys(call.library for call in self.calls.values() if call.library))


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


def read_report(left: Leavings) -> Report | None:
    """The child's answer, or None where there is none that can be understood."""
    return _decoded(left.read(REPORT_FILE, _REPORT_LIMIT_BYTES), Report)


def read_manifest(left: Leavings) -> Manifest | None:
    """The manifest, if it is one and names nothing but files that calls have made."""
    manifest = _decoded(left.read(MANIFEST_FILE, _REPORT_LIMIT_BYTES), Manifest)
    if manifest is None:
        return None
    for library in manifest.libraries:
        # Ours lie beside them: the manifest itself, the entry, the log.
        if PurePosixPath(library).parts[:1] != (CALLS,) or left.size_bytes(library) is None:
            return None
    return manifest


def _decoded(data: bytes | None, kind: type[_Answer]) -> _Answer | None:
    try:
        return None if data is None else decoded(data, kind)
    except msgspec.MsgspecError:
        return None
