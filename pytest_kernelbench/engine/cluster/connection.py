"""A Ray cluster: somebody's, or one of this machine alone that ends with the session."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import tempfile
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import ray
from ray.exceptions import GetTimeoutError, RayError

from pytest_kernelbench.engine.cluster import tasks
from pytest_kernelbench.engine.cluster.dispatch import Handle, LostError
from pytest_kernelbench.engine.cluster.messages import Seen, decode, identity, unlike
from pytest_kernelbench.engine.cluster.surroundings import environment
from pytest_kernelbench.errors import MachineError, UsageError
from pytest_kernelbench.folders import owned_folder, remove_tree, sweep_owned, touch_owned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_kernelbench.judge.device import Device
    from pytest_kernelbench.settings import Settings

LABEL = "accelerator_type:"
"""Ray's own resource of each node with accelerators: ``accelerator_type:H200``."""
_STORE_BYTES = 256 << 20
"""Of an embedded Ray's object store. Extensions pass through it, tensors never do."""
_NODE_LABEL = "ray.io/node-id"
_FOLDER = "kb-ray-"
_SHORT, _LONGEST_BYTES = "/tmp", 19  # noqa: S108 - a folder of its own is made there
"""Ours and Ray's add 88 bytes to it to get the sockets' names, of which the kernel takes 107."""
_TOUCH_EVERY_S = 3600.0
_KNOCK_TIMEOUT_S = 10.0
_LOOK_TIMEOUT_S = 180.0
_EMBEDDED = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # others on this machine are timed at the usual one
    "RAY_memory_monitor_refresh_ms": "0",  # a contender's memory is bounded by the judge itself
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else Ray warns of what it will change
}


@dataclass(frozen=True)
class Place:
    """What a pair asks of the node that judges it."""

    gpu: bool
    label: str = ""
    """``H200``; empty where there is one kind only."""
    cpus: float = 1.0

    @property
    def options(self) -> dict[str, Any]:
        """As ``ray.remote`` takes them."""
        chosen: dict[str, Any] = {"max_retries": 0, "num_cpus": self.cpus}
        if self.gpu:
            chosen["num_gpus"] = 1
        if self.label:
            chosen["resources"] = {LABEL + self.label: 0.001}
        return chosen

    def fits(self, resources: Mapping[str, float]) -> bool:
        """Whether a node with these could ever judge."""
        if self.label and LABEL + self.label not in resources:
            return False
        return resources.get("CPU", 0) >= self.cpus and (
            not self.gpu or resources.get("GPU", 0) >= 1
        )


class _Lasting:
    """A thread that lives until it is told to end.

    What an embedded Ray starts dies with the *thread* that started it, and whoever makes an engine
    may well be a thread of a pool. Meanwhile it calls ``touch`` now and then.
    """

    def __init__(self, start: Callable[[], object], touch: Callable[[], object]) -> None:
        self._touch = touch
        self._over = threading.Event()
        self._started: Future[object] = Future()
        self._thread = threading.Thread(
            target=self._live, args=(start,), name="kb-ray", daemon=True
        )
        self._thread.start()
        self._started.result()

    def _live(self, start: Callable[[], object]) -> None:
        try:
            self._started.set_result(start())
        except BaseException as error:  # noqa: BLE001 - raised by whoever waits
            self._started.set_exception(error)
            return
        while not self._over.wait(_TOUCH_EVERY_S):
            self._touch()

    def end(self) -> None:
        self._over.set()
        self._thread.join()


class Cluster:
    """Connected while it lives; ``close`` it.

    Raises ``UsageError`` where there is none such, or its nodes have another judge.
    """

    def __init__(self, settings: Settings) -> None:
        self._folder: Path | None = None
        self._lasting: _Lasting | None = None
        self._ours = not ray.is_initialized()
        self.embedded = self._ours and settings.ray_address is None
        try:
            if self._ours:
                self._lasting = _Lasting(lambda: self._connect(settings), self._touch)
            self.place = choose_place(settings, self.nodes())
            self.device = self._look()
            # Losses are counted by the dispatcher, not by Ray.
            self._build: Any = ray.remote(max_retries=0, num_cpus=1, num_returns=2)(tasks.build)
            # Ray would end a process after each task with a GPU, so that its memory is given back;
            # the site sees to that, and keeps what is slow to start.
            self._judge: Any = ray.remote(**self.place.options, max_calls=0)(tasks.judge)
        except BaseException:
            self.close()
            raise

    def nodes(self) -> list[Mapping[str, float]]:
        """The resources of each node that lives."""
        return [node["Resources"] for node in ray.nodes() if node["Alive"]]

    def slots(self) -> tuple[int, int]:
        """How many tasks could run at once, and on how many nodes pairs can be judged."""
        nodes = self.nodes()
        slots = sum(int(node.get("CPU", 0) + node.get("GPU", 0)) for node in nodes)
        return slots, sum(self.place.fits(node) for node in nodes)

    def build(self, order: bytes) -> tuple[Handle, Handle]:
        """Start a build on any CPU; see ``dispatch.Tasks``."""
        built, parcel = self._build.remote(order)
        return built, parcel

    def judge(self, order: bytes, built: bytes, parcel: Handle, avoid: str) -> Handle:
        """Start a judgement where there is such a device."""
        task = self._judge
        if avoid:
            task = task.options(label_selector={_NODE_LABEL: f"!{avoid}"})
        return task.remote(order, built, parcel)

    def done(self, handles: Sequence[Handle], timeout_s: float) -> Sequence[Handle]:
        """Those whose answers are there."""
        first, _ = ray.wait([*handles], num_returns=1, timeout=timeout_s, fetch_local=False)
        if not first:
            return ()
        all_, _ = ray.wait([*handles], num_returns=len(handles), timeout=0, fetch_local=False)
        return list(all_)

    def answer(self, handle: Handle) -> bytes:
        """Raises ``LostError`` for whatever Ray itself says instead of an answer."""
        try:
            answer = ray.get(handle)
        except RayError as error:
            raise LostError(_first_line(error)) from None
        return bytes(answer)

    def cancel(self, handle: Handle) -> None:
        """Kill it, if it runs."""
        with contextlib.suppress(RayError):
            ray.cancel(handle, force=True)

    def close(self) -> None:
        """Leave the cluster, or end it if it was embedded. Somebody else's connection is kept."""
        if self._ours:
            ray.shutdown()
        if self._lasting is not None:
            self._lasting.end()
        if self._folder is not None:
            remove_tree(self._folder)

    def _touch(self) -> None:
        if self._folder is not None:
            touch_owned(self._folder)

    def _connect(self, settings: Settings) -> None:
        quiet: dict[str, Any] = {
            "logging_level": logging.ERROR,
            "log_to_driver": False,
            "include_dashboard": None,
        }
        if settings.ray_address is None:
            self._start_own(settings, quiet)
            return
        try:
            _knock(settings.ray_address)
            ray.init(address=settings.ray_address, **quiet)
        except Exception as error:  # noqa: BLE001 - whatever Ray has of its own
            message = (
                f"--kb-ray-address {settings.ray_address}: no Ray cluster can be reached there "
                f"({_first_line(error)}); start a node on this machine with "
                "`ray start --address HEAD:6379`, or leave the option out to run Ray here"
            )
            raise UsageError(message) from None

    def _start_own(self, settings: Settings, quiet: dict[str, Any]) -> None:
        try:
            place = Path(_short_place())
            sweep_owned(place, _FOLDER)
            self._folder = owned_folder(place, _FOLDER)
            # Its ports are in reach of every user of this machine: a secret keeps them out. Ray
            # switches that on by itself, and would keep a secret of its own in the home.
            wanted = {**_EMBEDDED, "RAY_AUTH_TOKEN": token_hex(32), "RAY_AUTH_MODE": None}
            # What the user has set stays.
            with environment({n: v for n, v in wanted.items() if n not in os.environ}):
                ray.init(
                    address="local",
                    num_cpus=len(os.sched_getaffinity(0)),
                    num_gpus=0 if settings.device == "cpu" else None,
                    object_store_memory=_STORE_BYTES,
                    _temp_dir=str(self._folder),
                    **quiet | {"include_dashboard": False},
                )
        except Exception as error:
            message = (
                f"--kb-engine ray: Ray cannot be started on this machine: {_first_line(error)}"
            )
            raise MachineError(message) from error

    def _look(self) -> Device:
        """The device of a node that will judge: every other one of the place has the same kind."""
        device = "cuda" if self.place.gpu else "cpu"
        ref = ray.remote(tasks.look).options(**self.place.options).remote(device)
        try:
            seen = decode(ray.get(ref, timeout=_LOOK_TIMEOUT_S), Seen)
        except GetTimeoutError:
            ray.cancel(ref, force=True)
            message = (
                f"no node of the Ray cluster had {self.place.options} free within "
                f"{_LOOK_TIMEOUT_S:.0f} s; see `ray status`"
            )
            raise MachineError(message) from None
        except (RayError, MachineError) as error:  # the second: what it said has another form
            message = (
                f"a node of the Ray cluster could not run the judge: {_last_line(error)}; "
                f"install pytest-kernelbench {identity().partition('-')[0]} on every node"
            )
            raise UsageError(message) from None
        if not self.embedded and seen.judge != identity():
            raise UsageError(unlike(seen.judge, identity()))
        return seen.device


def choose_place(settings: Settings, nodes: Iterable[Mapping[str, float]]) -> Place:
    """What to ask for, by the options and by what the nodes have.

    On a CPU a timed pair takes all CPUs of a node (of the smallest, if they differ): a compiler
    beside it would be in the time.
    """
    nodes = list(nodes)
    with_gpus = [node for node in nodes if node.get("GPU", 0) >= 1]
    kinds = sorted(
        {name.removeprefix(LABEL) for node in with_gpus for name in node if name.startswith(LABEL)}
    )
    if settings.gpu is not None:
        found = next((kind for kind in kinds if kind.lower() == settings.gpu.lower()), None)
        if found is None:
            message = f"--kb-gpu {settings.gpu}: no node of the Ray cluster has one; {_has(kinds)}"
            raise UsageError(message)
        return Place(gpu=True, label=found)
    if settings.device == "cpu" or not with_gpus:
        if settings.device not in ("cpu", "auto"):
            message = f"--kb-device {settings.device}: no node of the Ray cluster has a GPU"
            raise UsageError(message)
        whole = min((node.get("CPU", 0) for node in nodes if node.get("CPU", 0) >= 1), default=1.0)
        return Place(gpu=False, cpus=1.0 if settings.correctness_only else whole)
    if len(kinds) > 1:
        message = (
            f"{_has(kinds)}: times on different GPUs cannot be compared; "
            f"say which with --kb-gpu, as in --kb-gpu {kinds[0]}"
        )
        raise UsageError(message)
    return Place(gpu=True)


def _has(kinds: list[str]) -> str:
    return f"its nodes have {', '.join(kinds) if kinds else 'no GPU that Ray knows the kind of'}"


def _short_place() -> str:
    """The usual place for temporary files, unless its name is too long for sockets."""
    usual = tempfile.gettempdir()
    return usual if len(os.fsencode(usual)) <= _LONGEST_BYTES else _SHORT


def _knock(address: str) -> None:
    """Raise ``OSError`` where nobody answers: Ray itself would try for a minute."""
    if address != "auto":
        host, _, port = address.rpartition(":")
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_TIMEOUT_S).close()


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _last_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[-1]
