"""The current folder of a module body: its own to write to, with what lies beside it at hand.

A contender's current folder is its own too. What lies beside the solution is there by links, since
a build may read it and must not change it.
"""

from __future__ import annotations

import contextlib
import os
from itertools import islice
from pathlib import Path

FOLDER = "desk"
"""Of the work folder."""
_MOST_LINKS = 4096


class Desk:
    """Of one solution, in the work folder of its build."""

    def __init__(self, solution: Path, work: Path) -> None:
        self.folder = work / FOLDER
        self._beside = solution.parent

    def sit_down(self) -> None:
        """Make it, and make it the current folder."""
        self.folder.mkdir()
        with contextlib.suppress(OSError), os.scandir(self._beside) as entries:
            for entry in islice(entries, _MOST_LINKS):
                (self.folder / entry.name).symlink_to(entry.path)
        os.chdir(self.folder)

    def name_beside(self, path: str) -> str:
        """What a path is called beside the solution; empty if it leads elsewhere.

        What lies on the desk alone has a name too: it would be read if it lay beside the solution.
        """
        for folder in (self.folder, self._beside):
            top = os.path.join(folder, "")
            if path.startswith(top):
                return path[len(top) :]
        return ""

    def told(self, text: str) -> str:
        """Words with the solution's own folder in the place of this one."""
        return text.replace(str(self.folder), str(self._beside))
