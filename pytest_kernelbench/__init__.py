"""GPU kernels as pytest tests: each problem/solution pair is one item, judged in processes apart."""

__version__ = "0.1.0"
