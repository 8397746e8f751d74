"""GitHub's annotations: a failure beside the line of the solution that it is about."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.reports.junit import ending
from pytest_kernelbench.reports.messages import speedup_words
from pytest_kernelbench.reports.sources import source_of
from pytest_kernelbench.slowdowns import SlowdownGate
from pytest_kernelbench.untimed import why_untimed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pytest_kernelbench.gates import Gate
    from pytest_kernelbench.reports.records import Record
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Verdict

MOST = 10
"""Errors, and as many warnings: GitHub shows no more of a step."""
_MESSAGE_LIMIT = 4000
_MODEL_NEW = re.compile(r"^class ModelNew\b", re.MULTILINE)
_FORWARD = re.compile(r"^[ \t]+def (?:forward|__call__)\b", re.MULTILINE)
_ENTRY = re.compile(r"^(?:class|def) \w+", re.MULTILINE)


@dataclass(frozen=True)
class Annotation:
    """What GitHub shows at a line."""

    level: str
    """``error`` or ``warning``."""
    title: str
    message: str
    file: str = ""
    """Relative to the checkout; without one it stands at the run, not at a line."""
    line: int = 1

    def __str__(self) -> str:
        """The command that pytest prints and GitHub obeys."""
        place = {"file": self.file, "line": str(self.line)} if self.file else {}
        told = place | {"title": self.title}
        properties = ",".join(f"{name}={_property(value)}" for name, value in told.items())
        return f"::{self.level} {properties}::{_data(self.message[:_MESSAGE_LIMIT])}"


def annotate(
    records: Iterable[Record], gates: Sequence[Gate], settings: Settings, checkout: Path
) -> list[Annotation]:
    """The worst first, no more of each kind than are shown."""
    slower = {gate.change.title: str(gate) for gate in gates if isinstance(gate, SlowdownGate)}
    found = []
    for record in records:
        verdict = record.verdict
        end, message = ending(record, settings)
        level, told = "error", message
        if end in ("passed", "skipped"):
            level, told = _slow(verdict, slower)
        if told:
            source = record.source or source_of(verdict)
            place = _place(Path(verdict.solution), checkout)
            line = line_of(verdict, source) if end != "passed" else _forward(source)
            found.append(Annotation(level, verdict.title, told, place, line))
    errors = [each for each in found if each.level == "error"]
    warnings = [each for each in found if each.level != "error"]
    return errors[:MOST] + warnings[:MOST]


def _slow(verdict: Verdict, slower: Mapping[str, str]) -> tuple[str, str]:
    if verdict.title in slower:
        return "error", slower[verdict.title]
    measured = verdict.measurement
    known = verdict.status.right and not why_untimed(verdict)
    if known and measured is not None and measured.high < 1:
        return "warning", speedup_words(measured, 1)
    return "warning", ""


def line_of(verdict: Verdict, source: str) -> int:
    """Where to look: the place that the message names, else ``forward`` of ``ModelNew``."""
    text = "\n".join((*verdict.reasons, verdict.detail))
    name = re.escape(Path(verdict.solution).name)
    # The judge's own words for a compiler's error in a source that is a string of the solution.
    found: list[str] = re.findall(r"\(line (\d{1,7}) of the solution\)", text)
    frames: list[str] = re.findall(rf'{name}", line (\d{{1,7}})(?!\d)', text)
    named: list[str] = re.findall(rf"{name}:(\d{{1,7}})(?!\d)", text)
    if found or frames or named:
        return int(found[0] if found else frames[-1] if frames else named[0])
    return _forward(source)


def _forward(source: str) -> int:
    model = _MODEL_NEW.search(source)
    found = _FORWARD.search(source, model.end()) if model else None
    at = found.end() if found else 0
    if not found and (entry := _ENTRY.search(source)) is not None:
        at = entry.start()
    return source.count("\n", 0, at) + 1


def _place(path: Path, checkout: Path) -> str:
    resolved, root = path.resolve(), checkout.resolve()
    return resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else ""


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def in_actions() -> bool:
    """Whether GitHub runs this and reads what is printed."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def checkout() -> Path:
    """What files of annotations are relative to."""
    return Path(os.environ.get("GITHUB_WORKSPACE", "."))


def summary_page() -> Path | None:
    """The file that GitHub shows on the job's page; shared by all that a step runs."""
    page = os.environ.get("GITHUB_STEP_SUMMARY", "")
    return Path(page) if page and in_actions() else None


@contextmanager
def commands_stopped(say: Callable[[str], None]) -> Iterator[None]:
    """Meanwhile GitHub obeys nothing that is printed: a solution's output may be in it.

    A line that begins with two colons is a command there, whoever had it printed.
    """
    token = secrets.token_hex(16)
    say(f"::stop-commands::{token}")
    try:
        yield
    finally:
        say(f"::{token}::")
