"""Device memory beside a solution: both sides may have to share it in turns."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.build.builder import Builder
from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.engine.devices import visible_gpus
from pytest_kernelbench.errors import NoRoomError
from pytest_kernelbench.judge.device_trial import DeviceTrial
from pytest_kernelbench.judge.referee import Referee
from pytest_kernelbench.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_kernelbench.verdict import Verdict

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not visible_gpus(), reason="no CUDA device is visible here"),
]

PROGRAM = """
    import torch
    class {entry}(torch.nn.Module):
        def forward(self, x):
            return torch.softmax(x, 1)
    def get_inputs():
        return [torch.randn(4096, 4096)]
"""


def _verdict(folder: Path) -> Verdict:
    paths = []
    for entry in ("Model", "ModelNew"):
        paths.append(folder / entry / "001_softmax.py")
        paths[-1].parent.mkdir()
        paths[-1].write_text(textwrap.dedent(PROGRAM.format(entry=entry)))
    pair = Pair(Problem(paths[0], 1, 1, "softmax"), Solution(paths[1], "ann"))
    # In this process, where a test can reach into it.
    settings, device = (
        Settings(cache_dir=folder / "cache", budget_s=1.0, seeds=2, thresholds=(1.5,)),
        visible_gpus()[0],
    )
    builder, referee = Builder(settings, device.capability), Referee(settings, device)
    try:
        return referee.judge(pair, builder.build(paths[1]))
    finally:
        referee.close()
        builder.close()


def test_where_both_sides_do_not_fit_they_take_turns_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, raised = DeviceTrial.pair, []

    def pair(trial: DeviceTrial, *, contender_first: bool) -> tuple[float, float]:
        if not trial.alternating:
            raised.append(trial)
            raise NoRoomError("the reference, which fits by itself, ran out of memory")
        return usual(trial, contender_first=contender_first)

    monkeypatch.setattr(DeviceTrial, "pair", pair)
    verdict = _verdict(tmp_path)
    assert len(raised) == 2  # the control, the pair
    assert verdict.agreed
    measured = verdict.measurement
    assert measured is not None, verdict.notes
    assert measured.low <= 1.0 <= measured.high * 1.02
    assert verdict.control is not None
