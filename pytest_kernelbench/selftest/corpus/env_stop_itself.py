# name: env_stop_itself
# family: env
# problem: matmul
# device: any
# expected: reject: timeout
# hangs: yes
# note: stops itself and everything that it has started.
import os
import signal
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, A, B):
        os.kill(os.getpid(), signal.SIGSTOP)
