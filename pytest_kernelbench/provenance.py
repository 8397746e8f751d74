"""What a verdict was made from, and whether that is still what lies here."""

from __future__ import annotations

import dataclasses
import os
from datetime import datetime, timezone
from functools import lru_cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_kernelbench import __version__
from pytest_kernelbench.build.toolchain import find_toolchain
from pytest_kernelbench.catalog.fingerprint import hashes
from pytest_kernelbench.errors import MachineError
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Provenance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_kernelbench.catalog.pair import Pair
    from pytest_kernelbench.verdict import Verdict

BESIDE = frozenset(
    {"levels", "problems", "problem_files", "problem_roots", "archives", "entrants"}
    | {"solution_folders", "changed_since", "expected_to_fail"}
    # Which pairs are asked is no matter of a single one; what they consist of is in the hashes.
    | {"cache_dir", "cache_limit_gb", "build_jobs", "device", "baseline_prepare", "ray_address"}
    # Where it is done; the device itself is in the verdict.
    | {"fail_under", "fail_under_levels", "at_k", "resume", "compare", "max_slowdown"}
    | {"json", "eval_results", "trace", "csv", "html", "markdown"}
    # What is made of verdicts afterwards.
)
"""Fields of ``Settings`` that a verdict does not hang on. A new field counts until it is here."""


def provenance(pair: Pair, settings: Settings, before: tuple[str, str]) -> Provenance:
    """Of a pair that has just been judged; ``before`` are its hashes from before it was.

    Files that changed meanwhile have no hashes: nobody knows which of the two was judged.
    """
    solution, problem = before if hashes_of(pair) == before else ("", "")
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    return Provenance(
        solution, problem, telling(settings), torch_version(), tools(), __version__, now
    )


def hashes_of(pair: Pair) -> tuple[str, str]:
    """``(solution, problem)``; empty where a file cannot be read."""
    try:
        return hashes(pair)
    except OSError:
        return "", ""


def telling(settings: Settings) -> dict[str, Any]:
    """The settings that a verdict hangs on, less those that are as by default."""
    default = Settings()
    found = {}
    for field in dataclasses.fields(Settings):
        value = getattr(settings, field.name)
        if field.name not in BESIDE and value != getattr(default, field.name):
            found[field.name] = _plain(value)
    return found


def _plain(value: object) -> Any:  # noqa: ANN401 - any of JSON's kinds
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, Path) else value


@lru_cache(maxsize=1)
def torch_version() -> str:
    """Of the installed torch, which need not be imported for it."""
    try:
        return installed("torch")
    except PackageNotFoundError:
        return ""


@lru_cache(maxsize=1)
def tools() -> str:
    """What compiles here, as a hash: compilers, CUDA, Python, torch."""
    try:
        return find_toolchain(os.environ).identity[:16]
    except MachineError:
        return ""


def differences(
    verdict: Verdict, pair: Pair, settings: Settings, devices: frozenset[str] | None
) -> Iterator[str]:
    """What is no longer as it was when ``verdict`` was made, in a word or two each.

    ``devices`` are the UUIDs of those that this session may judge on; None where nobody can know.
    """
    origin = verdict.provenance
    if origin is None:
        yield "where it comes from is not recorded"
        return
    solution, problem = hashes_of(pair)
    if not origin.solution_sha256 or solution != origin.solution_sha256:
        yield "solution"
    if not origin.problem_sha256 or problem != origin.problem_sha256:
        yield "problem"
    now = telling(settings)
    for name in sorted({*now, *origin.settings}):
        if now.get(name) != origin.settings.get(name):
            yield name
    if origin.torch != torch_version():
        yield "torch"
    elif origin.tools != tools():
        yield "compilers"
    if origin.version != __version__:
        yield "version of pytest-kernelbench"
    if verdict.device_uuid and devices is not None and verdict.device_uuid not in devices:
        yield "device"
