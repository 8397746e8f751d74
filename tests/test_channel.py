"""Whatever the other side of a channel writes: a message of the protocol, or a named failure."""

from __future__ import annotations

import errno
import os
import pickle
import resource
import socket
import struct
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from pytest_kernelbench.sandbox.channel import MAX_FDS, Channel, Closed, Garbled, Silent


class Ping(msgspec.Struct, frozen=True, tag=True, array_like=True):
    number: int


class Pong(msgspec.Struct, frozen=True, tag=True, array_like=True):
    text: str


Ends = tuple[Channel[Ping | Pong], socket.socket]


@pytest.fixture
def ends() -> Iterator[Ends]:
    ours, theirs = socket.socketpair()
    yield Channel(ours, Ping | Pong, limit_bytes=1 << 16), theirs
    ours.close()
    theirs.close()


def frame(body: bytes) -> bytes:
    return struct.pack("<I", len(body)) + body


def test_a_message_and_its_descriptor_arrive(ends: Ends) -> None:
    channel, theirs = ends
    with tempfile.TemporaryFile() as file:
        file.write(b"shared")
        file.flush()
        Channel[Ping | Pong](theirs, Ping).send(Pong("hello"), (file.fileno(),))
        message, (fd,) = channel.receive(1)
    assert message == Pong("hello")
    assert os.pread(fd, 6, 0) == b"shared"
    os.close(fd)


class Report(msgspec.Struct, frozen=True, tag=True):
    names: dict[str, tuple[str, ...]]
    data: bytes
    pong: Pong


def test_text_that_cannot_be_encoded_arrives_spelled_out() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        half = "half a pair \ud83d"
        Channel[Any](theirs, Ping).send(Report({half: (half, "äö")}, b"\xff", Pong(half)))
        message, _ = Channel[Any](ours, Report).receive(1)
        Channel[Any](theirs, Ping).send(Pong(half))
        pong, _ = Channel[Any](ours, Pong).receive(1)
    told = r"half a pair \ud83d"
    assert message == Report({told: (told, "äö")}, b"\xff", Pong(told))
    assert pong == Pong(told)


def test_descriptors_in_flight_are_sent_with_all_that_one_may_have(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel counts those of all the user's processes, and asks the sender's limit."""
    channel, theirs = ends
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    really, tries = socket.send_fds, []

    def send_fds(*arguments: Any) -> int:
        tries.append(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        if tries[-1] < hard:
            raise OSError(errno.ETOOMANYREFS, os.strerror(errno.ETOOMANYREFS))
        return really(*arguments)

    monkeypatch.setattr(socket, "send_fds", send_fds)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard // 2, hard))
    try:
        Channel[Ping | Pong](theirs, Ping).send(Pong("hello"), (theirs.fileno(),))
        _, (fd,) = channel.receive(1)
        os.close(fd)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert tries == [hard // 2, hard]


FORGED = {
    "another tag": msgspec.msgpack.encode(["Verdict", "fast"]),
    "another type": msgspec.msgpack.encode(["Ping", "many"]),
    "a map": msgspec.msgpack.encode({"type": "Ping", "number": 1, "status": "fast"}),
    "too few fields": msgspec.msgpack.encode(["Ping"]),
    "a pickle": pickle.dumps(Ping(1).__class__),
    "JSON": b'["Ping", 1]',
    "nothing": b"",
    "bytes left over": msgspec.msgpack.encode(Ping(1)) + b"!",
    "nesting": b"\x91" * 60_000,
    "nesting behind a message": b"\x93\xa4Ping\x01" + b"\x91" * 50_000 + b"\xc0",
}


@pytest.mark.parametrize("body", FORGED.values(), ids=FORGED.keys())
def test_a_forged_frame_is_garbled(ends: Ends, body: bytes) -> None:
    channel, theirs = ends
    theirs.sendall(frame(body))
    with pytest.raises(Garbled):
        channel.receive(1)


def test_a_length_over_the_limit_is_garbled_before_any_memory_is_taken(ends: Ends) -> None:
    channel, theirs = ends
    theirs.sendall(struct.pack("<I", 0xFFFFFFF0))
    with pytest.raises(Garbled, match="over the limit of 65536"):
        channel.receive(1)


def test_a_frame_cut_short_by_the_end_is_closed(ends: Ends) -> None:
    channel, theirs = ends
    theirs.sendall(frame(msgspec.msgpack.encode(Ping(1)))[:-1])
    theirs.close()
    with pytest.raises(Closed):
        channel.receive(1)


def test_a_frame_that_is_never_finished_ends_at_the_deadline(ends: Ends) -> None:
    channel, theirs = ends
    theirs.sendall(struct.pack("<I", 100) + b"0123456789")
    start = time.monotonic()
    with pytest.raises(Silent):
        channel.receive(0.1)
    assert time.monotonic() - start < 2


def test_descriptors_of_a_forged_message_are_closed(ends: Ends) -> None:
    channel, theirs = ends
    before = len(os.listdir("/proc/self/fd"))
    with tempfile.TemporaryFile() as file:
        socket.send_fds(theirs, [frame(b"junk")], [file.fileno()])
    with pytest.raises(Garbled):
        channel.receive(1)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_flood_of_descriptors_is_garbled_and_closed(ends: Ends) -> None:
    channel, theirs = ends
    before = len(os.listdir("/proc/self/fd"))
    with tempfile.TemporaryFile() as file:
        for byte in struct.pack("<I", 100) + bytes(8):
            socket.send_fds(theirs, [bytes([byte])], [file.fileno()] * (MAX_FDS // 2))
    with pytest.raises(Garbled, match="descriptors"):
        channel.receive(1)
    assert len(os.listdir("/proc/self/fd")) == before


def test_sending_to_the_dead_is_closed(ends: Ends) -> None:
    channel, theirs = ends
    theirs.close()
    with pytest.raises(Closed):
        channel.send(Ping(1))


@pytest.mark.parametrize("with_descriptor", [False, True])
def test_a_send_that_nobody_reads_ends_at_the_deadline(
    ends: Ends,
    with_descriptor: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    channel, _ = ends
    fds = (0,) if with_descriptor else ()
    start = time.monotonic()
    with pytest.raises(Silent):
        channel.send(Pong("x" * (4 << 20)), fds, timeout_s=0.2)
    assert time.monotonic() - start < 5


def test_a_long_message_arrives_piece_by_piece() -> None:
    ours, theirs = socket.socketpair()
    sender, reader = Channel[Pong](ours, Pong), Channel[Pong](theirs, Pong)
    text = "".join(map(str, range(1 << 20)))
    with tempfile.TemporaryFile() as file, ThreadPoolExecutor(1) as pool:
        sent = pool.submit(sender.send, Pong(text), (file.fileno(),), 20.0)
        message, (fd,) = reader.receive(20)
        sent.result()
    os.close(fd)
    assert message == Pong(text)
    sender.close()
    reader.close()
