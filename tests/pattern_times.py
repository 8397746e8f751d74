"""Finds regular expressions of the package that take quadratic time for repetitive texts.

A program of its own, since such a pattern cannot be interrupted: it holds the interpreter's lock.
Prints a line for each pattern that took too long, and how many it tried.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import pytest_kernelbench

if TYPE_CHECKING:
    from collections.abc import Iterator

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    try:
        from re import _parser as parser  # public nowhere; before Python 3.11 a module by itself
    except ImportError:
        import sre_parse as parser  # type: ignore[no-redef]

LENGTH = 1 << 15
LIMIT_S = 0.12
"""A linear pattern takes milliseconds for such a text, a quadratic one seconds."""
MOST_HEADS = 40
SHORT = {"catalog.files": 255, "judge.kernel_names": 400}
"""Modules whose texts are short: names of files, and of kernels (``wire.NAME_LIMIT``)."""
TRUSTED = ("build.standins", "build.toolchain")
"""Modules whose texts are torch's own headers and what its compilers print."""
FUNCTIONS = ("compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub")
RUNS = (" ", "\n", "\t", "a", "1", "_", "-", ".", "/", ":", "#", "(", "[", "<", '"', "'", "`", "~",
        "a ", "a\n", "1 ", "- ", "> ", "\n ", "::", "//", "DEVICES:\n", "a.", "a/")  # fmt: skip


class Found(NamedTuple):
    """A pattern of the package and how it is used."""

    place: str
    pattern: re.Pattern[Any]
    use: str


def patterns() -> Iterator[Found]:
    """Of all modules, also those within functions, as far as they hang on no argument."""
    root = Path(pytest_kernelbench.__file__).parent
    programs = (root / "selftest/corpus", root / "authors/examples")
    files = [each for each in root.rglob("*.py") if not set(programs) & set(each.parents)]
    whole = "\n".join(file.read_text(encoding="utf-8") for file in files)
    for file in files:
        text = file.read_text(encoding="utf-8")
        if not re.search(r"^import re$", text, re.MULTILINE):
            continue
        name = ".".join(file.relative_to(root).with_suffix("").parts)
        if name in TRUSTED:
            continue
        module = importlib.import_module(f"pytest_kernelbench.{name}")
        tree = ast.parse(text)
        names = {id(each.value): each.targets[0].id for each in tree.body if _binds(each)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."):
                yield from _called(node, name, vars(module), names.get(id(node), ""), whole)


def _binds(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)


def _called(
    node: ast.Call, module: str, names: dict[str, Any], bound: str, whole: str
) -> Iterator[Found]:
    function = ast.unparse(node.func).removeprefix("re.")
    if function not in FUNCTIONS:
        return
    place = f"{module}:{node.lineno}"
    try:
        given = eval(ast.unparse(node.args[0]), names)  # noqa: S307 - our own source
    except NameError:
        say(f"argument {place}")
        return
    flags = "|".join(
        ast.unparse(each)
        for each in [*node.args[1:], *(k.value for k in node.keywords)]
        if re.search(r"\bre\.[A-Z]", ast.unparse(each))
    )
    pattern = re.compile(given, eval(flags, names) if flags else 0)  # noqa: S307
    uses = {function}
    if function == "compile":
        uses = set(re.findall(rf"\b{bound}\.({'|'.join(FUNCTIONS)})\(", whole)) if bound else set()
    only_here = uses and uses <= {"match", "fullmatch"}
    yield Found(place, pattern, min(uses) if only_here else "search")


def texts(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str]]:
    """A head, and what is to be repeated behind it; both of what the pattern itself begins with."""
    source = pattern.pattern
    given = source.decode("latin-1") if isinstance(source, bytes) else source
    flags = pattern.flags & ~re.UNICODE & ~re.LOCALE & ~re.ASCII
    begun = sorted({text for text in begins(parser.parse(given, flags), "") if text}, key=len)
    begun = begun[:: len(begun) // MOST_HEADS + 1]
    for run in RUNS:
        yield "", run
        yield "a", run
    for head in begun:
        yield "", head
        yield "", f"{head} "
        yield "", f"{head}\n"
        for run in (" ", "\n", "a", "1", "_", head[-1], "a "):
            yield head, run


def begins(items: Any, so_far: str) -> Iterator[str]:
    """Short texts that the pattern's first parts match, each part's choices by themselves."""
    for kind, value in items:
        name = str(kind)
        if name == "SUBPATTERN":
            yield from begins(value[-1], so_far)
        elif name == "BRANCH":
            for branch in value[1]:
                yield from begins(branch, so_far)
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            yield from begins(value[2], so_far)
        so_far += example([(kind, value)])
        yield so_far


def example(items: Any) -> str:
    """Some text that these parts match, if they are not too clever."""
    text = ""
    for kind, value in items:
        name = str(kind)
        if name == "LITERAL":
            text += chr(value)
        elif name == "SUBPATTERN":
            text += example(value[-1])
        elif name == "BRANCH":
            text += example(value[1][0])
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            text += example(value[2]) * min(max(value[0], 1), 8)
        elif name in ("IN", "ANY", "NOT_LITERAL"):
            fits = parser.SubPattern(parser.State(), [(kind, value)])
            text += next((c for c in "a1 _./:-([\"'`<>#;,\t\n" if _fits(fits, c)), "a")
    return text


def _fits(items: Any, character: str) -> bool:
    ((kind, value),) = items
    if str(kind) == "ANY":
        return character != "\n"
    if str(kind) == "NOT_LITERAL":
        return character != chr(value)
    inside, negated = False, False
    for name, each in value:
        what = str(name)
        negated |= what == "NEGATE"
        inside |= what == "LITERAL" and character == chr(each)
        inside |= what == "RANGE" and each[0] <= ord(character) <= each[1]
        inside |= what == "CATEGORY" and _in_category(str(each), character)
    return inside is not negated


def _in_category(name: str, character: str) -> bool:
    kinds = {"DIGIT": str.isdigit, "SPACE": str.isspace, "WORD": _is_word}
    kind = next(kinds[word] for word in kinds if name.endswith(word))
    return kind(character) is ("NOT" not in name)


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def slow(found: Found) -> str:
    """The text that it takes too long for, in words; empty if there is none."""
    length = SHORT.get(found.place.partition(":")[0], LENGTH)
    apply = getattr(found.pattern, found.use)
    for head, run in texts(found.pattern):
        text = head + run * (length // len(run)) + "\x01"
        given = text.encode() if isinstance(found.pattern.pattern, bytes) else text
        began = time.thread_time()
        apply(given)
        taken_s = time.thread_time() - began
        if taken_s > LIMIT_S:
            return f"{taken_s:.1f} s for {head!r} and {len(text) // len(run)} times {run!r}"
    return ""


def say(line: str, to: TextIO = sys.stdout) -> None:
    to.write(f"{line}\n")
    to.flush()


if __name__ == "__main__":
    found = list(patterns())
    for each in found:
        say(f"trying {each.place}", sys.stderr)
        if told := slow(each):
            say(f"slow {each.place} ({each.use}): {told}")
    say(f"tried {len(found)}")
