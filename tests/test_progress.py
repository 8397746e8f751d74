"""The line that says how far a session is."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_kernelbench.build.builder import Progress
from pytest_kernelbench.progress import LOG_EVERY_S, Count, Log, Terminal


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


PAIR = "a.py::test_kernel[level1/001_p]"


def pairs(number: int) -> list[str]:
    return [PAIR, *map(str, range(1, number))]


def test_words() -> None:
    clock = Clock()
    count = Count(pairs(10), clock)
    assert count.text(None) == "kernelbench: 0 of 10 pairs"
    count.start(PAIR)
    waiting = Progress(built=1, failed=1, running=2, waiting=3)
    assert count.text(waiting) == (
        "kernelbench: 0 of 10 pairs; builds: 1 built, 1 failed, 2 running, 3 waiting; "
        "at level1/001_p"
    )
    for failed in (True, False):
        clock.now_s += 60
        count.judged(failed=failed, taken=False)
    count.finish(PAIR)
    done = Progress(built=5)
    assert count.text(done) == "kernelbench: 2 of 10 pairs, 1 failed; about 8 min left"


def test_what_an_earlier_session_judged_says_nothing_of_the_pace() -> None:
    clock = Clock()
    count = Count(pairs(100), clock)
    count.start(PAIR)
    for _ in range(90):
        count.judged(failed=False, taken=True)
    assert count.left_s() is None
    for _ in range(2):
        clock.now_s += 10
        count.judged(failed=False, taken=False)
    assert count.left_s() == pytest.approx(80)


def test_other_tests_before_the_first_pair_say_nothing_of_the_pace() -> None:
    clock = Clock()
    count = Count(pairs(10), clock)
    count.start("tests/test_mine.py::test_mine")
    clock.now_s += 3600
    assert count.text(None) == "kernelbench: 0 of 10 pairs"
    count.finish("tests/test_mine.py::test_mine")
    count.start(PAIR)
    for _ in range(2):
        clock.now_s += 10
        count.judged(failed=False, taken=False)
    assert count.left_s() == pytest.approx(80)


@pytest.mark.parametrize(
    ("left_s", "told"), [(3, "10 s"), (42, "40 s"), (600, "10 min"), (5400, "1.5 h")]
)
def test_time_left(left_s: float, told: str) -> None:
    clock = Clock()
    count = Count(pairs(4), clock)
    count.start(PAIR)
    clock.now_s = left_s
    for _ in range(2):
        count.judged(failed=False, taken=False)
    assert f"about {told} left" in count.text(None)


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def test_a_log_gets_a_line_a_minute(pipe: tuple[int, int]) -> None:
    clock = Clock()
    log = Log(pipe[1], clock)
    for second in range(int(2.5 * LOG_EVERY_S)):
        clock.now_s = second
        log.show(f"at {second}")
        log.hide()
    assert os.read(pipe[0], 4096) == b"\nat 60\n\nat 120\n"


class Screen:
    """As much of a terminal as it takes to see what stays on it."""

    def __init__(self, rows: int) -> None:
        self.lines = [""] * rows
        self.scrolled: list[str] = []
        self.row = self.column = 0
        self.saved = (0, 0)

    def feed(self, text: str) -> None:  # noqa: C901 - a case for each thing that a terminal does
        for match in re.finditer(r"\x1b\[([0-9;]*)([A-Za-z])|\x1b([D78])|([\r\n])|([^\x1b])", text):
            parameter, code, single, control, letter = match.groups()
            if letter:
                line = self.lines[self.row].ljust(self.column)
                self.lines[self.row] = line[: self.column] + letter + line[self.column + 1 :]
                self.column += 1
            elif control == "\r":
                self.column = 0
            elif control == "\n" or single == "D":
                self._down()
            elif single == "7":
                self.saved = self.row, self.column
            elif single == "8":
                self.row, self.column = self.saved
            elif code == "A":
                self.row = max(0, self.row - 1)
            elif code == "B":
                self.row = min(len(self.lines) - 1, self.row + 1)
            elif code == "K":
                assert parameter == "2"
                self.lines[self.row] = ""
            elif code == "J":
                self.lines[self.row] = self.lines[self.row][: self.column]
                self.lines[self.row + 1 :] = [""] * (len(self.lines) - self.row - 1)

    def _down(self) -> None:
        if self.row == len(self.lines) - 1:
            self.scrolled.append(self.lines.pop(0))
            self.lines.append("")
        else:
            self.row += 1

    @property
    def text(self) -> list[str]:
        return [*self.scrolled, *self.lines]


@pytest.mark.parametrize("rows", [4, 40])
def test_the_line_is_seen_below_and_leaves_nothing_behind(rows: int, pipe: tuple[int, int]) -> None:
    terminal, screen = Terminal(pipe[1]), Screen(rows)

    def both(text: str = "") -> None:
        if text:
            os.write(pipe[1], text.encode())
        screen.feed(os.read(pipe[0], 4096).decode())

    for number in range(8):
        both(f"file {number} .")
        for shown in ("a longer line of progress", "a short one"):
            terminal.show(shown)
            both()
            assert screen.lines[screen.row] == f"file {number} ."
            assert screen.lines[screen.row + 1] == shown
        terminal.hide()
        both(".\r\n")
    assert [line for line in screen.text if line] == [f"file {number} .." for number in range(8)]


ENGINE = """
import time

class SlowEngine(FakeEngine):
    def judge(self, pair, extension):
        time.sleep(1.3)
        return super().judge(pair, extension)

def pytest_kernelbench_engine(settings):
    return SlowEngine(settings)
"""


@pytest.mark.parametrize(("args", "seen"), [([], True), (["-q"], False)])
def test_on_a_terminal(tree, args: list[str], *, seen: bool) -> None:  # noqa: ANN001
    path = tree.path / "conftest.py"
    path.write_text(path.read_text() + ENGINE)
    tree.problem("level1/001_p", "level1/002_p")
    tree.solution("ann/level1/001_p", "fast 2")
    if seen:
        tree.solution("ann/level1/002_p", "wrong_value")
    told = on_terminal(tree.path, ["solutions", "--color=no", "-p", "no:cacheprovider", *args])
    assert ("kernelbench: 0 of 2 pairs; at level1/001_p" in told) is seen
    assert ("kernelbench: 1 of 2 pairs; at level1/002_p" in told) is seen
    screen = Screen(200)
    screen.feed(told)
    left = "\n".join(screen.text)
    assert "pairs" not in left
    assert "level 1 " in left


def on_terminal(folder: Path, args: list[str]) -> str:
    """What pytest writes to a terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    command = [sys.executable, "-m", "pytest", *args]
    with subprocess.Popen(
        command, cwd=folder, stdout=theirs, stderr=theirs, env=environment
    ) as run:
        os.close(theirs)
        written, deadline = b"", time.monotonic() + 90
        while time.monotonic() < deadline:
            ready, _, _ = select.select([ours], [], [], 1.0)
            if ready:
                try:
                    piece = os.read(ours, 65536)
                except OSError:  # the other end is closed
                    break
                written += piece
            elif run.poll() is not None:
                break
    os.close(ours)
    return written.decode()


OFTEN = """
from pytest_kernelbench import progress
progress.TICK_S, progress.LOG_EVERY_S = 0.3, 0.0
"""


@pytest.mark.parametrize(("args", "ended"), [(["-v"], " PASSED 2.00x"), ([], "")])
def test_in_a_log_an_item_stands_with_its_outcome(tree, args: list[str], ended: str) -> None:  # noqa: ANN001
    path = tree.path / "conftest.py"
    path.write_text(path.read_text() + ENGINE + OFTEN)
    tree.problem("level1/001_p")
    tree.solution("ann/level1/001_p", "fast 2")
    result = tree.pytester.runpytest_subprocess("solutions", "-p", "no:cacheprovider", *args)
    lines = result.outlines
    assert "kernelbench: 0 of 1 pairs; at level1/001_p" in lines, "on a line of its own"
    item = "solutions/ann/level1/001_p.py" + ("::test_kernel[level1/001_p]" if args else " ")
    assert any(line.startswith(item + ended) for line in lines)
