"""What a process of a node does: builds, and judges on the one device it was given."""

from __future__ import annotations

import os
import stat
import tempfile
import threading
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pytest_kernelbench.build import parcel as parcels
from pytest_kernelbench.build.builder import Builder
from pytest_kernelbench.build.store import disk_errors
from pytest_kernelbench.catalog.pair import Pair, Solution
from pytest_kernelbench.endings import ended_by
from pytest_kernelbench.engine.cluster.baggage import lay_out
from pytest_kernelbench.engine.cluster.messages import Built, Judged
from pytest_kernelbench.engine.cluster.surroundings import environment
from pytest_kernelbench.engine.devices import find_device
from pytest_kernelbench.engine.seat import Seat
from pytest_kernelbench.errors import BuildError, MachineError, MissingNeedError
from pytest_kernelbench.folders import owned_folder, remove_tree, sweep_owned, touch_owned

if TYPE_CHECKING:
    from pytest_kernelbench.engine.cluster.messages import Order
    from pytest_kernelbench.judge.device import Device
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Verdict

_IDLE_S = 3.0
"""After this the processes that judge go, and their memory on the device with them."""
_LOG_BYTES = 256 << 10


class Site:
    """Kept between the tasks of a process, as importing torch costs seconds. ``close`` it."""

    def __init__(self, settings: Settings, capability: str | None, cache: str) -> None:
        folder = Path(cache) if cache else own_folder()
        self.settings = replace(settings, cache_dir=folder)
        self._capability = capability
        self._temporary = own_temporary(folder / "tmp")
        self._lock = threading.Lock()
        self._idle: threading.Timer | None = None
        self._seat: Seat | None = None

    @cached_property
    def _builder(self) -> Builder:
        return Builder(self.settings, self._capability)

    @cached_property
    def _device(self) -> Device:
        return find_device(self.settings.device)

    def build(self, order: Order) -> tuple[Built, bytes]:
        """Compile, as far as this node can; the second part is the extension, if it can travel.

        What is missing here may be there where the pair is judged: that ends no pair.
        """
        pair = self._here(order)
        try:
            extension = self._builder.build(pair.solution.path, pair.solution.entry)
        except MissingNeedError as error:
            if self.settings.build_only:
                return Built(self._there(ended_by(error, pair), pair, order), _log(error.log)), b""
            return Built(), b""
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a verdict
            verdict = self._there(ended_by(error, pair), pair, order)
            return Built(verdict, _log(verdict.log)), b""
        built = Built(None, _log(extension.log), extension.seconds, extension.cached)
        if self.settings.build_only:
            return built, b""
        packed = [self._packed(each) for each in _solutions(pair)]
        return built, msgspec.msgpack.encode(packed)

    def judge(self, order: Order, built: Built, parcel: bytes, node: str) -> Judged:
        """Judge the pair, with what was built elsewhere if it fits, else built here."""
        pair = self._here(order)
        solution = pair.solution
        with self._lock, environment({"TMPDIR": self._temporary}):
            self._stay()
            touch_owned(Path(self._temporary))
            try:
                seat = self._seat = self._seat or Seat(self.settings, self._device)
                seat.open()  # torch is imported while the extension arrives
                came = self._unpacked(pair, parcel)
                extension = self._builder.build(solution.path, solution.entry)
                if pair.earlier is not None:
                    extension = replace(extension, earlier=self._folder_of(pair.earlier))
                verdict = seat.judge(pair, extension, _unheard)
                if came:
                    verdict = replace(verdict, build_s=built.seconds, build_cached=built.cached)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a verdict
                verdict = ended_by(error, pair)
            self._rest_soon()
        return Judged(self._there(verdict, pair, order), _log(verdict.log), node)

    def _packed(self, solution: Solution) -> bytes:
        if self._folder_of(solution) is None:
            return b""
        return parcels.pack(self._builder, solution.path, solution.entry)

    def _unpacked(self, pair: Pair, parcel: bytes) -> bool:
        """Whether the solution's own extension came with the pair, and fits."""
        packed = msgspec.msgpack.decode(parcel, type=list[bytes]) if parcel else []
        came = [
            parcels.unpack(self._builder, solution.path, solution.entry, data)
            for solution, data in zip(_solutions(pair), packed, strict=False)
        ]
        return any(came[:1])

    def _folder_of(self, solution: Solution) -> Path | None:
        """Of its extension; None where it cannot be built."""
        try:
            return self._builder.build(solution.path, solution.entry).folder
        except BuildError:
            return None

    def close(self) -> None:
        """End every process."""
        with self._lock:
            self._stay()
            if self._seat is not None:
                self._seat.close()
            if "_builder" in self.__dict__:
                self._builder.close()
            remove_tree(Path(self._temporary))

    def _stay(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _rest_soon(self) -> None:
        """Ray gives the device to whoever is next, and that may be somebody else's task."""

        def rest() -> None:
            with self._lock:
                if self._idle is timer and self._seat is not None:
                    self._seat.rest()

        timer = self._idle = threading.Timer(_IDLE_S, rest)
        timer.daemon = True
        timer.start()

    def _here(self, order: Order) -> Pair:
        """The pair as this node has it."""
        sources = self.settings.cache_dir / "sources"
        earlier = order.earlier
        if earlier is not None:
            earlier = replace(earlier, path=lay_out(order.earlier_files, sources))
        return Pair(
            replace(order.problem, path=lay_out((order.problem_file,), sources)),
            replace(order.solution, path=lay_out(order.files, sources)),
            earlier,
        )

    @staticmethod
    def _there(verdict: Verdict, here: Pair, order: Order) -> Verdict:
        """The verdict in the session's words: its paths in place of this node's."""
        ours = [here.problem.path, *(each.path for each in _solutions(here))]
        theirs = [order.problem.path, *(each.path for each in _solutions(order.pair))]

        def told(text: str) -> str:
            for one, other in zip(ours, theirs, strict=True):
                text = text.replace(str(one), str(other))
            return text

        return replace(
            verdict,
            solution=str(order.solution.path),
            reasons=tuple(map(told, verdict.reasons)),
            notes=tuple(map(told, verdict.notes)),
            detail=told(verdict.detail),
        )


def _solutions(pair: Pair) -> tuple[Solution, ...]:
    return (pair.solution,) if pair.earlier is None else (pair.solution, pair.earlier)


def own_folder() -> Path:
    """A folder of this user's on this machine: no shared file system, no other user's folder.

    Raises ``MachineError`` where somebody else has made it.
    """
    folder = Path(tempfile.gettempdir()) / f"pytest-kernelbench-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        message = f"{folder} cannot be made on this node: {error.strerror}; set TMPDIR for Ray"
        raise MachineError(message) from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        message = f"{folder} is not this user's alone, so nothing is built in it; remove it"
        raise MachineError(message)
    return folder


def own_temporary(folder: Path) -> str:
    """A folder of this process's. Ray ends processes without a word, so successors tidy up."""
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        sweep_owned(folder)
        return str(owned_folder(folder))


def _log(path: Path | str) -> bytes:
    """The end of a log, which is where errors stand."""
    if not path:
        return b""
    try:
        with Path(path).open("rb") as file:
            size_bytes = file.seek(0, os.SEEK_END)
            file.seek(max(0, size_bytes - _LOG_BYTES))
            return file.read()
    except OSError:
        return b""


def _unheard(_: str) -> None:
    """Who holds the device meanwhile is said by the verdict's notes."""
