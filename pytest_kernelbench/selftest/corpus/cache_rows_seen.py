# name: cache_rows_seen
# family: cache
# problem: softmax
# device: any
# expected: reject: cached
# neutralised: speedup <= 1.15
# note: remembers each row by its first elements and computes only rows that it has not seen.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.known = {}

    def forward(self, x):
        heads = [bytes(head.tobytes()) for head in x[:, :4].cpu().numpy()]
        fresh = [row for row, head in enumerate(heads) if head not in self.known]
        if fresh:
            for row, values in zip(fresh, torch.softmax(x[fresh], dim=-1)):
                self.known[heads[row]] = values
        out = torch.stack([self.known[head] for head in heads])
        self.known = {} if len(self.known) > 20000 else self.known
        return out
