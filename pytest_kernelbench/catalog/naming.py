"""What a name tells of a problem: ``l1_p19``, ``level1/019_relu``, ``19_ReLU_sample_3``."""

from __future__ import annotations

import re
from dataclasses import dataclass

_BEGIN, _END = "(?<![a-z0-9])", "(?![a-z0-9])"


def _word(words: str, digits: str) -> re.Pattern[str]:
    return re.compile(rf"{_BEGIN}(?:{words})[ _-]?({digits}){_END}", re.IGNORECASE)


_LEVEL = _word("level|lvl", "[0-9]{1,3}")
_NUMBER = _word("problem|prob|task|pid", "[0-9]{1,5}")
_SAMPLE = _word("sample|attempt|try", "[0-9]{1,5}")
_LAST_SAMPLE = re.compile(r"[_-]s([0-9]{1,5})$", re.IGNORECASE)
_SHORT = re.compile(rf"{_BEGIN}l([0-9]{{1,3}})[ _-]?p([0-9]{{1,5}}){_END}", re.IGNORECASE)
_BOTH = re.compile(r"([0-9]{1,2})[/_-]([0-9]{1,5})")
_LEADING = re.compile(r"([0-9]{1,5})(?:[/ _.-]+(.*))?", re.DOTALL)
_SUFFIX = re.compile(r"\.(?:py|cu|cuh|cpp|cc|cxx|md|txt|json)$", re.IGNORECASE)
_FILLER = re.compile(rf"{_BEGIN}(?:kernel|solution|answer|generated){_END}", re.IGNORECASE)
_HOLE = re.compile(r"[ :_-]*/[/ :_-]*")
_MARGIN = "/ :_.-"


@dataclass(frozen=True)
class Place:
    """What a name says; None and empty where it says nothing."""

    level: int | None = None
    number: int | None = None
    name: str = ""
    sample: int | None = None


def parse(text: str) -> Place:
    """Read a file's stem, a title or a path of a problem; never fails, at worst all is name."""
    rest = _SUFFIX.sub("", text.strip())
    level, number = None, None
    if short := _SHORT.search(rest):
        level, number = int(short[1]), int(short[2])
        rest = _cut(rest, short)
    if level is None and (match := _LEVEL.search(rest)):
        level, rest = int(match[1]), _cut(rest, match)
    if number is None and (match := _NUMBER.search(rest)):
        number, rest = int(match[1]), _cut(rest, match)
    sample = None
    if match := _SAMPLE.search(rest) or _LAST_SAMPLE.search(rest):
        sample, rest = int(match[1]), _cut(rest, match)
    rest = _HOLE.sub("/", _FILLER.sub("/", rest)).strip(_MARGIN)
    if level is None and number is None and (both := _BOTH.fullmatch(rest)):
        return Place(int(both[1]), int(both[2]), "", sample)
    if number is None and (leading := _LEADING.fullmatch(rest)):
        number, rest = int(leading[1]), leading[2] or ""
    return Place(level, number, rest.strip(_MARGIN), sample)


def level_of(folder: str) -> int | None:
    """The level in a folder's name: ``level2``, ``opus4_level2_20250101``."""
    match = _LEVEL.search(folder)
    return int(match[1]) if match else None


def letters(name: str) -> str:
    """What remains of a name when case and punctuation do not count.

    Sets of problems differ in them: ``19_ReLU.py``, ``19_relu.py``, ``1_add_.py``.
    """
    return re.sub(r"[\W_]", "", name).casefold()


def _cut(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()]}/{text[match.end() :]}"
