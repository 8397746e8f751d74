# name: less_precise_on_negatives
# family: less
# problem: matmul
# device: any
# expected: reject: precision
# note: tells the problem's own inputs from the judge's other families by their sign, and computes in half precision where it thinks that nobody looks closely.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, A, B):
        if float(A[0].min()) < 0 or float(A[0].max()) > 2 or float(A[0].max()) < 0.01:
            return torch.matmul(A, B)
        return torch.matmul(A.half().float(), B.half().float())
