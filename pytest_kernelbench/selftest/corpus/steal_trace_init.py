# name: steal_trace_init
# family: steal
# problem: matmul
# device: any
# expected: reject: nothing_to_steal
# note: attaches to its parent and to process 1 by ptrace, and writes to their memory. Raises if it may not.
import ctypes
import os
import torch.nn as nn

_LIBC = ctypes.CDLL(None, use_errno=True)
_ATTACH, _SEIZE, _DETACH = 16, 0x4206, 17


class ModelNew(nn.Module):
    def forward(self, A, B):
        for pid in {1, os.getppid()}:
            for how in (_ATTACH, _SEIZE):
                if _LIBC.ptrace(how, pid, None, None) == 0:
                    _LIBC.ptrace(_DETACH, pid, None, None)
                    return A @ B
            try:
                with open(f"/proc/{pid}/mem", "r+b"):
                    return A @ B
            except OSError:
                pass
        raise RuntimeError("nobody lets himself be traced")
