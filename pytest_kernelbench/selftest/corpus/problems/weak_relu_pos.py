# DELIBERATELY WEAK problem: its inputs and bias are all positive, so relu is an identity on them.
# A judge that only ever feeds get_inputs() cannot tell relu(x + b) from x + b.
import torch
import torch.nn as nn

ROWS, COLS = 4096, 4096
SMOKE = {"ROWS": 1024, "COLS": 1024}


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.rand(features))

    def forward(self, x):
        return torch.relu(x + self.bias)


def get_inputs():
    return [torch.rand(ROWS, COLS)]


def get_init_inputs():
    return [COLS]
