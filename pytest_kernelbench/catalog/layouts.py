"""The layouts of solution files that are known without a plugin, each an ``Adapter``."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_kernelbench.catalog.claim import Claim
from pytest_kernelbench.catalog.problems import LEVEL_FOLDER, NUMBERED_FILE
from pytest_kernelbench.folders import chunks

_SAMPLE = re.compile(r"(.+)_sample_?([0-9]+)")
_RUN_FILE = re.compile(r"level_([0-9]+)_problem_([0-9]+)_sample_([0-9]+)_kernel\.py")
_NAMES_ENTRY = re.compile(rb"^[ \t]*(?:class[ \t]+)?ModelNew\b", re.MULTILINE)
_LOOKED_AT_BYTES = 4 << 20
_DEFINES_MODEL = re.compile(rb"^class[ \t]+Model\b", re.MULTILINE)


class EntrantTree:
    """``solutions/<entrant>/levelN/NNN_name[_sampleK].py``.

    The entrant is what lies between the folder ``solutions`` and the level; without such a folder,
    the name of what holds the level.
    """

    def __init__(self, solution_folders: tuple[str, ...] = ("solutions",)) -> None:
        self.solution_folders = solution_folders

    def __call__(self, path: Path) -> Claim | None:
        """See ``Adapter``."""
        level = LEVEL_FOLDER.fullmatch(path.parent.name)
        numbered = NUMBERED_FILE.fullmatch(path.name)
        if level is None or numbered is None:
            return None
        if not self._among_solutions(path) and _is_a_problem(path):
            return None
        name, sample = numbered[2], 0
        if suffix := _SAMPLE.fullmatch(name):
            name, sample = suffix[1], int(suffix[2])
        entrant = self._entrant(path.parent.parent)
        return Claim(entrant, int(level[1]), int(numbered[1]), name, sample)

    def _among_solutions(self, path: Path) -> bool:
        """Whether the path itself says so: then a file without ``ModelNew`` is a failure."""
        return any(part in self.solution_folders for part in path.parts[:-1])

    def _entrant(self, home: Path) -> str:
        parts = home.parts
        for index in range(len(parts) - 1, -1, -1):
            if parts[index] in self.solution_folders:
                return "/".join(parts[index + 1 :]) or parts[index]
        return home.name


def kernelbench_run(path: Path) -> Claim | None:
    """``<run>/level_L_problem_P_sample_S_kernel.py``, as KernelBench writes its runs."""
    match = _RUN_FILE.fullmatch(path.name)
    if match is None:
        return None
    level, number, sample = map(int, match.groups())
    return Claim(path.parent.name, level, number, sample=sample, format="KernelBench run")


def _is_a_problem(path: Path) -> bool:
    """A numbered file in a level folder may be a problem of a root that nobody named."""
    text = _read(path)
    return bool(_DEFINES_MODEL.search(text)) and not _NAMES_ENTRY.search(text)


def _read(path: Path) -> bytes:
    try:
        return b"".join(chunks(path, _LOOKED_AT_BYTES))
    except OSError:
        # Unreadable: whoever builds it will say why.
        return b""
