"""The texts of prompts: Markdown files with ``${name}`` in them; yours go before ours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

from pytest_kernelbench.errors import UsageError

_OWN = Path(__file__).with_name("templates")


@dataclass(frozen=True)
class Texts:
    """Where texts come from."""

    folder: Path | None = None
    """Its files replace ours of the same name; others are ours."""

    def __post_init__(self) -> None:
        if self.folder is None:
            return
        if not self.folder.is_dir():
            message = f"there is no folder {self.folder} of templates"
            raise UsageError(message)
        known = {path.name for path in _OWN.glob("*.md")}
        strange = sorted({path.name for path in self.folder.glob("*.md")} - known)
        if strange:
            message = (
                f"{self.folder / strange[0]} replaces nothing: templates are called "
                f"{', '.join(sorted(known))}"
            )
            raise UsageError(message)

    def fill(self, name: str, **values: str) -> str:
        """The text ``name.md`` with its holes filled; raises ``UsageError`` if one has no value."""
        path = self._path(name)
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            message = f"{path} is not text in UTF-8: {error}"
            raise UsageError(message) from None
        try:
            return Template(text).substitute(values).strip()
        except KeyError as error:
            has = ", ".join(f"${{{value}}}" for value in values) or "nothing"
            message = f"{path}: ${{{error.args[0]}}} is unknown here; it can hold {has}"
            raise UsageError(message) from None
        except ValueError as error:
            message = f"{path}: {error}; a dollar sign of its own is written $$"
            raise UsageError(message) from None

    def _path(self, name: str) -> Path:
        if self.folder is not None and (mine := self.folder / f"{name}.md").is_file():
            return mine
        return _OWN / f"{name}.md"


def backends() -> tuple[str, ...]:
    """Every backend that there is a text for."""
    found = (re.fullmatch(r"backend_(.+)\.md", path.name) for path in _OWN.iterdir())
    return tuple(sorted(match[1] for match in found if match))
