"""Baselines that somebody measured before: KernelBench's ``results/timing/<hardware>/<name>.json``.

Their speedups stand beside the one measured here, which alone decides: the stored times come from
another protocol, and perhaps from another clock rate.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.catalog.naming import letters, level_of, parse
from pytest_kernelbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_kernelbench.verdict import Measurement, Verdict

_LIMIT_BYTES = 64 << 20
_NORMAL_95 = 1.96
_MEDIAN_TO_MEAN = math.sqrt(math.pi / 2)
"""How much less certain a median is than a mean, for times that scatter normally."""


@dataclass(frozen=True)
class Stored:
    """One problem's baseline."""

    mean_us: float
    error: float
    """Of the mean, as a share of it."""
    trials: int


@dataclass(frozen=True)
class StoredTimes:
    """A file of baselines. Made by ``read``."""

    name: str
    hardware: str
    """The device's name, as torch tells it."""
    times: Mapping[tuple[int, int], Stored]

    def fits(self, device: str) -> bool:
        """Whether the times come from a device of that name."""
        return letters(self.hardware) == letters(device)

    def refuse_other(self, device: str) -> None:
        """Raise ``UsageError`` where the times come from another device."""
        if not self.fits(device):
            message = (
                f"--kb-baseline-times: {self.name} was measured on {self.hardware!r}, but this "
                f"session judges on {device!r}; give --kb-foreign-baseline if that does not matter"
            )
            raise UsageError(message)

    def beside(self, verdict: Verdict) -> Verdict:
        """The verdict with one more measurement, if it was timed and a baseline is known."""
        stored = self.times.get((verdict.level, verdict.number))
        measured = verdict.measurement
        if stored is None or measured is None or not measured.time_us > 0:
            return verdict
        more = self._against(stored, measured)
        told = f"{more.speedup:.2f}x against {self.name}, whose times were not measured here"
        return replace(
            verdict,
            measurements=(*verdict.measurements, more),
            notes=(*verdict.notes, told),
        )

    def _against(self, stored: Stored, measured: Measurement) -> Measurement:
        speedup = stored.mean_us / measured.time_us
        spread = math.exp(_NORMAL_95 * math.hypot(stored.error, _error(measured)))
        return replace(
            measured,
            baseline=self.name,
            speedup=speedup,
            low=speedup / spread,
            high=speedup * spread,
            baseline_us=stored.mean_us,
            baseline_times_us=(),
            notes=(f"baseline stored, not measured here ({stored.trials} trials, KernelBench)",),
        )


def read(path: Path) -> StoredTimes:
    """Read a timing file. Raises ``UsageError`` with the place of what cannot be understood."""
    import msgspec

    from pytest_kernelbench.decoding import decoded

    try:
        if path.stat().st_size > _LIMIT_BYTES:
            message = f"{path} is longer than {_LIMIT_BYTES:,} bytes: no file of baselines is"
            raise UsageError(message)
        plain = decoded(path.read_bytes(), dict[str, dict[str, dict[str, Any]]])
    except (OSError, msgspec.MsgspecError) as error:
        message = f"{path} cannot be read as KernelBench's timing JSON: {error}"
        raise UsageError(message) from None
    times: dict[tuple[int, int], Stored] = {}
    hardware: set[str] = set()
    for group, files in plain.items():
        level = level_of(group)
        if level is None:
            message = f"{path}: {group!r} is no level; it must be level1, level2, ..."
            raise UsageError(message)
        for name, entry in files.items():
            number = parse(name).number
            if number is None:
                message = f"{path}: {group}/{name}: the name does not begin with a number"
                raise UsageError(message)
            times[level, number] = _stored(entry, f"{path}: {group}/{name}")
            hardware.add(str(entry.get("hardware", "")))
    if len(hardware) != 1:
        told = ", ".join(sorted(hardware)) or "nothing"
        message = f"{path}: its times must be of one device, but it names {told}"
        raise UsageError(message)
    return StoredTimes(f"{path.parent.name}/{path.stem}", hardware.pop(), times)


def _stored(entry: Mapping[str, Any], place: str) -> Stored:
    values = [entry.get(name) for name in ("mean", "std", "num_trials")]
    if not all(_is_number(value) for value in values):
        message = f"{place}: mean, std and num_trials must be numbers, but are {values}"
        raise UsageError(message)
    mean_ms, std_ms, trials = (float(value) for value in values if value is not None)
    if mean_ms <= 0 or std_ms < 0 or trials < 1:
        message = f"{place}: a mean of {mean_ms} ms with std {std_ms} of {trials:g} trials"
        raise UsageError(message + " is no measurement")
    return Stored(mean_ms * 1e3, std_ms / mean_ms / math.sqrt(trials), int(trials))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _error(measured: Measurement) -> float:
    """Of the median of the solution's times, as a share of it."""
    times = measured.times_us
    if len(times) <= 1:
        return 0.0
    error_us = _MEDIAN_TO_MEAN * statistics.stdev(times) / math.sqrt(len(times))
    return error_us / measured.time_us
