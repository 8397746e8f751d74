"""From what was given to ``Settings``: contradictions are refused before anything runs."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import pytest

from pytest_kernelbench import options
from pytest_kernelbench.catalog.problems import TABLE_SUFFIXES, ProblemCatalog
from pytest_kernelbench.engine.choice import NO_RAY
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.overwriting import (
    Named,
    refuse_no_file,
    refuse_overwriting,
    refuse_unwritable,
    same_file,
)
from pytest_kernelbench.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

EXCLUDING = (
    ("build_only", "thresholds", "a build is not timed"),
    ("build_only", "fail_under_levels", "a build is not timed"),
    ("build_only", "correctness_only", "one judges nothing, the other judges"),
    ("build_only", "at_k", "a build has no score"),
    ("correctness_only", "thresholds", "without times nothing is shown to be faster"),
    ("correctness_only", "fail_under_levels", "without times fast_p is 0"),
    ("correctness_only", "baseline_times", "there is no time to compare with them"),
    ("build_only", "baseline_times", "a build is not timed"),
    ("correctness_only", "budget_s", "there is no timing to spend it on"),
    ("build_only", "compare", "a build is not timed"),
    ("build_only", "html", "a page of nothing judged would be empty"),
    ("correctness_only", "compare", "there is no time to compare"),
    ("changed_since", "fail_under_levels", "fast_p is a share of all problems that were asked"),
)
"""Pairs of fields that cannot both be given, and why."""

READ = ("resume", "compare", "baseline_times", "archives", "problem_roots", "problem_files")
WRITTEN = ("json", "resume", "markdown", "eval_results", "trace", "csv", "html")
"""Fields that hold files."""
WRITTEN_BY_OTHERS = (("--junit-xml", "xmlpath"), ("--benchmark-json", "benchmark_json"))
"""Options of pytest and of pytest-benchmark, each with its name in the namespace."""


def checked_settings(config: pytest.Config) -> Settings:
    """All settings of a session; raises ``pytest.UsageError``."""
    try:
        options.refuse_unknown(config)
        given = options.values(config)
        given.setdefault("problem_roots", default_roots(config))
        given.setdefault("cache_dir", config.rootpath / ".kernelbench")
        given |= _split_problems(given.get("problems", ()), config)
        if not hasattr(config, "workerinput"):
            _check_overwriting(given, config)
        catalog = ProblemCatalog(given["problem_roots"], given["problem_files"], given["cache_dir"])
        chosen = [f"{problem.level}/{problem.number}" for problem in catalog.named]
        given["problems"] = tuple(dict.fromkeys([*given["problems"], *chosen]))
        _refuse(_contradictions(given))
        _refuse(_unknown_problems(given, catalog))
        _refuse(_no_archives(given.get("archives", ())))
        given |= options.split_gates(given.get("fail_under_levels", ()))
        given |= _baselines(given.get("baselines", ("eager",)), config)
        _check_engine(given.get("engine", "local"), config)
        _check_cluster(given, config)
        if not hasattr(config, "workerinput"):
            _check_device(given.get("device", "auto"), given.get("engine", "local"))
            _check_times(given)
            _check_slowdown(given)
        if (commit := given.get("changed_since")) is not None:
            from pytest_kernelbench.catalog.changed import changed_since

            changed_since(commit, config.rootpath)  # refused before anything runs
        if getattr(config.option, "kb_cache", None) is not None:
            _check_cache(given["cache_dir"])
        _check_places(given, config)
        if given.get("html") is not None:
            from pytest_kernelbench.reports.plots import available

            available()
        return Settings(**given)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def default_roots(config: pytest.Config) -> tuple[Path, ...]:
    """``problems`` at the root of the project, or else where pytest was started."""
    choices = (config.rootpath / "problems", config.invocation_params.dir / "problems")
    return next(((path,) for path in choices if path.is_dir()), choices[:1])


def _split_problems(texts: Iterable[str], config: pytest.Config) -> dict[str, Any]:
    """What ``--kb-problem`` names by number, and what by file."""
    files, numbers = [], []
    for text in texts:
        if not text.endswith(".py"):
            numbers.append(text)
            continue
        places = [base / text for base in (config.invocation_params.dir, config.rootpath)]
        found = next((place for place in places if place.is_file()), None)
        if found is None:
            message = f"--kb-problem {text}: there is no such file; looked for {places[0]}"
            raise UsageError(message)
        files.append(found)
    return {"problems": tuple(numbers), "problem_files": tuple(files)}


def _no_archives(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        if path.suffix not in TABLE_SUFFIXES:
            yield (
                f"--kb-solutions {path}: not one of {_comma(TABLE_SUFFIXES)}; "
                "name files and folders of other kinds as arguments"
            )
        elif not path.is_file():
            yield f"--kb-solutions {path}: there is no such file"


def _refuse(messages: Iterable[str]) -> None:
    """Raise the first message, if there is any."""
    for message in messages:
        raise UsageError(message)


def _contradictions(given: Mapping[str, Any]) -> Iterator[str]:
    flags = {option.field: option.flag for option in options.OPTIONS}
    for one, other, why in EXCLUDING:
        if given.get(one) and given.get(other):
            yield f"{flags[one]} and {flags[other]} exclude each other: {why}"
    levels = given.get("levels")
    for problem in given.get("problems", ()):
        level = int(problem.partition("/")[0])
        if levels and level not in levels:
            yield f"--kb-problem {problem} lies outside of --kb-level {_comma(levels)}"


def _unknown_problems(given: Mapping[str, Any], catalog: ProblemCatalog) -> Iterator[str]:
    for level in given.get("levels", ()):
        if level not in catalog.levels:
            yield f"--kb-level {level}: there is no such level; searched: {catalog.describe()}"
    for problem in given.get("problems", ()):
        level, number = map(int, problem.split("/"))
        if catalog.get(level, number) is None:
            yield f"--kb-problem {problem}: there is no such one; searched: {catalog.describe()}"
    named = {int(problem.partition("/")[0]) for problem in given.get("problems", ())}
    judged = named or given.get("levels") or catalog.levels
    for level, _ in given.get("fail_under_levels", ()):
        if level is not None and level not in judged:
            yield f"--kb-fail-under {level}:...: level {level} is not judged"


def _baselines(names: Iterable[str], config: pytest.Config) -> dict[str, Any]:
    offers = config.hook.pytest_kernelbench_baselines(config=config)
    known = {baseline.name: baseline for offer in offers for baseline in offer}
    for name in names:
        if name not in known:
            message = f"--kb-baseline {name}: unknown; there are {_comma(sorted(known))}"
            raise UsageError(message)
    return {"baseline_prepare": tuple((name, known[name].prepare) for name in names)}


def _check_engine(name: str, config: pytest.Config) -> None:
    offers = config.hook.pytest_kernelbench_engines(config=config)
    known = sorted({engine for offer in offers for engine in offer})
    if name not in known:
        message = f"--kb-engine {name}: unknown; there are {_comma(known)}"
        raise UsageError(message)


def _check_cluster(given: Mapping[str, Any], config: pytest.Config) -> None:
    """What is about a cluster needs one; what spreads over this machine is of no use to it."""
    if given.get("engine", "local") != "ray":
        for field, flag in (("ray_address", "--kb-ray-address"), ("gpu", "--kb-gpu")):
            if given.get(field) is not None:
                message = f"{flag} is about a Ray cluster: give --kb-engine ray too"
                raise UsageError(message)
        return
    if find_spec("ray") is None:
        raise UsageError(NO_RAY)
    device = given.get("device", "auto")
    if device.startswith("cuda:"):
        message = (
            f"--kb-device {device} names a GPU of this machine, but --kb-engine ray leaves the "
            "choice to Ray; give --kb-device cuda, and --kb-gpu KIND if there are several kinds"
        )
        raise UsageError(message)
    if device == "cpu" and given.get("gpu") is not None:
        message = f"--kb-gpu {given['gpu']} and --kb-device cpu exclude each other"
        raise UsageError(message)
    if hasattr(config, "workerinput") or config.getoption("dist", "no") != "no":
        message = (
            "--kb-engine ray and pytest-xdist's -n exclude each other: Ray spreads the pairs itself"
        )
        raise UsageError(message)


def _check_device(device: str, engine: str) -> None:
    """A device asked for by name must be there; another engine's devices are its own affair."""
    if engine == "local" and device.startswith("cuda"):
        from pytest_kernelbench.engine.devices import find_device

        find_device(device)


def _check_times(given: Mapping[str, Any]) -> None:
    """Stored baselines are of the device that judges, unless somebody says it does not matter."""
    path = given.get("baseline_times")
    if path is None:
        if given.get("foreign_baseline"):
            message = "--kb-foreign-baseline is about --kb-baseline-times: name their file too"
            raise UsageError(message)
        return
    from pytest_kernelbench.catalog import stored_times

    stored = stored_times.read(path)
    if given.get("foreign_baseline") or given.get("engine", "local") != "local":
        return
    from pytest_kernelbench.engine.devices import find_device

    stored.refuse_other(find_device(given.get("device", "auto")).name)


def _check_slowdown(given: Mapping[str, Any]) -> None:
    if "max_slowdown" in given and "compare" not in given:
        message = "--kb-max-slowdown says how much --kb-compare allows: name a file of records too"
        raise UsageError(message)


def _check_places(given: Mapping[str, Any], config: pytest.Config) -> None:
    """Reports are written when all is judged; that they can be is known before.

    Records have a file of their own from the beginning: what opens it says why it cannot.
    """
    for flag, path in _files(given, WRITTEN):
        refuse_no_file(flag, path)
    if not hasattr(config, "workerinput"):
        reports = [field for field in WRITTEN if field not in ("json", "resume")]
        refuse_unwritable(list(_files(given, reports)))


def _check_cache(folder: Path) -> None:
    """Of one that was given: most sessions have no use for the usual one, and must not need it."""
    place = next(each for each in (folder, *folder.parents) if os.path.lexists(each))
    try:
        # Tried, since permissions alone say nothing of /proc and its like.
        Path(mkdtemp(dir=place)).rmdir()
    except OSError:
        why = f"{place} cannot be written" if place.is_dir() else f"{place} is no folder"
        message = f"--kb-cache {folder}: {why}"
        raise UsageError(message) from None


def _check_overwriting(given: Mapping[str, Any], config: pytest.Config) -> None:
    """Nothing that the session reads is lost by what it writes, but for records that go on."""
    here = config.invocation_params.dir
    arguments = [here / argument.partition("::")[0] for argument in config.args]
    others = [
        (flag, here / path)
        for flag, name in WRITTEN_BY_OTHERS
        if (path := config.getoption(name, None))
    ]
    json, resume = given.get("json"), given.get("resume")
    goes_on = resume is not None and (json is None or same_file(json, resume))
    read = [field for field in READ if field != "resume" or not goes_on]
    written = [field for field in WRITTEN if field != ("json" if goes_on else "resume")]
    refuse_overwriting(
        [*(("argument", path) for path in arguments), *_files(given, read)],
        [*_files(given, written), *others],
    )


def _files(given: Mapping[str, Any], fields: Iterable[str]) -> Iterator[Named]:
    """The files of these fields, each with the option that names it."""
    flags = {option.field: option.flag for option in options.OPTIONS}
    for field in fields:
        value = given.get(field) or ()
        for path in value if isinstance(value, tuple) else (value,):
            yield flags.get(field, "--kb-problem"), path


def _comma(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))
