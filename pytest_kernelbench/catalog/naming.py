"""What a name tells of a problem: ``l1_p19``, ``level1/019_relu``, ``19_ReLU_sample_3``."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Patterns are texts: re compiles them when they are first used, which in most runs is never.
_BEGIN, _END = "(?i)(?<![a-z0-9])", "(?![a-z0-9])"
_LEVEL = rf"{_BEGIN}(?:level|lvl)[ _-]?([0-9]{{1,3}}){_END}"
_NUMBER = rf"{_BEGIN}(?:problem|prob|task|pid)[ _-]?([0-9]{{1,5}}){_END}"
_SAMPLE = rf"{_BEGIN}(?:sample|attempt|try)[ _-]?([0-9]{{1,5}}){_END}"
_LAST_SAMPLE = r"(?i)[_-]s([0-9]{1,5})$"
_SHORT = rf"{_BEGIN}l([0-9]{{1,3}})[ _-]?p([0-9]{{1,5}}){_END}"
_BOTH = r"([0-9]{1,2})[/_-]([0-9]{1,5})"
_LEADING = r"(?s)([0-9]{1,5})(?:[/ _.-]+(.*))?"
_SUFFIX = r"(?i)\.(?:py|cu|cuh|cpp|cc|cxx|md|txt|json)$"
_FILLER = rf"{_BEGIN}(?:kernel|solution|answer|generated){_END}"
_HOLE = r"(?<![ :_-])[ :_-]*/[/ :_-]*"
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
    rest = re.sub(_SUFFIX, "", text.strip())
    level, number = None, None
    if short := re.search(_SHORT, rest):
        level, number = int(short[1]), int(short[2])
        rest = _cut(rest, short)
    if level is None and (match := re.search(_LEVEL, rest)):
        level, rest = int(match[1]), _cut(rest, match)
    if number is None and (match := re.search(_NUMBER, rest)):
        number, rest = int(match[1]), _cut(rest, match)
    sample = None
    if match := re.search(_SAMPLE, rest) or re.search(_LAST_SAMPLE, rest):
        sample, rest = int(match[1]), _cut(rest, match)
    rest = re.sub(_HOLE, "/", re.sub(_FILLER, "/", rest)).strip(_MARGIN)
    if level is None and number is None and (both := re.fullmatch(_BOTH, rest)):
        return Place(int(both[1]), int(both[2]), "", sample)
    if number is None and (leading := re.fullmatch(_LEADING, rest)):
        number, rest = int(leading[1]), leading[2] or ""
    return Place(level, number, rest.strip(_MARGIN), sample)


def level_of(folder: str) -> int | None:
    """The level in a folder's name: ``level2``, ``opus4_level2_20250101``."""
    match = re.search(_LEVEL, folder)
    return int(match[1]) if match else None


def letters(name: str) -> str:
    """What remains of a name when case and punctuation do not count.

    Sets of problems differ in them: ``19_ReLU.py``, ``19_relu.py``, ``1_add_.py``.
    """
    return re.sub(r"[\W_]", "", name).casefold()


def _cut(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()]}/{text[match.end() :]}"
