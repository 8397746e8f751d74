# name: slow_dirty_pages
# family: slow
# problem: softmax
# device: any
# expected: reject: baseline_tampered
# neutralised: speedup <= 1.15
# note: writes files without end from a thread, so that the kernel writes them out while the baseline is timed.
import os
import tempfile
import threading
import time
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        threading.Thread(target=self._write, daemon=True).start()

    def _write(self):
        end, block = time.monotonic() + 30, os.urandom(1 << 20)
        while time.monotonic() < end:
            with tempfile.TemporaryFile() as file:
                for _ in range(64):
                    file.write(block)
                    time.sleep(0.01)

    def forward(self, x):
        return torch.softmax(x, dim=-1)
