"""Which kernels really ran, and whether any of them is the solution's own.

**On a device** every kernel has a time. It is a library's if an operator of torch launched it, if
it has a name that only libraries have (cuBLAS called through ctypes), if torch.compile made it, or
if the reference runs it too; else it is the solution's own. A solution whose own kernels take less
than ``OWN_SHARE`` of the device's time is not a kernel.

**On a CPU** a kernel is compiled code, and time alone cannot tell it from Python: at small sizes
most of a forward is neither in an operator nor in a kernel, for the reference as for a solution.
So first comes what does not depend on time: where no compiled code of the solution's is in the
process and Triton's interpreter ran none of its kernels, all that ran was torch, NumPy and
Python, however long that took. Where there is such code, its time is that of calls into it, of
its operators and of its Triton kernels; against it stands the time in torch's operators. What is
called through ctypes shows as time in neither: all of that counts for the solution if no other
call into its code was seen; if one was, only a time longer than that of all operators (and none
where NumPy took part), since a busy machine interrupts whom it likes; and where others took much
of the processors, a small share of its own says nothing. The doubt so goes to the solution: at
sizes where calling takes longer than computing, and on a busy machine, a decoy is not told from a
kernel on a CPU, and nor is it under Triton's interpreter, whose times mean nothing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_kernelbench.judge import kernel_names as names
from pytest_kernelbench.judge.crowding import TOO_CROWDED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_kernelbench.judge.wire import Profiled, Ran

OWN_SHARE = 0.02
"""Below this share of the time, a kernel is a decoy."""
_SHOWN = 8
_TOLD = 3
_LEAST_TOLD = 0.005
_MIXED_SHARE = 0.05
_GAP_SLACK_US = 1000.0
_OTHER = "other"
OUTSIDE = "outside operators"


@dataclass(frozen=True)
class Finding:
    """What ran."""

    shares: dict[str, float]
    """Share of the time by kernel or operator, the largest first, the rest as ``other``."""
    own: float | None = None
    """The share of the solution's own; None where it is not known."""
    accusation: str = ""
    """Why it is not a kernel, or empty."""
    note: str = ""
    """What a reader should know beside, or empty."""

    @property
    def is_kernel(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.accusation


@dataclass(frozen=True)
class _Part:
    name: str
    time_us: float
    own: bool | None
    """None: nobody knows whose."""


def find(profiled: Profiled, baseline: Profiled, *, on_device: bool) -> Finding:
    """Judge a solution's profile beside the reference's."""
    if profiled.refused and not baseline.note:
        return Finding(
            {}, accusation=f"it fails where one looks which kernels run: {profiled.note}"
        )
    for whose, one in (("the solution", profiled), ("the reference", baseline)):
        if one.note:
            return Finding({}, note=f"kernels not known: {whose}: {one.note}")
    return _on_device(profiled, baseline) if on_device else _on_host(profiled, baseline)


def _on_device(profiled: Profiled, baseline: Profiled) -> Finding:
    theirs = {row.name for row in baseline.rows if row.kind == "kernel"}
    if not theirs:
        return Finding(
            {}, note="kernels not known: the profiler saw none of the reference's either"
        )
    compiled = any(row.kind == "compiled" for row in profiled.rows)
    parts = [
        _Part(
            names.shortened(row.name),
            _sane(row.time_us),
            _owned(row, theirs, compiled=compiled),
        )
        for row in profiled.rows
        if row.kind == "kernel"
    ]
    if not parts:
        # Those of the reference were seen, by the same profiler on the same device.
        return Finding({}, accusation="no kernel of its own was seen: the profiler saw none at all")
    return _weighed(parts, "device time")


def _owned(row: Ran, theirs: set[str], *, compiled: bool) -> bool | None:
    if not row.name:
        return None
    return not (
        row.name in theirs
        or names.is_library_operator(row.within)
        or names.is_library_kernel(row.name, compiled=compiled)
    )


def _on_host(profiled: Profiled, baseline: Profiled) -> Finding:
    parts = [_host_part(row) for row in profiled.rows if row.kind != "kernel"]
    traced = any(part.own for part in parts)
    code = sorted(set(profiled.own_code) - set(baseline.own_code))
    interpreted = any(row.kind == "triton" for row in profiled.rows)
    gap_us = _sane(profiled.outside_us)
    if not code and not interpreted:
        parts.append(_Part(OUTSIDE, gap_us, own=False))
        shares = _shares(parts)
        text = f"no compiled code of its own ran: {_told(parts, own=False)}"
        return Finding(shares, 0.0, text)
    # The rest of their time is the dispatcher's, whoever calls it.
    parts = [part for part in parts if part.own or not names.is_idle_operator(part.name)]
    library_us = sum(part.time_us for part in parts if not part.own)
    counts = not traced or (not profiled.converts and gap_us > library_us + _GAP_SLACK_US)
    untraced_us = gap_us if counts else 0.0
    parts.append(_Part(OUTSIDE, untraced_us, own=True))
    weighed = _weighed(parts, "operator time")
    if weighed.is_kernel or not weighed.own or profiled.crowded < TOO_CROWDED:
        return weighed
    # What has threads that wait for a processor takes a hundred times its time: mostly libraries.
    crowd = f"other processes took {profiled.crowded:.0%} of the processors"
    return Finding(
        weighed.shares, note=f"kernels not known: {crowd} while {_told(parts, own=True)} ran"
    )


def _host_part(row: Ran) -> _Part:
    own = row.kind in ("call", "triton") or (
        row.kind == "operator" and not names.is_library_operator(row.name)
    )
    return _Part(names.shortened(row.name) or _OTHER, _sane(row.time_us), own=own)


def _weighed(parts: list[_Part], unit: str) -> Finding:
    own_us = sum(part.time_us for part in parts if part.own)
    total_us = own_us + sum(part.time_us for part in parts if part.own is False)
    if not total_us:
        return Finding({}, note="kernels not known: none took any time")
    shares, share = _shares(parts), own_us / total_us
    theirs = _told(parts, own=False)
    ours = _told(parts, own=True)
    if share < OWN_SHARE:
        decoy = f"; its own took {100 * share:.2g} % of the {unit}: {ours}" if own_us else ""
        return Finding(shares, share, f"only library kernels ran: {theirs}{decoy}")
    note = ""
    if 1 - share >= _MIXED_SHARE:
        note = f"{_percent(1 - share)} of {unit} in library kernels: {theirs}; own: {ours}"
    return Finding(shares, share, note=note)


def _by_name(parts: Iterable[_Part], *, own: bool | None = None) -> dict[str, float]:
    """Shares of the time of all ``parts``, the largest first; ``own`` keeps one kind."""
    times: dict[str, float] = defaultdict(float)
    total_us = 0.0
    for part in parts:
        total_us += part.time_us
        if own is None or part.own is own:
            times[part.name or _OTHER] += part.time_us
    ordered = sorted(times.items(), key=lambda item: (-item[1], item[0]))
    return {name: time_us / total_us for name, time_us in ordered if time_us > 0}


def _shares(parts: Iterable[_Part]) -> dict[str, float]:
    """The largest few, and ``other``."""
    shares = _by_name(parts)
    other = shares.pop(_OTHER, 0.0)
    kept = dict(list(shares.items())[:_SHOWN])
    other += sum(shares.values()) - sum(kept.values())
    rounded = {name: round(share, 4) for name, share in kept.items()}
    return rounded | ({_OTHER: round(other, 4)} if len(shares) > len(kept) or other > 0 else {})


def _told(parts: Iterable[_Part], *, own: bool) -> str:
    """``aten::mm 97 %, aten::add 3 %``: the largest few of one kind."""
    shares = _by_name(parts, own=own)
    large = [name for name, share in shares.items() if share >= _LEAST_TOLD][:_TOLD]
    told = [f"{name} {_percent(shares[name])}" for name in large] or list(shares)[:1]
    left = len(shares) - len(told)
    return (", ".join(told) + (f" and {left} more" if left else "")) or "nothing"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _sane(time_us: float) -> float:
    """A solution could say anything."""
    return time_us if math.isfinite(time_us) and time_us > 0 else 0.0
