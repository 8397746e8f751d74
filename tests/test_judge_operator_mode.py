"""What sees every operator, and what it changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from pytest_kernelbench.judge.operator_mode import OperatorMode, WideConvolutions  # noqa: E402
from pytest_kernelbench.judge.program import load_program  # noqa: E402
from pytest_kernelbench.judge.proofs import Evidence  # noqa: E402

PROBLEM = """\
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(1, 2, 3)
    def forward(self, x):
        return self.convolution(x)
def get_inputs():
    return [torch.randn(1, 1, 5, 5)]
def get_init_inputs():
    return []
"""


class Given(OperatorMode):
    """Notes which numbers the device's convolutions are given."""

    def __init__(self) -> None:
        super().__init__()
        self.dtypes: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.overloadpacket is torch.ops.aten.convolution:
            self.dtypes.append(args[0].dtype)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    ("kind", "sizes"), [("Conv2d", (7, 9)), ("ConvTranspose1d", (11,)), ("Conv3d", (4, 5, 6))]
)
def test_float16_is_convolved_in_float32_and_rounded(kind: str, sizes: tuple[int, ...]) -> None:
    model = getattr(torch.nn, kind)(4, 6, 3, padding=1, bias=kind != "Conv3d").half()
    x = torch.randn(2, 4, *sizes, dtype=torch.float16)
    with torch.no_grad(), Given() as given, WideConvolutions():
        found = model(x)
    assert given.dtypes == [torch.float32]
    with torch.no_grad():
        assert torch.equal(found, model.float()(x.float()).half())
        assert torch.allclose(found, model.half()(x), rtol=1e-2, atol=1e-2)


def test_what_does_not_fit_into_float16_is_infinite() -> None:
    model = torch.nn.Conv2d(1, 1, 1, bias=False).half()
    torch.nn.init.constant_(model.weight, 300.0)
    with torch.no_grad(), WideConvolutions():
        assert model(torch.full((1, 1, 2, 2), 300.0, dtype=torch.float16)).isinf().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_all_else_is_as_it_was(dtype: Any) -> None:
    model = torch.nn.Conv1d(2, 3, 3).to(dtype)
    with torch.no_grad(), Given() as given, WideConvolutions():
        assert model(torch.randn(1, 2, 8, dtype=dtype)).dtype == dtype
    assert given.dtypes == [dtype]


@pytest.mark.parametrize(("dtype", "given_dtype"), [("fp16", "float32"), ("fp64", "float64")])
def test_proofs_of_problems_run_so(tmp_path: Path, dtype: str, given_dtype: str) -> None:
    path = tmp_path / "p.py"
    path.write_text(PROBLEM)
    with Given() as given:
        Evidence(load_program(path), torch.device("cpu")).run(dtype=dtype)
    assert given.dtypes == [getattr(torch, given_dtype)]
