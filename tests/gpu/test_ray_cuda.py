"""Pairs on a GPU through Ray: the kind is found, what was built arrives, memory is given back."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.engine.devices import visible_gpus
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Status

pytest.importorskip("ray", reason="Ray is not installed: pip install 'pytest-kernelbench[ray]'")
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.skipif(not visible_gpus(), reason="no CUDA device is visible here"),
]
ROOT = Path(__file__).parents[2]


def used_bytes() -> int:
    """Of all visible devices, by whomever: Ray chooses which of them judges a pair."""
    import pynvml

    pynvml.nvmlInit()
    handles = [pynvml.nvmlDeviceGetHandleByIndex(gpu.index) for gpu in visible_gpus()]
    return sum(int(pynvml.nvmlDeviceGetMemoryInfo(handle).used) for handle in handles)


def test_a_compiled_and_a_triton_kernel(tmp_path: Path) -> None:
    from pytest_kernelbench.engine.ray_engine import RayEngine

    before_bytes = used_bytes()
    problem = Problem(ROOT / "problems/level1/023_softmax.py", 1, 23, "softmax")
    pairs = [
        Pair(problem, Solution(ROOT / f"solutions/{entrant}/level1/023_softmax.py", entrant))
        for entrant in ("cuda", "triton")
    ]
    settings = Settings(
        engine="ray", device="cuda", size="smoke", seeds=2, budget_s=0.5, cache_dir=tmp_path
    )
    engine = RayEngine(settings)
    try:
        assert engine.device.is_gpu
        uuids = {gpu.uuid for gpu in visible_gpus()}
        assert engine.device.uuid in uuids
        assert engine.cluster.place.gpu
        engine.ahead(pairs)
        for pair in pairs:
            verdict = engine.submit(pair).result(300)
            assert verdict.status in (Status.RIGHT, Status.FAST), verdict
            assert verdict.measurement is not None
            assert verdict.device_uuid in uuids
            assert "system calls (seccomp)" in verdict.walls
    finally:
        engine.close()
    deadline_s = time.monotonic() + 20
    while used_bytes() > before_bytes + (200 << 20):
        assert time.monotonic() < deadline_s
        time.sleep(0.1)
