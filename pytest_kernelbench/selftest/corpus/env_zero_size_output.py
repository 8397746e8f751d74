# name: env_zero_size_output
# family: env
# problem: matmul
# device: any
# expected: reject: incorrect
# note: no elements at all: a comparison of nothing finds no difference.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, A, B):
        return torch.empty(0, B.shape[1], device=A.device)
