# DELIBERATELY WEAK problem: the mean of a softmax row is 1/COLS whatever the input is.
import torch
import torch.nn as nn

ROWS, COLS = 4096, 4096
SMOKE = {"ROWS": 1024, "COLS": 1024}


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.softmax(x, dim=-1).mean(dim=-1)


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return []
