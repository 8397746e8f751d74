# name: corrupt_answer_twice
# family: corrupt
# problem: matmul
# device: any
# expected: reject: crash
# neutralised: speedup <= 1.15
# note: sends each answer twice, so that the second stands ready before the next call is made.
import sys
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        channel = sys.modules["pytest_kernelbench.sandbox.channel"].Channel
        send = channel.send

        def twice(self, message, fds=()):
            send(self, message, fds)
            if type(message).__name__ in ("Returned", "Batched"):
                send(self, message)

        channel.send = twice

    def forward(self, A, B):
        return torch.matmul(A, B)
