"""Lines of JSON that a crash cut short."""

from __future__ import annotations

import msgspec


def cut_short(line: bytes, error: msgspec.MsgspecError, beginning: bytes) -> bool:
    """Whether a line that ``error`` says of that it is no record is the beginning of one.

    As it was being written when something went wrong, and not a whole line of something else.
    """
    whole = isinstance(error, msgspec.ValidationError)
    return not whole and (line.startswith(beginning) or beginning.startswith(line))
