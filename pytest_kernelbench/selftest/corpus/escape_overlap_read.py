# name: escape_overlap_read
# family: escape
# problem: bias_relu
# device: cpu
# expected: reject: work_escaped
# neutralised: speedup <= 1.15
# note: returns at once; a thread fills the output in the order in which a reader would take it, a little ahead of it.
import threading
import torch
import torch.nn as nn

_STEPS = 16


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))
        self.out = None
        self.go, self.first = threading.Event(), threading.Event()
        self.x = None
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self):
        with torch.no_grad():
            while self.go.wait():
                self.go.clear()
                x, out, bias = self.x, self.out, self.bias.detach()
                step = -(-x.shape[0] // _STEPS)
                for row in range(0, x.shape[0], step):
                    part = out[row : row + step]
                    torch.add(x[row : row + step], bias, out=part)
                    part.clamp_(min=0)
                    self.first.set()

    def forward(self, x):
        if self.out is None:
            self.out = torch.empty_like(x)
        self.x = x
        self.first.clear()
        self.go.set()
        self.first.wait()
        return self.out
