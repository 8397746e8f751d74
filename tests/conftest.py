"""Fixtures for tests of the plugin as someone at a command line meets it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

# What an inner run imports pytester forgets with it, but for the packages' own attributes: a
# second run would then meet two of each module. Those that the plugin imports late are kept here.
import pytest_kernelbench.benchmarks
import pytest_kernelbench.judging
import pytest_kernelbench.kernel_tests
import pytest_kernelbench.reports.records
import pytest_kernelbench.scoreboard
import pytest_kernelbench.workers  # noqa: F401

HERE = Path(__file__).parent
PROBLEM = "class Model: pass\n"
"""Enough of a problem for an engine that runs none."""


class Tree:
    """A project in a temporary folder, whose engine reads verdicts out of the solutions."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path
        # Hypothesis would import itself into each run: ten times as long as all the rest.
        self.write("pytest.toml", '[pytest]\naddopts = ["-p", "no:hypothesispytest"]\n')
        pytester.makeconftest((HERE / "fake_engine.py").read_text(encoding="utf-8"))

    def problem(self, *names: str) -> None:
        """Write problems: ``level1/001_relu``."""
        for name in names:
            self.write(f"problems/{name}.py", PROBLEM)

    def solution(self, name: str, fake: str = "right 1", body: str = "") -> Path:
        """Write a solution: ``ann/level1/001_relu``; ``fake`` as in ``fake_engine``."""
        text = f"# fake: {fake}\nclass ModelNew: pass\n{body}"
        return self.write(f"solutions/{name}.py", text)

    def write(self, name: str, text: str) -> Path:
        """Write any file."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run(self, *args: str) -> pytest.RunResult:
        """Run pytest in this process."""
        return self.pytester.runpytest_inprocess(*args)


@pytest.fixture(autouse=True, scope="session")
def _ctrl_c_works() -> None:
    """Where the tests run in the background of a script, Ctrl-C is ignored: theirs too, then."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _not_in_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inner sessions must not write to the page of the job that runs the tests."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def tree(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """An empty project."""
    for name in ("CI", "BUILD_NUMBER"):  # with either, pytest prints whole messages a second time
        monkeypatch.delenv(name, raising=False)
    return Tree(pytester)
