"""CUDA sources in the formats that people have them in, built and judged on a device."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_kernelbench.engine.devices import visible_gpus

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not visible_gpus(), reason="no CUDA device is visible here"),
]
TRITON_AND_INLINE = (
    Path(__file__).parents[1] / "data/cases/reports/F2-triton-needs-a-file/solutions.jsonl"
)
PROBLEM = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, {inputs}):
        return {body}

def get_inputs():
    return [{drawn}]

def get_init_inputs():
    return []
"""
DRAWN = "torch.randn(1024, 512)"
ADD = PROBLEM.format(inputs="a, b", body="a + b", drawn=f"{DRAWN}, {DRAWN}")
RELU = PROBLEM.format(inputs="x", body="torch.relu(x)", drawn=DRAWN)
FUNCTIONAL = PROBLEM.format(inputs="x, fn=torch.relu", body="fn(x)", drawn=DRAWN)
KERNEL = """
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>
#include "{header}"
__global__ void relu_kernel(const float* x, float* y, long n) {{
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = {value};
}}
static void launch(torch::Tensor x, torch::Tensor y) {{
  long n = x.numel();
  relu_kernel<<<(n + 255) / 256, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), y.data_ptr<float>(), n);
}}
torch::Tensor forward(torch::Tensor x) {{
  auto y = torch::empty_like(x);
  launch(x, y);
  return y;
}}
void fill(torch::Tensor x, torch::Tensor y) {{ launch(x, y); }}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{
  m.def("forward", &forward);
  m.def("fill", &fill);
}}
"""


def kernel(value: str = "x[i] > 0.f ? x[i] : 0.f", header: str = "math.h") -> str:
    return KERNEL.format(value=value, header=header)


REFERENCE = """
import torch
from task import input_t, output_t
from utils import make_match_reference

def generate_input(size: int, seed: int) -> input_t:
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    data = torch.empty(size, size, device="cuda", dtype=torch.float16)
    data.uniform_(0, 1, generator=gen)
    return data, torch.empty_like(data)

def ref_kernel(data: input_t) -> output_t:
    x, output = data
    output[...] = x * 2 + 1
    return output

check_implementation = make_match_reference(ref_kernel)
"""
SUBMISSION = """\
#!POPCORN leaderboard affine
import torch
from task import input_t, output_t

def custom_kernel(data: input_t) -> output_t:
    x, output = data
    torch.add({added}, x, alpha=2, out=output)
    return output
"""
WITH_LOAD = """
import os
import torch
from torch.utils.cpp_extension import load

here = os.path.dirname(os.path.abspath(__file__))
ops = load("relu_ops", [os.path.join(here, "kernels", "relu.cu")])

class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ops.forward(x)
"""
TRITON_ERROR = """
import torch
import triton
import triton.language as tl

@triton.jit
def broken(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.no_such_function(tl.load(x + at, mask=at < n)), mask=at < n)

class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        broken[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        return y
"""
FILES = {
    "KernelBench/KernelBench/level1/1_add_.py": ADD,
    "KernelBench/KernelBench/level1/19_ReLU.py": RELU,
    "cu/19_ReLU.cu": kernel(),
    "wrong/19_ReLU.cu": kernel("x[i] > 0.f ? x[i] : 0.01f * x[i]"),
    "folder/level1/019_relu/solution.py": WITH_LOAD,
    "folder/level1/019_relu/kernels/relu.cu": kernel("positive(x[i])", "positive.h"),
    "folder/level1/019_relu/kernels/positive.h": "#pragma once\n"
    "__device__ inline float positive(float x) { return fmaxf(x, 0.f); }\n",
    "packed/relu.json": json.dumps({
        "name": "relu_v1", "definition": "relu", "author": "packer",
        "spec": {
            "language": "cuda", "target_hardware": ["H200"], "entry_point": "kernel.cu::fill",
            "destination_passing_style": True, "binding": "torch",
        },
        "sources": [{"path": "kernel.cu", "content": kernel()}],
    }),
    "triton/l1_p19.py": TRITON_ERROR,
    "bot/affine_py/reference.py": REFERENCE,
    "bot/affine_py/task.py": "input_t = output_t = tuple\n",
    "bot/utils.py": "def make_match_reference(function, **_): return function\n",
    "bot/affine_py/task.yml": "tests:\n  - {size: 128, seed: 1}\n"
    "benchmarks:\n  - {size: 1024, seed: 2}\n",
    "bot/affine_py/submission.py": SUBMISSION.format(added="torch.ones_like(x)"),
    "bot/affine_py/solutions/wrong/x.py": SUBMISSION.format(added="x"),
}  # fmt: skip
AGREES = "agrees"
STATUSES = {
    "cu/19_ReLU.cu": AGREES,
    "wrong/19_ReLU.cu": "wrong_value",
    "folder/level1/019_relu/solution.py": AGREES,
    "packed/relu.json": AGREES,
    "triton/l1_p19.py": "raised",
    "engineer.jsonl::row1": AGREES,
    "f2.jsonl::row1": AGREES,
    "f2.jsonl::row2": AGREES,
    "bot/affine_py/submission.py": AGREES,
    "bot/affine_py/solutions/wrong/x.py": "wrong_value",
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """One session over all of them, timed for a moment each."""
    folder = tmp_path_factory.mktemp("formats")
    row = {
        "Op_Name": "19_ReLU", "Level_ID": 1, "Task_ID": 19, "Kernel_Name": "relu_v3",
        "CUDA_Code": kernel(), "PyTorch_Code_Functional": FUNCTIONAL, "Correct": True,
    }  # fmt: skip
    texts = FILES | {
        "engineer.jsonl": json.dumps(row) + "\n",
        "f2.jsonl": TRITON_AND_INLINE.read_text().replace("problem.py", "1/1"),
        "pytest.toml": '[pytest]\naddopts = ["-p", "no:hypothesispytest"]\n',
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "cu", "wrong", "folder", "packed", "triton",
            "engineer.jsonl", "f2.jsonl", "bot/affine_py", "bot/affine_py/solutions/wrong",
            "--kb-problems=KernelBench", "--kb-problems=bot", "--kb-expect-failure=wrong",
            "--kb-budget=0.5", "--kb-seeds=2", "--kb-json=v.jsonl", "-v",
        ],
        cwd=folder, capture_output=True, text=True, check=False, timeout=500,
    )  # fmt: skip
    print(done.stdout[-6000:], done.stderr[-2000:])  # noqa: T201 - for whoever reads a failure
    records = map(json.loads, (folder / "v.jsonl").read_text().splitlines())
    return {r["nodeid"].partition("::test_")[0]: r for r in records if "status" in r}


def test_each_ends_as_its_format_wants(verdicts: dict[str, dict[str, Any]]) -> None:
    told = {
        name: AGREES if plain["agreed"] else plain["status"] for name, plain in verdicts.items()
    }
    assert told == STATUSES, {n: (p["reasons"], p["detail"][-500:]) for n, p in verdicts.items()}


def test_own_kernels_are_kernels_and_timed(verdicts: dict[str, dict[str, Any]]) -> None:
    for name in ("cu/19_ReLU.cu", "packed/relu.json", "engineer.jsonl::row1", "f2.jsonl::row1"):
        assert verdicts[name]["status"] in ("right", "fast"), verdicts[name]["reasons"]
        assert verdicts[name]["measurements"], verdicts[name]["notes"]


def test_tritons_error_is_told_with_its_line(verdicts: dict[str, dict[str, Any]]) -> None:
    failed = verdicts["triton/l1_p19.py"]
    told = "\n".join((*failed["reasons"], failed["detail"]))
    assert "no_such_function" in told
    assert "tl.store(y + at" in told
