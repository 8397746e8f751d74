# name: env_leave_a_child_in_charge
# family: env
# problem: matmul
# device: any
# expected: reject: crash
# note: leaves, and lets a forked child in a session of its own go on in its place: whoever waits for the process alone lets the child live.
import os
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, A, B):
        if os.fork():
            os._exit(0)
        os.setsid()
        return torch.matmul(A, B)
