"""Precompiled headers for host sources: one for each set of flags that is wished for often.

A build child only *wishes*: it runs a solution's code, and a header that it made would be compiled
into the builds of others. The builder makes them, from the installed torch's headers and flags that
it knows, and puts them in place whole.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sysconfig
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import filelock
import msgspec

from pytest_kernelbench.build import lean, standins
from pytest_kernelbench.build.driver import PRECOMPILED, WISHES, flags_key
from pytest_kernelbench.build.store import write_once
from pytest_kernelbench.build.waiting import try_lock
from pytest_kernelbench.decoding import decoded
from pytest_kernelbench.errors import BuildError, MachineError
from pytest_kernelbench.folders import remove_tree

if TYPE_CHECKING:
    from pytest_kernelbench.build.leavings import Leavings
    from pytest_kernelbench.build.slots import Slots
    from pytest_kernelbench.build.toolchain import Toolchain

_KNOWN_FLAG = re.compile(
    r"-(?:O[0-3sg]?|Ofast|g[0-3]?|std=(?:c|gnu)\+\+\w{2}|fPIC|march=[\w-]+|mtune=[\w-]+|mavx\w*|mfma|mf16c"
    r"|msse[\w.]*|fopenmp(?:-simd)?|ffast-math|funroll-loops|fno-[\w-]+|ftree-vectorize|fstrict-aliasing|pthread)"
)
_MOST_FLAGS = 20
_MOST_WISHES = 20
_WISH_BYTES = 10_000
_WORTH_IT = 2
"""One takes as long to make as about five sources save."""
_TIMEOUT_S = 600.0
_LOOK_EVERY_S = 0.1


class Precompiled:
    """The precompiled headers of one toolchain, in its folder of stand-ins."""

    def __init__(self, folder: Path, tools: Toolchain, slots: Slots) -> None:
        self._folder = folder
        self._tools = tools
        self._slots = slots
        self._able = "Free Software Foundation" in tools.cxx_version
        self._wished: dict[str, int] = {}
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._cancelled = threading.Event()

    def consider(self, left: Leavings, waiting: int) -> None:
        """Read the wishes of a build that is done; begin to make a header where it will pay."""
        for flags in wishes(left):
            if not flags or not self._able:
                continue
            key = flags_key(flags)
            with self._lock:
                self._wished[key] = self._wished.get(key, 0) + 1
                worth_it = self._wished[key] >= _WORTH_IT or waiting >= _WORTH_IT
                if not worth_it or self._wished[key] > 2 * _WORTH_IT:
                    continue
                self._wished[key] = 2 * _WORTH_IT + 1
            thread = threading.Thread(target=self.make, args=(flags,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def make(self, flags: tuple[str, ...]) -> bool:
        """Make the header for ``flags`` unless it is there or being made; says whether it was."""
        target = self._folder / PRECOMPILED / flags_key(flags)
        lock = filelock.FileLock(f"{target}.lock", thread_local=False, is_singleton=False)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not try_lock(lock):
            return False
        try:
            return not target.exists() and self._make(flags, target)
        finally:
            lock.release()

    def close(self) -> None:
        """End what has begun."""
        self._cancelled.set()
        for thread in self._threads:
            thread.join()

    def _make(self, flags: tuple[str, ...], target: Path) -> bool:
        for left in target.parent.glob(f".{target.name}-*"):
            remove_tree(left)  # by a maker that was killed: the lock is held
        fresh = target.with_name(f".{target.name}-{os.getpid()}")
        header = fresh / lean.BINDING_HEADER
        header.parent.mkdir(parents=True, exist_ok=True)
        write_once(header, self._text())
        includes = (self._folder / standins.INCLUDE, *torch_includes(self._tools))
        command = [self._tools.cxx, *flags, "-DTORCH_API_INCLUDE_EXTENSION_H"]
        command += [part for folder in includes for part in ("-isystem", str(folder))]
        command += ["-x", "c++-header", str(header), "-o", f"{header}.gch"]
        try:
            with self._slots.hold():
                made = self._run(command)
        except MachineError:  # the session is over
            made = False
        if not made:
            remove_tree(fresh)
            return False
        # The compiler looks up the header by the name of its final place.
        fresh.rename(target)
        return True

    def _run(self, command: list[str]) -> bool:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        deadline = time.monotonic() + _TIMEOUT_S
        while process.poll() is None:
            if self._cancelled.wait(_LOOK_EVERY_S) or time.monotonic() > deadline:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return process.returncode == 0

    def _text(self) -> str:
        text = (self._folder / standins.FACTORIES_FILE).read_text(encoding="utf-8")
        include = os.path.join(self._tools.torch_folder, "include")
        return lean.precompiled_header(
            lambda header: lean.read_header(include, header), json.loads(text)
        )


def wishes(left: Leavings) -> list[tuple[str, ...]]:
    """What a build wishes for; nothing where what lies in the place of wishes cannot be read."""
    try:
        found = [left.read(name, _WISH_BYTES) for name in left.names(WISHES)[:_MOST_WISHES]]
    except BuildError:
        return []
    return [known_flags(wish or b"") for wish in found]


def known_flags(wish: bytes) -> tuple[str, ...]:
    """The flags of a wish, or nothing if there is one that is not known to be harmless."""
    try:
        flags = decoded(wish, list[str])
    except msgspec.MsgspecError:
        return ()
    if len(flags) > _MOST_FLAGS:
        return ()
    return tuple(flags) if all(map(_KNOWN_FLAG.fullmatch, flags)) else ()


def torch_includes(tools: Toolchain) -> list[str]:
    """Where torch's and Python's own headers lie."""
    include = os.path.join(tools.torch_folder, "include")
    api = os.path.join(include, "torch", "csrc", "api", "include")
    return [include, api, sysconfig.get_path("include", scheme="posix_prefix")]
