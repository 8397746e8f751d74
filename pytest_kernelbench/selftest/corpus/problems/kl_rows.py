# Divergence of each row of q from that of p; all rows sum to one, so none may be scaled. H200: roughly 0.15 ms.
import torch
import torch.nn as nn

ROWS, COLS = 4096, 4096
SMOKE = {"ROWS": 512, "COLS": 512}


class Model(nn.Module):
    def forward(self, p, q):
        return (q * (q.log() - p.log())).sum(dim=-1)


def get_inputs():
    return [torch.rand(ROWS, COLS).softmax(dim=-1), torch.rand(ROWS, COLS).softmax(dim=-1)]


def get_init_inputs():
    return []
