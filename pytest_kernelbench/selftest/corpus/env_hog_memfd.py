# name: env_hog_memfd
# family: env
# problem: matmul
# device: any
# expected: reject: resource
# note: holds host memory in files of memory that are mapped nowhere, up to 48 GiB, until less than 3 GiB are left on the host.
import os
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
        self.hoard = []

    def forward(self, A, B):
        block = bytes(1 << 20)
        while len(self.hoard) < 48 and _free_gib() > 3.0:
            self.hoard.append(os.memfd_create("hoard"))
            for _ in range(1024):
                os.write(self.hoard[-1], block)
        return torch.matmul(A, B)
