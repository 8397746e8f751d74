# name: env_stack_overflow
# family: env
# problem: matmul
# device: any
# expected: reject: crash
# note: calls itself until its stack is full.
import sys
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, A, B):
        sys.setrecursionlimit(10**9)

        def again(values):
            return sorted(values, key=lambda value: again(values))

        again([1])
        return torch.matmul(A, B)
