"""JSON that strangers wrote, read with care."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

_T = TypeVar("_T")
_MOST_LEVELS = 100
"""Nobody writes more; and whoever goes through a value later on must be able to, however deep in
calls it is by then."""
_TOO_DEEP = f"it is nested more than {_MOST_LEVELS} deep"


def decoded(data: bytes | str, kind: type[_T]) -> _T:
    """The value, as ``kind`` (``object`` for any).

    Raises ``msgspec.MsgspecError`` whatever is wrong; ``ValidationError``, which is one, where it
    may be JSON and is not of that kind, or nested too deep.
    """
    try:
        raw = data.encode() if isinstance(data, str) else data
        value: Any = msgspec.json.decode(raw, type=kind)
    except RecursionError:
        raise msgspec.ValidationError(_TOO_DEEP) from None
    except UnicodeError as error:
        raise msgspec.DecodeError(f"it is no text: {error}") from None
    if raw.count(b"[") + raw.count(b"{") > _MOST_LEVELS and _is_deep(value):
        raise msgspec.ValidationError(_TOO_DEEP)
    found: _T = value
    return found


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(_MOST_LEVELS):
        inner: list[object] = []
        for each in level:
            inner += each if isinstance(each, list) else ()
            inner += each.values() if isinstance(each, dict) else ()
        if not inner:
            return False
        level = inner
    return True
