"""Hooks that other plugins may implement; the package implements each of them itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_kernelbench.catalog.baseline import Baseline
    from pytest_kernelbench.catalog.claim import Adapter
    from pytest_kernelbench.engine.protocol import Engine
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Verdict


@pytest.hookspec(firstresult=True)
def pytest_kernelbench_engine(config: pytest.Config, settings: Settings) -> Engine | None:
    """Make the engine that ``settings.engine`` names; None leaves it to another plugin.

    Called once in each process that runs items, when the first pair is about to be built.
    """


@pytest.hookspec
def pytest_kernelbench_engines(config: pytest.Config) -> Sequence[str]:
    """Give the names of engines that this plugin makes; any other ``--kb-engine`` is refused."""
    raise NotImplementedError


@pytest.hookspec
def pytest_kernelbench_baselines(config: pytest.Config) -> Sequence[Baseline]:
    """Give baselines that ``--kb-baseline`` may name."""
    raise NotImplementedError


@pytest.hookspec
def pytest_kernelbench_adapters(config: pytest.Config, settings: Settings) -> Sequence[Adapter]:
    """Give layouts of solution files, asked before the package's own."""
    raise NotImplementedError


@pytest.hookspec
def pytest_kernelbench_verdict(config: pytest.Config, verdict: Verdict, nodeid: str) -> None:
    """Hear each verdict as it comes, in the process that reports (under xdist, the controller)."""
