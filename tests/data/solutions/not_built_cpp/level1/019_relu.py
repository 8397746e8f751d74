"""A name is misspelt in its C++: the third line of the source."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
int doubled(int value) {
  return 2 * valeu;
}
"""

load_inline(name="not_built_cpp", cpp_sources=CPP, no_implicit_headers=True, is_python_module=False)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)
