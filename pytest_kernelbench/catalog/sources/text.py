"""A piece of text that is a solution: Python, C++, or an answer with code in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog import answers
from pytest_kernelbench.catalog.entry import (
    Entry,
    cpp_entry,
    own_definitions,
    python_entry,
    top_level_names,
)
from pytest_kernelbench.catalog.files import CPP_SUFFIXES
from pytest_kernelbench.catalog.material import Material, readable, too_long
from pytest_kernelbench.catalog.naming import parse

if TYPE_CHECKING:
    from pytest_kernelbench.catalog.claim import Claim


def claim_text(  # noqa: PLR0911 - one a kind
    text: str, base: Claim, name: str, *, suffix: str = ""
) -> Claim:
    """``base`` with what the text is; a refusal if it is nothing that can be judged.

    ``name`` is what its file is to be called; ``suffix`` says what it is where that is known.
    """
    if problem := too_long(text):
        return replace(base, refusal=problem)
    if suffix in CPP_SUFFIXES:
        return _claim_cpp(text, base, name, suffix)
    if suffix in (".md", ".txt"):
        return _claim_answer(text, base, name)
    if top_level_names(text) is not None:
        entry = python_entry(text)
        if entry is None:
            return replace(base, refusal=_no_entry(text))
        return entered(base, entry, Material(((f"{readable(name)}.py", text),)))
    if answers.has_fence(text):
        return _claim_answer(text, base, name)
    if cpp_entry(text) is not None:
        return _claim_cpp(text, base, name, ".cu" if "__global__" in text else ".cpp")
    # Whoever builds it will say where it is no Python.
    return entered(base, Entry("ModelNew"), Material(((f"{readable(name)}.py", text),)))


def entered(base: Claim, entry: Entry, material: Material | None) -> Claim:
    """``base`` with its entry point, and with the name of the problem if the source says it."""
    claim = replace(base, entry=entry.name, adapter=entry.adapter, material=material)
    if entry.task and claim.number is None and claim.level is None:
        place = parse(entry.task)
        claim = replace(claim, name=place.name or entry.task)
    if material is not None and entry.name == "ModelNew":
        claim = replace(claim, notes=(*claim.notes, *own_definitions(material.files[0][1])))
    return replace(claim, refusal=entry.refusal, skipped=entry.skipped)


def _claim_cpp(text: str, base: Claim, name: str, suffix: str) -> Claim:
    entry = cpp_entry(text)
    if entry is None:
        why = "binds no function called forward with PYBIND11_MODULE: there is nothing to call"
        return replace(base, refusal=why)
    return entered(base, entry, Material(((f"{readable(name)}{suffix}", text),)))


def _claim_answer(text: str, base: Claim, name: str) -> Claim:
    code = answers.extract(text)
    if isinstance(code, str):
        return replace(base, refusal=code)
    where = f"code from lines {code.first_line} to {code.last_line} of the answer"
    base = replace(base, notes=(*base.notes, where))
    if code.entry.adapter == "pybind":
        suffix = ".cu" if "__global__" in code.text else ".cpp"
    else:
        suffix = ".py"
    return entered(base, code.entry, Material(((f"{readable(name)}{suffix}", code.text),)))


def _no_entry(text: str) -> str:
    names = top_level_names(text) or {}
    if "get_cases" in names:
        return (
            "a task and its expected outputs in one file (get_cases): not supported; "
            "give it a class ModelNew, and its problem a file of its own"
        )
    defined = [name for name, kind in names.items() if kind in ("class", "def")][:8]
    return (
        "looked for ModelNew (or custom_kernel, run, forward), found "
        f"{', '.join(defined) or 'no class and no function'}"
    )
