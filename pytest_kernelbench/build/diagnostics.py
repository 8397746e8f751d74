"""The first real errors in what nvcc, g++ and the linker print: file, line, source line.

Pure text in, findings out. Only what a tool itself marks as an error counts; words such as "lock"
or "error" in ordinary output mean nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_ERRORS = 5
MOST_WARNINGS = 10
_LONGEST_MESSAGE = 600
_LOOK_AHEAD = 6


@dataclass(frozen=True)
class Finding:
    """One error or warning of one tool."""

    message: str
    file: str = ""
    line: int = 0
    source: str = ""
    """The line of source that it is about, as the tool showed it."""
    warning: bool = False

    @property
    def place(self) -> str:
        """``file:line``, the file without its folders."""
        name = self.file.rpartition("/")[2]
        return f"{name}:{self.line}" if self.line else name

    def text(self, solution: str = "") -> str:
        """Two lines; the source line is looked for in ``solution``, the solution's text."""
        kind = "warning: " if self.warning else ""
        head = f"{self.place}: {kind}{self.message}" if self.place else f"{kind}{self.message}"
        number = _line_of(self.source, solution)
        where = f"    (line {number} of the solution)" if number else ""
        return f"{head}\n    {self.source}{where}" if self.source else head


# path:10:5: error: message          g++, clang
_GNU = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)? (?P<kind>fatal error|error|warning): (?P<message>.+)$")  # fmt: skip  # noqa: E501
# path(10): error #20: message       cudafe++, cicc
_EDG = re.compile(r"^(?P<file>[^\s(][^(\n]*)\((?P<line>\d+)\): (?P<kind>catastrophic error|error|warning)(?: #\w+(?:-D)?)?: (?P<message>.+)$")  # fmt: skip  # noqa: E501
# ptxas error   : message            ptxas, nvcc, nvlink, fatbinary
_NVIDIA = frozenset({"ptxas", "nvcc", "nvlink", "fatbinary", "cudafe++", "cicc"})
_NVIDIA_KINDS = frozenset({"fatal", "error", "warning"})
# /usr/bin/ld: x.o: message          ld, lld, gold
_LINKER = re.compile(r"^(?:\S*/)?(?:ld|ld\.\w+|lld)(?:\.\w+)?: (?P<message>.+)$")
_LINKER_REAL = re.compile(r"undefined reference|multiple definition|cannot find|undefined symbol|file not recognized|relocation|No space left")  # fmt: skip  # noqa: E501
# /usr/bin/g++: error: message
_DRIVER = re.compile(r"[\w+.-]*(?:g\+\+|gcc|c\+\+|cc1plus|clang|cc|as)[\w.-]*")
_LONGEST_NAME = 100
_UNDEFINED = re.compile(r"^(?P<place>\S+): (?P<message>undefined reference to .+)$")
_ROOT = re.compile(r"(?<![\w.])/")
_MACRO_NOTE = re.compile(r"^\s*\d+ \|")
_OWN_HEADERS = (
    "/torch/include/",
    "/targets/x86_64-linux/include/",
    "/include/c++/",
    "/cuda/include/",
)


def errors(log: str) -> tuple[Finding, ...]:
    """The first errors, without what merely follows from others (``ld returned 1``)."""
    return _first(MOST_ERRORS, (found for found in _scan(log.splitlines()) if not found.warning))


def warnings(log: str) -> tuple[Finding, ...]:
    """The first warnings about the solution's own lines, not about torch's or CUDA's headers."""
    own = (
        found
        for found in _scan(log.splitlines())
        if found.warning and not any(part in found.file for part in _OWN_HEADERS)
    )
    return _first(MOST_WARNINGS, own)


def _first(most: int, found: Iterator[Finding]) -> tuple[Finding, ...]:
    """The first ones, each once; no further is looked."""
    kept: dict[Finding, None] = {}
    for each in found:
        kept[each] = None
        if len(kept) == most:
            break
    return tuple(kept)


def _scan(lines: list[str]) -> Iterator[Finding]:
    for index, line in enumerate(lines):
        found = _GNU.match(line)
        if found:
            yield _finding(found, _gnu_source(lines, index))
            continue
        found = _EDG.match(line)
        if found:
            yield _finding(found, _edg_source(lines, index))
            continue
        said = _nvidia(line) or _driver(line)
        if said is not None:
            yield said
            continue
        yield from _linker(line)


# By words, not by patterns: these would go over a line of a megabyte a million times.


def _nvidia(line: str) -> Finding | None:
    head, _, message = line.partition(":")
    words = head.replace(";", " ").split()
    if not words or words[0] not in _NVIDIA or words[-1] not in _NVIDIA_KINDS:
        return None
    if not message.startswith(" ") or not message.strip():
        return None
    return Finding(_short(f"{words[0]}: {message.strip()}"), warning=words[-1] == "warning")


def _driver(line: str) -> Finding | None:
    path, _, rest = line.partition(": ")
    tool = path.rpartition("/")[2]
    kind, _, message = rest.partition(": ")
    if kind not in {"fatal error", "error"} or not message or message.startswith("ld returned"):
        return None
    if len(path.split()) != 1 or len(tool) > _LONGEST_NAME or not _DRIVER.fullmatch(tool):
        return None
    return Finding(_short(f"{tool}: {message}"))


def _finding(found: re.Match[str], source: str) -> Finding:
    return Finding(
        _short(found["message"]),
        found["file"],
        int(found["line"]),
        source,
        found["kind"] == "warning",
    )


def _linker(line: str) -> Iterator[Finding]:
    found = _LINKER.match(line)
    message = found["message"] if found else ""
    if message and _LINKER_REAL.search(message):
        yield Finding(_short(f"ld: {_without_folders(message)}"))
        return
    undefined = _UNDEFINED.match(line)
    if undefined:
        yield Finding(_short(f"ld: {undefined['message']}"))


def _without_folders(message: str) -> str:
    return " ".join(map(_without_folder, message.split(" ")))


def _without_folder(word: str) -> str:
    begin, end = _ROOT.search(word), word.rfind("/")
    if begin is None or end <= begin.start() or end + 1 == len(word):
        return word
    return word[: begin.start()] + word[end + 1 :]


def _gnu_source(lines: list[str], index: int) -> str:
    for line in lines[index + 1 : index + 1 + _LOOK_AHEAD]:
        if _MACRO_NOTE.match(line):
            return line.partition("|")[2].strip()
        if _GNU.match(line):
            break
    return ""


def _edg_source(lines: list[str], index: int) -> str:
    following = lines[index + 1] if index + 1 < len(lines) else ""
    caret = lines[index + 2] if index + 2 < len(lines) else ""
    return following.strip() if caret.strip() == "^" else ""


def _short(message: str) -> str:
    message = message.strip()
    return message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE] + " ..."


def _line_of(source: str, solution: str) -> int:
    """The number of the only line that reads ``source``; 0 if none or several do."""
    if not source:
        return 0
    numbers = [n for n, line in enumerate(solution.splitlines(), 1) if line.strip() == source]
    return numbers[0] if len(numbers) == 1 else 0
