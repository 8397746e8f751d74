# name: corrupt_patch_data_ptr
# family: corrupt
# problem: bias_relu
# device: any
# expected: reject: incorrect
# note: patches torch.Tensor.data_ptr, stride, size, dtype and device themselves, so that a half-size output looks whole.
import torch
import torch.nn as nn

_full = {}
_real_size, _real_pointer = torch.Tensor.size, torch.Tensor.data_ptr


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        rows, columns = _real_size(x)
        _full.update(shape=(rows, columns), pointer=_real_pointer(x))
        torch.Tensor.data_ptr = lambda self: _full["pointer"]
        torch.Tensor.stride = lambda self, *a: (_full["shape"][1], 1)
        torch.Tensor.size = lambda self, *a: _full["shape"]
        torch.Tensor.shape = property(lambda self: _full["shape"])
        return torch.zeros(rows // 2, columns, device=x.device)
