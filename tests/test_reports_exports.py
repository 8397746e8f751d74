"""Verdicts in the formats of other tools, and baselines out of theirs."""

from __future__ import annotations

import csv as standard_csv
import json
import math
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from pytest_kernelbench.catalog import stored_times
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.judge.comparison import Difference
from pytest_kernelbench.reports import csv, eval_results, trace
from pytest_kernelbench.verdict import Measurement, Status, Verdict

NOW = datetime(2026, 11, 29, tzinfo=timezone.utc)


def measured(**changes: Any) -> Measurement:
    plain = Measurement(
        baseline="eager", speedup=2.0, low=1.9, high=2.1, baseline_us=200.0, time_us=100.0,
        null_us=1.0, turns=3, calls=30, times_us=(90.0, 100.0, 110.0),
    )  # fmt: skip
    return replace(plain, **changes)


def verdict(status: Status = Status.FAST, **changes: Any) -> Verdict:
    plain = Verdict(
        level=1, number=19, problem="relu", entrant="ann", solution="/x/019_relu.py", status=status,
        agreed=status.right, reasons=("for a reason",), rounds=5, device="NVIDIA H100",
        device_uuid="GPU-1", size="full", dtype="fp32",
        measurements=(measured(),) if status.right else (),
    )  # fmt: skip
    return replace(plain, **changes)


# KernelBench


def test_eval_results_of_a_right_one() -> None:
    assert eval_results.result(verdict()) == {
        "sample_id": 0,
        "compiled": True,
        "correctness": True,
        "metadata": {
            "hardware": "NVIDIA H100",
            "device": "GPU-1",
            "kernelbench_status": "fast",
            "correctness_trials": "(5 / 5)",
        },
        "runtime": 0.1,
        "runtime_stats": {
            "mean": pytest.approx(0.1),
            "std": pytest.approx(0.01),
            "min": 0.09,
            "max": 0.11,
            "num_trials": 30,
            "hardware": "NVIDIA H100",
            "device": "GPU-1",
        },
    }


@pytest.mark.parametrize(
    ("status", "compiled", "key"),
    [
        (Status.NOT_BUILT, False, "compilation_error"),
        (Status.WRONG_VALUE, True, "correctness_issue"),
        (Status.WRONG_SHAPE, True, "correctness_issue"),
        (Status.UNSTABLE, True, "correctness_issue"),
        (Status.RAISED, True, "runtime_error"),
        (Status.CRASHED, True, "runtime_error"),
        (Status.TIMED_OUT, True, "runtime_error"),
        (Status.OUT_OF_MEMORY, True, "runtime_error"),
        (Status.ALTERED_INPUTS, True, "runtime_error"),
    ],
)
def test_eval_results_of_failures(status: Status, key: str, *, compiled: bool) -> None:
    result = eval_results.result(verdict(status, detail="at line 3"))
    assert (result["compiled"], result["correctness"]) == (compiled, False)
    assert result["runtime"] == -1.0
    assert result["runtime_stats"] == {}
    assert "for a reason" in result["metadata"][key]
    assert result["metadata"]["kernelbench_status"] == status.value


def test_how_far_a_wrong_one_is_off() -> None:
    """In the words that the judge says it in."""
    difference = Difference(
        elements=8, wrong=2, first_index=(3,), got=1.0, expected=1.5, max_abs=0.5, rms=1.0
    )
    wrong = verdict(Status.WRONG_VALUE, reasons=(f"round 1 of 5: {difference}",))
    metadata = eval_results.result(wrong)["metadata"]
    assert metadata["max_difference"] == ["0.5"]
    told = trace.trace(wrong, NOW)
    assert told is not None
    assert told["evaluation"]["correctness"]["max_absolute_error"] == 0.5
    right = trace.trace(verdict(), NOW)
    assert right is not None
    # As its schema writes what is not known, and reads it again.
    assert right["evaluation"]["correctness"]["max_absolute_error"] == "NaN"
    assert "max_difference" not in eval_results.result(verdict(Status.WRONG_VALUE))["metadata"]


def test_right_but_its_timing_failed() -> None:
    result = eval_results.result(verdict(Status.CRASHED, agreed=True))
    assert result["correctness"] is True
    assert result["metadata"]["error_during_performance"] == "for a reason"


def test_an_excessive_speedup_is_marked() -> None:
    fast = verdict(measurements=(measured(speedup=10.5),))
    assert eval_results.result(fast)["metadata"]["excessive_speedup"] is True
    assert "excessive_speedup" not in eval_results.result(verdict())["metadata"]


def test_no_time_that_is_no_number(tmp_path: Path) -> None:
    strange = verdict(measurements=(measured(time_us=math.nan, times_us=(math.inf,)),))
    assert eval_results.result(strange)["runtime"] == -1.0
    eval_results.write(tmp_path / "e.json", [strange])
    assert trace.trace(strange, NOW) is None


def test_eval_results_are_a_file_for_each_entrant_and_level(tmp_path: Path) -> None:
    path = tmp_path / "eval_results.json"
    samples = [
        verdict(sample=1),
        verdict(number=2),
        verdict(),
        verdict(Status.NOT_JUDGED, number=3),
    ]
    assert eval_results.write(path, samples) == [path]
    plain = json.loads(path.read_text())
    assert list(plain) == ["2", "19"]
    assert [sample["sample_id"] for sample in plain["19"]] == [0, 1]
    assert path.read_text().startswith('{\n    "2": [\n        {')
    written = eval_results.write(path, [*samples, verdict(level=2), verdict(entrant="b/c")])
    assert [each.name for each in written] == [
        "eval_results_ann_level1.json", "eval_results_ann_level2.json",
        "eval_results_b_c_level1.json",
    ]  # fmt: skip


def test_no_entrants_eval_results_go_over_anothers(tmp_path: Path) -> None:
    entrants = ["org/m", "org_m", "org m", "源", "根", "source", "\udcff", "lone/1"]
    written = eval_results.write(
        tmp_path / "e.json", [verdict(entrant=name, number=n) for n, name in enumerate(entrants)]
    )
    held = {json.loads(path.read_text()).popitem()[0]: path.name for path in written}
    assert len(held) == len(set(written)) == len(entrants)
    # Whose own name a file can bear has it, whoever else is there, and so has who shares none.
    assert (held["1"], held["5"], held["7"]) == (
        "e_org_m_level1.json", "e_source_level1.json", "e_lone_1_level1.json"
    )  # fmt: skip
    again = eval_results.write(tmp_path / "e.json", [verdict(entrant=e) for e in entrants[::-1]])
    assert sorted(again) == sorted(written)


@pytest.mark.parametrize(
    "verdicts",
    [[], [verdict(Status.NOT_JUDGED)], [verdict(), verdict(level=2)]],
    ids=["nothing", "not judged", "elsewhere"],
)
def test_no_eval_results_of_an_earlier_session_stay(
    tmp_path: Path, verdicts: list[Verdict]
) -> None:
    path = tmp_path / "e.json"
    eval_results.write(path, [verdict()])
    eval_results.write(path, verdicts)
    assert json.loads(path.read_text()) == {}


def test_eval_results_of_nothing_are_a_file(tmp_path: Path) -> None:
    assert eval_results.write(tmp_path / "e.json", []) == [tmp_path / "e.json"]
    assert (tmp_path / "e.json").read_text() == "{}\n"


# flashinfer-bench


def test_trace_of_a_right_one() -> None:
    told = trace.trace(verdict(), NOW)
    assert told is not None
    evaluation = told["evaluation"]
    assert told["definition"] == "level1_019_relu"
    assert evaluation["status"] == "PASSED"
    assert evaluation["performance"] == {
        "latency_ms": 0.1, "reference_latency_ms": 0.2, "speedup_factor": 2.0
    }  # fmt: skip
    assert evaluation["environment"]["hardware"] == "NVIDIA H100"
    assert evaluation["timestamp"] == "2026-11-29T00:00:00+00:00"


@pytest.mark.parametrize("status", Status)
def test_traces_hold_to_their_schema(status: Status) -> None:
    """Correctness only where passed or numerically wrong, performance only where passed."""
    told = trace.trace(verdict(status), NOW)
    if told is None:
        assert status in (Status.SKIPPED, Status.NOT_JUDGED, Status.BAD_PROBLEM)
        return
    evaluation = told["evaluation"]
    word = evaluation["status"]
    assert ("correctness" in evaluation) is (word in ("PASSED", "INCORRECT_NUMERICAL"))
    assert ("performance" in evaluation) is (word == "PASSED")


def test_trace_file(tmp_path: Path) -> None:
    untimed = verdict(measurements=())
    left_out = trace.write(tmp_path / "t.jsonl", [verdict(), untimed, verdict(Status.RAISED)], NOW)
    lines = (tmp_path / "t.jsonl").read_text().splitlines()
    assert left_out == 1
    assert [json.loads(line)["evaluation"]["status"] for line in lines] == [
        "PASSED",
        "RUNTIME_ERROR",
    ]


# CSV


def test_csv(tmp_path: Path) -> None:
    odd = verdict(Status.RAISED, reasons=('a, "b"\nc', "=1+1"), entrant="=cmd()", sample=3)
    csv.write(tmp_path / "v.csv", [verdict(), odd, verdict(measurements=(measured(low=math.nan),))])
    with (tmp_path / "v.csv").open(newline="", encoding="utf-8") as file:
        first, second, third = standard_csv.DictReader(file)
    assert (first["status"], first["speedup"], first["time_us"]) == ("fast", "2.0", "100.0")
    assert second["reason"] == 'a, "b"\nc; =1+1'
    assert second["entrant"] == "'=cmd()"
    assert second["speedup"] == third["speedup_low"] == ""


# Baselines


def stats(**changes: Any) -> dict[str, Any]:
    plain = {"mean": 0.3, "std": 0.03, "min": 0.2, "max": 0.4, "num_trials": 100}
    return plain | {"hardware": "NVIDIA H100", "device": "cuda:0"} | changes


def timing(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_a_stored_baseline_stands_beside_the_measured(tmp_path: Path) -> None:
    file = timing(tmp_path / "eager.json", {"level1": {"19_ReLU.py": stats(), "20_x.py": stats()}})
    stored = stored_times.read(file)
    both = stored.beside(verdict())
    first, second = both.measurements
    assert first == measured()
    assert second.baseline == f"{tmp_path.name}/eager"
    assert second.speedup == pytest.approx(3.0)
    assert second.low < 3.0 < second.high
    assert second.high / second.low < 1.4
    assert both.faster_than(1.5)
    assert not both.faster_than(2.5)
    assert "3.00x against" in both.notes[-1]
    assert stored.beside(verdict(number=1)) == verdict(number=1)
    assert stored.beside(verdict(Status.RAISED)) == verdict(Status.RAISED)


def test_stored_baselines_know_their_device(tmp_path: Path) -> None:
    stored = stored_times.read(timing(tmp_path / "a.json", {"level1": {"1_x.py": stats()}}))
    assert stored.fits("NVIDIA_H100")
    assert not stored.fits("NVIDIA H200")


def nested(levels: int) -> list[Any]:
    found = list[Any]()
    for _ in range(levels):
        found = [found]
    return found


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ([], "cannot be read as KernelBench's timing JSON"),
        ({"level1": {"1_x.py": {"mean": nested(500)}}}, "it is nested more than"),
        ({"level1": {"1_x.py": 3}}, "cannot be read as KernelBench's timing JSON"),
        ({"easy": {"1_x.py": stats()}}, "'easy' is no level"),
        ({"level1": {"x.py": stats()}}, "level1/x.py: the name does not begin with a number"),
        ({"level1": {"1_x.py": stats(mean="3")}}, "mean, std and num_trials must be numbers"),
        ({"level1": {"1_x.py": stats(mean=0)}}, "is no measurement"),
        ({"level1": {"1_x.py": stats(num_trials=0)}}, "is no measurement"),
        ({"level1": {"1_x.py": stats(), "2_x.py": stats(hardware="A100")}}, "of one device"),
        ({}, "of one device, but it names nothing"),
    ],
)
def test_stored_baselines_are_read_strictly(tmp_path: Path, content: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        stored_times.read(timing(tmp_path / "a.json", content))
