"""Waiting in tests: for what is to happen, and for what is not to wait itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

PATIENCE_S = 30.0
"""Only so that what hangs is a failure: on a busy machine everything may take long."""


def wait_until(true: Callable[[], bool]) -> None:
    """Until it is so."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline_s
        time.sleep(0.005)


def ends(action: Callable[[], object]) -> None:
    """Do it; it must end while what it might wait for cannot happen."""
    doing = threading.Thread(target=action, daemon=True)
    doing.start()
    doing.join(PATIENCE_S)
    assert not doing.is_alive(), "it waits"
