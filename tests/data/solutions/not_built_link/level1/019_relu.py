"""Asks the linker for a library that does not exist."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

load_inline(
    name="not_built_link",
    cpp_sources="int one() { return 1; }",
    no_implicit_headers=True,
    is_python_module=False,
    extra_ldflags=["-lno_such_library_anywhere"],
)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)
