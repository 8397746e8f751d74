"""Words about one place, said of another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_kernelbench.build.job import Job
from pytest_kernelbench.build.places import moved
from pytest_kernelbench.build.recorder import Recorder

BEFORE = Path("/solutions/b/022_tanh/solution.py")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('File "/solutions/b/022_tanh/solution.py", line 4', 'File "/x/c.py", line 4'),
        ("/solutions/b/022_tanh/k.cu:3: error", "/x/k.cu:3: error"),
        ("in '/solutions/b/022_tanh'", "in '/x'"),
        ("solution.py defines no ModelNew", "c.py defines no ModelNew"),
        ("there is an error in solution.py.", "there is an error in c.py."),
        ("/solutions/b/022_tanh2/k.cu", "/solutions/b/022_tanh2/k.cu"),
        ("/else/solution.py my_solution.py solution.pyc", None),
        ("k.cu:3: error", None),
    ],
)
def test_paths_folders_and_names(text: str, told: str | None) -> None:
    assert moved(text, BEFORE, Path("/x/c.py")) == (text if told is None else told)


def test_what_is_put_in_is_not_looked_at_again() -> None:
    now = Path("/solutions/b/022_tanh/solution.py/solution.py")
    assert moved(f"{BEFORE}: no", BEFORE, now) == f"{now}: no"


def test_a_solution_at_the_root() -> None:
    assert moved("/s.py /usr/lib s.py", Path("/s.py"), Path("/a/t.py")) == "/a/t.py /usr/lib t.py"


def test_a_call_that_failed_does_not_say_where(tmp_path: Path) -> None:
    """Its words are raised again in contenders of the same source, wherever that lies."""

    def load(name: str, sources: Any, build_directory: Any = None) -> None:
        raise RuntimeError(f"{name}, {build_directory}: {tmp_path}/ann/sub/{sources}:3: no")

    solution = tmp_path / "ann" / "019_relu.py"
    recorder = Recorder(Job(str(solution), "ModelNew", str(tmp_path / "work"), {}, {}, 1 << 30))
    (tmp_path / "work").mkdir()
    with pytest.raises(RuntimeError, match=r"/ann/sub/k\.cu:3: no"):
        recorder._recording(load)("k", "k.cu")
    (call,) = recorder.manifest.calls.values()
    assert call.error.endswith(": sub/k.cu:3: no")
