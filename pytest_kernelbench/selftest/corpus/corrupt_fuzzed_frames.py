# name: corrupt_fuzzed_frames
# family: corrupt
# problem: matmul
# device: any
# expected: reject: crash
# note: answers with frames of random msgpack: nested to great depth, of the wrong tag, with extensions, with strings that are no UTF-8.
import os
import random
import socket
import stat
import struct
import sys
import torch
import torch.nn as nn


def _frames():
    yield b"\x91" * 100000 + b"\xc0"
    yield b"\xdf\xff\xff\xff\xff"
    yield b"\x95\xa8Returned\xa1\xff\x90\x00"
    yield b"\xc7\x08\x05" + bytes(8)
    yield b"\x92\xa7Batched" + bytes(range(64))
    yield os.urandom(3000)


class ModelNew(nn.Module):
    def forward(self, A, B):
        body = random.SystemRandom().choice(list(_frames()))
        for name in os.listdir("/proc/self/fd"):
            try:
                if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                    socket.socket(fileno=os.dup(int(name))).sendall(struct.pack("<I", len(body)) + body)
            except OSError:
                pass
        sys.modules["pytest_kernelbench.sandbox.channel"].Channel.send = lambda *_: None
        return torch.matmul(A, B)
