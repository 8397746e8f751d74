"""Keeps pytest from executing anything that lies in a folder of solutions.

A ``conftest.py`` could replace the judge, and a package's ``__init__.py`` is imported when its
first item is set up: a solution must not bring its own judge. One thing no plugin can prevent: what
an ini file names with ``-p`` runs before this is loaded. Such a file is refused, but too late; who
judges strangers gives ``-c`` (docs/trust.md).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.problems import LEVEL_FOLDER
from pytest_kernelbench.folders import kind_of
from pytest_kernelbench.texts import one_line, showable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from pytest_kernelbench.catalog.solutions import Matchmaker

INTRUDERS = frozenset(
    {
        "conftest.py",
        "__init__.py",
        "sitecustomize.py",
        "usercustomize.py",
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        ".pytest.toml",
    }
)


class Guard:
    """Knows which folders hold solutions, and what in them pytest would execute."""

    def __init__(self, matchmaker: Matchmaker, solution_folders: Iterable[str], root: Path) -> None:
        self._matchmaker = matchmaker
        self._root = root
        self._names = frozenset(solution_folders)
        self._known: dict[tuple[Path, bool], bool] = {}
        self._true_folders: dict[Path, Path] = {}

    def territory(self, folder: Path) -> Path | None:
        """The outermost folder of solutions that ``folder`` is or lies in."""
        chain = [*reversed(folder.parents), folder]
        return next(
            (f for f in chain if self._holds_solutions(f, near=self._near(f, folder))), None
        )

    def _near(self, ancestor: Path, folder: Path) -> bool:
        """Whether ``ancestor`` may be told by its contents, not only by its name.

        A kernel left in the home directory must not put every project below it under guard.
        """
        inside = folder.is_relative_to(self._root)
        return (
            ancestor.is_relative_to(self._root) if inside else ancestor in (folder, folder.parent)
        )

    def refusal(self, folder: Path) -> str | None:
        """Why pytest must not enter ``folder``; None if it may."""
        if (message := self.refuse_name(folder)) is not None:
            return message
        for name in sorted(INTRUDERS.intersection(_listing(folder))):
            if (message := self.refuse(folder / name)) is not None:
                return message
        return None

    def refuse(self, file: Path) -> str | None:
        """Why pytest must not heed ``file``, an intruder by name or by use; None if it may."""
        territory = self.territory(file.parent)
        if territory is None:
            return None
        return (
            f"{one_line(str(file))} is refused: pytest would obey it, and it could replace the "
            "judge. "
            f"{territory} is a folder of solutions, where nothing is run by pytest itself: "
            "move the file elsewhere or delete it."
        )

    def refuse_root(self, root: Path, started: Path, *, by_ini: bool) -> str | None:
        """Why ``root``, of pytest's own choice, must not be the project's; None if it may.

        An empty ``setup.py`` makes pytest take the folder of an argument. Whoever stands in a
        folder of solutions as their root has it for a project: it is not chosen by what lies in it.
        """
        territory = self.territory(root)
        chosen_by_argument = not by_ini and not started.is_relative_to(root)
        if territory is None and chosen_by_argument and _brings_own(root) and self._any_below(root):
            territory = root
        if territory is None or root == started == territory:
            return None
        return (
            f"{one_line(str(root))} would be taken for the project, with problems and builds that "
            f"lie in it, and {one_line(str(territory))} is a folder of solutions: name the "
            "project's folder with --rootdir (--rootdir . if you are in it), or put an ini file "
            "of pytest's there"
        )

    def refuse_name(self, path: Path) -> str | None:
        """Why a file or folder of solutions must not be shown, as pytest does; None if it may."""
        if showable(path.name) or self.territory(path) is None:
            return None
        return (
            f"{one_line(str(path))} is refused: the characters in its name would command the "
            "terminal, or begin a line of their own: give it another name"
        )

    def refuse_link(self, path: Path, named: Collection[Path]) -> str | None:
        """Why a solution or a folder of them must not be read: it lies elsewhere; None if it may.

        Its author could let it lead anywhere, and reports would show what is there. ``named`` are
        the arguments: whoever names a folder that is a link has seen to it.
        """
        true = self._true(path)
        if true == path or any(true.is_relative_to(home) for home in self._homes(path, named)):
            return None
        return (
            "it is a link, or lies in one, that leads out of the folder that is judged; put there "
            "what it leads to, or name that"
        )

    def refuse_way(self, folder: Path, named: Collection[Path]) -> str | None:
        """Why a folder of solutions must not be entered: a link out, or round; None if it may."""
        if not folder.is_symlink() or self.territory(folder.parent) is None:
            return None
        why = self.refuse_link(folder, named)
        if why is None and self._true(folder) in (_real(above) for above in folder.parents):
            why = "it is a link to a folder that it lies in"
        return why and f"{one_line(str(folder))} is refused: {why}"

    def strange(self, folder: Path) -> Iterator[tuple[Path, str]]:
        """What is called as a solution in a folder and is no file, each with what it is."""
        if self.territory(folder) is None:
            return
        for name in _no_files(folder):
            path = folder / name
            if self._matchmaker.claim(path, look_inside=False) is not None:
                yield path, kind_of(path)

    def _true(self, path: Path) -> Path:
        parent = path.parent
        if parent not in self._true_folders:
            self._true_folders[parent] = _real(parent)
        return _real(path) if path.is_symlink() else self._true_folders[parent] / path.name

    def _homes(self, path: Path, named: Collection[Path]) -> list[Path]:
        """Folders that what lies at ``path`` may truly lie in."""
        territory = self.territory(path.parent)
        # By contents alone a link would be a territory wherever it leads to.
        if territory and (territory.name in self._names or not territory.is_symlink()):
            given = [folder for folder in named if folder.is_relative_to(territory)]
            return [_real(territory), *map(_real, _folders_above(path, given))]
        return [*map(_real, _folders_above(path, named))] or [_real(path.parent)]

    def _holds_solutions(self, folder: Path, *, near: bool) -> bool:
        if (folder, near) not in self._known:
            self._known[folder, near] = (near and self._is_home(folder)) or (
                folder.name in self._names and self._any_below(folder)
            )
        return self._known[folder, near]

    def _is_home(self, folder: Path) -> bool:
        """Solutions lie directly in it, or in levels directly in it; told by names alone."""
        names = _listing(folder)
        levels = [name for name in names if LEVEL_FOLDER.fullmatch(name)]
        return self._any_claimed(folder, names) or any(
            self._any_claimed(folder / level, _listing(folder / level)) for level in levels
        )

    def _any_claimed(self, folder: Path, names: Iterable[str]) -> bool:
        claim = self._matchmaker.claim
        return any(claim(folder / name, look_inside=False) for name in names if name[:1] != ".")

    def any_solutions(self, paths: Iterable[Path]) -> bool:
        """Whether one of these files or folders is or holds a solution, told by names alone."""
        claim = self._matchmaker.claim
        return any(
            claim(file, look_inside=False) is not None for path in paths for file in _files(path)
        )

    def _any_below(self, folder: Path) -> bool:
        return any(self._matchmaker.claim(file) for file in _files(folder))


def _brings_own(folder: Path) -> bool:
    """Whether a session whose root it is would take something from it."""
    return any(os.path.lexists(folder / name) for name in ("problems", ".kernelbench"))


def initial_conftest_folders(anchors: Iterable[Path]) -> Iterator[Path]:
    """Every folder whose conftest.py pytest loads before it collects, for these arguments."""
    for anchor in anchors:
        folder = anchor if anchor.is_dir() else anchor.parent
        yield from (folder, *folder.parents)
        if anchor.is_dir():
            yield from (below for below in anchor.glob("test*") if below.is_dir())


def close_import_path(guard: Guard, root: Path) -> list[str]:
    """Take folders of solutions off ``sys.path``: a ``torch.py`` of theirs would shadow torch.

    ``python -m pytest`` puts the working directory there.
    """
    removed = []
    for entry in list(sys.path):
        path = Path(os.path.normpath(Path(entry).absolute()))
        ours = path == Path.cwd() or (
            path.is_relative_to(root) and not path.is_relative_to(sys.prefix)
        )
        if ours and guard.territory(path) is not None:
            sys.path.remove(entry)
            removed.append(str(path))
    return removed


def _files(path: Path) -> Iterator[Path]:
    """The file itself, or all below a folder, hidden folders and environments aside."""
    if path.is_file():
        yield path
    for parent, folders, names in os.walk(path):
        folders[:] = [f for f in folders if f[0] != "." and f not in ("node_modules", "venv")]
        yield from (Path(parent, name) for name in names)


def _no_files(folder: Path) -> list[str]:
    """Told without a look at each file: most entries say themselves what they are."""
    try:
        with os.scandir(folder) as entries:
            sources = [entry for entry in entries if entry.name.endswith(".py")]
    except OSError:
        return []
    odd = [entry.name for entry in sources if not entry.is_file(follow_symlinks=False)]
    return sorted(name for name in odd if not (folder / name).is_file())


def _folders_above(path: Path, named: Iterable[Path]) -> list[Path]:
    return [place for place in named if place in path.parents]


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _listing(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
