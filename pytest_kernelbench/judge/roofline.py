"""The device's roof, measured once by the oracle and kept; a problem's work, for its floor."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from typing import TYPE_CHECKING

from pytest_kernelbench import __version__
from pytest_kernelbench.judge import questions
from pytest_kernelbench.timing.floor import Work
from pytest_kernelbench.timing.roof import Roof, load_roof, store_roof
from pytest_kernelbench.verdict import Roofline

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_kernelbench.judge.bench import Bench
    from pytest_kernelbench.judge.device import Device

_SURELY_READ = 4
"""A correct kernel may leave parts of an input unread.

The zero half of a triangle, or what a stride passes over. Where the reference itself leaves more
unread, its time says so (``race``).
"""


def roof_of(bench: Bench, device: Device, cache_dir: Path) -> Roof:
    """The stored roof of the device, or a new one."""
    versions = {"driver": device.driver, "torch": _torch(), "kernelbench": __version__}
    known = load_roof(cache_dir, device.uuid, versions)
    if known is not None:
        return known
    rates = bench.ask(questions.MeasureRates(), questions.Rates)
    roof = Roof(
        uuid=device.uuid,
        device=device.name,
        bandwidth_bytes_per_s=rates.bandwidth_bytes_per_s,
        flops_per_s=rates.flops_per_s,
        write_back_bytes=bench.prepared.l2_bytes,
        versions=versions,
    )
    # Only kept to spare the next session seconds: no verdict is lost for a full disk.
    with suppress(OSError):
        store_roof(cache_dir, roof)
    return roof


def _torch() -> str:
    """Of the installed one, which tells CUDA's, too: a referee does not import it."""
    try:
        return installed("torch")
    except PackageNotFoundError:
        return ""  # one that is only on the path has no metadata


def work_of(prepared: questions.Prepared, dtype: str) -> Work:
    """What a call is sure to move; all that it has; the arithmetic of the reference's operators."""
    read = sum(span.size_bytes for span in prepared.inputs)
    written = sum(span.size_bytes for span in prepared.outputs)
    state = sum(span.size_bytes for span in prepared.state)
    return Work(
        read_bytes=read // _SURELY_READ,
        written_bytes=written,
        flops={dtype: prepared.flops},
        moved_bytes=read + state + written,
    )


def roofline(work: Work, roof: Roof, dtype: str) -> Roofline:
    """Both for a record: a problem's work beside the rates of the device that it was done on."""
    return Roofline(
        moved_bytes=work.moved_bytes,
        flops=sum(work.flops.values()),
        bytes_per_s=roof.bandwidth_bytes_per_s,
        flops_per_s=roof.rate(dtype),
    )
