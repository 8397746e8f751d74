"""Readers of option texts: each gives a value, or says in a ValueError what it wanted."""

from __future__ import annotations

import math
import re
from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable

_T = TypeVar("_T")


def argument(reader: Callable[[str], _T]) -> Callable[[str], _T]:
    """A reader as argparse wants its types: what it says is the message."""

    def read(text: str) -> _T:
        try:
            return reader(text)
        except ValueError as error:
            raise ArgumentTypeError(str(error)) from error

    return read


def add_size(parser: ArgumentParser) -> None:
    """Declare ``--size``, as every command has it that runs problems."""
    parser.add_argument(
        "--size",
        choices=("auto", "smoke", "full"),
        default="auto",
        help="auto takes full on a GPU and smoke on a CPU (default: %(default)s)",
    )


def whole(least: int) -> Callable[[str], int]:
    """A whole number of at least ``least``."""

    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]+", text) or int(text) < least:
            message = f"{text!r} is not a whole number of at least {least}"
            raise ValueError(message)
        return int(text)

    return read


def real(least: float, *, above: bool = False) -> Callable[[str], float]:
    """A finite number of at least ``least``, or above it."""

    def read(text: str) -> float:
        bound = f"{'above' if above else 'of at least'} {least:g}"
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < least or (above and value == least):
            message = f"{text!r} is not a number {bound}"
            raise ValueError(message)
        return value

    return read


def choice(*words: str) -> Callable[[str], str]:
    """One of ``words``."""

    def read(text: str) -> str:
        if text not in words:
            message = f"{text!r} is none of {', '.join(words)}"
            raise ValueError(message)
        return text

    return read


def word(text: str) -> str:
    """Any text but none."""
    if not text:
        message = "it needs a name, but is empty"
        raise ValueError(message)
    return text


def device(text: str) -> str:
    """``auto``, ``cpu``, ``cuda`` or ``cuda:N``."""
    if not re.fullmatch(r"auto|cpu|cuda(:[0-9]+)?", text):
        message = f"{text!r} is none of auto, cpu, cuda, cuda:N"
        raise ValueError(message)
    return text


def address(text: str) -> str:
    """``auto`` or ``HOST:PORT``."""
    if text != "auto" and not re.fullmatch(r"(\[[0-9a-fA-F:]+\]|[^\s:/]+):[0-9]{1,5}", text):
        message = f"{text!r} is neither auto nor HOST:PORT, as in 10.0.0.1:6379"
        raise ValueError(message)
    return text


def problem(text: str) -> str:
    """``1/19``, also written ``01/019`` or ``level1/019``; the name of a file stays as it is."""
    if text.endswith(".py"):
        return text
    match = re.fullmatch(r"(?:level)?([0-9]+)/([0-9]+)", text)
    if match is None:
        message = f"{text!r} is neither LEVEL/NUMBER, as in 1/19, nor a file that ends in .py"
        raise ValueError(message)
    return f"{int(match[1])}/{int(match[2])}"


def gate(text: str) -> tuple[int | None, float]:
    """``0.5`` for every level as ``(None, 0.5)``, ``2:0.5`` for level 2 as ``(2, 0.5)``."""
    level, colon, share = text.rpartition(":")
    value = real(0)(share)
    if value > 1:
        message = f"{share!r} is above 1, but fast_p is a share of problems"
        raise ValueError(message)
    return (whole(1)(level) if colon else None), value


def percent(text: str) -> float:
    """``5%`` as 0.05; also written ``0.05``."""
    digits, sign, rest = text.partition("%")
    value = real(0)(digits.strip()) / (100 if sign else 1)
    if rest or (not sign and value >= 1):
        message = f"{text!r} is neither a percentage, as in 5%, nor a share below 1, as in 0.05"
        raise ValueError(message)
    return value


def commit(text: str) -> str:
    """A commit as git names it; nothing that git would take for an option."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_./@{}~^-]*", text):
        message = f"{text!r} is no name of a commit, as in origin/main or HEAD~3"
        raise ValueError(message)
    return text
