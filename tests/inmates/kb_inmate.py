"""What runs inside the walls in tests: it does what it is told and says what came of it."""

from __future__ import annotations

import socket
from typing import Any

import msgspec

from pytest_kernelbench.sandbox.channel import Channel, Closed


class Do(msgspec.Struct, tag=True):
    """Run ``code``; it leaves its answer in ``said``."""

    code: str


class Said(msgspec.Struct, tag=True):
    """``said``, or the exception."""

    text: str


def main(sock: socket.socket) -> None:
    """Answer until the channel closes."""
    channel: Channel[Do] = Channel(sock, Do)
    while True:
        try:
            order, _ = channel.receive()
        except Closed:
            return
        names: dict[str, Any] = {"said": "done", "sock": sock}
        try:
            exec(order.code, names)  # noqa: S102 - code of the test itself
            text = str(names["said"])
        except BaseException as error:  # noqa: BLE001 - to be told, whatever it is
            text = f"{type(error).__name__}: {error}"
        channel.send(Said(text))


def nothing(_: socket.socket) -> None:
    """End at once."""
