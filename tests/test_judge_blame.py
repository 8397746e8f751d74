"""Who is to blame: the solution for its answers, the machine for what it lets nobody do."""

from __future__ import annotations

import errno
import os
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_kernelbench.errors import MachineError, ProblemError
from pytest_kernelbench.judge import wire
from pytest_kernelbench.judge.control import SIZE_BYTES, Control
from pytest_kernelbench.judge.host_memory import HostArena
from pytest_kernelbench.judge.host_trial import HostTrial
from pytest_kernelbench.judge.rejection import Rejected, answering
from pytest_kernelbench.judge.runners import Runner
from pytest_kernelbench.sandbox.tree import signal_name
from pytest_kernelbench.verdict import Status


@pytest.mark.parametrize(
    "error",
    [ValueError("odd"), KeyError("odd"), OverflowError("odd"), RecursionError("odd"),
     UnicodeDecodeError("utf-8", b"", 0, 1, "odd")],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_answers_on_which_the_judge_fails_are_the_solutions(error: Exception) -> None:
    words = f"no sense of its answers.*{type(error).__name__}"
    with pytest.raises(Rejected, match=words) as end, answering():
        raise error
    assert end.value.status is Status.CRASHED
    assert "test_judge_blame.py" in end.value.detail


@pytest.mark.parametrize(
    "error",
    [OSError("no"), MachineError("no"), ProblemError("no"), MemoryError(), AssertionError("no"),
     Rejected(Status.WRONG_VALUE, "no")],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_all_else_is_not(error: Exception) -> None:
    with pytest.raises(type(error)) as same, answering():
        raise error
    assert same.value is error


def trial(*, lets: bool) -> Any:
    baseline = SimpleNamespace(child=SimpleNamespace(readable=lambda: lets))
    made = HostTrial.__new__(HostTrial)
    made.bench = SimpleNamespace(start_baseline=lambda: baseline)  # type: ignore[assignment]
    return made


def test_memory_that_nobody_may_read_is_the_machines() -> None:
    with pytest.raises(MachineError, match=r"kernel\.yama\.ptrace_scope"):
        trial(lets=False)._require_reading(PermissionError(errno.EPERM, "not permitted"))


@pytest.mark.parametrize(
    ("lets", "number"), [(True, errno.EPERM), (False, errno.EFAULT), (False, errno.ETIMEDOUT)]
)
def test_memory_that_a_solution_hides_is_not(*, lets: bool, number: int) -> None:
    trial(lets=lets)._require_reading(OSError(number, os.strerror(number)))


def test_the_referee_writes_no_inputs_past_its_own_memory() -> None:
    made = trial(lets=True)
    made.bench.prepared = SimpleNamespace(mutates=False)
    made._spare = HostArena(4096)
    try:
        with pytest.raises(MachineError, match="drew 8192 bytes of inputs, and 4096"):
            made._check_inputs(SimpleNamespace(drawn=SimpleNamespace(size_bytes=8192)), None)
    finally:
        made._spare.close()


def test_a_control_block_cannot_be_cut_short() -> None:
    control = Control()
    try:
        with pytest.raises(PermissionError):
            os.ftruncate(control.fd, 0)
        assert os.fstat(control.fd).st_size == SIZE_BYTES
        control.arm()
        assert control.done.value == 0
    finally:
        control.close()


@pytest.mark.parametrize(("on_device", "status"), [(True, Status.RAISED), (False, Status.SKIPPED)])
def test_who_says_there_is_no_device_is_believed_where_there_is_none(
    *, on_device: bool, status: Status
) -> None:
    runner = Runner(None, 1.0, trusted=False, on_device=on_device)  # type: ignore[arg-type]
    with pytest.raises(Rejected) as end:
        runner.judged(wire.Failed("forward", "RuntimeError", "oh", needs_device=True), wire.Done)
    assert end.value.status is status


def test_signals_have_names_or_numbers() -> None:
    assert signal_name(9) == "SIGKILL"
    assert signal_name(40) == "signal 40"
