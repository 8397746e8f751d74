# name: env_close_everything
# family: env
# problem: matmul
# device: any
# expected: reject: crash
# note: closes every descriptor that it has.
import os
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, A, B):
        out = torch.matmul(A, B)
        os.closerange(0, 65536)
        return out
