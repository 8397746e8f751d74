"""A solution on a CUDA device, timed in turns with its own earlier source."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.engine.devices import visible_gpus
from pytest_kernelbench.engine.local import LocalEngine
from pytest_kernelbench.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_kernelbench.verdict import Verdict

    Judged = Callable[[str, str], Verdict]

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not visible_gpus(), reason="no CUDA device is visible here"),
]

PROBLEM = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
def get_inputs():
    return [torch.randn(8192, 8192)]  # an earlier source's own null is not known: 1.5 us
def get_init_inputs():
    return []
"""
SOLUTION = """
import torch
class ModelNew(torch.nn.Module):
    def forward(self, x):
        {body}
"""
ONCE = "return torch.relu(x)"
TWICE = "return torch.relu(torch.relu(x))"
WAITING = "torch.cuda.synchronize(); return torch.relu(x)"
GONE = "raise RuntimeError('no more')"
OTHER = "return torch.relu(x)[:1]"


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    """Judge one forward, with another as its earlier source."""
    folder = tmp_path_factory.mktemp("compare")
    path = folder / "001_relu.py"
    path.write_text(PROBLEM)
    engine = LocalEngine(Settings(cache_dir=folder / "cache", timeout_s=20.0, budget_s=1.0))

    def solution(body: str) -> Solution:
        place = folder / str(abs(hash(body))) / "001_relu.py"
        place.parent.mkdir(exist_ok=True)
        place.write_text(SOLUTION.format(body=body))
        return Solution(place, "ann")

    def verdict(now: str, earlier: str) -> Verdict:
        pair = Pair(Problem(path, 1, 1, "relu"), solution(now), solution(earlier))
        return engine.judge(pair, engine.build(pair))

    yield verdict
    engine.close()


@pytest.mark.parametrize(
    ("now", "earlier", "least", "most"),
    [(TWICE, ONCE, 0.4, 0.75), (ONCE, TWICE, 1.3, 2.5), (ONCE, ONCE, 0.95, 1.05)],
)
def test_timed_in_turns(judged: Judged, now: str, earlier: str, least: float, most: float) -> None:
    verdict = judged(now, earlier)
    assert verdict.agreed, verdict.reasons
    assert [measured.baseline for measured in verdict.measurements] == ["eager"]
    assert verdict.previous is not None, verdict.notes
    assert least <= verdict.previous.speedup <= most
    if now != earlier:  # however wide the interval is on a busy host
        decided = verdict.previous.low > 1 if now == ONCE else verdict.previous.high < 1
        assert decided, verdict.previous


@pytest.mark.parametrize("earlier", [GONE, OTHER])
def test_what_the_earlier_source_does_wrong_is_not_held_against_it(
    judged: Judged, earlier: str
) -> None:
    verdict = judged(ONCE, earlier)
    assert verdict.agreed, verdict.reasons
    assert verdict.status.right
    if earlier == GONE:
        assert verdict.previous is None
        assert any("earlier source" in note and "no more" in note for note in verdict.notes)


def test_an_earlier_source_that_waits_for_the_device(judged: Judged) -> None:
    verdict = judged(ONCE, WAITING)
    assert verdict.status.right, verdict.reasons
    assert verdict.previous is not None, verdict.notes
