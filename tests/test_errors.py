"""The tree of errors is as its picture has it."""

from __future__ import annotations

import re

from pytest_kernelbench import errors

DRAWN = re.compile(r"(?m)^    ( *)([A-Z]\w+)")


def test_every_error_is_drawn_below_what_it_is_a_kind_of() -> None:
    drawn, above = {}, list[str]()
    for indent, name in DRAWN.findall(errors.__doc__ or ""):
        above[len(indent) // 2 :] = [name]
        drawn[name] = above[-2] if len(above) > 1 else "Exception"
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    assert drawn == {kind.__name__: kind.__base__.__name__ for kind in kinds if kind.__base__}
