"""The examples that prompts show, judged on the device they are written for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_kernelbench.authors.examples import SETS, examples
from pytest_kernelbench.authors.feedback import feedback
from pytest_kernelbench.authors.texts import Texts
from pytest_kernelbench.catalog.pair import Problem
from pytest_kernelbench.engine.devices import visible_gpus
from pytest_kernelbench.library import Judge
from pytest_kernelbench.question import Question
from pytest_kernelbench.settings import Settings

pytestmark = [pytest.mark.gpu, pytest.mark.slow]
KERNELS = {
    "add": "add_kernel",
    "gelu": "bias_gelu_gate",
    "matmul": "matmul_kernel",
    "attention": "attention_kernel",
}


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    if not visible_gpus():
        pytest.skip("needs a CUDA device")
    with Judge(Settings(cache_dir=tmp_path_factory.mktemp("examples"), device="cuda")) as made:
        yield made


@pytest.mark.parametrize("backend", ["cuda", "triton"])
@pytest.mark.parametrize("name", KERNELS)
def test_right_and_the_profile_names_its_kernel(judge: Judge, name: str, backend: str) -> None:
    every = [example for which in SETS for example in examples(which, backend)]
    example = next(each for each in every if each.name == name)
    problem = Problem(example.problem, 0, 1 + every.index(example), name)
    verdict = judge.judge(Question(problem, example.answer))
    assert verdict.status.right, (verdict.reasons, verdict.detail)
    assert verdict.measurement is not None
    table = feedback(verdict, ("profile",), Texts())
    assert KERNELS[name] in table, table
