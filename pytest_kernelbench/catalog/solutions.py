"""Which files are solutions, and which problem each of them answers."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog import files
from pytest_kernelbench.catalog.layouts import EntrantTree, kernelbench_run
from pytest_kernelbench.catalog.naming import letters
from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.texts import one_line, showable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_kernelbench.catalog.claim import Adapter, Claim
    from pytest_kernelbench.catalog.material import Material
    from pytest_kernelbench.catalog.problems import ProblemCatalog


def own_adapters(solution_folders: tuple[str, ...]) -> tuple[Adapter, ...]:
    """The layouts known without a plugin, in the order they are asked."""
    return (
        EntrantTree(solution_folders),
        kernelbench_run,
        files.FolderSolution(solution_folders),
        files.TextByName(solution_folders),
        *files.BY_NAME,
    )


class Matchmaker:
    """Pairs solutions with problems by path and name; at most it looks at a file's text.

    ``level`` is what a file is taken to belong to that does not say its level; ``cache`` is where
    solutions get files of their own that have none.
    """

    def __init__(
        self,
        catalog: ProblemCatalog,
        adapters: Sequence[Adapter] = (),
        cache: Path = Path(".kernelbench"),
        level: int | None = None,
    ) -> None:
        self.catalog = catalog
        self.adapters = tuple(adapters)
        self._sources = cache / "sources"
        self._level = level

    def claim(self, path: Path, *, look_inside: bool = True, named: bool = False) -> Claim | None:
        """What ``path`` claims to be; None if it is no solution.

        ``look_inside`` also takes a file of any other name that can be entered; ``named`` says that
        somebody named the file or its folder.
        """
        if path.suffix == ".py" and self.catalog.holds(path):
            return None
        if path.suffix in files.CPP_SUFFIXES:
            from pytest_kernelbench.catalog.belongings import belongs_to_a_solution

            if belongs_to_a_solution(path):
                return None
        for adapter in self.adapters:
            if (claim := adapter(path)) is not None:
                return claim
        if not look_inside or path.suffix not in files.LOOKED_INTO:
            return None
        from pytest_kernelbench.catalog.inside import look_inside as look

        return look(path, named=named)

    def understood(self, path: Path, claim: Claim) -> Claim:  # noqa: PLR0911 - one a kind
        """The claim with what the file's text adds: its entry point, or why it has none."""
        if claim.refusal or claim.material is not None:
            return claim
        from pytest_kernelbench.catalog.entry import own_definitions, python_entry
        from pytest_kernelbench.catalog.material import source_text, too_large
        from pytest_kernelbench.catalog.sources.text import claim_text, entered

        if why := too_large(path):
            return replace(claim, refusal=why)
        try:
            text = source_text(path)
        except OSError as error:
            if claim.adapter == "text":
                return replace(claim, refusal=f"it cannot be read: {error.strerror}")
            return claim  # Whoever builds it will say why.
        if claim.adapter == "text":
            return claim_text(text, replace(claim, adapter=""), path.stem, suffix=path.suffix)
        if path.suffix != ".py":
            return claim  # A plugin's own.
        if claim.entry == "ModelNew" and "ModelNew" not in text:
            entry = python_entry(text, model=claim.format == "folder of a task")
            return claim if entry is None else entered(claim, entry, None)
        if claim.entry == "ModelNew":
            # Asked twice of a claim it says the same.
            notes = dict.fromkeys((*claim.notes, *own_definitions(text)))
            return replace(claim, notes=tuple(notes))
        return claim

    def pair(self, path: Path, claim: Claim) -> Pair | str:
        """The pair, or a sentence on why there is none and what comes near."""
        claim = self._without_version(self.understood(path, claim))
        for name in (path.name, claim.entrant):
            if not showable(name):
                return f"{one_line(name)} has control characters in its name: give it another"
        if claim.refusal:
            return f"{claim.origin or path.name}: {claim.refusal}"
        problem = self._problem(path, claim)
        if isinstance(problem, str):
            return problem
        strange = claim.level is None and letters(claim.name) != letters(problem.name)
        if strange and not claim.origin:
            # Files that name no problem, all for the only one: told apart by their own names.
            claim = replace(claim, entrant=path.stem)
        return Pair(problem, self._solution(path, claim, problem))

    def _problem(self, path: Path, claim: Claim) -> Problem | str:
        level = self._level if claim.level is None else claim.level
        if level is None or claim.number is None:
            return self._by_name(path, claim)
        problem = self.catalog.get(level, claim.number)
        searched = self.catalog.describe()
        if problem is None:
            why = f"there is no problem {level}/{claim.number}; searched: {searched}"
        elif claim.name and letters(claim.name) != letters(problem.name):
            why = (
                f"problem {level}/{claim.number} is {problem.name!r}, not {claim.name!r}: "
                f"mend the number or the name; searched: {searched}"
            )
        else:
            return problem
        if claim.level is None and self.catalog.only is not None:
            return self.catalog.only
        return why + self._near(replace(claim, level=level))

    def _without_version(self, claim: Claim) -> Claim:
        """``relu_v2`` is a second try at ``relu``, where no problem is called as the whole."""
        match = re.fullmatch(r"(.+)[_-]v([0-9]{1,5})", claim.name)
        if match is None or claim.number is not None or self.catalog.called(claim.name):
            return claim
        if not self.catalog.called(match[1]):
            return claim
        return replace(claim, name=match[1], sample=claim.sample or int(match[2]))

    def _by_name(self, path: Path, claim: Claim) -> Problem | str:
        """By what is known beside level and number, or the only problem that was named."""
        fitting = [
            problem
            for problem in (self.catalog.called(claim.name) if claim.name else ())
            if claim.level in (None, problem.level) and claim.number in (None, problem.number)
        ]
        if len(fitting) == 1:
            return fitting[0]
        if self.catalog.only is not None and claim.level is None:
            return self.catalog.only
        reference = "" if claim.origin else self._reference_beside(path)
        return f"{_unpaired(path, claim)}{reference}{self._near(claim)}"

    def _near(self, claim: Claim) -> str:
        from pytest_kernelbench.catalog.near import near

        return near(claim, self.catalog)

    @staticmethod
    def _reference_beside(path: Path) -> str:
        found = next((n for n in files.REFERENCES if (path.parent / n).is_file()), None)
        if found is None:
            return ""
        return (
            f"\n  {path.parent / found} lies beside it; its author may have chosen easy inputs: "
            "if you trust it, name it with --kb-problem, or the folder of tasks with --kb-problems"
        )

    def _solution(self, path: Path, claim: Claim, problem: Problem) -> Solution:
        if claim.material is None and not claim.adapter:
            return Solution(path, claim.entrant, claim.sample, claim.entry, notes=claim.notes)
        from pytest_kernelbench.catalog.material import materialise

        entry, notes = claim.entry, claim.notes
        material = claim.material or _text_of(path)
        if claim.adapter:
            from pytest_kernelbench.catalog import adapters as wrappers

            if claim.adapter == "custom_kernel":
                material = self._with_modules(material, path, claim, problem)
            material = wrappers.adapted(
                material, claim.entry, claim.adapter, problem.path.read_text(encoding="utf-8")
            )
            notes = (wrappers.describe(claim.entry, claim.adapter), *notes)
            entry = "ModelNew"
        shown = claim.origin or path.name
        notes = (f"from {shown}", *notes)
        file = materialise(material, self._sources, shown)
        return Solution(file, claim.entrant, claim.sample, entry, shown, notes)

    @staticmethod
    def _with_modules(material: Material, path: Path, claim: Claim, problem: Problem) -> Material:
        """A submission with the modules of its task that it imports."""
        from pytest_kernelbench.catalog import kernelbot
        from pytest_kernelbench.catalog.material import Material

        text = material.files[0][1]
        own = path if claim.material is None else None
        return Material((*material.files, *kernelbot.submission_modules(text, own, problem.path)))


def _unpaired(path: Path, claim: Claim) -> str:
    """Why a claim is nobody's answer, and what to do."""
    shown = claim.origin or path.name
    if claim.number is not None and claim.level is None:
        what = f"{shown} is for a problem {claim.number}, but nothing tells of which level"
        remedy = "name its folder ..._levelN_..., or give --kb-level N"
    elif claim.origin:
        what = f"{shown} is for {claim.name!r}" if claim.name else f"{shown} names no problem"
        remedy = "give it the columns level and problem_id"
    else:
        what = f"{shown} defines a solution, but its path does not tell to which problem"
        remedy = "name it <entrant>/levelN/NNN_name.py or level_L_problem_P_sample_S_kernel.py"
    wide = "; the same holds for others of this folder" if claim.folder_wide else ""
    return f"{what}: {remedy}, or give the problem's file with --kb-problem FILE{wide}"


def _text_of(path: Path) -> Material:
    from pytest_kernelbench.catalog.material import Material, source_text

    return Material(((path.name, source_text(path)),))


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key by which sample 10 comes after sample 9."""
    parts = re.split(r"([0-9]+)", text)
    return tuple((0, int(p), "") if p.isascii() and p.isdigit() else (1, 0, p) for p in parts)
