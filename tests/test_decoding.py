"""JSON of strangers: whatever it is, it is a value or one kind of error."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from pytest_kernelbench.decoding import decoded


def nested(levels: int, opening: str = "[", closing: str = "]") -> str:
    return opening * levels + closing * levels


@pytest.mark.parametrize("levels", [100, 99, 1])
def test_what_somebody_may_have_written(levels: int) -> None:
    assert str(decoded(nested(levels), object)) == nested(levels)


@pytest.mark.parametrize("levels", [101, 990, 1_001, 100_000, 1_000_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ("[", "")])
def test_nested_too_deep(levels: int, opening: str, closing: str) -> None:
    text = nested(levels, opening, closing).replace(":}", ":0}")
    cut_off = not closing and levels < 1_000  # then it is no JSON first of all
    with pytest.raises(msgspec.DecodeError if cut_off else msgspec.ValidationError):
        decoded(text, object)
    with pytest.raises(msgspec.DecodeError):
        decoded(text.encode(), dict[str, Any])


def test_many_brackets_beside_each_other_are_not_deep() -> None:
    assert decoded("[" + ",".join(["[[]]"] * 1_000) + "]", list[Any]) == [[[]]] * 1_000


@pytest.mark.parametrize("data", ["\udcff", b'"\xff"', b"", b"\x00", '{"a": NaN}'])
def test_no_json_at_all(data: Any) -> None:
    with pytest.raises(msgspec.DecodeError) as caught:
        decoded(data, object)
    assert not isinstance(caught.value, msgspec.ValidationError)
