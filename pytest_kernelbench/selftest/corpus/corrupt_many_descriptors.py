# name: corrupt_many_descriptors
# family: corrupt
# problem: matmul
# device: any
# expected: reject: crash
# note: sends hundreds of descriptors over the runner's socket, so that the judge runs out of them.
import os
import socket
import stat
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, A, B):
        spare = [os.open("/dev/null", os.O_RDONLY) for _ in range(200)]
        for name in os.listdir("/proc/self/fd"):
            try:
                if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                    sock = socket.socket(fileno=os.dup(int(name)))
                    for _ in range(20):
                        socket.send_fds(sock, [b"\x01"], spare)
            except OSError:
                pass
        return torch.matmul(A, B)
