"""Processors kept busy by others while the judge is judged."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BURN = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(10**6))"
"""Ends with whoever started it."""


@contextmanager
def burning(count: int | None = None) -> Iterator[None]:
    """Have ``count`` processes that never rest, by default one a processor of ours."""
    count = len(os.sched_getaffinity(0)) if count is None else count
    with ExitStack() as stack:
        for _ in range(count):
            burner = subprocess.Popen([sys.executable, "-I", "-c", _BURN])
            stack.callback(burner.wait)
            stack.callback(burner.kill)
        yield
