"""Places that records and reports are written to: nothing is lost, and what cannot be is said."""

from __future__ import annotations

import subprocess
import sys

import pytest

# As in test_html_report.py: numpy and matplotlib can be imported only once a process.
import pytest_kernelbench.reports.canvas
import pytest_kernelbench.reports.html.page  # noqa: F401
from pytest_kernelbench.cli import main

OK, FAILED = pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED
USAGE, NOTHING = pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.fixture
def project(tree):
    tree.problem("level1/001_p", "level1/002_p")
    tree.solution("ann/level1/001_p", "fast 2")
    tree.solution("ann/level1/002_p", "fast 3")
    return tree


@pytest.mark.parametrize(
    ("args", "ret"),
    [
        (["solutions", "--collect-only"], OK),
        (["solutions/nobody"], USAGE),
        (["--markers"], OK),
        (["--fixtures"], OK),
        (["solutions", "-k", "nothing"], NOTHING),
        (["solutions", "--setup-plan"], OK),
    ],
)
def test_records_stay_until_there_is_a_verdict(project, args: list[str], ret: int) -> None:
    project.run("solutions", "--kb-json=out.jsonl")
    before = (project.path / "out.jsonl").read_bytes()
    assert before.count(b"\n") == 2
    assert project.run(*args, "--kb-json=out.jsonl").ret == ret
    assert (project.path / "out.jsonl").read_bytes() == before
    project.run("solutions/ann/level1/001_p.py", "--kb-json=out.jsonl")
    assert (project.path / "out.jsonl").read_bytes().count(b"\n") == 1


LIMITED = """
import resource, sys, pytest
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY))
sys.exit(pytest.main(sys.argv[1:]))
"""
"""Room for one record in each file, as on a disk that is full."""


@pytest.mark.parametrize("option", ["--kb-json", "--kb-resume"])
def test_a_full_disk_ends_no_session(project, option: str) -> None:
    project.run("solutions/ann/level1/001_p.py", "--kb-json=one.jsonl")
    one = (project.path / "one.jsonl").read_bytes()
    command = [sys.executable, "-c", LIMITED.format(limit=len(one) + 100), "solutions"]
    command += [f"{option}=out.jsonl", "--kb-fail-under=0.5", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=project.path, capture_output=True, text=True, check=False)
    assert done.returncode == FAILED
    assert "INTERNALERROR" not in done.stdout
    assert "out.jsonl lacks 1 verdicts: File too large" in done.stdout
    assert "gate passed: fast_1 on level 1, ann: 1.000" in done.stdout
    assert "2 passed" in done.stdout
    kept = (project.path / "out.jsonl").read_bytes()
    assert kept.count(b"\n") == 1
    assert kept.endswith(b"\n")


def test_records_that_no_device_takes(project) -> None:
    result = project.run("solutions", "--kb-json=/dev/full", "--color=yes")
    assert result.ret == FAILED
    result.stdout.fnmatch_lines(["*31m/dev/full lacks 2 verdicts: No space left on device*"])
    result.assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--kb-json=/proc/self/x"], "/proc/self/x cannot be opened to write records: No such *"),
        (["--kb-resume=/proc/self/x"], "/proc/self/x cannot be opened to write records: No such *"),
        (["--kb-resume=/dev/null"], "/dev/null is no file, which could be read again: name *"),
        (["--kb-html=/proc/self/x"], "--kb-html /proc/self/x cannot be written: No such file *"),
        (["--kb-csv=/proc/self/x"], "--kb-csv /proc/self/x cannot be written: No such file *"),
        (["--kb-trace=/proc/self/x"], "--kb-trace /proc/self/x cannot be written: No such *"),
        (["--kb-eval-results=/proc/self/x"], "--kb-eval-results /proc/self/x cannot be *"),
        (["--kb-markdown=/proc/self/x"], "--kb-markdown /proc/self/x cannot be written: *"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_runs(
    project, args: list[str], message: str
) -> None:
    result = project.run("solutions", *args)
    assert result.ret == USAGE
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    assert not (project.path / "ahead").exists()


@pytest.mark.parametrize("option", ["json", "html", "csv", "trace", "markdown", "eval-results"])
@pytest.mark.parametrize("name", ["problems/level1/001_p.py", "README.md", "conftest.py"])
def test_what_an_option_does_not_write_is_not_written_over(project, option: str, name: str) -> None:
    project.write("README.md", "# A project\n")
    before = (project.path / name).read_text()
    result = project.run("solutions", f"--kb-{option}={name}")
    assert result.ret == USAGE
    result.stderr.fnmatch_lines([f"ERROR: --kb-{option} */{name}: it is there and holds no *"])
    assert (project.path / name).read_text() == before
    assert not (project.path / "ahead").exists()


def test_what_it_writes_is_written_again(project) -> None:
    args = ["json=a", "html=b", "csv=c", "trace=d", "markdown=e", "eval-results=f"]
    for _ in range(2):
        assert project.run("solutions", *(f"--kb-{each}" for each in args)).ret == OK


@pytest.mark.parametrize("option", ["json", "html", "csv", "trace", "markdown"])
def test_what_keeps_nothing_can_be_written(project, option: str) -> None:
    assert project.run("solutions", f"--kb-{option}=/dev/null").ret == OK


def test_no_trial_leaves_a_file(project) -> None:
    project.write("old.csv", "level,number,problem,entrant\n1,1,relu,ann\n")
    (project.path / "link.md").symlink_to("nowhere")
    args = ["--kb-csv=old.csv", "--kb-trace=new.jsonl", "--kb-markdown=link.md"]
    project.run("solutions", "--collect-only", *args, "--kb-device=gpu")
    project.run("solutions", "-k", "nothing", *args[:1], "--kb-markdown=link.md")
    assert not (project.path / "new.jsonl").exists()
    assert (project.path / "link.md").is_symlink()


@pytest.mark.parametrize("into", ["pipe", "file"])
def test_records_among_what_is_printed(project, into: str) -> None:
    command = [sys.executable, "-m", "pytest", "solutions", "--kb-json=/dev/stdout"]
    path = project.path / "printed"
    with path.open("wb") as file:
        done = subprocess.run(
            command,
            cwd=project.path,
            stdout=subprocess.PIPE if into == "pipe" else file,
            check=True,
        )
    printed = done.stdout if into == "pipe" else path.read_bytes()
    assert printed.count(b'"nodeid":"solutions/ann') == 2
    assert b"test session starts" in printed
    assert b"2 passed" in printed


GONE = """

def pytest_sessionfinish():
    os.rename("there", "gone")
"""


@pytest.mark.parametrize("option", ["html", "csv", "trace", "markdown", "eval-results"])
def test_a_place_that_goes_away_meanwhile_is_no_success(project, option: str) -> None:
    (project.path / "there").mkdir()
    path = project.path / "conftest.py"
    path.write_text(path.read_text() + GONE)
    result = project.run("solutions", f"--kb-{option}=there/file.json")
    result.assert_outcomes(passed=2)
    assert result.ret == FAILED
    result.stdout.fnmatch_lines(["*there/file*could not be written: *"])


@pytest.mark.parametrize("option", ["html", "csv", "trace", "markdown", "eval-results", "junit"])
def test_reports_of_records_are_refused_before_anything_is_printed(
    project, capsys, option: str
) -> None:
    project.run("solutions", "--kb-json=out.jsonl")
    capsys.readouterr()
    args = [str(project.path / "out.jsonl"), f"--{option}=/proc/self/x"]
    assert main(["report", *args]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert f"--{option} /proc/self/x cannot be written: No such file" in err


FOREIGN = ['{"a": 1}', "text", "[", '{"nodeid": 1}', '{"nodeid": "a"}', '{"a": 1']


@pytest.mark.parametrize("text", FOREIGN)
def test_a_foreign_file_is_not_gone_on_with(project, text: str) -> None:
    path = project.write("mine.json", text)
    result = project.run("solutions", "--kb-resume=mine.json")
    assert result.ret == USAGE
    result.stderr.fnmatch_lines(["ERROR: *mine.json:1: not a record of schema 1: *"])
    assert path.read_text() == text
    assert main(["report", str(path)]) == 2


def test_a_line_that_was_cut_short_is_told_of(project, capsys) -> None:
    project.run("solutions", "--kb-json=out.jsonl")
    path = project.path / "out.jsonl"
    path.write_bytes(path.read_bytes()[:-100])
    told = f"{path}: its last line was cut short and is passed over"
    capsys.readouterr()
    assert main(["report", str(path)]) == 0
    assert f"kb report: {told}" in capsys.readouterr().err
    result = project.run("solutions", f"--kb-resume={path}")
    result.stdout.fnmatch_lines([f"kernelbench: {told}"])
    assert path.read_bytes().count(b"\n") == 2
