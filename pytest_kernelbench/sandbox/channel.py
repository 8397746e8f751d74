"""Length-prefixed, typed messages over a Unix socket, with descriptors beside them.

The reader names the types it accepts; anything else (a wrong tag, a short frame, a frame over the
limit) is a ``Garbled`` channel. Nothing is unpickled: msgpack decodes to numbers, strings, bytes
and the named structs.
"""

from __future__ import annotations

import array
import contextlib
import os
import select
import socket
import struct
import time
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from pytest_kernelbench.sandbox.descriptors import send_with
from pytest_kernelbench.texts import all_encodable

if TYPE_CHECKING:
    from collections.abc import Iterable

HEADER = struct.Struct("<I")
MAX_FDS = 8
_FIRST_BYTES = 1024

Message = TypeVar("Message")


class ChannelError(Exception):
    """The other side cannot be talked to any more."""


class Closed(ChannelError):  # noqa: N818 - a state, no error of ours
    """The other side closed its end (usually: its process died)."""


class Silent(ChannelError):  # noqa: N818 - likewise
    """Nothing came before the deadline."""


class Garbled(ChannelError):  # noqa: N818 - likewise
    """What came is no message: forged, cut short, or over the limit."""


class Channel(Generic[Message]):
    """One end of a socket pair.

    ``accepts`` is the type (a union of tagged structs) of what may come in; ``limit_bytes`` bounds
    one message.
    """

    def __init__(self, sock: socket.socket, accepts: object, limit_bytes: int = 16 << 20) -> None:
        self.socket = sock
        self.limit_bytes = limit_bytes
        self._decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(accepts)
        self._encoder = msgspec.msgpack.Encoder()
        self._poller = select.poll()
        self._poller.register(sock, select.POLLIN)
        self._outlet = select.poll()
        self._outlet.register(sock, select.POLLOUT)

    def send(
        self,
        message: msgspec.Struct,
        fds: tuple[int, ...] = (),
        timeout_s: float | None = None,
    ) -> None:
        """Send one message; ``fds`` are duplicated into the other process.

        Raises ``Silent`` where the other side has not read all of it before the deadline.
        """
        try:
            body = self._encoder.encode(message)
        except UnicodeEncodeError:  # half a pair of UTF-16, out of a solution's own words
            body = self._encoder.encode(
                all_encodable(msgspec.to_builtins(message, builtin_types=(bytes,)))
            )
        left = memoryview(HEADER.pack(len(body)) + body)
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            if fds:
                _wait(self._outlet, deadline)  # for room: the first piece then goes at once
                left = left[send_with(self.socket, bytes(left[:_FIRST_BYTES]), fds) :]
            while left:
                _wait(self._outlet, deadline)
                with contextlib.suppress(BlockingIOError):
                    left = left[self.socket.send(left, socket.MSG_DONTWAIT) :]
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Closed(str(error)) from None

    def receive(self, timeout_s: float | None = None) -> tuple[Message, tuple[int, ...]]:
        """The next message and the descriptors that came with it (the caller's to close)."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        fds: list[int] = []
        try:
            body = self._take(self._length(deadline, fds), deadline, fds)
            return self._decoder.decode(body), tuple(fds)
        except (msgspec.DecodeError, RecursionError) as error:
            close_all(fds)
            raise Garbled(f"not a message of this protocol: {error}") from None
        except BaseException:
            close_all(fds)
            raise

    def waiting(self, wait_s: float = 0.0) -> bool:
        """Whether something (or the end) can be received, at once or within ``wait_s``."""
        return bool(self._poller.poll(wait_s * 1000))

    def close(self) -> None:
        """Close this end."""
        self.socket.close()

    def _length(self, deadline: float | None, fds: list[int]) -> int:
        length: int
        (length,) = HEADER.unpack(self._take(HEADER.size, deadline, fds))
        if length > self.limit_bytes:
            message = f"a message of {length} bytes is over the limit of {self.limit_bytes}"
            raise Garbled(message)
        return length

    def _take(self, size: int, deadline: float | None, fds: list[int]) -> bytes:
        data = bytearray()
        while len(data) < size:
            _wait(self._poller, deadline)
            try:
                piece, got = _receive_fds(self.socket, size - len(data))
            except ConnectionResetError as error:
                raise Closed(str(error)) from None
            fds.extend(got)
            if len(fds) > MAX_FDS:
                raise Garbled(f"more than {MAX_FDS} descriptors came with one message")
            if not piece:
                raise Closed("the other side closed the channel")
            data += piece
        return bytes(data)


def _wait(poller: select.poll, deadline: float | None) -> None:
    if deadline is None:
        poller.poll()
        return
    left_s = deadline - time.monotonic()
    if left_s <= 0 or not poller.poll(left_s * 1000):
        raise Silent("no answer before the deadline")


def _receive_fds(sock: socket.socket, size: int) -> tuple[bytes, tuple[int, ...]]:
    room = socket.CMSG_SPACE(MAX_FDS * array.array("i").itemsize)
    piece, ancillary, _, _ = sock.recvmsg(size, room, socket.MSG_CMSG_CLOEXEC)
    found = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            found.frombytes(data[: len(data) - len(data) % found.itemsize])
    return piece, tuple(found)


def close_all(fds: Iterable[int]) -> None:
    """Close descriptors that came with a message."""
    for fd in fds:
        os.close(fd)
