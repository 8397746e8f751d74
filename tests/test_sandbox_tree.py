"""What is below a process: by the kernel's lists, without them, and where /proc cannot be read."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import wait_until

sys.path.append(str(Path(__file__).with_name("inmates")))

import kb_no_lists

from pytest_kernelbench.sandbox import tree

THREE_MORE = """
import os, threading, time
threading.Thread(target=lambda: os.fork() or time.sleep(60)).start()
if os.fork() == 0:
    os.fork()
print(flush=True)
time.sleep(60)
"""


@pytest.fixture
def parent() -> Iterator[int]:
    """A process with two children, one of them a thread's, and a grandchild."""
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", THREE_MORE])
    below: list[int] = []
    try:
        wait_until(lambda: len(tree.descendants(process.pid)) == 3)
        below = tree.descendants(process.pid)
        yield process.pid
    finally:
        for pid in below:
            tree.send(pid, 9)
        process.kill()
        process.wait()


def test_descendants_are_found_where_the_kernel_keeps_no_lists(
    parent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``CONFIG_PROC_CHILDREN`` is a choice of who builds it."""
    listed = tree.descendants(parent)
    assert len(tree.children(parent)) == 2
    monkeypatch.setattr(tree.Path, "read_text", kb_no_lists.read_text)
    monkeypatch.setattr(tree.Path, "exists", kb_no_lists.exists)
    monkeypatch.setattr(tree, "_lists_children", tree._lists_children.__wrapped__)
    assert sorted(tree.descendants(parent)) == sorted(listed)
    assert len(tree.children(parent)) == 2
    assert parent in tree.descendants(os.getpid())
    assert tree.children(listed[-1]) == []


def test_whether_there_are_lists_is_asked_of_the_kernel() -> None:
    tid = os.listdir("/proc/self/task")[0]
    assert tree._lists_children() is Path(f"/proc/self/task/{tid}/children").exists()


@pytest.mark.parametrize(
    "look", [tree.descendants, tree.children, tree.frozen, tree.alive, tree.stop]
)
def test_what_cannot_be_read_is_not_taken_for_an_end(
    monkeypatch: pytest.MonkeyPatch, look: object
) -> None:
    """Nobody stands still, or is alone, because the judge has too many files open."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    tree._lists_children()
    monkeypatch.setattr(tree.os, "listdir", fail)
    monkeypatch.setattr(tree.Path, "read_text", fail)
    with pytest.raises(OSError, match="Too many open files"):
        look(os.getpid())  # type: ignore[operator]
