"""Environment variables that hold for a while: other people's tasks may run in the same process."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@contextmanager
def environment(values: Mapping[str, str | None]) -> Iterator[None]:
    """Set variables (None: unset them), and put everything back afterwards."""
    before = {name: os.environ.get(name) for name in values}
    before_temporary = tempfile.tempdir
    _set(values)
    tempfile.tempdir = None  # to be found out anew, by TMPDIR
    try:
        yield
    finally:
        _set(before)
        tempfile.tempdir = before_temporary


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
