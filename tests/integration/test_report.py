"""``kb report`` says of a session's records what the session said itself."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from pytest_kernelbench import __version__
from pytest_kernelbench.cli import main
from pytest_kernelbench.selftest.stamp import Tally, write_stamp


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
    ["fail-under=2:0.5"],
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
        (["out.jsonl", "--fail-under=9:0.1"], "--fail-under 9: no record is of level 9"),
        (["out.jsonl", "--level=1,9"], "--level 9: no record is of level 9"),
        (
            ["out.jsonl", "--level=1", "--fail-under=2:0"],
            "--fail-under 2:...: level 2 lies outside of --level",
        ),
        (["out.jsonl", "--entrant=eve"], "no record is left of 5 in"),
        (["/dev/null"], "no record is in /dev/null"),
        (["out.jsonl", "--csv=./out.jsonl"], "--csv would write over argument out.jsonl: name ano"),
        (["out.jsonl", "--junit=out.jsonl"], "--junit would write over argument out.jsonl"),
        (["out.jsonl", "--compare=b", "--html=b"], "--html would write over --compare b"),
        (["out.jsonl", "--junit=conftest.py"], "--junit conftest.py: it is there and holds no "),
        (["out.jsonl", "--trace=t", "--csv=t"], "--trace and --csv would both write t"),
        (
            ["out.jsonl", "--compare=./out.jsonl"],
            "--compare and argument are both out.jsonl: nothing is slower than itself",
        ),
    ],
)
def test_refused(recorded, capsys, monkeypatch, args: list[str], message: str) -> None:
    recorded.run("solutions", "--kb-json=out.jsonl")
    monkeypatch.chdir(recorded.path)
    capsys.readouterr()
    assert main(["report", *args]) == 2
    assert message in capsys.readouterr().err


def test_help_names_its_own_options(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["report", "--help"])
    told = capsys.readouterr().out
    assert "--compare lets a" in told
    assert set(re.findall(r"--kb-[a-z-]+", told)) == {"--kb-json"}  # what writes the records


def test_a_reader_who_has_seen_enough(recorded) -> None:
    recorded.run("solutions", "--kb-json=out.jsonl")
    command = [sys.executable, "-m", "pytest_kernelbench.cli", "report", "out.jsonl"]
    with subprocess.Popen(
        command, cwd=recorded.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        assert run.stdout is not None
        run.stdout.close()
        assert run.stderr is not None
        assert run.stderr.read() == b""
    assert run.returncode == 128 + 13


def test_every_report_from_records_alone(recorded, capsys) -> None:
    """Without torch, and the same as the session's own."""
    names = {"csv": "v.csv", "eval-results": "e.json", "trace": "t.jsonl", "markdown": "m.md"}
    args = [f"--kb-{option}=one-{name}" for option, name in names.items()]
    recorded.run(
        "solutions", "--kb-json=out.jsonl", "--junitxml=one-j.xml", "--kb-fail-under=0.9", *args
    )
    capsys.readouterr()
    args = [f"--{option}={recorded.path}/two-{name}" for option, name in names.items()]
    out, junit = recorded.path / "out.jsonl", recorded.path / "two-j.xml"
    assert main(["report", str(out), "--fail-under=0.9", f"--junit={junit}", *args]) == 1
    for name in names.values():
        for one in recorded.path.glob(f"one-{name.replace('.', '*.')}"):
            two = one.with_name(one.name.replace("one-", "two-"))
            assert two.read_text() == one.read_text(), name
    suites = [
        next(ET.parse(recorded.path / f"{which}-j.xml").getroot().iter("testsuite"))  # noqa: S314
        for which in ("one", "two")
    ]
    for attribute in ("tests", "failures", "errors", "skipped"):
        assert suites[0].attrib[attribute] == suites[1].attrib[attribute]
    cases = [
        {
            (case.attrib["classname"], case.attrib["name"]): {
                each.attrib["name"]: each.attrib["value"] for each in case.iter("property")
            }
            for case in suite.iter("testcase")
        }
        for suite in suites
    ]
    assert cases[0] == cases[1]


def test_reports_need_no_torch(recorded) -> None:
    recorded.run("solutions", "--kb-json=out.jsonl")
    code = (
        "import sys; from pytest_kernelbench.cli import main; "
        "main(['report', 'out.jsonl', '--markdown=m', '--junit=j', '--trace=t', '--csv=c']); "
        "sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=recorded.path, check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert b"no" in done.stdout


def test_families(recorded, capsys) -> None:
    recorded.problem("level1/005_conv_one", "level1/006_conv_two", "level1/007_matmul")
    recorded.solution("ann/level1/005_conv_one", "fast 2.5")
    result = recorded.run("solutions", "-v", "--kb-json=out.jsonl", "-p", "no:benchmark")
    start = result.outlines.index(next(x for x in result.outlines if x.startswith("level 1 ann")))
    said = result.outlines[start : start + 6]
    assert [" ".join(line.split()[:5]) for line in said[1:4]] == [
        "activation 4 3/3 3/3 0.375",
        "missing: 2",
        "conv 2 1/1 1/1 0.500",
    ]
    capsys.readouterr()
    main(["report", str(recorded.path / "out.jsonl"), "-v"])
    printed = capsys.readouterr().out.splitlines()
    assert set(said) <= set(printed)
    assert not any(line.startswith("level 1 ann") for line in recorded.run("solutions").outlines)


def test_the_last_selftest_goes_along(tree, capsys) -> None:
    tree.problem("level1/001_p")
    tree.solution("ann/level1/001_p", "fast 2 device=H200 device_uuid=u size=full dtype=fp32")
    write_stamp(tree.path / ".kernelbench", "u", Tally(105, 104, 10, 10, 9, 40))
    said = f"(version {__version__}): rejected 104 of 105 cheats"
    result = tree.run("solutions", "--kb-json=out.jsonl")
    assert said in result.stdout.str()
    (tree.path / ".kernelbench/selftest.json").unlink()
    capsys.readouterr()
    main(["report", str(tree.path / "out.jsonl")])
    assert said in capsys.readouterr().out
    again = tree.run("solutions", "--kb-json=out.jsonl")
    assert "no selftest here yet: kb selftest" in again.stdout.str()
