"""Memory into which outputs are read is there before anybody stands still for it."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

from pytest_kernelbench.judge.host_trial import HostTrial
from pytest_kernelbench.judge.wire import Span

SIZE_BYTES = 1 << 20


def test_each_output_has_its_pages_before_it_is_read() -> None:
    outputs = tuple(Span("float32", (SIZE_BYTES // 4,), 0, SIZE_BYTES) for _ in range(3))
    prepared = SimpleNamespace(forward_us=1.0, outputs=outputs, inputs_bytes=0)
    bench: Any = SimpleNamespace(prepared=prepared, pids=lambda _: [])
    trial = HostTrial(bench, None)  # type: ignore[arg-type]
    try:
        found = [there(trial.arena.fd, slot) for slot in trial._slots]
    finally:
        trial.close()
    assert found == [SIZE_BYTES] * 3


def there(fd: int, offset: int) -> int:
    """So many bytes from ``offset`` on have pages."""
    if os.lseek(fd, offset, os.SEEK_DATA) != offset:
        return 0
    return os.lseek(fd, offset, os.SEEK_HOLE) - offset
