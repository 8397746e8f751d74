"""``kb prompt``, ``sample``, ``refine`` and ``study`` as someone at a command line meets them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from authors_helpers import coded, write_problems
from fake_engine import FakeEngine
from scripted_server import Error, Step, serve

from pytest_kernelbench import library
from pytest_kernelbench.cli import main

pytest.importorskip("openai")


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setattr(library, "_own_engine", FakeEngine)
    write_problems(Path("problems"), "level1/001_relu", "level1/002_gelu")


def test_prompt(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prompt", "1/2", "--backend", "triton", "--hardware", "MI300X"]) == 0
    text = capsys.readouterr().out
    assert "Problem level1/002_gelu." in text
    assert "AMD Instinct MI300X" in text
    assert "@triton.jit" in text


def test_a_backend_without_examples_has_none_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prompt", "1/2", "--backend", "tilelang"]) == 0
    assert "An example" not in capsys.readouterr().out
    assert main(["prompt", "1/2", "--backend", "tilelang", "--examples", "one"]) == 2
    assert "for this backend examples can be none" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["prompt", "1/3"], "no such problem 1/3; searched: problems (levels 1: 2 problems)"),
        (["prompt", "1/2", "--hardware", "H900"], "no figures of a device called 'H900'"),
        (["sample", "--model", "m", "--to", "s"], "OPENAI_API_KEY holds no key"),
        (["sample", "--model", "m", "--to", "s", "--extra", "a=b"], "'b' is no JSON"),
        (["sample", "--model", "m", "--to", "s", "--budget-money", "1"], "give --price-in"),
        (["refine", "--to", "s"], "given with --model"),
        (["refine", "--model", "m", "--to", "s", "--feedback", "x"], "no feedback 'x'"),
        (["refine", "--model", "m", "--to", "s", "--from", "."], ". holds no solution"),
        (["refine", "--model", "m", "--to", "s", "--from", "nix"], "there is no folder nix"),
        (["refine", "--to", "s", "--replay", "nix"], "there is no file nix with a trajectory"),
        (["refine", "--to", "s", "--replay", "."], "there is no file . with a trajectory"),
        (["study", "none.toml"], "none.toml cannot be read"),
    ],
)
def test_what_makes_no_sense(
    given: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(given) == 2
    assert says in capsys.readouterr().err


def test_sample(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["sample", "--model", "m", "--to", "solutions/m", "-k", "3"]
    with serve([coded("right")]) as server:
        assert main([*command, "--base-url", server.url, "--temperature", "0.5"]) == 0
    assert len(list(Path("solutions/m").rglob("*_sample*.py"))) == 6
    out, err = capsys.readouterr()
    assert "6 wanted: 0 there before, 6 written; in solutions/m" in out
    assert "answers 6/6, 900 tokens" in err
    assert server.requests[0]["temperature"] == 0.5


def test_sample_that_stays_incomplete(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["sample", "--model", "m", "--to", "solutions/m"]
    with serve([coded("right"), Error(400, "too long")]) as server:
        assert main([*command, "--base-url", server.url, "--concurrency", "1"]) == 1
    out, err = capsys.readouterr()
    assert "1 written, 1 failed" in out
    assert "level1/002_gelu, sample 0: " in err
    assert "too long" in err


def test_a_session_that_is_interrupted_goes_on_later(capsys: pytest.CaptureFixture[str]) -> None:
    def script(_: dict[str, Any], number: int) -> Step:
        return coded("right", delay_s=0 if number == 0 else 20)

    command = ["sample", "--model", "m", "--to", "solutions/m", "--concurrency", "1"]
    with serve(script) as server:
        code = "import sys; from pytest_kernelbench.cli import main; sys.exit(main(sys.argv[1:]))"
        given = [sys.executable, "-c", code, *command, "--base-url", server.url]
        with subprocess.Popen(given, stderr=subprocess.PIPE, text=True) as session:
            deadline_s = time.monotonic() + 60
            while len(server.requests) < 2 and time.monotonic() < deadline_s:
                time.sleep(0.05)
            session.send_signal(signal.SIGINT)
            _, said = session.communicate(timeout=60)
    assert session.returncode == 130
    assert said.splitlines()[-1] == "kb sample: stopped; what it has written stays"
    with serve([coded("right")]) as server:
        assert main([*command, "--base-url", server.url]) == 0
        assert len(server.requests) == 1
    assert "2 wanted: 1 there before, 1 written" in capsys.readouterr().out


def mends(request: dict[str, Any], _: int) -> Step:
    return coded("fast 2" if len(request["messages"]) > 1 else "raised")


def test_refine_the_failures_of_a_folder_and_replay(capsys: pytest.CaptureFixture[str]) -> None:
    with serve([coded("right 1"), coded("raised")]) as server:
        address = ["--model", "m", "--base-url", server.url]
        assert main(["sample", *address, "--to", "solutions/m", "--concurrency", "1"]) == 0
    refine = ["refine", "--to", "solutions/r", "--from", "solutions/m", "--until", "right"]
    with serve(mends) as server:
        address = ["--model", "m", "--base-url", server.url]
        assert main([*refine, *address, "--turns", "3"]) == 0
        assert len(server.requests) == 1
    out = capsys.readouterr().out
    assert "level1/001_relu, sample 0: right; kept turn 0" in out
    assert "level1/002_gelu, sample 0: raised > fast; kept turn 1" in out
    assert "# fake: fast 2" in Path("solutions/r/level1/002_gelu_sample0.py").read_text()

    file = "solutions/r/.turns/level1/002_gelu_sample0.jsonl"
    assert main(["refine", "--to", "solutions/again", "--replay", file]) == 0
    assert capsys.readouterr().out.splitlines() == ["turn 0: raised", "turn 1: fast"]
    assert main(["refine", "--to", "solutions/r", "--replay", file]) == 2
    assert f"--to would write over --replay {file}" in capsys.readouterr().err


def test_refine_counts_what_was_spent_on_the_folder(capsys: pytest.CaptureFixture[str]) -> None:
    refine = ["refine", "--model", "m", "--to", "solutions/r", "--turns", "1"]
    with serve(
        [coded("right", usage=(0, 30_000)), coded("not_judged", usage=(0, 70_000))]
    ) as server:
        refine += ["--base-url", server.url]
        assert main([*refine, "--concurrency", "1"]) == 1
        assert main([*refine, "--problem", "1/2", "--budget-tokens", "110000"]) == 1
    assert len(server.requests) == 2
    assert "100,000 are spent" in capsys.readouterr().err.replace("\n   ", "")


def test_refine_from_a_folder_of_solutions_to_a_tables_problems(
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = "class Model: pass\ndef get_inputs(): return []\ndef get_init_inputs(): return []\n"
    row = {"level": 3, "problem_id": 7, "name": "tanh", "code": source}
    Path("table.jsonl").write_text(json.dumps(row) + "\n")
    given = ["--model", "m", "--problems", "table.jsonl"]
    with serve([coded("right")]) as server:
        given += ["--base-url", server.url]
        assert main(["sample", *given, "--to", "solutions/m"]) == 0
        refine = ["refine", *given, "--from", "solutions/m", "--until", "right", "--to"]
        assert main([*refine, "solutions/r"]) == 0
    assert "level3/007_tanh, sample 0: right; kept turn 0" in capsys.readouterr().out


def test_study(capsys: pytest.CaptureFixture[str]) -> None:
    with serve(mends) as server:
        Path("s.toml").write_text(
            f'[[model]]\nname = "m"\nbase_url = "{server.url}"\n'
            '[[arm]]\nname = "a"\nsamples = 2\nexamples = "none"\n'
            '[[arm]]\nname = "b"\nturns = 2\nexamples = "none"\n'
        )
        assert main(["study", "s.toml"]) == 0
    out, err = capsys.readouterr()
    assert "m/a: answers 4/4" in err
    assert "m/a: verdicts 4/4, raised" in err
    assert "## Scores" in out
    assert "| m/b " in out
    assert "written: " in out
    assert Path("s/report.html").exists()
