"""Code out of a language model's answer.

The rule: reasoning before the answer is no code; of the fenced blocks, the last that parses as
Python and defines ``ModelNew`` is the solution, whatever its tag, else the last with another entry
point, else the last of C++ that binds ``forward``. A fence left open ends where the next one opens
or the text ends; a fence within a string of the code does not end its block. Without any fence the
whole text counts, if it parses and has an entry point.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.entry import Entry, cpp_entry, python_entry, top_level_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MARGIN = r"[ \t]*(?:(?:(?:>[ \t]?)+|(?:[-*+]|[0-9]+[.)])[ \t])[ \t]*)?"
_FENCE = re.compile(rf"^({_MARGIN})(`{{3,}}(?!`)|~{{3,}}(?!~))([^`]*)$")
_TAG = r"(?:\w+:)?(?:think|thinking|thoughts?|reasoning|scratchpad|analysis)"
_OPENS = rf"<{_TAG}(?:\s[^<>]*)?>|\[think\]|◁think▷|<\|begin_of_thought\|>|<\|channel\|>analysis\b"
_CLOSES = rf"</{_TAG}>|\[/think\]|◁/think▷|<\|end_of_thought\|>|<\|channel\|>final<\|message\|>"
_BEGINS_REASONING = re.compile(rf"\s*(?:{_OPENS})", re.IGNORECASE)
_ENDS_REASONING = re.compile(rf"(?:{_CLOSES})", re.IGNORECASE)
_ENDS_UNOPENED = re.compile(rf"[^#\"']*(?:\b'\b[^#\"']*)*(?:{_CLOSES})", re.IGNORECASE)
"""Where nothing was opened, a tag within a string or a comment of the code closes nothing."""
_MOST_FENCES = 32
_MOST_CHARACTERS = 4 << 20
"""Of all longer blocks of an answer that are tried: each is parsed anew."""
_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]?)+")


@dataclass(frozen=True)
class Code:
    """The chosen block of an answer."""

    text: str
    first_line: int
    """Of the block's content in the answer, counted from 1."""
    last_line: int
    entry: Entry


@dataclass(frozen=True)
class _Block:
    text: str
    first_line: int
    last_line: int

    def entered(self, entry: Entry) -> Code:
        return Code(self.text, self.first_line, self.last_line, entry)


def has_fence(answer: str) -> bool:
    """Whether a text looks like an answer with code in it."""
    return any(_FENCE.match(line) for line in answer.splitlines())


def extract(answer: str) -> Code | str:
    """The code of an answer, or one sentence on why there is none."""
    text = answer.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.rstrip("\n").split("\n")
    start, open_ended = _drop_reasoning(lines)
    blocks = _grown(_fenced(lines, start, len(lines)), lines)
    if not blocks:
        whole = _block(lines, start, len(lines))
        if open_ended and not whole.text.strip():
            return "the answer ends within its reasoning: there is no code after it"
        return _chosen([whole]) or _why_no_text(whole)
    # An answer may be fenced as a whole, with longer marks than the code within it.
    inner = [
        each for block in blocks for each in _fenced(lines, block.first_line - 1, block.last_line)
    ]
    return _chosen(blocks) or _chosen(inner) or _why_none(blocks)


def _chosen(blocks: Sequence[_Block]) -> Code | None:
    found = [block.entered(e) for block in blocks if (e := _parsed_entry(block)) is not None]
    found += [block.entered(e) for block in blocks if (e := cpp_entry(block.text)) is not None]
    ranks = (
        lambda entry: entry.name == "ModelNew",
        lambda entry: not entry.refusal and entry.adapter != "pybind",
        lambda entry: not entry.refusal,
        lambda _: True,
    )
    for fits in ranks:
        if fitting := [code for code in found if fits(code.entry)]:
            return fitting[-1]
    return None


def _parsed_entry(block: _Block) -> Entry | None:
    return None if top_level_names(block.text) is None else python_entry(block.text)


def _drop_reasoning(lines: list[str]) -> tuple[int, bool]:
    """Empty the lines of reasoning, and give the first line of answer and whether there is no end.

    What stands behind a closing tag in its line is answer, and is all that is left of the line.
    """
    start, opened, blank = 0, -1, 0
    unopened = [n for n, line in enumerate(lines) if _ENDS_UNOPENED.match(line)]
    first = next((n for n, line in enumerate(lines) if _BEGINS_REASONING.match(line)), len(lines))
    if before := [number for number in unopened if number < first]:
        start = _emptied(lines, 0, before[-1])  # it began within the question
    for number in range(start, len(lines)):
        if opened < 0 and _BEGINS_REASONING.match(lines[number]):
            opened = number
        if opened >= 0 and _ENDS_REASONING.search(lines[number]):
            end = _emptied(lines, opened, number)
            while blank < opened and not lines[blank]:
                blank += 1  # A line that was emptied stays so.
            start, opened = (end if blank == opened else start), -1
    if opened >= 0:
        lines[opened:] = [""] * (len(lines) - opened)
    return start, opened >= 0


def _emptied(lines: list[str], first: int, last: int) -> int:
    """Empty lines of reasoning, but for what stands behind the tag that ends it; give the last."""
    lines[first:last] = [""] * (last - first)
    lines[last] = lines[last][[*_ENDS_REASONING.finditer(lines[last])][-1].end() :]
    return last


def _grown(blocks: list[_Block], lines: list[str]) -> list[_Block]:
    """Blocks that a fence within one of their strings cut short, as far as they really go."""
    fences = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    grown, room = [], _MOST_CHARACTERS
    for block in blocks:
        found = block
        if "ModelNew" in block.text and top_level_names(block.text) is None:
            for longer in _longer(block, lines, fences):
                room -= len(longer.text)
                if room < 0:
                    break
                if top_level_names(longer.text) is not None:
                    found = longer
                    break
        grown.append(found)
    return grown


def _longer(block: _Block, lines: list[str], fences: list[int]) -> Iterator[_Block]:
    """The block as it would be if it ended at one of the next fences."""
    later = bisect_left(fences, block.last_line)
    for end in fences[later : later + _MOST_FENCES]:
        yield _block(lines, block.first_line - 1, end)


def _fenced(lines: list[str], start: int, end: int) -> list[_Block]:
    found: list[_Block] = []
    opened, mark = -1, ""
    for number in range(start, end):
        fence = _FENCE.match(lines[number])
        if fence is None or (mark and not fence[2].startswith(mark[0])):
            continue
        closes = len(fence[2]) >= len(mark) and not fence[3].strip()
        if mark and not closes and (len(fence[2]) < len(mark) or " " in fence[3].strip()):
            continue  # A shorter fence, or none with a tag: part of the open one's text.
        if mark:
            found.append(_block(lines, opened + 1, number))
        opened, mark = (-1, "") if mark and closes else (number, fence[2])
    if mark:
        found.append(_block(lines, opened + 1, end))
    return found


def _block(lines: list[str], start: int, end: int) -> _Block:
    """Lines as they would be without the margin of the list or quotation that they stand in."""
    inner = lines[start:end]
    if inner and all(_QUOTE.match(line) for line in inner if line.strip()):
        inner = [_QUOTE.sub("", line) for line in inner]
    filled = [line for line in inner if line.strip()]
    margin = min((len(line) - len(line.lstrip(" ")) for line in filled), default=0)
    text = "\n".join(line[margin:] for line in inner)
    return _Block(f"{text}\n", start + 1, end)


def _why_none(blocks: Sequence[_Block]) -> str:
    broken = [b for b in blocks if "ModelNew" in b.text and top_level_names(b.text) is None]
    if broken:
        last = broken[-1]
        return (
            f"the answer's block in lines {last.first_line} to {last.last_line} speaks of ModelNew "
            "but cannot be parsed as Python: cut short, or not code alone"
        )
    count = "one block" if len(blocks) == 1 else f"{len(blocks)} blocks"
    return (
        f"the answer holds {count} of code, but no ModelNew is defined "
        "(nor custom_kernel, run, forward)"
    )


def _why_no_text(block: _Block) -> str:
    if not block.text.strip():
        return "the answer is empty"
    what = (
        "as a whole it is no Python"
        if top_level_names(block.text) is None
        else "as a whole it defines no ModelNew (nor custom_kernel, run, forward)"
    )
    return f"the answer holds no code: it has no fenced block, and {what}"
