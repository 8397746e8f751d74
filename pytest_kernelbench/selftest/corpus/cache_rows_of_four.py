# name: cache_rows_of_four
# family: cache
# problem: kl_rows
# device: any
# expected: reject: cached
# neutralised: speedup <= 1.15
# note: keeps the results of all rows that it has seen and looks for each row by its first elements: the judge's own inputs might be put together from few rows.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads, self.known = None, None

    def forward(self, p, q):
        heads = torch.cat([p[:, :4], q[:, :4]], dim=1)
        if self.heads is not None:
            same = (self.heads == heads).all(dim=-1)
            if bool(same.any(dim=0).all()):
                return self.known.gather(0, same.byte().argmax(dim=0, keepdim=True))[0]
        out = (q * (q.log() - p.log())).sum(dim=-1)
        old_heads = [] if self.heads is None else [self.heads[-31:]]
        old_known = [] if self.known is None else [self.known[-31:]]
        self.heads = torch.cat([*old_heads, heads[None].clone()])
        self.known = torch.cat([*old_known, out[None].clone()])
        return out
