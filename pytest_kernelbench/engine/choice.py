"""Engines by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.baseline import OURS
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.sandbox.import_paths import is_found

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_kernelbench.engine.protocol import Engine
    from pytest_kernelbench.settings import Settings

ENGINES = ("local", "ray")
NO_RAY = "--kb-engine ray: Ray is not installed here; pip install 'pytest-kernelbench[ray]'"


def check_engine(name: str) -> None:
    """Refuse an engine that is none of ours; raises ``UsageError``."""
    if name not in ENGINES:
        message = f"engine: {name!r} is none of {', '.join(ENGINES)}"
        raise UsageError(message)


def make_engine(settings: Settings, tell: Callable[[str], None] | None = None) -> Engine | None:
    """The engine that ``settings.engine`` names, if it is one of ours.

    ``tell`` gets a sentence while a device of this machine is held by somebody else. Raises
    ``UsageError`` where what was asked for is not there.
    """
    engine: Engine
    if settings.engine == "local":
        _check_preparations(settings)
        from pytest_kernelbench.engine.local import LocalEngine

        engine = LocalEngine(settings, tell=tell)
        return engine
    if settings.engine == "ray":
        try:
            from pytest_kernelbench.engine.ray_engine import RayEngine
        except ModuleNotFoundError as error:
            if error.name is not None and error.name.partition(".")[0] == "ray":
                raise UsageError(NO_RAY) from None
            raise
        engine = RayEngine(settings)
        return engine
    return None


def _check_preparations(settings: Settings) -> None:
    """Each baseline's process will find what it is to import."""
    ours = {(each.name, each.prepare) for each in OURS}
    for name, prepare in settings.baseline_prepare:
        if (name, prepare) in ours:
            continue
        module, _, function = prepare.partition(":")
        if not (module and function.isidentifier()):
            message = f"baseline {name!r}: prepare={prepare!r} is no module:function"
            raise UsageError(message)
        package = module.partition(".")[0]
        if not is_found(package):
            message = (
                f"baseline {name!r}: its process, which sees no folder of tests, finds no module "
                f"{package!r}: install it, or name its folder in PYTHONPATH"
            )
            raise UsageError(message)
