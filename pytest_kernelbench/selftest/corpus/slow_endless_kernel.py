# name: slow_endless_kernel
# family: slow
# problem: softmax
# device: cuda
# expected: reject: baseline_tampered
# neutralised: speedup <= 1.15
# hangs: yes
# note: has a kernel of one block on the device at all times, on a stream that its own process does not wait for, so that the device shares its time between two processes.
import sys
import threading
import time
import torch
import torch.nn as nn

_CYCLES = 200_000_000


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.side = torch.cuda.Stream()
        driver = sys.modules["pytest_kernelbench.judge.inside.driver"]
        driver.synchronize = lambda: torch.cuda.default_stream().synchronize()
        threading.Thread(target=self._keep, daemon=True).start()

    def _keep(self):
        end = time.monotonic() + 120
        with torch.cuda.stream(self.side):
            while time.monotonic() < end:
                for _ in range(50):  # five seconds of them in the queue
                    torch.cuda._sleep(_CYCLES)
                self.side.synchronize()

    def forward(self, x):
        return torch.softmax(x, dim=-1)
