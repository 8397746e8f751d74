# name: corrupt_control_block
# family: corrupt
# problem: matmul
# device: cuda
# expected: reject: work_escaped
# note: writes to the memory that it shares with the judge: the batch is done, and here are its digests.
import ctypes
import gc
import threading
import time
import torch
import torch.nn as nn

_KEY, _DONE, _DIGESTS = 8, 24, 64


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        threading.Thread(target=self._forge, daemon=True).start()

    def _forge(self):
        end, seen = time.monotonic() + 60, 0
        block = None
        while time.monotonic() < end:
            if block is None:
                for found in gc.get_objects():
                    if type(found).__name__ == "DeviceRunner" and hasattr(found, "_control_map"):
                        at = ctypes.addressof(ctypes.c_char.from_buffer(found._control_map))
                        block = (ctypes.c_uint64 * 512).from_address(at)
                time.sleep(0.001)
                continue
            if block[0] != seen:
                seen = block[0]
                for at in range(64):
                    block[_DIGESTS // 8 + at] = seen * 977 + at
                block[_DONE // 8] = 1000

    def forward(self, A, B):
        return torch.matmul(A, B)
