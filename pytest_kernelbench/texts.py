"""Text that strangers wrote, as a terminal, a table, XML and JSON can hold it."""

from __future__ import annotations

import re
from textwrap import indent
from typing import Any

import msgspec

_COMMANDS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters but for tabs and line ends; line ends and changes of direction of Unicode."""
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def printable(text: str) -> str:
    """``text`` with what would move a cursor, ring a bell or turn letters round spelled out."""
    return _COMMANDS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def encodable(text: str, errors: str = "backslashreplace") -> str:
    """``text`` without halves of pairs of UTF-16, which no file and no message can hold.

    ``errors`` names what stands in their place, as ``str.encode`` has it.
    """
    return text.encode("utf-8", errors).decode()


def in_xml(text: str, instead: str = "\ufffd") -> str:
    """``text`` without what XML 1.0 cannot hold, not even escaped: a solution may have said it."""
    return _NOT_XML.sub(instead, text)


def all_encodable(value: Any, errors: str = "backslashreplace") -> Any:  # noqa: ANN401 - of JSON's
    """The same for every text in nested dicts, lists and tuples."""
    if isinstance(value, str):
        return encodable(value, errors)
    if isinstance(value, dict):
        return {
            all_encodable(key, errors): all_encodable(each, errors) for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [all_encodable(each, errors) for each in value]
    return value


def json_bytes(value: object) -> bytes:
    """One value as JSON in UTF-8.

    A file may be named by bytes that are no text, and who names it may wish to end a session: what
    cannot be encoded becomes question marks.
    """
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(all_encodable(value, "replace"))


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
    decent = encodable(text, "replace")
    return one_line(decent) == decent
