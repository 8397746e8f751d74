"""What a model is asked: the problem, the task, how to answer, and as much help as is wanted."""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.authors import hardware
from pytest_kernelbench.authors.examples import examples, remark
from pytest_kernelbench.authors.texts import Texts, backends
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.settings import DEFAULT_TOLERANCE, DTYPES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_kernelbench.catalog.pair import Problem

NO_HARDWARE = "none"
_JUDGES_OWN = frozenset({"SMOKE", "SHAPES", "DTYPES", "FAMILIES", "DEVICES"})
"""Constants of a problem's file that are addressed to the judge, not to whoever answers."""


@dataclass(frozen=True)
class PromptOptions:
    """Which help a prompt gives. Plain values: it is kept with each answer."""

    backend: str = "cuda"
    precision: str = "fp32"
    examples: str = "one"
    """``none``, ``one`` or ``few``."""
    hardware: str = NO_HARDWARE
    """``none``, the name of a device, or ``here``."""
    concepts: bool = False
    """Whether the words of the hardware are explained."""
    templates: str = ""
    """A folder of texts that go before ours."""

    def __post_init__(self) -> None:
        _one_of("backend", self.backend, backends())
        _one_of("precision", self.precision, DTYPES)
        examples(self.examples, self.backend)
        if self.hardware not in (NO_HARDWARE, hardware.HERE):
            hardware.find_hardware(self.hardware)
        _ = self.texts  # raises where there is no such folder

    @property
    def texts(self) -> Texts:
        """Where its texts come from."""
        return Texts(Path(self.templates) if self.templates else None)


@dataclass(frozen=True)
class Prompt:
    """One finished prompt."""

    text: str

    @property
    def digest(self) -> str:
        """What tells it from every other prompt."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def build_prompt(problem: Problem, options: PromptOptions) -> Prompt:
    """The prompt for one problem; raises ``UsageError`` if its file or a template is no good."""
    texts = options.texts
    cpu = options.backend == "cpp"
    parts = [texts.fill("intro_cpu" if cpu else "intro"), texts.fill(f"backend_{options.backend}")]
    if options.hardware != NO_HARDWARE:
        lines = "\n".join(f"- {line}" for line in hardware.describe(options.hardware))
        parts.append(texts.fill("hardware", lines=lines))
    if options.concepts:
        vendor = "cpu" if cpu else "amd" if options.backend == "hip" else "nvidia"
        parts.append(texts.fill(f"concepts_{vendor}"))
    parts += [
        texts.fill(
            "example",
            title=example.title,
            problem=shown_source(example.problem),
            answer=example.answer.read_text(encoding="utf-8").strip(),
            remark=remark(options.backend, options.precision),
        )
        for example in examples(options.examples, options.backend)
    ]
    parts += [
        texts.fill("problem", source=shown_source(problem.path)),
        texts.fill("rules", precision=DTYPES[options.precision], tolerance=_tolerance(options)),
        texts.fill("format"),
    ]
    return Prompt("\n\n".join(parts) + "\n")


def shown_source(path: Path) -> str:
    """A problem's source without the constants that only the judge reads."""
    try:
        text = path.read_text(encoding="utf-8")
        body = ast.parse(text).body
    except (OSError, SyntaxError, ValueError) as error:
        message = f"{path} cannot be shown to a model: {error}"
        raise UsageError(message) from error
    # Not splitlines(): ast ends no line at form feeds and their like.
    lines: list[str | None] = [*text.split("\n")]
    for statement in body:
        if _assigned(statement) & _JUDGES_OWN and statement.end_lineno is not None:
            for number in range(statement.lineno - 1, statement.end_lineno):
                lines[number] = None
    kept = [line for line in lines if line is not None]
    while "\n\n\n\n" in (joined := "\n".join(kept)):
        kept = joined.replace("\n\n\n\n", "\n\n\n").split("\n")
    return "\n".join(kept).strip()


def _assigned(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Assign):
        return {each.id for each in statement.targets if isinstance(each, ast.Name)}
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return {statement.target.id}
    return set()


def _tolerance(options: PromptOptions) -> str:
    limit = DEFAULT_TOLERANCE[options.precision]
    return f"the error allowed is about {limit:g} of an element and of the output's scale."


def _one_of(what: str, word: str, words: Iterable[str]) -> None:
    known = tuple(words)
    if word not in known:
        message = f"there is no {what} {word!r}; there are {', '.join(known)}"
        raise UsageError(message)
