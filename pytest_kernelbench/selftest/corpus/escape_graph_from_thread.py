# name: escape_graph_from_thread
# family: escape
# problem: matmul
# device: cuda
# expected: reject: work_escaped
# note: captures its work as a CUDA graph and has a thread launch it on a stream that nobody waits for, after forward() has returned.
import threading
import time
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.graph = None

    def forward(self, A, B):
        if self.graph is None:
            self.a, self.b = A.clone(), B.clone()
            self.stream = torch.cuda.Stream()
            self.stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.stream):
                self.out = torch.matmul(self.a, self.b)
            torch.cuda.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, stream=self.stream):
                torch.matmul(self.a, self.b, out=self.out)

        def launch():
            time.sleep(0.0005)
            with torch.cuda.stream(self.stream):
                self.a.copy_(A)
                self.b.copy_(B)
                self.graph.replay()

        threading.Thread(target=launch, daemon=True).start()
        return self.out
