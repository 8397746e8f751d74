"""``kb report`` says of a session's records what the session said itself."""

from __future__ import annotations

import pytest

from pytest_kernelbench.cli import main


@pytest.fixture
def recorded(tree):
    """Records of two entrants on two levels."""
    tree.problem(*(f"level1/{n:03d}_p" for n in range(1, 5)), "level2/001_q")
    tree.solution("ann/level1/001_p", "fast 3")
    tree.solution("ann/level1/002_p", "right 1.2 0.9 1.4")
    tree.solution("ann/level1/002_p_sample1", "fast 1.2")
    tree.solution("ann/level2/001_q", "not_built")
    tree.solution("bob/level1/003_p", "not_judged")
    return tree


def block(lines: list[str]) -> list[str]:
    """The lines of the summary between pytest's rules."""
    start = next((i + 1 for i, line in enumerate(lines) if "= kernelbench =" in line), 0)
    ends = ("gate", "=")  # a rule of pytest's own may follow
    end = next((i for i, line in enumerate(lines) if i > start and line.startswith(ends)), None)
    return [line for line in lines[start:end] if line[:1] in "l n" and line.strip()]


ARGUMENTS = [
    [],
    ["p=1.5"],
    ["fail-under=0.25"],
    ["level=1", "fail-under=0.26"],
    ["at-k=1,2"],
    ["level=1,2"],
]


@pytest.mark.parametrize("args", ARGUMENTS, ids=" ".join)
def test_same_as_the_session(recorded, capsys, args: list[str]) -> None:
    there = [f"--kb-{arg}" for arg in args]
    result = recorded.run("solutions", "--kb-json=out.jsonl", "-p", "no:benchmark", *there)
    said = block(result.outlines)
    gates = [line for line in result.outlines if line.startswith("gate")]
    capsys.readouterr()
    status = main(["report", str(recorded.path / "out.jsonl"), *(f"--{arg}" for arg in args)])
    printed = capsys.readouterr().out.splitlines()
    assert block(printed) == said
    assert [line for line in printed if line.startswith("gate")] == gates
    assert status == any("FAILED" in gate for gate in gates)


def test_several_files_and_the_last_record_of_an_item(recorded, capsys) -> None:
    recorded.run("solutions/ann", "--kb-json=one.jsonl")
    recorded.solution("ann/level2/001_q", "fast 5")
    recorded.run("solutions/ann/level2", "--kb-json=two.jsonl")
    capsys.readouterr()
    files = [str(recorded.path / name) for name in ("one.jsonl", "two.jsonl")]
    assert main(["report", *files, "--fail-under=2:1"]) == 0
    assert "gate passed: fast_1 on level 2, ann: 1.000" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nowhere.jsonl"], "nowhere.jsonl: there is no such file"),
        (["out.jsonl", "--p=fast"], "--p: 'fast' is not a number of at least 0"),
        (["out.jsonl", "--entrant=eve"], "no record is left of 5 in"),
    ],
)
def test_refused(recorded, capsys, monkeypatch, args: list[str], message: str) -> None:
    recorded.run("solutions", "--kb-json=out.jsonl")
    monkeypatch.chdir(recorded.path)
    capsys.readouterr()
    assert main(["report", *args]) == 2
    assert message in capsys.readouterr().err
