"""What torch's profiler recorded, as rows of time: who spent it, and who launched which kernel."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch.autograd.profiler import profile

FORWARD = "kernelbench: forward"
CALL = "kernelbench: call "
TRITON = "kernelbench: triton "
_COMPILED = re.compile(r"Torch-Compiled Region|CompiledFxGraph|CompiledFunction|TensorExpr")

Key = tuple[str, str]
"""Kind and name of a row; see ``wire.Ran``."""


@dataclass
class Event:
    """One stretch of time of a thread, or of the device."""

    name: str
    start_ns: int
    end_ns: int
    thread: int
    number: int
    """By which a kernel refers to what launched it."""
    launcher: int
    """The ``number`` of what launched it; 0 for nothing."""
    device: bool
    annotation: bool
    inner_ns: int = 0
    parent: Event | None = None

    @property
    def length_ns(self) -> int:
        """From start to end."""
        return self.end_ns - self.start_ns


@dataclass
class HostTimes:
    """The host's part."""

    rows: dict[Key, float] = field(default_factory=lambda: defaultdict(float))
    """Microseconds of own time."""
    outside_us: float = 0.0


def read(profiler: profile) -> list[Event]:
    """Everything recorded. ``profiler.events()`` tells the same a hundred times more slowly."""
    results = profiler.kineto_results
    if results is None:
        return []
    return [_event(raw) for raw in results.events()]


def _event(raw: Any) -> Event:
    return Event(
        name=raw.name(),
        start_ns=raw.start_ns(),
        end_ns=raw.end_ns(),
        thread=raw.start_thread_id(),
        number=raw.correlation_id(),
        launcher=raw.linked_correlation_id(),
        device=raw.device_type().name == "CUDA",
        annotation=raw.is_user_annotation(),
    )


def host_times(events: Iterable[Event]) -> HostTimes:
    """Own time by kind and name, and what the forward's thread spent in none of them."""
    on_host = [event for event in events if not event.device and event.launcher == 0]
    _nest(on_host)
    times = HostTimes()
    main = next((event.thread for event in on_host if event.name == FORWARD), None)
    elsewhere_ns = 0
    for event in on_host:
        own_ns = max(0, event.length_ns - event.inner_ns)
        owner = _owner(event)
        if owner is not None:
            times.rows[owner] += own_ns / 1e3
        elif event.thread == main and _below_forward(event):
            times.outside_us += own_ns / 1e3
        if event.thread != main and event.parent is None:
            elsewhere_ns += event.length_ns
    times.outside_us = max(0.0, times.outside_us - elsewhere_ns / 1e3)
    return times


def kernel_times(events: Iterable[Event]) -> dict[tuple[str, str], float]:
    """Microseconds on the device by ``(kernel, operator that launched it or "")``.

    Call ``host_times`` first: it finds out what stands in what.
    """
    events = list(events)
    launchers = {event.number: event for event in events if not event.device and not event.launcher}
    annotations = {event.name for event in events if not event.device and _kind(event.name) is None}
    rows: dict[tuple[str, str], float] = defaultdict(float)
    for event in events:
        # An annotation of the host shows on the device too, as the stretch of its kernels.
        if not event.device or event.annotation or event.name in annotations:
            continue
        launcher = launchers.get(event.launcher) if event.launcher else None
        owner = _owner(launcher) if launcher is not None else None
        within = owner[1] if owner is not None and owner[0] in ("operator", "compiled") else ""
        rows[event.name, within] += event.length_ns / 1e3
    return rows


def _nest(events: list[Event]) -> None:
    """Give each event its parent, and each parent the time of its children; sorts in place."""
    events.sort(key=lambda event: (event.thread, event.start_ns, -event.end_ns))
    open_: list[Event] = []
    for event in events:
        while open_ and (open_[-1].thread != event.thread or open_[-1].end_ns <= event.start_ns):
            open_.pop()
        if open_:
            event.parent = open_[-1]
            open_[-1].inner_ns += min(event.end_ns, open_[-1].end_ns) - event.start_ns
        open_.append(event)


def _owner(event: Event) -> Key | None:
    """The nearest enclosing thing that counts; a mere annotation belongs to what it stands in."""
    current: Event | None = event
    while current is not None:
        kind = _kind(current.name)
        if kind is not None:
            return kind
        current = current.parent
    return None


def _below_forward(event: Event) -> bool:
    current: Event | None = event
    while current is not None:
        if current.name == FORWARD:
            return True
        current = current.parent
    return False


def _kind(name: str) -> Key | None:
    for kind, prefix in (("call", CALL), ("triton", TRITON)):
        if name.startswith(prefix):
            return kind, name.removeprefix(prefix)
    if _COMPILED.search(name):
        return "compiled", "torch.compile"
    return ("operator", name) if "::" in name else None
