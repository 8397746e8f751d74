"""Host memory that a runner may have, so that the judge outlives it.

Half of what is free at most, or 4 GiB where that is more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from pytest_kernelbench.judge.questions import Prepared

_LEAST_BYTES = 4 << 30
"""What importing torch reserves is counted too."""
_ALWAYS_BYTES = 16 << 30
"""Libraries, a CUDA context, compilers and their workers."""
_TIMES = 16


def process_bytes() -> int:
    """For one process on a CPU."""
    return max(_LEAST_BYTES, psutil.virtual_memory().available // 2)


def runner_bytes(prepared: Prepared) -> int:
    """For a runner and all that it starts: many times what the problem itself has."""
    outputs = sum(span.size_bytes for span in prepared.outputs)
    needed = prepared.inputs_bytes + prepared.state_bytes + outputs
    return min(process_bytes(), _ALWAYS_BYTES + _TIMES * needed)
