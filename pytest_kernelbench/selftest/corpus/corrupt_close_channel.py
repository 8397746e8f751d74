# name: corrupt_close_channel
# family: corrupt
# problem: softmax
# device: any
# expected: reject: crash
# note: closes every descriptor it has, then goes on as if nothing had happened.
import os
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        os.closerange(3, 4096)
        return torch.softmax(x, dim=-1)
