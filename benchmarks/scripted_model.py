"""Stands in for a language model: an OpenAI-compatible server that knows a dozen activations.

    python benchmarks/scripted_model.py 8099

It answers with Triton kernels, which a machine without a GPU runs through Triton's interpreter and
need no compiler: right, or wrong in a way models are wrong. Told what was wrong, it mends more than
every second fault. Same questions, same answers.
"""

from __future__ import annotations

import contextlib
import random
import re
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from scripted_server import Answer, serve


@dataclass(frozen=True)
class Known:
    """An operator: in Triton as it should be, as one writes it first, and in PyTorch."""

    right: str
    naive: str
    library: str
    skill: float
    """How often the right one comes to mind."""
    by_row: bool = False


EXP_M1 = "x * (1 + x * (0.5 + x * (1 / 6 + x * (1 / 24 + x / 120))))"
TANH = "(1 - 2 / (1 + tl.exp(2 * x)))"
SMALL_TANH = "x * (1 - x * x * (1 / 3 - x * x * (2 / 15 - x * x * 17 / 315)))"
TOP = "x - tl.max(x, 0)"
KNOWN = {  # by the first line of a problem
    "ReLU": Known("tl.maximum(x, 0.0)", "tl.abs(x)", "torch.relu(x)", 0.9),
    "Leaky ReLU": Known(
        "tl.where(x > 0, x, 0.01 * x)", "tl.maximum(x, 0.0)", "F.leaky_relu(x, 0.01)", 0.8
    ),
    "Sigmoid": Known("1 / (1 + tl.exp(-x))", "1 / (1 + tl.exp(x))", "torch.sigmoid(x)", 0.7),
    "Hyperbolic tangent": Known(
        f"tl.where(tl.abs(x) < 0.1, {SMALL_TANH}, {TANH})", TANH, "torch.tanh(x)", 0.5
    ),
    "Softmax": Known(
        f"tl.exp({TOP}) / tl.sum(tl.exp({TOP}), 0)",
        "tl.exp(x) / tl.sum(tl.exp(x), 0)",
        "torch.softmax(x, 1)",
        0.5,
        by_row=True,
    ),
    "Logarithm": Known(
        f"{TOP} - tl.log(tl.sum(tl.exp({TOP}), 0))",
        "x - tl.log(tl.sum(tl.exp(x), 0))",
        "torch.log_softmax(x, 1)",
        0.4,
        by_row=True,
    ),
    "Swish": Known("x / (1 + tl.exp(-x))", "1 / (1 + tl.exp(-x))", "F.silu(x)", 0.5),
    "GELU": Known(
        "0.5 * x * (1 + tl.erf(x * 0.7071067811865476))",
        "x / (1 + tl.exp(-1.702 * x))",
        "F.gelu(x)",
        0.4,
    ),
    "SELU": Known(
        f"1.0507009873554805 * tl.where(x > 0, x, 1.6732632423543772 * "
        f"tl.where(x > -0.1, {EXP_M1}, tl.exp(x) - 1))",
        "1.0507009873554805 * tl.where(x > 0, x, 1.6732632423543772 * (tl.exp(x) - 1))",
        "torch.selu(x)",
        0.3,
    ),
    "Hard sigmoid": Known(
        "tl.minimum(tl.maximum(x / 6 + 0.5, 0.0), 1.0)",
        "tl.maximum(x / 6 + 0.5, 0.0)",
        "F.hardsigmoid(x)",
        0.4,
    ),
    "Softplus": Known(
        "tl.maximum(x, 0.0) + tl.log(1 + tl.exp(-tl.abs(x)))",
        "tl.log(1 + tl.exp(x))",
        "F.softplus(x)",
        0.2,
    ),
    "Softsign": Known("x / (1 + tl.abs(x))", "x / (1 + x)", "F.softsign(x)", 0.1),
}
KERNEL = """import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * {step}
    offsets = tl.arange(0, BLOCK)
    inside = offsets < {end}
    x = tl.load(x_ptr + first + offsets, mask=inside, other=-float("inf"))
    tl.store(y_ptr + first + offsets, {expression}, mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x{dtype})
        kernel[{grid}](x, y, {size}, BLOCK={block})
        return {result}
"""
LIBRARY = """import torch
import torch.nn.functional as F
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        return {library}
"""
MENDS = 0.6
WAYS = ("naive", "naive", "naive", "shape", "dtype", "typo", "library", "words", "cut")
calls: dict[str, int] = {}


def answer(request: dict[str, Any], _: int) -> Answer:
    """One answer, drawn from the problem and the number of times it came up."""
    messages = request["messages"]
    heading = r'^The program:\n\n```python\n"""(.+)'
    title = re.findall(heading, messages[0]["content"], re.MULTILINE)[-1]
    problem = next(name for name in KNOWN if title.startswith(name))
    known = KNOWN[problem]
    calls[problem] = calls.get(problem, 0) + 1
    draw = random.Random(f"{problem}/{calls[problem]}")  # noqa: S311 - no secret
    told = len(messages) > 1
    way = "right" if draw.random() < (MENDS if told else known.skill) else draw.choice(WAYS)
    code, tokens_in = written(known, way), sum(len(m["content"]) for m in messages) // 4
    if way == "words":
        text = "This operator is as fast as it can be; I would leave it."
        return Answer(text, usage=(tokens_in, 20))
    if way == "cut":
        return Answer(f"```python\n{code[:500]}", finish="length", usage=(tokens_in, 150))
    text = f"Here is the file.\n\n```python\n{code}```\n"
    return Answer(text, usage=(tokens_in, len(text) // 4))


def written(known: Known, way: str) -> str:
    """A file that is right, or wrong in one of ``WAYS``."""
    if way == "library":
        return LIBRARY.format(library=known.library)
    by_row = known.by_row
    return KERNEL.format(
        expression=known.naive if way == "naive" else known.right,
        step="n" if by_row else "BLOCK",
        end="n" if by_row else "n - first",
        size="x.shape[1]" if by_row else "x.numel()",
        grid="(x.shape[0],)" if by_row else "(triton.cdiv(x.numel(), 32768),)",
        block="triton.next_power_of_2(x.shape[1])" if by_row else "32768",
        dtype=", dtype=torch.float16" if way == "dtype" else "",
        result={"shape": "y.flatten()", "typo": "z"}.get(way, "y"),
    )


if __name__ == "__main__":
    with serve(answer, int(sys.argv[1])) as server:
        print(server.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
