"""The settings of a kernelbot's task: what its ``task.yml`` lists under tests and benchmarks.

That file is YAML, of which these two lists need little: mappings of plain values, each in braces or
a value a line. Nothing else of the file is read, so no YAML library is needed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_kernelbench.catalog.material import SOURCE_LIMIT_BYTES
from pytest_kernelbench.decoding import decoded
from pytest_kernelbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SECTION = re.compile(r"([A-Za-z_]\w*):")
_PAIR = re.compile(r"[\"']?([A-Za-z_]\w*)[\"']?[ \t]*:[ \t]+(.*)")
_BARE_KEY = re.compile(r"([{,][ \t\n]*)([A-Za-z_]\w*)(?=[ \t]*:)")
_BARE_WORD = re.compile(r"([:,\[][ \t\n]*)([A-Za-z_][\w.+-]*)(?=[ \t\n]*[,}\]]|$)")
_WORDS = {"true": True, "false": False, "null": None, "none": None}


def settings_of(path: Path) -> list[dict[str, Any]]:
    """The tests', then the benchmarks' settings, in order. Raises ``UsageError`` with the line."""
    try:
        if path.stat().st_size > SOURCE_LIMIT_BYTES:
            message = f"{path} is longer than {SOURCE_LIMIT_BYTES:,} bytes: no task's settings are"
            raise UsageError(message)
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path} cannot be read as a task's settings: {error}"
        raise UsageError(message) from error
    found: dict[str, list[dict[str, Any]]] = {"tests": [], "benchmarks": []}
    for section, number, lines in _entries(text):
        if section not in found:
            continue
        try:
            found[section].append(_mapping(lines))
        except (msgspec.MsgspecError, ValueError) as error:
            message = f"{path}:{number}: no setting such as {{size: 64, seed: 1}}: {error}"
            raise UsageError(message) from None
    return [*found["tests"], *found["benchmarks"]]


def _entries(text: str) -> Iterator[tuple[str, int, list[str]]]:
    """Section, line and lines of each entry of a list."""
    section, first, entry = "", 0, list[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        begins = line.lstrip().startswith("- ")
        heading = None if begins else _SECTION.match(line)
        if (begins or heading) and entry:
            yield section, first, entry
            entry = []
        if heading:
            section = heading[1]
        elif begins:
            first, entry = number, [line.lstrip()[2:].strip()]
        elif entry:
            entry.append(line.strip())
    if entry:
        yield section, first, entry


def _mapping(lines: list[str]) -> dict[str, Any]:
    if lines[0].startswith("{"):
        return decoded(_as_json("\n".join(lines)), dict[str, Any])
    found: dict[str, Any] = {}
    for line in lines:
        pair = _PAIR.fullmatch(line)
        if pair is None:
            message = f"{line!r} is not NAME: VALUE"
            raise ValueError(message)
        (found[pair[1]],) = decoded(_as_json(f"[{pair[2]}]"), list[Any])
    return found


def _as_json(flow: str) -> str:
    """Words that YAML leaves bare get the marks that JSON asks for."""
    uncommented = re.sub(r"([}\]])[ \t]+#.*$", r"\1", flow, flags=re.MULTILINE).strip()
    quoted = _BARE_KEY.sub(r'\1"\2"', uncommented.replace("'", '"'))
    return _BARE_WORD.sub(_word, quoted)


def _word(match: re.Match[str]) -> str:
    word = match[2]
    known = word.lower() in _WORDS
    value = _WORDS[word.lower()] if known else word
    return match[1] + msgspec.json.encode(value).decode()
