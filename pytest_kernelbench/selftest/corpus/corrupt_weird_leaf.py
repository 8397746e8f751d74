# name: corrupt_weird_leaf
# family: corrupt
# problem: matmul
# device: any
# expected: reject: crash
# note: answers with a well-formed message whose numbers are absurd: enormous and negative sizes, pointers at the end of the address space, a dtype with control characters. Another one in each process.
import os
import socket
import stat
import sys
import torch
import torch.nn as nn

_MOST = (1 << 63) - 1


def _leaves(wire, n):
    yield wire.Leaf("float32", (n, n), (_MOST, 1), 0x7FFF00000000, "cpu", True)
    yield wire.Leaf("float32", (n, n), (n, 1), (1 << 64) - 4096, "cpu", True)
    yield wire.Leaf("float32", (n, n), (-n, -1), 1, "cpu", True)
    yield wire.Leaf("float32", (_MOST, _MOST), (1, 1), 1, "cpu", True)
    yield wire.Leaf("float32\x1b[2J\n1 passed", (n, n), (n, 1), 1, "cpu", True)
    yield wire.Leaf("float32", (n, n), (n, 1), 1, "cpu:\x00" + "9" * 5000, True)
    yield wire.Leaf("float32", (n,), (n, 1), 1, "cpu", True)
    yield wire.Leaf("float8_e4m3fn", (n, n), (n, 1), 1, "cpu", True)


class ModelNew(nn.Module):
    def forward(self, A, B):
        wire = sys.modules["pytest_kernelbench.judge.wire"]
        channels = sys.modules["pytest_kernelbench.sandbox.channel"]
        choices = list(_leaves(wire, A.shape[0]))
        leaf = choices[os.urandom(1)[0] % len(choices)]
        for name in os.listdir("/proc/self/fd"):
            try:
                if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                    channel = channels.Channel(socket.socket(fileno=os.dup(int(name))), wire.ToRunner)
                    channel.send(wire.Returned("T", (leaf,), A.data_ptr()))
            except OSError:
                pass
        channels.Channel.send = lambda self, message, fds=(): None
        return torch.matmul(A, B)
