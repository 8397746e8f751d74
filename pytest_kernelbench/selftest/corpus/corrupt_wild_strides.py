# name: corrupt_wild_strides
# family: corrupt
# problem: matmul
# device: cpu
# expected: reject: incorrect
# note: describes its output with strides that are negative, zero and astronomically large in turn, so that a judge's arithmetic overflows or its copy runs off the end.
import sys
import torch
import torch.nn as nn

_STRIDES = [(-1024, 1), (0, 1), (1 << 62, 1), (1 << 40, 1 << 20), (1,)]


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.turn = 0

    def forward(self, A, B):
        wire = sys.modules["pytest_kernelbench.judge.wire"]
        forms = sys.modules["pytest_kernelbench.judge.inside.forms"]
        strides = _STRIDES[self.turn % len(_STRIDES)]
        self.turn += 1
        shape, pointer = (A.shape[0], B.shape[1]), A.data_ptr()
        forms.leaf = lambda tensor: wire.Leaf("float32", shape, strides, pointer, "cpu", True)
        return A
