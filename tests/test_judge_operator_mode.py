"""What sees every operator, and what it changes."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from pytest_kernelbench.judge.operator_mode import OperatorMode, WideConvolutions  # noqa: E402

pytestmark = pytest.mark.slow


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
