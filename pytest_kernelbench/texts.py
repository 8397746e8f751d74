"""Text that strangers wrote, as a terminal and a table can show it."""

from __future__ import annotations

import re
from textwrap import indent

_COMMANDS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters but for tabs and line ends; line ends and changes of direction of Unicode."""


def printable(text: str) -> str:
    """``text`` with what would move a cursor, ring a bell or turn letters round spelled out."""
    return _COMMANDS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def hanging(text: str) -> str:
    """``text`` with all of its lines but the first set in.

    What a solution wrote is printed among lines of pytest's and ours: none of its lines may begin
    where those do, or it could say of itself that it passed.
    """
    first, end, rest = text.partition("\n")
    return first + end + indent(rest, " " * 4)


def one_line(text: str) -> str:
    """``printable`` for a name, which has no lines and no tabs."""
    return printable(text).replace("\n", r"\x0a").replace("\t", r"\x09")


def showable(text: str) -> bool:
    """Whether a name commands nothing and is one line; bytes that are no text do no harm."""
    decent = text.encode(errors="replace").decode()
    return one_line(decent) == decent
