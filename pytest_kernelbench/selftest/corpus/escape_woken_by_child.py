# name: escape_woken_by_child
# family: escape
# problem: bias_relu
# device: cpu
# expected: reject: work_escaped
# neutralised: speedup <= 1.15
# note: a child wakes its parent as often as it can, so that a thread of the parent goes on computing when the clock has stopped it.
import os
import signal
import threading
import time
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))
        me, end = os.getpid(), time.monotonic() + 60
        if os.fork() == 0:
            os.setsid()
            while time.monotonic() < end:
                try:
                    os.kill(me, signal.SIGCONT)
                except OSError:
                    break
            os._exit(0)

    def forward(self, x):
        out = torch.empty_like(x)
        bias = self.bias.detach()

        def work():
            torch.add(x, bias, out=out)
            out.clamp_(min=0)

        threading.Thread(target=work, daemon=True).start()
        return out
