"""The pytest11 entry point: options, ini, registration. Imports no torch and nothing slow.

It is loaded in every pytest run of its environment, most of which have nothing to do with kernels.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench import hookspecs, options
from pytest_kernelbench.catalog.baseline import OURS
from pytest_kernelbench.catalog.problems import ProblemCatalog
from pytest_kernelbench.catalog.solutions import Matchmaker, own_adapters
from pytest_kernelbench.checking import checked_settings, default_roots
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.guard import Guard, close_import_path, initial_conftest_folders
from pytest_kernelbench.overwriting import same_file
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.state import STATE, State

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_kernelbench.catalog.baseline import Baseline
    from pytest_kernelbench.engine.protocol import Engine
    from pytest_kernelbench.scoreboard import Scoreboard


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare our own hooks."""
    pluginmanager.add_hookspecs(hookspecs)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare every ``--kb-*`` option and its ini twin."""
    options.register(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Refuse, before pytest loads any conftest, to take orders from a folder of solutions."""
    namespace = early_config.known_args_namespace
    try:
        given = options.values(early_config, namespace, only=("problem_roots", "solution_folders"))
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    usual = "problem_roots" not in given
    given.setdefault("problem_roots", default_roots(early_config))
    settings = Settings(**given)
    guard = _guard(early_config, settings)
    close_import_path(guard, early_config.rootpath)
    refusals = [guard.refusal(folder) for folder in _initial_folders(early_config)]
    if early_config.inipath is not None:
        refusals.append(guard.refuse(early_config.inipath))
    homes = [root.parent for root in settings.problem_roots if usual and root.is_dir()]
    refusals += _refused_roots(early_config, guard, homes)
    for message in filter(None, refusals):
        raise pytest.UsageError(message)


def _refused_roots(config: pytest.Config, guard: Guard, homes: Sequence[Path]) -> list[str | None]:
    """Why the root, or a folder whose ``problems`` nobody named, must not be the project's."""
    root, started = config.rootpath, config.invocation_params.dir
    named = config.known_args_namespace.rootdir is not None
    return [
        guard.refuse_root(place, started, by_ini=config.inipath is not None)
        for place in dict.fromkeys([root, *homes])
        if not (named and place == root)
    ]


def _initial_folders(config: pytest.Config) -> list[Path]:
    namespace = config.known_args_namespace
    start = config.invocation_params.dir
    given = namespace.file_or_dir
    paths = given or [
        path for pattern in config.getini("testpaths") for path in config.rootpath.glob(pattern)
    ]
    anchors = [_absolute(start, str(path).partition("::")[0]) for path in paths or [start]]
    cut = _absolute(start, namespace.confcutdir)
    folders = initial_conftest_folders(anchor for anchor in anchors if anchor.exists())
    return [folder for folder in dict.fromkeys(folders) if folder not in cut.parents]


def _absolute(start: Path, path: str | Path) -> Path:
    """As pytest has its arguments: without "..", links as they are."""
    return Path(os.path.normpath(start / path))


def _guard(config: pytest.Config, settings: Settings) -> Guard:
    return Guard(_matchmaker(config, settings), settings.solution_folders, config.rootpath)


def _matchmaker(config: pytest.Config, settings: Settings) -> Matchmaker:
    offers = config.hook.pytest_kernelbench_adapters(config=config, settings=settings)
    adapters = [adapter for offer in offers for adapter in offer]
    places = (settings.problem_roots, settings.problem_files, settings.cache_dir)
    catalog = ProblemCatalog(*places, option="--kb-problems")
    level = settings.levels[0] if len(settings.levels) == 1 else None
    return Matchmaker(catalog, adapters, settings.cache_dir, level)


def pytest_configure(config: pytest.Config) -> None:
    """Check every option, then register the parts that a session needs."""
    config.addinivalue_line(
        "markers",
        "kernel(level, number, problem, entrant, sample): "
        "a problem with a solution; set by pytest-kernelbench.",
    )
    settings, origins = checked_settings(config)
    _name_archives(config, settings)
    if hasattr(config, "workerinput"):
        from pytest_kernelbench.workers import take_device

        settings = take_device(config.workerinput, settings)
    matchmaker = _matchmaker(config, settings)
    guard = Guard(matchmaker, settings.solution_folders, config.rootpath)
    state = State(config.rootpath, settings, matchmaker, guard, tuple(origins.told()))
    config.stash[STATE] = state
    _register_parts(config, state)


def _name_archives(config: pytest.Config, settings: Settings) -> None:
    """Collect ``--kb-solutions`` as if named as arguments; alone, if nothing else is named.

    Of an ini file they are part of what runs when nothing is named.
    """
    files = [str(path) for path in settings.archives if str(path) not in config.args]
    given = getattr(config.option, "kb_solutions", None) is not None
    named = config.args_source is config.ArgsSource.ARGS
    if given and config.args_source is config.ArgsSource.INVOCATION_DIR:
        config.args[:] = files
    elif given or not named:
        config.args.extend(files)


def _register_parts(config: pytest.Config, state: State) -> None:
    from pytest_kernelbench import collection, fixtures, reporting, selection

    register = config.pluginmanager.register
    register(collection, "kernelbench-collection")
    register(selection, "kernelbench-selection")
    register(fixtures, "kernelbench-fixtures")
    register(reporting, "kernelbench-reporting")
    distributes = hasattr(config, "workerinput") or config.getoption("dist", "no") != "no"
    if config.pluginmanager.hasplugin("benchmark"):
        from pytest_kernelbench import benchmarks

        register(benchmarks, "kernelbench-benchmarks")
        if distributes and state.runs_solutions(config):
            benchmarks.disable_fixture(config)
    else:
        register(fixtures.WithoutBenchmark(), "kernelbench-benchmarks")
    if state.settings.resume is not None:
        _register_resumption(config, state.settings.resume)  # before anything adds to its file
    if state.settings.compare is not None:
        from pytest_kernelbench import comparing

        comparing.registered(config, state.settings.compare)
    if not hasattr(config, "workerinput"):
        _register_reporters(config, state, distributes=distributes)


def _register_reporters(config: pytest.Config, state: State, *, distributes: bool) -> None:
    """What only the process that reports needs."""
    from pytest_kernelbench.scoreboard import Scoreboard

    register = config.pluginmanager.register
    scoreboard = Scoreboard(config)
    register(scoreboard, "kernelbench-scoreboard")
    _register_actions(config, state, scoreboard)
    if distributes:
        from pytest_kernelbench import benchmarks, workers

        register(workers.Foreman(config), "kernelbench-foreman")
        register(benchmarks.Relay(config), "kernelbench-relay")
    _register_records(config, state.settings, scoreboard)
    if state.settings.eval_results or state.settings.trace or state.settings.csv:
        from pytest_kernelbench.reports.exports import Exporter

        register(Exporter(state.settings), "kernelbench-exports")
    if state.settings.html is not None:
        from pytest_kernelbench.reports.html.writer import HtmlWriter

        page = (state.settings.html, state.settings, scoreboard.asked_beside, scoreboard.outcome)
        register(HtmlWriter(*page), "kernelbench-html")


def _register_actions(config: pytest.Config, state: State, scoreboard: Scoreboard) -> None:
    listening = os.environ.get("GITHUB_ACTIONS") == "true" and state.runs_solutions(config)
    if listening or state.settings.markdown is not None:
        from pytest_kernelbench.actions import Actions

        config.pluginmanager.register(Actions(config, scoreboard), "kernelbench-actions")


def _register_records(config: pytest.Config, settings: Settings, scoreboard: Scoreboard) -> None:
    """``--kb-json`` has all of a session; without it what is new joins what is resumed."""
    path = settings.json or settings.resume
    if path is None:
        return
    from pytest_kernelbench.reports.records import RecordWriter

    goes_on = settings.resume is not None and same_file(path, settings.resume)
    try:
        writer = RecordWriter(path, scoreboard.asked_beside, resume=goes_on)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    config.pluginmanager.register(writer, "kernelbench-records")


def _register_resumption(config: pytest.Config, path: Path) -> None:
    from pytest_kernelbench.resuming import Resumption

    try:
        config.pluginmanager.register(Resumption(config, path), "kernelbench-resumption")
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(trylast=True)
def pytest_kernelbench_engine(config: pytest.Config, settings: Settings) -> Engine | None:
    """Judge on this machine, or on a Ray cluster."""
    from pytest_kernelbench.engine.choice import make_engine

    return make_engine(settings, _teller(config))


def _teller(config: pytest.Config) -> Callable[[str], None]:
    """Prints what the user should know at once: why nothing goes on, for one."""

    def tell(text: str) -> None:
        terminal = config.pluginmanager.get_plugin("terminalreporter")
        if terminal is None:  # as in xdist's workers
            return
        capture = config.pluginmanager.get_plugin("capturemanager")
        # An item is being set up, and what is printed meanwhile would be kept for its report.
        with nullcontext() if capture is None else capture.global_and_fixture_disabled():
            terminal.ensure_newline()
            terminal.write_line(f"kernelbench: {text}", yellow=True)

    return tell


def pytest_kernelbench_engines() -> Sequence[str]:
    """This machine and Ray."""
    from pytest_kernelbench.engine.choice import ENGINES

    return ENGINES


def pytest_kernelbench_baselines() -> Sequence[Baseline]:
    """The problem's model as it is, or through torch.compile."""
    return OURS


@pytest.hookimpl(trylast=True)
def pytest_kernelbench_adapters(settings: Settings) -> Sequence[object]:
    """Our own tree of entrants and levels, and the runs that KernelBench writes."""
    return own_adapters(settings.solution_folders)
