"""What a bench says of its oracle when there is no answer."""

from __future__ import annotations

import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_kernelbench.catalog.pair import Problem
from pytest_kernelbench.errors import MachineError
from pytest_kernelbench.judge import bench as bench_module
from pytest_kernelbench.judge import questions, wire
from pytest_kernelbench.judge.bench import Bench
from pytest_kernelbench.sandbox.channel import Channel


@pytest.mark.parametrize("size", [1, 8 << 20], ids=["heard", "not even read"])
def test_an_oracle_that_hangs_is_told_from_one_that_died(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(bench_module, "_ORACLE_TIMEOUT_S", 0.2)
    ours, theirs = socket.socketpair()
    bench = Bench.__new__(Bench)
    bench.problem = Problem(Path("p.py"), 1, 1, "p")
    oracle = SimpleNamespace(channel=Channel(ours, questions.FromOracle), log_tail=lambda: "words")
    vars(bench)["_oracle"] = oracle
    question = wire.Attach(b"x" * size, 0, 0)
    with ours:
        with theirs, pytest.raises(MachineError, match=r"did not answer within 0\.2 s; .* words"):
            bench.ask_any(question)
        with pytest.raises(MachineError, match=r"died \(Closed\); it printed: words"):
            bench.ask_any(question)
