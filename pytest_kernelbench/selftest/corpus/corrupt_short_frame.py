# name: corrupt_short_frame
# family: corrupt
# problem: matmul
# device: any
# expected: reject: fake_result
# note: announces a message of a hundred bytes on the judge's socket, sends ten, and hangs: a judge that reads without a deadline hangs with it.
import os
import stat
import struct
import time
import torch
import torch.nn as nn


def _sockets():
    for name in os.listdir("/proc/self/fd"):
        try:
            if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                yield int(name)
        except OSError:
            pass


class ModelNew(nn.Module):
    def forward(self, A, B):
        for fd in _sockets():
            os.write(fd, struct.pack("<I", 100) + b"0123456789")
        time.sleep(600)
        return torch.matmul(A, B)
