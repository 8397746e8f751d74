"""No regular expression takes quadratic time: a solution's text may be megabytes of one letter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("pattern_times.py")
LIMIT_S = 120.0
ARGUMENTS = [
    "build.places",
    "catalog.family",
    "overwriting",
    "reports.annotations",
    "reports.annotations",
]
"""Modules with a pattern that a function makes of its arguments: looked at by a person."""


@pytest.mark.slow
def test_every_pattern_takes_linear_time() -> None:
    ended = subprocess.run(
        [sys.executable, str(PROGRAM)],
        timeout=LIMIT_S,  # one that takes cubic time says nothing of itself
        capture_output=True,
        text=True,
        check=False,
    )
    lines = ended.stdout.splitlines()
    assert ended.returncode == 0, ended.stderr
    assert [line for line in lines if line.startswith("slow ")] == []
    arguments = [line.split()[1].partition(":")[0] for line in lines if line.startswith("argument")]
    assert sorted(arguments) == ARGUMENTS
    assert int(lines[-1].split()[1]) > 100
