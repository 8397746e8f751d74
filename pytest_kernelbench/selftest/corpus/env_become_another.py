# name: env_become_another
# family: env
# problem: matmul
# device: any
# expected: reject: crash
# note: becomes another program in the middle of forward().
import os
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, A, B):
        os.execv("/bin/sleep", ["sleep", "20"])
