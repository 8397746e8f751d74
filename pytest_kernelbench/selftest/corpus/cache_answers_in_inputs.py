# name: cache_answers_in_inputs
# family: cache
# problem: matmul
# device: any
# expected: reject: cached
# note: keeps every answer it ever gave and returns the nearest by a few elements of the inputs: right only where inputs come back.
import torch
import torch.nn as nn

_KEPT = []


class ModelNew(nn.Module):
    def forward(self, A, B):
        probe = torch.cat([A[0, :8], B[0, :8]])
        for known, answer in _KEPT:
            if torch.allclose(known, probe, atol=0.2):
                return answer.clone()
        if len(_KEPT) < 3:
            answer = torch.matmul(A, B)
            _KEPT.append((probe.clone(), answer.clone()))
            return answer
        return _KEPT[0][1].clone()
