"""Lines of JSON: of whatever text there is, and those that a crash cut short."""

from __future__ import annotations

import msgspec

from pytest_kernelbench.texts import all_encodable


def json_bytes(value: object) -> bytes:
    """One value as JSON in UTF-8.

    A file may be named by bytes that are no text, and who names it may wish to end a session: what
    cannot be encoded becomes question marks.
    """
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(all_encodable(value, "replace"))


def cut_short(line: bytes, error: msgspec.MsgspecError, beginning: bytes) -> bool:
    """Whether a line that ``error`` says of that it is no record is the beginning of one.

    As it was being written when something went wrong, and not a whole line of something else.
    """
    whole = isinstance(error, msgspec.ValidationError)
    return not whole and (line.startswith(beginning) or beginning.startswith(line))
