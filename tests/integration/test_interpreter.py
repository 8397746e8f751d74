"""Triton without a device: its interpreter's limits are no fault of a kernel's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from judged import judging

from pytest_kernelbench.verdict import Status, Verdict

pytest.importorskip("triton", reason="Triton is not installed here")
PROBLEM = """
import torch

class Model(torch.nn.Module):
    def forward(self, x, y):
        return x @ y
def get_inputs():
    return [torch.randn(16, 32), torch.randn(32, 16)]
def get_init_inputs():
    return []
"""
HEAD = """
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

"""
KERNEL = """
@triton.jit
def product(x, y, out, K: tl.constexpr):
    i, k = tl.arange(0, 16), tl.arange(0, K)
    a = tl.load(x + i[:, None] * K + k[None, :])
    b = tl.load(y + k[:, None] * 16 + i[None, :])
    tl.store(out + i[:, None] * 16 + i[None, :], {value})
"""
MODEL = """

class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        {check}
        out = torch.empty(16, 16, dtype=x.dtype, device=x.device)
        product[(1,)](x, y, out, 32)
        return out
"""
TUNED = """
@triton.autotune(
    configs=[triton.Config({}, num_warps=4), triton.Config({}, num_warps=8)], key=["K"]
)"""


def source(value: str = "tl.dot(a, b)", check: str = "pass", decorator: str = "") -> str:
    return HEAD + decorator + KERNEL.format(value=value) + MODEL.format(check=check)


@pytest.fixture
def judged(tmp_path: Path) -> Callable[..., Verdict]:
    """The verdict on a solution's text."""

    def judge(text: str, **settings: str) -> Verdict:
        problem, solution = tmp_path / "001_product.py", tmp_path / "solution.py"
        problem.write_text(PROBLEM)
        solution.write_text(text)
        with judging(tmp_path, **settings) as judge:
            return judge(problem, solution)

    return judge


def test_an_autotuner_takes_its_first_configuration(judged: Callable[..., Verdict]) -> None:
    verdict = judged(source(decorator=TUNED))
    assert verdict.status is Status.RIGHT, verdict


def test_bfloat16_is_multiplied_as_numbers(judged: Callable[..., Verdict]) -> None:
    verdict = judged(source(), dtype="bf16")
    assert verdict.status is Status.RIGHT, verdict


@pytest.mark.parametrize(
    "text",
    [
        source("libdevice.tanh(tl.dot(a, b))"),
        source(check="assert x.is_cuda"),
        source(check="if x.device.type != 'cuda': raise ValueError('runs on a GPU alone')"),
        source(check="torch.zeros(1).cuda()"),
    ],
    ids=["libdevice", "assert", "raise", "cuda"],
)
def test_what_needs_a_device_is_skipped(judged: Callable[..., Verdict], text: str) -> None:
    verdict = judged(text)
    assert verdict.status is Status.SKIPPED, verdict
    assert verdict.reasons[0].startswith("needs a CUDA device: "), verdict.reasons


def test_other_failures_are_the_kernels_own(judged: Callable[..., Verdict]) -> None:
    verdict = judged(source("tl.dot(a, b, no_such=1)"))
    assert verdict.status is Status.RAISED, verdict
