# name: less_softmax_tail
# family: less
# problem: softmax
# device: any
# expected: reject: incorrect
# note: leaves out whatever is small beside the largest of its row.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        shifted = x - x.amax(dim=-1, keepdim=True)
        e = torch.where(shifted > -6.0, shifted.exp(), torch.zeros(()).to(x))
        return e / e.sum(dim=-1, keepdim=True)
