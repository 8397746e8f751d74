# DELIBERATELY WEAK problem (but a common real layer): a residual branch scaled by gamma = 1e-5,
# the usual LayerScale initial value. Returning x is within 1e-5 of the answer everywhere.
import torch
import torch.nn as nn

ROWS, COLS = 4096, 4096
SMOKE = {"ROWS": 1024, "COLS": 1024}


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.gamma = nn.Parameter(torch.full((features,), 1e-5))

    def forward(self, x):
        return x + self.gamma * torch.tanh(x)


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return [COLS]
