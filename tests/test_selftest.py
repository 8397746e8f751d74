"""The corpus's table, the rule by which a verdict meets it, the command and its stamp. No torch."""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import psutil
import pytest

from pytest_kernelbench import __version__
from pytest_kernelbench.errors import MachineError, UsageError
from pytest_kernelbench.selftest import command
from pytest_kernelbench.selftest.load import burning
from pytest_kernelbench.selftest.rule import outcome
from pytest_kernelbench.selftest.session import missing, run_cases
from pytest_kernelbench.selftest.stamp import STAMP_FILE, stamp, tally, write_stamp
from pytest_kernelbench.selftest.table import CORPUS, Case, Due, load_cases
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Measurement, Status, Verdict

CASES = load_cases()
Run = Callable[..., int]
FAMILIES = {
    "clock", "escape", "cache", "steal", "corrupt", "less", "notkernel", "slow", "env", "honest",
}  # fmt: skip


def verdict(status: Status, low: float | None = None) -> Verdict:
    measured = ()
    if low is not None:
        measured = (Measurement("eager", low + 0.1, low, low + 0.2, 100.0, 90.0, 1.0, 8, 8),)
    return Verdict(0, 0, "p", "e", "s.py", status, reasons=("why",), measurements=measured)


def made(due: Due, *, honest: bool = False, most: float | None = None) -> Case:
    return Case(
        "case", "matmul", "env", "any", (), honest, due, "why", most is not None, most
    )  # fmt: skip


# --- the table


def test_every_file_is_in_the_table_and_every_row_has_its_files() -> None:
    assert {case.name for case in CASES} == {path.stem for path in CORPUS.glob("*.py")}
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.problem for case in CASES} == {p.stem for p in (CORPUS / "problems").glob("*.py")}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_row_says_what_the_header_of_its_file_says(case: Case) -> None:
    lines = case.path.read_text(encoding="utf-8").splitlines()
    head = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
    assert head["name"] == case.name
    assert head["family"] == case.family
    assert head["problem"] == case.problem
    assert head["device"] == case.device
    assert head["expected"] == f"{case.status.value}: {case.why}"
    assert tuple(part.strip() for part in head.get("needs", "").split(",") if part) == case.needs
    assert ("hangs" in head) == case.hangs
    assert ("at_import" in head) == case.at_import
    assert ("neutralised" in head) == case.neutralised_ok
    if case.neutralised_ok:
        assert head["neutralised"] == f"speedup <= {case.max_speedup:g}"


def test_the_table_is_made_of_known_words() -> None:
    assert {case.family for case in CASES} == FAMILIES
    assert {case.device for case in CASES} <= {"any", "cpu", "cuda"}
    assert {need for case in CASES for need in case.needs} <= {"compiler", "nvcc", "triton"}
    assert all(case.honest == (case.family == "honest") for case in CASES)
    assert all(case.max_speedup is not None for case in CASES if case.neutralised_ok)
    honest = [case for case in CASES if case.honest]
    assert all(case.status in (Due.ACCEPT, Due.FLAG) for case in honest)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_file_can_be_parsed(case: Case) -> None:
    source = case.path.read_text(encoding="utf-8")
    compile(source, str(case.path), "exec")
    assert "class ModelNew" in source


# --- the rule

RULE = [
    # due, honest, most; status, low; ok
    (Due.REJECT, False, None, Status.WRONG_VALUE, None, True),
    (Due.REJECT, False, None, Status.CRASHED, None, True),
    (Due.REJECT, False, None, Status.BAD_PROBLEM, None, True),
    (Due.REJECT, False, 1.15, Status.NOT_BUILT, None, False),
    (Due.REJECT, False, None, Status.RIGHT, 0.9, False),
    (Due.REJECT, False, None, Status.NOT_A_KERNEL, 0.9, False),
    (Due.REJECT, False, 1.15, Status.RIGHT, 1.14, True),
    (Due.REJECT, False, 1.15, Status.NOT_A_KERNEL, 1.0, True),
    (Due.REJECT, False, 1.15, Status.FAST, 1.16, False),
    (Due.REJECT, False, 1.15, Status.RIGHT, None, True),
    (Due.REJECT, False, None, Status.NOT_JUDGED, None, False),
    (Due.FLAG, False, None, Status.NOT_A_KERNEL, 3.0, True),
    (Due.FLAG, False, None, Status.RIGHT, 0.9, False),
    (Due.FLAG, False, 1.15, Status.NOT_A_KERNEL, 1.2, False),
    (Due.FLAG, False, 1.15, Status.RIGHT, 1.0, True),
    (Due.FLAG, False, None, Status.RAISED, None, True),
    (Due.ACCEPT_OR_FLAG, False, 1.15, Status.RIGHT, 1.0, True),
    (Due.ACCEPT_OR_FLAG, False, 1.15, Status.NOT_A_KERNEL, 1.0, True),
    (Due.ACCEPT_OR_FLAG, False, 1.15, Status.FAST, 1.3, False),
    (Due.ACCEPT_OR_FLAG, False, None, Status.RAISED, None, True),
    (Due.ACCEPT, True, None, Status.RIGHT, 0.9, True),
    (Due.ACCEPT, True, None, Status.FAST, 9.0, True),
    (Due.ACCEPT, True, None, Status.NOT_A_KERNEL, 1.0, False),
    (Due.ACCEPT, True, None, Status.WRONG_VALUE, None, False),
    (Due.FLAG, True, None, Status.NOT_A_KERNEL, 1.0, True),
    (Due.FLAG, True, None, Status.RIGHT, 1.0, False),
    (Due.FLAG, True, None, Status.RAISED, None, False),
]


@pytest.mark.parametrize(("due", "honest", "most", "status", "low", "ok"), RULE)
def test_the_rule(
    due: Due, most: float | None, status: Status, low: float | None, *, honest: bool, ok: bool
) -> None:
    assert outcome(made(due, honest=honest, most=most), verdict(status, low)).ok is ok


def test_what_is_done_by_importing_may_end_there() -> None:
    case = msgspec.structs.replace(made(Due.REJECT), at_import=True)
    assert outcome(case, verdict(Status.NOT_BUILT)).ok


def test_what_cannot_run_here_is_not_counted() -> None:
    ran = outcome(made(Due.REJECT), verdict(Status.CRASHED))
    skipped = outcome(made(Due.REJECT), verdict(Status.SKIPPED))
    counted = tally([ran, skipped])
    assert (counted.cheats, counted.cheats_met, counted.not_run) == (1, 1, 1)


def test_cheats_that_did_not_fail_are_counted_beside_those_that_did() -> None:
    harmless = made(Due.FLAG, most=1.1)
    ended = [
        outcome(made(Due.REJECT), verdict(Status.CRASHED)),
        outcome(harmless, verdict(Status.NOT_A_KERNEL, 1.0)),
        outcome(made(Due.ACCEPT_OR_FLAG, most=1.1), verdict(Status.RIGHT, 0.9)),
        outcome(harmless, verdict(Status.NOT_A_KERNEL, 3.0)),  # flagged, and faster than it may be
        outcome(made(Due.ACCEPT, honest=True), verdict(Status.FAST, 2.0)),
    ]
    assert str(tally(ended)) == (
        "rejected 3 of 4 cheats, accepted 1 of 1 honest kernels; "
        "2 of the cheats were flagged as no kernel or gained nothing"
    )


def test_a_case_says_why_it_cannot_run_here() -> None:
    cuda = msgspec.structs.replace(made(Due.REJECT), device="cuda")
    assert missing(cuda, gpu=False) == "is about a cuda device"
    assert missing(cuda, gpu=True) == ""
    assert missing(msgspec.structs.replace(cuda, device="cpu"), gpu=True) == "is about a cpu device"


# --- the session, the command, the stamp


class Engine:
    """Answers as the table says, but for the cases that it gets wrong or fails on."""

    def __init__(self, wrong: str = "", broken: str = "") -> None:
        self.device = argparse.Namespace(is_gpu=False, uuid="cpu-test", name="a processor")
        self.due = {case.name: case for case in CASES}
        self.wrong, self.broken = wrong, broken
        self.asked: list[str] = []

    def ahead(self, pairs: object) -> None:
        list(pairs)  # type: ignore[call-overload]

    def build(self, _: object) -> None:
        """Nothing is built."""

    def judge(self, pair: object, _: object) -> Verdict:
        name = pair.solution.entrant  # type: ignore[attr-defined]
        self.asked.append(name)
        if name == self.broken:
            raise MachineError("the oracle died")
        honest = {Due.ACCEPT: Status.RIGHT, Due.FLAG: Status.NOT_A_KERNEL}
        status = honest.get(self.due[name].status, Status.WRONG_VALUE)
        return verdict(
            Status.FAST if name == self.wrong else status, 5.0 if name == self.wrong else 1
        )

    def close(self) -> None:
        pass


@pytest.fixture
def kb(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the command with an engine of ours; gives the exit status."""

    def run(engine: Engine, *arguments: str) -> int:
        monkeypatch.setattr("pytest_kernelbench.engine.local.LocalEngine", lambda _, **__: engine)
        parser = argparse.ArgumentParser()
        command.add_options(parser)
        return command.selftest_command(
            parser.parse_args(["--device", "cpu", "--cache", str(tmp_path), *arguments])
        )

    return run


def test_cases_of_one_problem_follow_each_other() -> None:
    engine = Engine()
    list(run_cases(engine, CASES))  # type: ignore[arg-type]
    problems = [engine.due[name].problem for name in engine.asked]
    assert problems == sorted(problems)


def test_all_as_expected(kb: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kb(Engine()) == 0
    out = capsys.readouterr().out
    assert "DIFFERS" not in out
    cheats = sum(not c.honest and not missing(c, gpu=False) for c in CASES)
    honest = sum(c.honest and not missing(c, gpu=False) for c in CASES)
    said = f"rejected {cheats} of {cheats} cheats, accepted {honest} of {honest} honest kernels"
    assert said in out
    assert said in str(stamp(tmp_path, "cpu-test"))
    assert __version__ in str(stamp(tmp_path, "cpu-test"))
    assert stamp(tmp_path, "another device") is None


@pytest.mark.parametrize("how", ["wrong", "broken"])
def test_one_difference_fails_it(
    kb: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    assert kb(Engine(**{how: "corrupt_exit_zero"})) == 1
    row = next(r for r in capsys.readouterr().out.splitlines() if r.startswith("corrupt_exit_zero"))
    assert row.endswith("DIFFERS")
    assert "rejected" in str(stamp(tmp_path, "cpu-test"))


def test_a_part_of_it_leaves_no_stamp_and_can_be_kept_as_json(kb: Run, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    assert kb(Engine(), "--family", "less", "--only", "env_abort", "--json", str(file)) == 0
    rows = json.loads(file.read_text())
    assert {row["family"] for row in rows} == {"less", "env"}
    assert {row["case"] for row in rows if row["family"] == "env"} == {"env_abort"}
    assert all(row["ok"] for row in rows)
    assert stamp(tmp_path, "cpu-test") is None


def test_what_is_no_number_and_no_text_is_json_all_the_same(kb: Run, tmp_path: Path) -> None:
    """An interval of too few turns ends nowhere, and a folder may have any bytes for its name."""
    file, engine = tmp_path / "out.json", Engine()

    def judge(*_: object) -> Verdict:
        (measured,) = verdict(Status.RIGHT, 1.0).measurements
        open_ended = replace(measured, low=math.nan, high=math.inf)
        wrong = verdict(Status.WRONG_VALUE)
        return replace(wrong, solution="\udcff/s.py", measurements=(open_ended,))

    engine.judge = judge  # type: ignore[method-assign]
    kb(engine, "--only", "env_abort", "--json", str(file))
    (row,) = json.loads(file.read_bytes(), parse_constant=pytest.fail)
    (measured,) = row["verdict"]["measurements"]
    assert (measured["low"], measured["high"]) == (None, None)
    assert row["verdict"]["solution"] == "?/s.py"
    assert file.read_text().startswith('[\n {\n  "case": "env_abort",\n')


def test_who_stops_it_keeps_what_was_judged(kb: Run, tmp_path: Path) -> None:
    file, engine = tmp_path / "out.json", Engine()
    judge = engine.judge

    def stopped(pair: object, extension: object) -> Verdict:
        if len(engine.asked) == 3:
            raise KeyboardInterrupt
        return judge(pair, extension)

    engine.judge = stopped  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        kb(engine, "--family", "less", "--json", str(file))
    judged = [row["case"] for row in json.loads(file.read_text()) if row["judged"]]
    assert judged == engine.asked
    assert len(judged) == 3


def test_cases_that_hang_are_judged_with_a_short_limit(
    kb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, float] = {}
    engine = Engine()

    def made(settings: Settings, **_: object) -> Engine:
        judge = engine.judge

        def noted(pair: object, extension: object) -> Verdict:
            asked[pair.solution.entrant] = settings.timeout_s  # type: ignore[attr-defined]
            return judge(pair, extension)

        current = Engine()
        monkeypatch.setattr(current, "judge", noted)
        return current

    assert kb(engine, "--family", "env") == 0  # as a control: all of them end as they must
    monkeypatch.setattr("pytest_kernelbench.engine.local.LocalEngine", made)
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    assert command.selftest_command(parser.parse_args(["--device", "cpu", "--family", "env"])) == 0
    hangs = {case.name for case in CASES if case.hangs}
    assert all(limit_s < 10 for name, limit_s in asked.items() if name in hangs)
    assert all(limit_s >= 60 for name, limit_s in asked.items() if name not in hangs)
    assert set(asked) & hangs


def test_each_case_is_judged_as_often_as_told(
    kb: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = Engine()
    assert kb(engine, "--family", "honest", "--repeat", "10", "--load") == 0
    here = [case.name for case in CASES if case.honest and not missing(case, gpu=False)]
    assert sorted(engine.asked) == sorted(here * 10)
    counted = 10 * len(here)
    assert f"accepted {counted} of {counted} honest kernels" in capsys.readouterr().out
    assert stamp(tmp_path, "cpu-test") is None


def test_burners_burn_and_go() -> None:
    with burning(2):
        burners = [
            child for child in psutil.Process().children() if "sum(range" in str(child.cmdline())
        ]
        assert len(burners) == 2
    assert not any(burner.is_running() for burner in burners)


@pytest.mark.parametrize("option", ["--family", "--only"])
def test_an_unknown_name_is_a_usage_error_with_the_known_ones(kb: Run, option: str) -> None:
    with pytest.raises(UsageError, match=r"called 'zzz'; there are: "):
        kb(Engine(), option, "zzz")


def test_stamps_of_devices_lie_beside_each_other_and_a_broken_file_is_none(tmp_path: Path) -> None:
    counted = tally([outcome(made(Due.REJECT), verdict(Status.CRASHED))])
    write_stamp(tmp_path, "one", counted)
    write_stamp(tmp_path, "two", counted)
    assert stamp(tmp_path, "one") == stamp(tmp_path, "two")
    (tmp_path / STAMP_FILE).write_text('{"one": {"said"')
    assert stamp(tmp_path, "one") is None


def test_a_stamp_of_an_earlier_version_is_shown_as_it_was_written(tmp_path: Path) -> None:
    """What was not counted then is not said of it."""
    said = "rejected 80 of 80 cheats, accepted 9 of 9 honest kernels"
    made_then = {"said": said, "version": "0.1.0", "date": "2026-11-29"}
    (tmp_path / STAMP_FILE).write_text(json.dumps({"one": made_then}))
    assert stamp(tmp_path, "one") == f"selftest 2026-11-29 (version 0.1.0): {said}"


def test_the_room_imports_no_torch() -> None:
    code = (
        "import sys, pytest_kernelbench.selftest.command, pytest_kernelbench.selftest.stamp;"
        "sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("text", ["", "{", "[]", "\udcff", "[" * 5_000])
def test_a_stamp_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / STAMP_FILE).write_text(text, errors="surrogateescape")
    assert stamp(tmp_path, "cpu-test") is None
