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
from pytest_kernelbench.overruling import Origins, settled, without_shares
from pytest_kernelbench.overwriting import (
    Named,
    refuse_no_file,
    refuse_other_kind,
    refuse_overwriting,
    refuse_unwritable,
    same_file,
)
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.state import CHANGED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

READ = ("resume", "compare", "baseline_times", "archives", "problem_roots", "problem_files")
WRITTEN = ("json", "resume", "markdown", "eval_results", "trace", "csv", "html")
"""Fields that hold files."""
WRITTEN_BY_OTHERS = (("--junit-xml", "xmlpath"), ("--benchmark-json", "benchmark_json"))
"""Options of pytest and of pytest-benchmark, each with its name in the namespace."""


def checked_settings(config: pytest.Config) -> tuple[Settings, Origins]:
    """All settings of a session, and what gave way to what; raises ``pytest.UsageError``."""
    try:
        options.refuse_unknown(config)
        origins = Origins.of(config)
        given = settled(options.values(config), origins)
        catalog = _settle_problems(given, config, origins)
        _settle_levels(given, origins)
        _settle_gates(given, catalog, origins)
        _refuse(_contradictions(given, origins))
        _refuse(_unknown_problems(given, catalog, origins))
        _refuse(_no_archives(given.get("archives", ())))
        given |= options.split_gates(given.get("fail_under_levels", ()))
        given |= _baselines(given.get("baselines", ("eager",)), config, origins)
        _check_engine(given.get("engine", "local"), config, origins)
        _refuse_idle(given, origins)
        _check_cluster(given, config, origins)
        if not hasattr(config, "workerinput"):
            _check_device(given.get("device", "auto"), given.get("engine", "local"))
            _check_times(given)
        _check_what_is_there(given, config)
        return Settings(**given), origins
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def _settle_problems(
    given: dict[str, Any], config: pytest.Config, origins: Origins
) -> ProblemCatalog:
    """Where problems are looked for, and which are asked for by their files."""
    named_roots = given.get("problem_roots", ())
    given.setdefault("problem_roots", default_roots(config))
    given.setdefault("cache_dir", config.rootpath / ".kernelbench")
    given |= _split_problems(given.get("problems", ()), config)
    if not hasattr(config, "workerinput"):
        _check_overwriting(given, config)
    places = (given["problem_roots"], given["problem_files"], given["cache_dir"])
    catalog = ProblemCatalog(*places, option="--kb-problems")
    if not hasattr(config, "workerinput"):
        _refuse(_empty_roots(named_roots, catalog, origins))
    chosen = [f"{problem.level}/{problem.number}" for problem in catalog.named]
    given["problems"] = tuple(dict.fromkeys([*given["problems"], *chosen]))
    return catalog


def _check_what_is_there(given: dict[str, Any], config: pytest.Config) -> None:
    """What only the machine knows: a commit, folders, a package; refused before anything runs."""
    if (commit := given.get("changed_since")) is not None:
        from pytest_kernelbench.catalog.changed import changed_since

        config.stash[CHANGED] = changed_since(commit, config.rootpath)
    if getattr(config.option, "kb_cache", None) is not None:
        _check_cache(given["cache_dir"])
    _check_places(given, config)
    if given.get("html") is not None:
        from pytest_kernelbench.reports.plots import available

        available()


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


def _empty_roots(roots: Iterable[Path], catalog: ProblemCatalog, origins: Origins) -> Iterator[str]:
    """Of those that were named: without the usual one, solutions may still bring their problems."""
    for root in roots:
        if lack := catalog.lack(root):
            yield f"{origins.name('problem_roots', root)}: {lack}"


def _settle_levels(given: dict[str, Any], origins: Origins) -> None:
    """Problems that are typed are asked whatever levels the ini file names, and the other way."""
    levels, problems = given.get("levels"), given.get("problems", ())
    outside = [problem for problem in problems if levels and _level(problem) not in levels]
    if not outside:
        return
    if origins.overrules("problems", "levels"):
        origins.give_way("levels", "problems")
        del given["levels"]
    elif origins.overrules("levels", "problems"):
        for problem in outside:
            origins.give_way("problems", "levels", problem)
        given["problems"] = tuple(problem for problem in problems if problem not in outside)


def _settle_gates(given: dict[str, Any], catalog: ProblemCatalog, origins: Origins) -> None:
    """The ini file's gates of levels that are not judged now are not asked now."""
    gates = given.get("fail_under_levels", ())
    winner = next((what for what in ("problems", "levels") if what in origins.typed), "")
    if not gates or not winner or "fail_under_levels" in origins.typed:
        return
    judged = _judged(given, catalog)
    idle = [gate for gate in gates if gate[0] is not None and gate[0] not in judged]
    for level, share in idle:
        origins.give_way("fail_under_levels", winner, f"{level}:{share:g}")
    given["fail_under_levels"] = tuple(gate for gate in gates if gate not in idle)
    if idle and not given["fail_under_levels"]:
        without_shares(given, origins, winner)


def _level(problem: str) -> int:
    """Of ``1/19``."""
    return int(problem.partition("/")[0])


def _judged(given: Mapping[str, Any], catalog: ProblemCatalog) -> Collection[int]:
    """The levels of which anything is judged."""
    named = set(map(_level, given.get("problems", ())))
    return named or given.get("levels") or catalog.levels


def _contradictions(given: Mapping[str, Any], origins: Origins) -> Iterator[str]:
    levels = given.get("levels")
    for problem in given.get("problems", ()):
        if levels and _level(problem) not in levels:
            one, other = origins.name("problems", problem), origins.name("levels", _comma(levels))
            yield f"{one} lies outside of {other}"


def _unknown_problems(
    given: Mapping[str, Any], catalog: ProblemCatalog, origins: Origins
) -> Iterator[str]:
    for level in given.get("levels", ()):
        if level not in catalog.levels:
            name = origins.name("levels", level)
            yield f"{name}: there is no such level; searched: {catalog.describe()}"
    for problem in given.get("problems", ()):
        level, number = map(int, problem.split("/"))
        if catalog.get(level, number) is None:
            name = origins.name("problems", problem)
            yield f"{name}: there is no such one; searched: {catalog.describe()}"
    judged = _judged(given, catalog)
    for level, _ in given.get("fail_under_levels", ()):
        if level is not None and level not in judged:
            name = origins.name("fail_under_levels", f"{level}:...")
            yield f"{name}: level {level} is not judged"


def _baselines(names: Iterable[str], config: pytest.Config, origins: Origins) -> dict[str, Any]:
    offers = config.hook.pytest_kernelbench_baselines(config=config)
    known = {baseline.name: baseline for offer in offers for baseline in offer}
    for name in names:
        if name not in known:
            told = origins.name("baselines", name)
            message = f"{told}: unknown; there are {_comma(sorted(known))}"
            raise UsageError(message)
    return {"baseline_prepare": tuple((name, known[name].prepare) for name in names)}


def _check_engine(name: str, config: pytest.Config, origins: Origins) -> None:
    offers = config.hook.pytest_kernelbench_engines(config=config)
    known = sorted({engine for offer in offers for engine in offer})
    if name not in known:
        message = f"{origins.name('engine', name)}: unknown; there are {_comma(known)}"
        raise UsageError(message)


def _refuse_idle(given: Mapping[str, Any], origins: Origins) -> None:
    """No option is silently without effect; in the ini file it waits for the session it is for."""
    on_ray = given.get("engine", "local") == "ray"
    for field, there, told in (
        ("ray_address", on_ray, "is about a Ray cluster: give --kb-engine ray too"),
        ("gpu", on_ray, "is about a Ray cluster: give --kb-engine ray too"),
        (
            "max_slowdown",
            "compare" in given,
            "says how much --kb-compare allows: name a file of records too",
        ),
        (
            "foreign_baseline",
            "baseline_times" in given,
            "is about --kb-baseline-times: name their file too",
        ),
    ):
        if field in origins.typed and not there:
            message = f"{origins.name(field)} {told}"
            raise UsageError(message)


def _check_cluster(given: dict[str, Any], config: pytest.Config, origins: Origins) -> None:
    """What spreads over this machine is of no use to a cluster."""
    if given.get("engine", "local") != "ray":
        return
    if find_spec("ray") is None:
        raise UsageError(NO_RAY)
    if given.get("device", "auto").startswith("cuda:") and origins.overrules("engine", "device"):
        origins.give_way("device", "engine", given.pop("device"))
    device = given.get("device", "auto")
    if device.startswith("cuda:"):
        message = (
            f"{origins.name('device', device)} names a GPU of this machine, but --kb-engine ray "
            "leaves the choice to Ray; give --kb-device cuda, and --kb-gpu KIND if there are "
            "several kinds"
        )
        raise UsageError(message)
    if device == "cpu" and given.get("gpu") is not None:
        gpu, cpu = origins.name("gpu", given["gpu"]), origins.name("device", device)
        if not origins.overrules("device", "gpu"):
            message = f"{gpu} and {cpu} exclude each other"
            raise UsageError(message)
        origins.give_way("gpu", "device", given.pop("gpu"))
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
        return
    from pytest_kernelbench.catalog import stored_times

    stored = stored_times.read(path)
    if given.get("foreign_baseline") or given.get("engine", "local") != "local":
        return
    from pytest_kernelbench.engine.devices import find_device

    stored.refuse_other(find_device(given.get("device", "auto")).name)


def _check_places(given: Mapping[str, Any], config: pytest.Config) -> None:
    """Reports are written when all is judged; that they can be is known before.

    Records have a file of their own from the beginning: what opens it says why it cannot.
    """
    for flag, path in _files(given, WRITTEN):
        refuse_no_file(flag, path)
    if not hasattr(config, "workerinput"):
        reports = [field for field in WRITTEN if field not in ("json", "resume")]
        refuse_unwritable(list(_files(given, reports)))
        for flag, path in _files(given, ("json",)):
            refuse_other_kind(flag, path)


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
