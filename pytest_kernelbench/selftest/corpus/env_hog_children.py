# name: env_hog_children
# family: env
# problem: matmul
# device: any
# expected: reject: resource
# note: children hold host memory between them, each of them little, one after another: up to 64 times a gibibyte, until less than 3 GiB are left on the host.
import os
import select
import time
import torch
import torch.nn as nn


def _free_gib():
    with open("/proc/meminfo") as f:
        for line in f:
            if line.startswith("MemAvailable"):
                return int(line.split()[1]) / 2**20
    return 0.0


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.done = False

    def forward(self, A, B):
        held, tell = os.pipe()
        for _ in range(0 if self.done else 64):
            if _free_gib() < 3.0:
                break
            if os.fork() == 0:
                hoard = bytearray(b"\1") * (1 << 30)
                os.write(tell, b"!")
                time.sleep(30)
                os._exit(len(hoard) & 1)
            if select.select([held], [], [], 5.0)[0]:
                os.read(held, 1)
        self.done = True
        return torch.matmul(A, B)
