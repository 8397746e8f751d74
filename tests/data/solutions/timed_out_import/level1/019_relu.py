"""Never gets past its own import."""

import time

import torch
from torch import nn

while True:
    time.sleep(1)
