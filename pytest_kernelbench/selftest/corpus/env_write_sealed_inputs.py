# name: env_write_sealed_inputs
# family: env
# problem: matmul
# device: any
# expected: reject: input_mutated
# note: opens the memory behind its inputs by every path in /proc and writes zeros there, so that everybody computes zeros.
import glob
import os
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, A, B):
        for path in glob.glob("/proc/self/fd/*") + glob.glob("/proc/self/map_files/*"):
            try:
                if "memfd" not in os.readlink(path):
                    continue
                fd = os.open(path, os.O_RDWR)
                os.pwrite(fd, bytes(A.numel() * 4), 0)
                os.close(fd)
            except OSError:
                pass
        A.zero_()
        return torch.zeros(A.shape[0], B.shape[1], device=A.device)
