"""What tests of the authors share: problems, answers that carry verdicts, a scripted model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scripted_server import Answer

from pytest_kernelbench.authors.conversation import Sampling
from pytest_kernelbench.authors.endpoint import Endpoint, EndpointOptions
from pytest_kernelbench.authors.limits import Budget
from pytest_kernelbench.authors.prompt import PromptOptions
from pytest_kernelbench.catalog.problems import ProblemCatalog

SAMPLING = Sampling("m", temperature=0.7)
OPTIONS = PromptOptions(examples="none")


def write_problems(folder: Path, *names: str) -> tuple[Any, ...]:
    """Problems ``level1/001_relu``, each of which says its name."""
    for name in names:
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'"""Problem {name}."""\nclass Model: pass\n', encoding="utf-8")
    return ProblemCatalog((folder,)).problems


def code(fake: str) -> str:
    """An answer whose solution has that verdict, see ``fake_engine``."""
    return f"Sure.\n```python\n# fake: {fake}\nclass ModelNew: pass\n```\nDone.\n"


def coded(fake: str, **more: Any) -> Answer:
    """The same as the server gives it."""
    return Answer(code(fake), **more)


def endpoint(url: str, budget: Budget | None = None, **options: Any) -> Endpoint:
    """The real client, quick to try again."""
    chosen = {"base_url": url, "first_wait_s": 0.01, "attempts": 3} | options
    return Endpoint(EndpointOptions(**chosen), budget or Budget())
