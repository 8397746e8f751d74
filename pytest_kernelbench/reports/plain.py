"""JSON of whatever text there is."""

from __future__ import annotations

from typing import Any

import msgspec


def json_bytes(value: object) -> bytes:
    """One value as JSON in UTF-8.

    A file may be named by bytes that are no text, and who names it may wish to end a session: what
    cannot be encoded becomes question marks.
    """
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_encodable(value))


def _encodable(value: Any) -> Any:  # noqa: ANN401 - any of JSON's kinds
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(each) for each in value]
    return value
