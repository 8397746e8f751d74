"""Summaries in README and docs are as really printed, from records that lie beside the tests.

python tests/test_documented_summaries.py      # prints them anew into the documents
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from pathlib import Path

import pytest

from pytest_kernelbench.cli import main

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"(?m)^    \$ kb (report tests/data/records/[^\n]*)\n((?:    (?!\$).*\n)*)")


def printed(command: str) -> str:
    """What a command prints, indented as a block of Markdown."""
    out, before = io.StringIO(), Path.cwd()
    os.chdir(ROOT)  # contextlib.chdir is of Python 3.11
    try:
        with contextlib.redirect_stdout(out):
            main(shlex.split(command, comments=True))
    finally:
        os.chdir(before)
    return "".join(f"    {line}".rstrip() + "\n" for line in out.getvalue().splitlines())


def blocks() -> list[tuple[Path, str, str]]:
    return [
        (path, command, shown)
        for path in DOCUMENTS
        for command, shown in BLOCK.findall(path.read_text(encoding="utf-8"))
    ]


def test_one_and_three_entrants_one_and_ten_samples_are_shown() -> None:
    commands = [command for _, command, _ in blocks()]
    assert any("--entrant triton" in command for command in commands)
    assert any("--at-k 1,5,10" in command for command in commands)
    assert {path.name for path, _, _ in blocks()} >= {"README.md", "records.md"}


@pytest.mark.parametrize(("path", "command", "shown"), blocks())
def test_as_printed(path: Path, command: str, shown: str) -> None:
    assert shown == printed(command), f"{path.name}: python {Path(__file__).name} prints it anew"
    assert max(len(line) - 4 for line in shown.splitlines()) <= 80


def renew() -> None:
    """Write every block as it is printed now."""
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        made = BLOCK.sub(lambda found: f"    $ kb {found[1]}\n{printed(found[1])}", text)
        if made != text:
            path.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    os.environ.pop("GITHUB_ACTIONS", None)
    renew()
