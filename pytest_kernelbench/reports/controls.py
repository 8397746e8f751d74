"""What the A/A control says of a session, and whether it could have told small differences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_kernelbench.reports import terminal
from pytest_kernelbench.timing.interval import Interval

if TYPE_CHECKING:
    from pytest_kernelbench.verdict import Measurement

_WIDE = 0.1
_TOO_NOISY = (
    "it is known no better than that, since this machine is too busy or noisy to tell small "
    "differences"
)


def control_line(measured: Measurement) -> str:
    """``reference against itself: ...``, with a remark where the interval is wide."""
    interval = Interval(measured.speedup, measured.low, measured.high)
    told = terminal.control(measured)
    # Where it misses 1 there is a remark already.
    wide = _WIDE < interval.width < math.inf and not interval.decides(1.0)
    return f"{told}; {_TOO_NOISY}" if wide else told
