"""In a build child: ``load`` and ``load_inline`` that remember what they made."""

from __future__ import annotations

import functools
import inspect
import os
import re
import shutil
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_kernelbench.build import replay
from pytest_kernelbench.build.desk import Desk
from pytest_kernelbench.build.job import CALLS, MANIFEST_FILE, Call, Manifest
from pytest_kernelbench.build.lean import PLAIN_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_kernelbench.build.job import Job

_LEFTOVERS = (".o", ".d", ".ninja_deps", ".ninja_log", ".stamp")
# A symbol of at, c10 or torch that is not there: the lean headers left out its body.
_OF_TORCH = re.compile(r"undefined symbol: _Z(?:T[IVS])?NK?(?:2at|3c10|5torch)")
_ERROR_LIMIT = 20_000
_CUDA_SUFFIXES = (".cu", ".cuh")


class MissingToolError(RuntimeError):
    """A program that the build needs is not on this machine."""


class Recorder:
    """Replaces torch's functions, and keeps the manifest."""

    def __init__(self, job: Job) -> None:
        self.manifest = Manifest(environment=dict(job.passed_on))
        self.missing = ""
        self._folder = Path(job.folder)
        self._beside = os.path.join(os.path.dirname(job.solution), "")
        self._desk = Desk(Path(job.solution), self._folder)
        self._missing_tools = job.missing_tools
        self._lock = threading.Lock()

    def install(self) -> None:
        """Patch before the module body runs: ``from ... import load_inline`` gets ours too."""
        from torch.utils import cpp_extension

        # It deletes a header beside torch's own, under the feet of every other build on the
        # machine.
        if hasattr(cpp_extension, "remove_extension_h_precompiler_headers"):
            cpp_extension.remove_extension_h_precompiler_headers = lambda: None
        for name in replay.FUNCTIONS:
            setattr(cpp_extension, name, self._recording(getattr(cpp_extension, name)))

    def save(self) -> None:
        """Write the manifest."""
        (self._folder / MANIFEST_FILE).write_bytes(msgspec.json.encode(self.manifest))

    def _recording(self, real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(real)
        def record(*args: Any, **kwargs: Any) -> Any:
            key = replay.call_key(real, args, kwargs, replay.caller_folder(sys._getframe(1)))
            if not key:
                return real(*args, **kwargs)
            bound = inspect.signature(real).bind(*args, **kwargs)
            bound.apply_defaults()
            return self._build(real, key, bound)

        return record

    def _build(self, real: Callable[..., Any], key: str, bound: inspect.BoundArguments) -> Any:
        arguments = bound.arguments
        with self._lock:
            known = self.manifest.calls.get(key)
            again = len(self.manifest.calls)
        if known is not None and not known.error:
            return replay.load_library(known.name, self._folder / known.library, known.kind)
        place = self._folder / CALLS / f"{again:02d}-{key[:12]}"
        place.mkdir(parents=True, exist_ok=True)
        arguments["build_directory"] = str(place)
        if "use_pch" in arguments:
            arguments["use_pch"] = False
        for name, value in arguments.items():
            if isinstance(value, list):  # torch inserts lines into the caller's own lists
                arguments[name] = list(value)
        call = Call(name=str(arguments["name"]), kind=_kind(arguments))
        try:
            self._require_tools(arguments)
            made = _really(real, bound, place)
        except Exception as error:
            call.error = self._said(error) or type(error).__name__
            self._remember(key, call)
            raise
        library = _library(made, place)
        call.name = library.stem
        call.library = str(library.relative_to(self._folder))
        self._remember(key, call)
        _sweep(place)
        return made

    def _said(self, error: Exception) -> str:
        """Without the solution's folder: the same source may be judged from another one."""
        return self._desk.told(str(error)).replace(self._beside, "")[:_ERROR_LIMIT]

    def _remember(self, key: str, call: Call) -> None:
        with self._lock:
            self.manifest.calls[key] = call
            self.save()

    def _require_tools(self, arguments: dict[str, Any]) -> None:
        sources = arguments.get("sources") or ()
        paths = [sources] if isinstance(sources, (str, Path)) else sources
        cuda = (
            bool(arguments.get("cuda_sources"))
            or bool(arguments.get("with_cuda"))
            or any(str(path).endswith(_CUDA_SUFFIXES) for path in paths)
        )
        for tool in self._missing_tools:
            if tool != "nvcc" or cuda:
                self.missing = tool
                message = f"{tool} is needed to build an extension and is not on this machine"
                raise MissingToolError(message)


def _really(real: Callable[..., Any], bound: inspect.BoundArguments, place: Path) -> Any:
    """Call torch's function; again without the lean headers if the library cannot be loaded."""
    try:
        return real(*bound.args, **bound.kwargs)
    except ImportError as error:
        if not _OF_TORCH.search(str(error)):
            raise
        shutil.rmtree(place)
        place.mkdir()
        os.environ[PLAIN_VARIABLE] = "1"
        try:
            return real(*bound.args, **bound.kwargs)
        finally:
            del os.environ[PLAIN_VARIABLE]


def _kind(arguments: dict[str, Any]) -> str:
    if arguments.get("is_standalone"):
        return "program"
    return "module" if arguments.get("is_python_module", True) else "operators"


def _library(made: Any, place: Path) -> Path:
    file = made if isinstance(made, str) else getattr(made, "__file__", None)
    if file:
        return Path(file)
    return max(place.glob("*.so"), key=lambda path: path.stat().st_mtime)


def _sweep(place: Path) -> None:
    for path in place.iterdir():
        if path.name.endswith(_LEFTOVERS):
            path.unlink()
        elif path.is_dir():
            shutil.rmtree(path)
