"""What Ray runs on a node: functions from bytes to bytes, which raise nothing of their own.

Ray imports them by name from the package that is installed on the node. What they raise would be
pickled; therefore each failure is a verdict.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.endings import ended_by
from pytest_kernelbench.engine.cluster.messages import (
    Built,
    Judged,
    Order,
    Seen,
    Sender,
    decode,
    encode,
    identity,
    unlike,
)
from pytest_kernelbench.engine.cluster.site import Site
from pytest_kernelbench.engine.cluster.surroundings import environment
from pytest_kernelbench.engine.devices import find_device
from pytest_kernelbench.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Hashable
    from contextlib import AbstractContextManager

# The one thing that outlives a task: a process that Ray keeps runs many of them, and would have to
# import torch for each.
_kept: dict[Hashable, Site] = {}
_keeping = threading.Lock()
_UNREAD = Pair(Problem(Path(), 0, 0, ""), Solution(Path(), ""))
"""The pair of an order that cannot be read: the session knows which one it asked for."""


def look(device: str) -> bytes:
    """The device that a task of this kind is given, and whose judge it will meet."""
    return encode(Seen(identity(), find_device(device)))


def build(data: bytes) -> tuple[bytes, bytes]:
    """``Built``, and the extension."""
    pair = _UNREAD
    try:
        order = _order(data)
        pair = order.pair
        with _surroundings(order):
            built, parcel = _site(order).build(order)
    except Exception as error:  # noqa: BLE001 - see above
        built, parcel = Built(ended_by(error, pair)), b""
    return encode(built), parcel


def judge(data: bytes, built: bytes, parcel: bytes) -> bytes:
    """``Judged``."""
    import ray

    pair, node = _UNREAD, ray.get_runtime_context().get_node_id()
    try:
        order = _order(data)
        pair = order.pair
        with _surroundings(order):
            judged = _site(order).judge(order, decode(built, Built), parcel, node)
    except Exception as error:  # noqa: BLE001 - see above
        judged = Judged(ended_by(error, pair), b"", node)
    return encode(judged)


def _order(data: bytes) -> Order:
    """Raises ``MachineError`` where it is of another judge, whose orders may have another form."""
    session = decode(data, Sender).judge
    if session and session != identity():
        raise MachineError(unlike(identity(), session))
    return decode(data, Order)


def _surroundings(order: Order) -> AbstractContextManager[None]:
    """As the session's: Ray sets this one by the number of CPUs of the task."""
    return environment({"OMP_NUM_THREADS": None, **order.environment})


def _site(order: Order) -> Site:
    """This process's, as long as the next order wants the same."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    wanted = (order.settings, order.capability, order.cache, visible)
    with _keeping:
        if wanted not in _kept:
            while _kept:
                _kept.popitem()[1].close()
            _kept[wanted] = Site(order.settings, order.capability, order.cache)
        return _kept[wanted]
