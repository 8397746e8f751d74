"""What a solution's file does to torch's precision switches ends before the next forward."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")

from pytest_kernelbench.judge.inside.loading import pin_precision  # noqa: E402 - needs torch

BACKENDS = torch.backends
NEWER = pytest.mark.skipif(not hasattr(BACKENDS, "fp32_precision"), reason="an older torch")


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    pin_precision(tf32=False)
    BACKENDS.cudnn.allow_tf32 = True  # as torch comes


def set_at(path: str, value: object) -> None:
    *names, last = path.split(".")
    place = BACKENDS
    for name in names:
        place = getattr(place, name)
    setattr(place, last, value)


CHANGES = [
    ("cuda.matmul.allow_tf32", True),
    ("cudnn.allow_tf32", True),
    ("cuda.matmul.allow_fp16_reduced_precision_reduction", True),
    ("cuda.matmul.allow_bf16_reduced_precision_reduction", True),
    *(
        pytest.param(path, value, marks=NEWER)
        for path, value in (
            ("fp32_precision", "tf32"),
            ("cuda.matmul.fp32_precision", "tf32"),
            ("cudnn.conv.fp32_precision", "tf32"),
            ("cudnn.rnn.fp32_precision", "tf32"),
            ("mkldnn.fp32_precision", "bf16"),
            ("mkldnn.matmul.fp32_precision", "bf16"),
            ("cuda.matmul.allow_fp16_accumulation", True),
        )
    ),
]


@pytest.mark.parametrize(("path", "value"), CHANGES)
@pytest.mark.parametrize("tf32", [False, True])
def test_a_switch_is_put_back(path: str, value: object, tf32: bool) -> None:  # noqa: FBT001
    pin_precision(tf32=tf32)
    before = switches()
    set_at(path, value)
    pin_precision(tf32=tf32)
    assert switches() == before
    assert before["cuda.matmul.allow_tf32"] is before["cudnn.allow_tf32"] is tf32


def test_the_older_way_to_say_it_is_put_back_too() -> None:
    torch.set_float32_matmul_precision("medium")
    pin_precision(tf32=False)
    assert torch.get_float32_matmul_precision() == "highest"


def switches() -> dict[str, object]:
    """Everything that is set above, as torch has it now."""
    found: dict[str, object] = {}
    for change in CHANGES:
        path = str(change.values[0] if hasattr(change, "values") else change[0])
        place = BACKENDS
        for name in path.split("."):
            place = getattr(place, name, None)
        found[path] = place
    return found
