"""Solutions of several files in one JSON object: flashinfer-bench's, and MultiKernelBench's."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.catalog.adapters import FUNCTIONAL, REFERENCE
from pytest_kernelbench.catalog.files import CPP_SUFFIXES
from pytest_kernelbench.catalog.material import Material, too_long, unsafe
from pytest_kernelbench.catalog.naming import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_kernelbench.catalog.claim import Claim

_LIMIT_FILES = 200
_COMPILED = ("cuda", "cpp", "c++")
_TVM_FFI = "TVM_FFI_DLL_EXPORT"


class PackedError(ValueError):
    """What is wrong with a packed solution."""


def is_packed(value: object) -> bool:
    """Whether a JSON value is a solution that brings its files with it."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("sources"), list)
        and (isinstance(value.get("spec"), dict) or "entry" in value)
    )


def claim_packed(value: Mapping[str, Any], base: Claim) -> Claim:
    """What a packed solution claims; a refusal says what is wrong with it."""
    try:
        return _flashinfer(value, base) if "spec" in value else _multikernel(value, base)
    except PackedError as error:
        return replace(base, refusal=str(error))


def _flashinfer(value: Mapping[str, Any], base: Claim) -> Claim:
    spec: Mapping[str, Any] = value["spec"]
    definition = _text(value, "definition")
    author = value.get("author")
    place = parse(definition)
    claim = replace(
        base,
        entrant=author if isinstance(author, str) and author else base.entrant,
        level=place.level,
        number=place.number,
        name=place.name or definition,
        format="Solution JSON",
    )
    source, name = _entry_point(_text(spec, "entry_point"))
    language = str(spec.get("language", "python")).lower()
    destination = spec.get("destination_passing_style", False)
    if not isinstance(destination, bool):
        message = "spec.destination_passing_style is neither true nor false"
        raise PackedError(message)
    material = _files(value["sources"], source)
    claim = replace(claim, material=material, notes=_dependencies(spec))
    if language in _COMPILED or source.endswith(CPP_SUFFIXES):
        return _compiled(claim, spec, source, name, destination=destination)
    adapter = "package" if name == "ModelNew" else "destination" if destination else "run"
    return replace(claim, entry=f"{source}::{name}", adapter=f"package:{adapter}")


def _compiled(
    claim: Claim, spec: Mapping[str, Any], source: str, name: str, *, destination: bool
) -> Claim:
    assert claim.material is not None
    text = "\n".join(text for _, text in claim.material.files)
    # Left out it means tvm-ffi to some versions of the format and torch to others.
    binding = spec.get("binding") or ("tvm-ffi" if _TVM_FFI in text else "torch")
    if binding != "torch":
        why = (
            f"binding {binding!r} is not supported, only 'torch' is: bind {name} with "
            "PYBIND11_MODULE, or call it from a Python source that does"
        )
        return replace(claim, refusal=why)
    adapter = "destination" if destination else "pybind"
    return replace(claim, entry=f"{source}::{name}", adapter=f"extension:{adapter}")


def _multikernel(value: Mapping[str, Any], base: Claim) -> Claim:
    entry = value["entry"]
    point = entry.get("model") if isinstance(entry, dict) else entry
    if not isinstance(point, str):
        message = "entry.model is missing: it names the class, as in ModelNew.py::ModelNew"
        raise PackedError(message)
    source, name = _entry_point(point)
    problem = value.get("problem")
    place = parse(problem) if isinstance(problem, str) else parse("")
    notes = ("its section build is not carried out",) if value.get("build") else ()
    return replace(
        base,
        level=base.level if place.level is None else place.level,
        number=base.number if place.number is None else place.number,
        name=place.name or base.name,
        entry=f"{source}::{name}",
        adapter="package:package",
        material=_files(value["sources"], source),
        format="sources in JSON",
        notes=notes,
    )


def _files(sources: list[Any], entry: str) -> Material:
    """The files, the one that is entered first."""
    if not 0 < len(sources) <= _LIMIT_FILES:
        message = f"it has {len(sources)} sources; between 1 and {_LIMIT_FILES} can be laid out"
        raise PackedError(message)
    found: dict[str, str] = {}
    for number, source in enumerate(sources, start=1):
        path = source.get("path") if isinstance(source, dict) else None
        text = source.get("content") if isinstance(source, dict) else None
        if not isinstance(path, str) or not isinstance(text, str):
            message = f"source {number} is no object with the texts path and content"
            raise PackedError(message)
        if problem := unsafe(path) or too_long(text):
            message = f"source {number} is refused: {problem}"
            raise PackedError(message)
        if path in found or path in (REFERENCE, FUNCTIONAL):
            message = f"source {number} is refused: the name {path!r} is taken"
            raise PackedError(message)
        found[path] = text
    if entry not in found:
        message = f"the entry point's file {entry!r} is none of its sources: {', '.join(found)}"
        raise PackedError(message)
    return Material(tuple(sorted(found.items(), key=lambda pair: (pair[0] != entry, pair[0]))))


def _entry_point(text: str) -> tuple[str, str]:
    source, colons, name = text.partition("::")
    if not colons or not name.isidentifier() or not source:
        message = f"the entry point {text!r} is not FILE::NAME"
        raise PackedError(message)
    return source, name


def _text(value: Mapping[str, Any], name: str) -> str:
    text = value.get(name)
    if not isinstance(text, str) or not text:
        message = f"{name} is missing or no text"
        raise PackedError(message)
    return text


def _dependencies(spec: Mapping[str, Any]) -> tuple[str, ...]:
    names = spec.get("dependencies")
    if not isinstance(names, list) or not names:
        return ()
    return (
        f"it says that it needs {', '.join(map(str, names))}: what is missing is not installed",
    )
