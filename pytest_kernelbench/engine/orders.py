"""What the engine and the process that judges on one device say to each other."""

from __future__ import annotations

import msgspec

from pytest_kernelbench.verdict import Verdict


class Order(msgspec.Struct, tag=True):
    """First ``(Settings, Device, controls)``, from then on ``(Pair, Extension)``: judge it there.

    Pickled, since it comes from the process that made the socket, and nobody else has its end.
    """

    pickled: bytes


class Waiting(msgspec.Struct, tag=True):
    """Somebody else holds the device: says who."""

    text: str


class Judged(msgspec.Struct, tag=True):
    """The verdict."""

    verdict: Verdict


class Failed(msgspec.Struct, tag=True):
    """There is none: the machine failed, or the judge did."""

    text: str
    again: bool
    """Whether another process may fare better."""


Answer = Waiting | Judged | Failed
LIMIT_BYTES = 64 << 20
