"""Cheats of the corpus against the real judge, on the CPU and on small problems."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from judged import Judge, judging

from pytest_kernelbench.engine.local import LocalEngine
from pytest_kernelbench.selftest.rule import outcome
from pytest_kernelbench.selftest.session import missing, run_cases
from pytest_kernelbench.selftest.table import CORPUS, load_cases
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Status

CASES = {case.name: case for case in load_cases()}
CRASHED, RAISED, UNSTABLE = Status.CRASHED, Status.RAISED, Status.UNSTABLE
VALUE, STRUCTURE, SHAPE = Status.WRONG_VALUE, Status.WRONG_STRUCTURE, Status.WRONG_SHAPE
ALTERED, BAD = Status.ALTERED_INPUTS, Status.BAD_PROBLEM

QUICK = {
    "corrupt_agreeable_subclass": (STRUCTURE,),
    "corrupt_class_swap": (STRUCTURE,),
    "corrupt_close_channel": (CRASHED,),
    "corrupt_default_device": (STRUCTURE, Status.WRONG_DTYPE, VALUE, RAISED),
    "corrupt_exit_zero": (CRASHED,),
    "corrupt_fake_stdout": (CRASHED, VALUE),
    "corrupt_fd_inject": (CRASHED, VALUE),
    "corrupt_forged_verdict": (CRASHED,),
    "corrupt_fuzzed_frames": (CRASHED,),
    "corrupt_huge_frame": (CRASHED,),
    "corrupt_inplace_on_input": (ALTERED,),
    "corrupt_many_descriptors": (CRASHED,),
    "corrupt_message_with_escapes": (RAISED,),
    "corrupt_not_a_tensor": (STRUCTURE,),
    "corrupt_patch_data_ptr": (SHAPE, VALUE),
    "corrupt_patch_msgspec": (CRASHED,),
    "corrupt_patch_tensor_ops": (VALUE, CRASHED, RAISED),
    "corrupt_pickle_reduce": (STRUCTURE,),
    "corrupt_points_elsewhere": (VALUE, CRASHED),
    "corrupt_systemexit_zero": (RAISED, CRASHED),
    "corrupt_weird_leaf": (CRASHED, STRUCTURE, SHAPE, Status.WRONG_DTYPE, VALUE),
    "corrupt_wild_strides": (STRUCTURE, CRASHED),
    "env_become_another": (CRASHED,),
    "env_close_everything": (CRASHED,),
    "env_leave_a_child_in_charge": (CRASHED,),
    "env_nan_output": (VALUE,),
    "env_scalar_broadcast": (BAD,),
    "env_segfault": (CRASHED,),
    "env_stack_overflow": (CRASHED,),
    "env_write_sealed_inputs": (ALTERED, VALUE),
    "env_zero_size_output": (SHAPE,),
    "less_bf16_matmul": (VALUE,),
    "less_noop_layerscale": (BAD,),
    "less_precise_on_negatives": (VALUE,),
    "less_rank1_matmul": (VALUE,),
    "less_skip_identity_relu": (VALUE,),
    "less_softmax_no_max": (VALUE,),
    "less_softmax_tail": (VALUE,),
    "less_two_of_three": (UNSTABLE, VALUE),
    "steal_environment": (RAISED,),
    "steal_ipc_leftovers": (RAISED,),
    "steal_own_memory": (VALUE,),
    "steal_parent_memory": (VALUE, RAISED),
    "steal_trace_init": (RAISED,),
}
"""The statuses that each may end in: any other is no proof that the cheat was understood."""


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus's problems, smaller still."""
    folder = tmp_path_factory.mktemp("problems")
    for path in (CORPUS / "problems").glob("*.py"):
        text = path.read_text().replace('1024, "COLS": 1024', '192, "COLS": 320')
        (folder / path.name).write_text(text.replace('SMOKE = {"N": 512}', 'SMOKE = {"N": 192}'))
    return folder


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    with judging(tmp_path_factory.mktemp("judge"), seeds=3) as made:
        yield made


def by_problem(name: str) -> tuple[str, str]:
    return CASES[name].problem, name


@pytest.mark.parametrize("name", sorted(QUICK, key=by_problem))
def test_a_cheat_is_rejected_for_what_it_does(judge: Judge, problems: Path, name: str) -> None:
    case = CASES[name]
    verdict = judge(problems / case.problem_path.name, case.path)
    assert verdict.status in QUICK[name], (verdict.status, verdict.reasons)
    assert verdict.reasons
    assert outcome(case, verdict).ok


WORDS = {
    "half a pair": ("raise ValueError('\\ud83d')", r"ValueError: \ud83d"),
    "none": ("raise Silent", "Silent: <exception str() failed>"),
    "an interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "a module's": ("raise ModuleNotFoundError('none such', name=5)", "ModuleNotFoundError: none"),
}
"""What a solution raises, and what is said of it."""
SILENT = """
import torch
class Silent(Exception):
    def __str__(self): raise KeyError
class ModelNew(torch.nn.Module):
    def forward(self, *inputs):
        {body}
"""


@pytest.mark.parametrize("words", WORDS)
def test_whatever_an_exception_says_is_the_solutions(
    judge: Judge, problems: Path, tmp_path: Path, words: str
) -> None:
    body, says = WORDS[words]
    (solution := tmp_path / "solution.py").write_text(SILENT.format(body=body))
    verdict = judge(problems / "softmax.py", solution)
    assert (verdict.status, verdict.agreed) == (RAISED, False)
    assert says in verdict.reasons[0]
    assert 'solution.py", line 7, in forward' in verdict.detail
    assert "pytest_kernelbench" not in verdict.detail


def test_after_all_of_them_an_honest_kernel_is_right(judge: Judge, problems: Path) -> None:
    case = CASES["honest_slice_of_bigger_buffer"]
    verdict = judge(problems / case.problem_path.name, case.path)
    assert verdict.status.right, verdict.reasons
    assert verdict.agreed


SLOW = {
    case.name: case
    for case in CASES.values()
    if not case.needs and case.name not in QUICK and not missing(case, gpu=False)
}
TIMED = {"less_counted_calls", "less_precise_at_first", "less_rarely_wrong"}
"""What does wrong only after so many calls."""
HOGS = {"env_hog_children", "env_hog_memfd", "env_memory_hog"}
"""Gibibytes until the limit: ``tests/test_sandbox.py`` has them with a small one."""


WAITED_FOR = {name for name, case in SLOW.items() if case.hangs} | {"corrupt_short_frame"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    sorted(
        (name for name in SLOW if name not in WAITED_FOR | TIMED | HOGS),
        key=by_problem,
    ),
)
def test_every_other_case_ends_as_the_table_says(judge: Judge, problems: Path, name: str) -> None:
    case = CASES[name]
    verdict = judge(problems / case.problem_path.name, case.path)
    assert outcome(case, verdict).ok, (verdict.status, verdict.reasons, verdict.notes)


@pytest.mark.slow
def test_who_counts_calls_is_found_out_when_timing_is_over(tmp_path: Path) -> None:
    case = CASES["less_counted_calls"]
    with judging(tmp_path, correctness_only=False, budget_s=0.3) as judge:
        verdict = judge(case.problem_path, case.path)
    assert verdict.status is UNSTABLE, (verdict.reasons, verdict.notes)
    assert verdict.reasons[0].startswith("after timing: ")
    assert not verdict.agreed


BUILT = {"less_guard_relu": (VALUE,), "less_guard_softmax": (VALUE,)}
"""What needs a compiler, and a build."""


@pytest.mark.slow
def test_a_cheat_that_is_compiled_is_rejected_for_what_it_does(tmp_path: Path) -> None:
    cases = [CASES[name] for name in BUILT if not missing(CASES[name], gpu=False)]
    with closing(LocalEngine(Settings(cache_dir=tmp_path, device="cpu"))) as engine:
        for found in run_cases(engine, cases):
            verdict = found.verdict
            assert verdict.status in BUILT[found.case.name], (verdict.status, verdict.reasons)
            assert "unlike the rest" in verdict.reasons[0]


@pytest.mark.slow
def test_what_hangs_is_found_out_by_its_time_limit(tmp_path: Path, problems: Path) -> None:
    hanging = [SLOW[name] for name in sorted(WAITED_FOR)]
    assert len(hanging) > 3
    with judging(tmp_path, timeout_s=3.0) as judge:
        for case in hanging:
            verdict = judge(problems / case.problem_path.name, case.path)
            assert verdict.status is Status.TIMED_OUT, (case.name, verdict.reasons)
