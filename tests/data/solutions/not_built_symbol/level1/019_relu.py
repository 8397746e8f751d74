"""Links, since shared libraries may lack symbols, and then cannot be loaded."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

load_inline(
    name="not_built_symbol",
    cpp_sources="extern int nowhere; int* found = &nowhere;",
    no_implicit_headers=True,
    is_python_module=False,
)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)
