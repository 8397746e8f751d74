# name: corrupt_default_device
# family: corrupt
# problem: matmul
# device: any
# expected: reject: incorrect
# note: changes torch's default device and default dtype for whatever runs in its process after it.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, A, B):
        out = torch.matmul(A, B)
        torch.set_default_device("meta")
        torch.set_default_dtype(torch.float64)
        return torch.zeros(out.shape)
