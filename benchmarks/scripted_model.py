"""Stands in for a language model: an OpenAI-compatible server that knows a dozen activations.

    python benchmarks/scripted_model.py 8099

It answers in PyTorch, which compiles in no time: right, or wrong in one of the ways models are
wrong. Told what was wrong, it mends every second fault. Same questions, same answers.
"""

from __future__ import annotations

import contextlib
import random
import re
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from scripted_server import Answer, serve

KNOWN = {  # by the first line of a problem: the right expression, and how often it comes to mind
    "ReLU": ("x.clamp(min=0)", 0.9),
    "Leaky ReLU": ("torch.where(x > 0, x, x * self.slope)", 0.8),
    "Sigmoid": ("1 / (1 + torch.exp(-x))", 0.7),
    "Hyperbolic tangent": ("1 - 2 / (1 + torch.exp(2 * x))", 0.6),
    "Softmax": ("torch.softmax(x, dim=1)", 0.6),
    "Logarithm": ("x - torch.logsumexp(x, dim=self.dim, keepdim=True)", 0.5),
    "Swish": ("torch.nn.functional.silu(x)", 0.5),
    "GELU": ("x * 0.5 * (1 + torch.erf(x * 0.7071067811865476))", 0.4),
    "SELU": ("torch.selu(x)", 0.3),
    "Hard sigmoid": ("(x / 6 + 0.5).clamp(0, 1)", 0.2),
    "Softplus": ("torch.logaddexp(x, torch.zeros_like(x))", 0.1),
    "Softsign": ("x / (1 + x.abs())", 0.0),
}
WRONG = ("({right}) * 1.01", "({right}).flatten()", "({right}).half()", "self.kernel(x)")
FILE = """import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, *arguments, slope=0.01, dim=1):
        super().__init__()
        self.slope = arguments[0] if arguments else slope
        self.dim = arguments[0] if arguments else dim

    def forward(self, x):
        return {expression}
"""
MENDS = 0.5
calls: dict[str, int] = {}


def answer(request: dict, _: int) -> Answer:
    """One answer, drawn from the problem and the number of times it came up."""
    messages = request["messages"]
    heading = r'^The program:\n\n```python\n"""(.+)'
    title = re.findall(heading, messages[0]["content"], re.MULTILINE)[-1]
    problem = next(name for name in KNOWN if title.startswith(name))
    right, skill = KNOWN[problem]
    calls[problem] = calls.get(problem, 0) + 1
    draw = random.Random(f"{problem}/{calls[problem]}")  # noqa: S311 - no secret
    time.sleep(draw.uniform(0.05, 0.2))
    told = len(messages) > 1
    if draw.random() < (MENDS if told else skill):
        return fenced(FILE.format(expression=right))
    kind = draw.randrange(len(WRONG) + 2)
    if kind == len(WRONG):
        return Answer("This operator is as fast as it can be; I would leave it.", usage=(900, 20))
    if kind == len(WRONG) + 1:
        return Answer(f"```python\n{FILE[:200]}", finish="length", usage=(900, 60))
    return fenced(FILE.format(expression=WRONG[kind].format(right=right)))


def fenced(code: str) -> Answer:
    """As models give code."""
    return Answer(f"Here is the file.\n\n```python\n{code}```\n", usage=(900, len(code) // 3))


if __name__ == "__main__":
    with serve(answer, int(sys.argv[1])) as server:
        print(server.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
