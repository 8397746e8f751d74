"""From a model's answer to a solution file, under a header that says whence it came, and back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.answers import Code, extract

if TYPE_CHECKING:
    from pathlib import Path

_FIRST_LINE = "# Written by a language model."
_ANSWER_LINE = re.compile(r"^# answer: (.+?\.md)(?:, lines .*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Origin:
    """What a header says."""

    problem: str
    sample: int
    model: str
    prompt: str
    """The prompt's digest, and the help it gave."""
    parameters: str
    time: str
    seconds: float
    tokens_in: int
    tokens_out: int
    answer: str
    """The file with the raw answer, relative to the entrant's folder."""
    cut_off: bool = False


@dataclass(frozen=True)
class Written:
    """A solution's text and how it was found in the answer."""

    text: str
    reason: str = ""
    """Why there is no code; then the text is a module that says so and cannot be imported."""
    first_line: int = 0
    last_line: int = 0


def solution_of(answer: str, origin: Origin) -> Written:
    """The solution in an answer, whatever its shape."""
    code = extract(answer)
    if isinstance(code, Code) and code.entry.name != "ModelNew":
        code = f"the answer defines {code.entry.name}, but no class ModelNew"
    if isinstance(code, str):
        reason = code + (" (it was cut off at the token limit)" if origin.cut_off else "")
        text = f"{_header(origin, '')}\nraise SyntaxError({reason!r})\n"
        return Written(text, reason)
    lines = f", lines {code.first_line} to {code.last_line}"
    text = f"{_header(origin, lines)}\n{code.text}"
    return Written(text, "", code.first_line, code.last_line)


@dataclass(frozen=True)
class Said:
    """What a solution's author said: what a model is shown as its own."""

    code: str
    """Without our header; empty where the answer held none."""
    answer: str
    """The raw answer where it held no code, else the code."""


def said_in(solution: Path, folder: Path) -> Said:
    """The inverse of ``solution_of``; a file that no model wrote is code as it is."""
    text = solution.read_text(encoding="utf-8", errors="replace")
    if not text.startswith(_FIRST_LINE):
        return Said(text, text)
    lines = text.splitlines(keepends=True)
    end = next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))
    header, code = "".join(lines[:end]), "".join(lines[end:]).removeprefix("\n")
    named = _ANSWER_LINE.search(header)
    raw = folder / named[1] if named else None
    if code.startswith("raise SyntaxError(") and raw is not None and raw.is_file():
        return Said("", raw.read_text(encoding="utf-8", errors="replace"))
    return Said(code, code)


def _header(origin: Origin, lines: str) -> str:
    facts = {
        "model": origin.model,
        "problem": f"{origin.problem}, sample {origin.sample}",
        "prompt": origin.prompt,
        "parameters": origin.parameters,
        "time": f"{origin.time}, {origin.seconds:.1f} s",
        "tokens": f"{origin.tokens_in} in, {origin.tokens_out} out",
        "answer": origin.answer + lines,
    }
    # A line break in a model's name must not end the comment.
    told = (f"# {name}: {' '.join(value.split())}" for name, value in facts.items())
    return "\n".join((_FIRST_LINE, *told, ""))
