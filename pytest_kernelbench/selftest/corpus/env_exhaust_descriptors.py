# name: env_exhaust_descriptors
# family: env
# problem: softmax
# device: any
# expected: accept_or_flag: resource
# neutralised: speedup <= 1.15
# note: opens descriptors until no more are to be had: a judge that needs one in the same process, or counts on the system's, fails.
import os
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.held = []

    def forward(self, x):
        try:
            while len(self.held) < 1 << 16:
                self.held.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            for fd in self.held[-8:]:
                os.close(fd)
            del self.held[-8:]
        return torch.softmax(x, dim=-1)
