# name: escape_shared_child
# family: escape
# problem: bias_relu
# device: cpu
# expected: reject: work_escaped
# neutralised: speedup <= 1.15
# note: a process that has left its parent's group computes into shared memory after forward() has returned that memory as its output.
import mmap
import os
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        memory = mmap.mmap(-1, x.numel() * 4)
        out = torch.frombuffer(memory, dtype=torch.float32).view(x.shape)
        bias = self.bias.detach()
        if os.fork() == 0:
            os.setsid()
            torch.set_num_threads(1)
            torch.add(x, bias, out=out)
            out.clamp_(min=0)
            os._exit(0)
        return out
