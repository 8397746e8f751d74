"""The judge on a CUDA device: verdicts on small programs, each with one thing to find out."""

from __future__ import annotations

import textwrap
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.engine.devices import visible_gpus
from pytest_kernelbench.engine.local import LocalEngine
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not visible_gpus(), reason="no CUDA device is visible here"),
]

PROBLEM = """
    import torch
    N, K = 2048, 256
    class Model(torch.nn.Module):
        def forward(self, A, B):
            return torch.relu(A @ B)
    def get_inputs():
        return [torch.randn(N, K), torch.randn(K, N) * K**-0.5]
    def get_init_inputs():
        return []
"""
FORWARD = """
    import torch
    class ModelNew(torch.nn.Module):
        def forward(self, A, B):
            {body}
"""

Judge = "Callable[[str], Verdict]"


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Verdict]]:
    """Judge the text of a solution, or the body of its forward."""
    with _judging(tmp_path_factory.mktemp("cuda"), PROBLEM) as verdict:
        yield verdict


@contextmanager
def _judging(folder: Path, text: str) -> Iterator[Callable[[str], Verdict]]:
    problem = Problem(_written(folder / "001_product.py", text), 1, 1, "product")
    engine = LocalEngine(Settings(cache_dir=folder / "cache", timeout_s=10.0, budget_s=1.0))

    def verdict(body: str) -> Verdict:
        text = body if "class ModelNew" in body else FORWARD.format(body=body)
        path = _written(folder / f"{abs(hash(text))}" / "001_product.py", text)
        pair = Pair(problem, Solution(path, "ann"))
        return engine.judge(pair, engine.build(pair))

    try:
        yield verdict
    finally:
        engine.close()


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


def test_a_copy_is_right_and_never_fast(judge: Callable[[str], Verdict]) -> None:
    verdict = judge("return torch.relu(A @ B)")
    assert verdict.status is Status.NOT_A_KERNEL
    assert verdict.agreed
    measured = verdict.measurement
    assert measured is not None
    assert measured.low <= 1.0 <= measured.high * 1.02
    assert measured.events_us is not None
    assert abs(measured.time_us - measured.events_us) < 0.1 * measured.events_us + 5.0


@pytest.mark.parametrize(
    ("body", "statuses"),
    [
        ("return (A @ B).abs()", {Status.WRONG_VALUE}),
        ("return torch.relu(A @ B).half()", {Status.WRONG_DTYPE}),
        ("return torch.relu(A @ B).cpu()", {Status.WRONG_STRUCTURE}),
        ("A.zero_(); return torch.relu(A @ B)", {Status.ALTERED_INPUTS, Status.WRONG_VALUE}),
        ("return torch.relu((A.half() @ B.half()).float())", {Status.WRONG_VALUE}),
        ("raise ValueError('no kernel')", {Status.RAISED}),
        ("import os; os._exit(0)", {Status.CRASHED}),
        ("return torch.empty(1 << 42, device=A.device)", {Status.OUT_OF_MEMORY}),
        ("import time; time.sleep(1000)", {Status.TIMED_OUT}),
    ],
)
def test_status(judge: Callable[[str], Verdict], body: str, statuses: set[Status]) -> None:
    assert judge(body).status in statuses


def test_work_on_a_stream_that_nobody_joins_is_found(judge: Callable[[str], Verdict]) -> None:
    verdict = judge(
        """
        import torch
        class ModelNew(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.side = torch.cuda.Stream()
            def forward(self, A, B):
                with torch.cuda.stream(self.side):
                    torch.cuda._sleep(20_000_000)
                    return torch.relu(A @ B)
        """
    )
    assert verdict.status in {Status.UNSTABLE, Status.WRONG_VALUE}


def test_a_joined_stream_is_right(judge: Callable[[str], Verdict]) -> None:
    verdict = judge(
        """
        import torch
        class ModelNew(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.side = torch.cuda.Stream()
            def forward(self, A, B):
                self.side.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(self.side):
                    out = torch.relu(A @ B)
                torch.cuda.current_stream().wait_stream(self.side)
                A.record_stream(self.side)
                B.record_stream(self.side)
                return out
        """
    )
    assert verdict.agreed


def test_an_answer_of_an_earlier_call_is_found(judge: Callable[[str], Verdict]) -> None:
    verdict = judge(
        """
        import torch
        class ModelNew(torch.nn.Module):
            calls = 0
            def forward(self, A, B):
                self.calls += 1
                if self.calls <= 20:
                    self.answer = torch.relu(A @ B)
                return self.answer
        """
    )
    assert verdict.status in {Status.WRONG_VALUE, Status.UNSTABLE}


def test_a_forward_that_waits_for_the_device_is_timed_with_its_wait(
    judge: Callable[[str], Verdict],
) -> None:
    verdict = judge("out = torch.relu(A @ B); torch.cuda.synchronize(); return out")
    assert verdict.agreed
    assert any("waits for the device" in note for m in verdict.measurements for note in m.notes)


STATIC = """
    import torch
    class ModelNew(torch.nn.Module):
        out = None
        def forward(self, A, B):
            if self.out is None:
                self.out = torch.empty(A.shape[0], B.shape[1], device=A.device)
            torch.mm(A, B, out=self.out)
            return self.out.relu_()
"""


def test_a_static_buffer_is_right_and_pays_for_its_copy(judge: Callable[[str], Verdict]) -> None:
    assert judge(STATIC).agreed


def test_so_is_one_that_is_too_large_to_be_held_beside_the_next(tmp_path: Path) -> None:
    with _judging(tmp_path, PROBLEM.replace("N, K = 2048, 256", "N, K = 20000, 64")) as judge:
        verdict = judge(STATIC)
    assert verdict.agreed, verdict.reasons


ASKS = [
    "torch.cuda.init()",
    "SMS = torch.cuda.get_device_properties(0).multi_processor_count",
    "TABLE = torch.arange(1024, device='cuda')",
    "import triton; DEVICE = triton.runtime.driver.active.get_active_torch_device()",
    "with torch.cuda.device(0): torch.cuda.synchronize()",
]


@pytest.mark.parametrize("line", ASKS)
def test_a_module_body_may_ask_for_the_device(judge: Callable[[str], Verdict], line: str) -> None:
    """There is none while it is built; it runs again where there is one."""
    if "triton" in line:
        pytest.importorskip("triton")
    verdict = judge(
        f"""
        import torch
        {line}
        class ModelNew(torch.nn.Module):
            def forward(self, A, B):
                return torch.relu(A @ B)
        """
    )
    assert verdict.agreed, verdict.reasons


def test_triton_is_right(judge: Callable[[str], Verdict]) -> None:
    pytest.importorskip("triton")
    verdict = judge(
        """
        import torch, triton, triton.language as tl
        @triton.jit
        def relu(x, n, BLOCK: tl.constexpr):
            at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(x + at, tl.maximum(tl.load(x + at, mask=at < n), 0.0), mask=at < n)
        class ModelNew(torch.nn.Module):
            def forward(self, A, B):
                out = A @ B
                relu[(triton.cdiv(out.numel(), 1024),)](out, out.numel(), BLOCK=1024)
                return out
        """
    )
    assert verdict.agreed
    assert verdict.status in {Status.RIGHT, Status.FAST}
    assert any("relu" in name for name in verdict.kernels)


def test_an_endless_kernel_ends_as_timed_out_and_the_next_pair_is_judged(
    judge: Callable[[str], Verdict],
) -> None:
    endless = judge("torch.cuda._sleep(1 << 40); return torch.relu(A @ B)")
    assert endless.status is Status.TIMED_OUT
    assert judge("return torch.relu(A @ B)").agreed


def test_a_verdict_holds_the_work_and_the_measured_roof(judge: Callable[[str], Verdict]) -> None:
    verdict = judge("return torch.relu(A @ B)")
    roofline, measured = verdict.roofline, verdict.measurement
    assert roofline is not None
    assert measured is not None
    assert roofline.moved_bytes == 4 * (2 * 2048 * 256 + 2048 * 2048)
    assert roofline.flops == pytest.approx(2 * 2048 * 2048 * 256, rel=0.01)
    assert roofline.bytes_per_s > 1e11
    assert roofline.flops_per_s > 1e12
    needed_us = 1e6 * max(
        roofline.moved_bytes / roofline.bytes_per_s, roofline.flops / roofline.flops_per_s
    )
    assert measured.percent_of_roof == pytest.approx(100 * needed_us / measured.time_us, rel=0.02)
