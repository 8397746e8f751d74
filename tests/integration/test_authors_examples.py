"""The examples that prompts show are right, by the judge that the answers will meet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_kernelbench.authors.examples import SETS, Example, examples
from pytest_kernelbench.catalog.pair import Problem
from pytest_kernelbench.library import Judge
from pytest_kernelbench.question import Question
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Verdict

EVERY = [name for names in SETS.values() for name in names]


def judged(judge: Judge, example: Example) -> Verdict:
    problem = Problem(example.problem, 0, 1 + EVERY.index(example.name), example.name)
    return judge.judge(Question(problem, example.answer))


def answers(backend: str) -> list[Example]:
    return [example for which in SETS for example in examples(which, backend)]


@pytest.fixture(scope="module")
def on_cpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    folder = tmp_path_factory.mktemp("examples")
    settings = Settings(cache_dir=folder, device="cpu", seeds=2, correctness_only=True)
    with pytest.MonkeyPatch.context() as patch:
        # Nothing is timed, so nobody who times on this processor needs to be waited for.
        patch.setenv("KB_LEASE_DIR", str(folder / "leases"))
        with Judge(settings) as judge:
            yield judge


@pytest.mark.slow
@pytest.mark.parametrize("example", answers("triton"), ids=lambda example: example.name)
def test_triton_through_its_interpreter(on_cpu: Judge, example: Example) -> None:
    pytest.importorskip("triton")
    verdict = judged(on_cpu, example)
    assert verdict.status.right, (verdict.reasons, verdict.detail)


@pytest.mark.slow
def test_cpp(on_cpu: Judge) -> None:
    (example,) = examples("one", "cpp")
    verdict = judged(on_cpu, example)
    assert verdict.status.right, (verdict.reasons, verdict.detail)
