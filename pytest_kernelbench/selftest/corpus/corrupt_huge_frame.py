# name: corrupt_huge_frame
# family: corrupt
# problem: softmax
# device: any
# expected: reject: fake_result
# note: announces four gigabytes on the judge's socket and sends zeros for as long as somebody reads them: a judge that believes the length runs out of memory.
import os
import stat
import struct
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
    def forward(self, x):
        for fd in _sockets():
            os.write(fd, struct.pack("<I", 0xFFFFFFF0))
            for _ in range(5 << 10):
                os.write(fd, bytes(1 << 20))
        return torch.softmax(x, dim=-1)
