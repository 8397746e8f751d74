# name: slow_endless_kernel
# family: slow
# problem: softmax
# device: cuda
# expected: reject: baseline_tampered
# neutralised: speedup <= 1.15
# note: leaves a kernel of one block spinning on a stream of its own, so that the device shares its time between two processes.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.side, self.calls = None, 0

    def forward(self, x):
        self.calls += 1
        if self.calls % 40 == 10:
            self.side = self.side or torch.cuda.Stream()
            with torch.cuda.stream(self.side):
                torch.cuda._sleep(1_000_000_000)
        return torch.softmax(x, dim=-1)
