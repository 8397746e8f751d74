"""What travels between a session and the nodes of a cluster.

Typed msgpack of bounded size, both ways. Ray itself pickles arguments and results; it is given
nothing but bytes, so that no object is ever built from what came near a solution.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

import pytest_kernelbench
from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.errors import MachineError
from pytest_kernelbench.judge.device import Device
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Verdict

LIMIT_BYTES = 64 << 20
"""Of one message. Sources and logs have smaller limits of their own."""


class File(msgspec.Struct, frozen=True):
    """A file by its name relative to a folder that the receiver chooses."""

    name: str
    data: bytes


class Sender(msgspec.Struct, frozen=True):
    """What an order of any version can be read as, to know whose it is."""

    judge: str


class Order(msgspec.Struct, frozen=True):
    """One pair, with all that a node needs of it."""

    judge: str
    """``identity()`` of the session's package: a node with another one refuses. Empty: it is the
    session's own machine."""
    settings: Settings
    problem: Problem
    problem_file: File
    solution: Solution
    files: tuple[File, ...]
    """The solution and what belongs to it; the first is imported."""
    capability: str | None
    """Of the devices that will judge: what to compile for."""
    environment: dict[str, str]
    """Variables that change how fast a CPU computes, as the session has them."""
    earlier: Solution | None = None
    earlier_files: tuple[File, ...] = ()
    """The same solution as it was, to be timed against (``--kb-compare``)."""
    cache: str = ""
    """Where builds are kept; empty: a private folder of the node's own."""

    @property
    def pair(self) -> Pair:
        """As the session calls it: the paths are the session's."""
        return Pair(self.problem, self.solution, self.earlier)


class Seen(msgspec.Struct, frozen=True):
    """What a node says of itself."""

    judge: str
    device: Device


class Built(msgspec.Struct, frozen=True):
    """How a build ended; the extension itself travels beside it, as bytes that nobody decodes."""

    verdict: Verdict | None = None
    """If the pair ended here."""
    log: bytes = b""
    seconds: float = 0.0
    cached: bool = False


class Judged(msgspec.Struct, frozen=True):
    """How a pair ended, and where."""

    verdict: Verdict
    log: bytes
    node: str


Message = TypeVar("Message", bound=msgspec.Struct)


def encode(message: msgspec.Struct) -> bytes:
    """A message as bytes."""
    return msgspec.msgpack.encode(message, enc_hook=str)


def decode(data: object, kind: type[Message]) -> Message:
    """A message of one kind; raises ``MachineError`` on anything else."""
    if not isinstance(data, bytes) or len(data) > LIMIT_BYTES:
        size = f"{len(data):,} bytes" if isinstance(data, bytes) else type(data).__name__
        message = f"a node of the cluster sent {size} where a {kind.__name__} was awaited"
        raise MachineError(message)
    try:
        return msgspec.msgpack.decode(data, type=kind, dec_hook=_path)
    except (msgspec.MsgspecError, RecursionError) as error:
        message = f"a node of the cluster sent no {kind.__name__} that can be read: {error}"
        raise MachineError(message) from None


def _path(kind: type, value: Any) -> Any:  # noqa: ANN401 - as msgspec has it
    if issubclass(kind, Path) and isinstance(value, str):
        return kind(value)
    message = f"{kind.__name__} is not sent"
    raise NotImplementedError(message)


def unlike(node: str, session: str) -> str:
    """What is said of a node whose judge is not the session's, by the identities of both."""
    return (
        f"a node of the cluster has pytest-kernelbench {node}, the session has {session}: "
        "install the same on every node"
    )


@cache
def identity() -> str:
    """The package's version and a hash of its sources: the same judge on every machine."""
    package = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")) + sorted(package.rglob("*.cu")):
        digest.update(str(path.relative_to(package)).encode() + b"\0" + path.read_bytes())
    return f"{pytest_kernelbench.__version__}-{digest.hexdigest()[:12]}"
