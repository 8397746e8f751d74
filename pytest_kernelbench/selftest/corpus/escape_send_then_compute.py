# name: escape_send_then_compute
# family: escape
# problem: matmul
# device: any
# expected: reject: work_escaped
# neutralised: speedup <= 1.15
# note: replaces socket.sendall by one that computes the output after the runner's answer has been sent.
import socket
import torch
import torch.nn as nn

_SENDALL = socket.socket.sendall
_LEFT = []


def _send(self, data, *flags):
    _SENDALL(self, data, *flags)
    while _LEFT:
        A, B, out = _LEFT.pop()
        with torch.no_grad():
            torch.matmul(A, B, out=out)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        socket.socket.sendall = _send

    def forward(self, A, B):
        out = torch.empty(A.shape[0], B.shape[1], device=A.device, dtype=A.dtype)
        _LEFT.append((A, B, out))
        return out
