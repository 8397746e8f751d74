"""TOML files, read strictly: what is not known is refused, with the place."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from pytest_kernelbench.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:  # pytest brings it along
    import tomli as tomllib

if TYPE_CHECKING:
    from pathlib import Path

_T = TypeVar("_T")


def read_toml(path: Path, kind: type[_T]) -> _T:
    """The file's content as ``kind``; raises ``UsageError`` on anything that does not fit it."""
    try:
        plain: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        return msgspec.convert(plain, kind)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise UsageError(message) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"{path} is no TOML: {error}"
        raise UsageError(message) from error
    except msgspec.ValidationError as error:
        message = f"{path}: {error}"
        raise UsageError(message) from error
