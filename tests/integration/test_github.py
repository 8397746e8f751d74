"""A session in GitHub Actions."""

from __future__ import annotations

import pytest

from pytest_kernelbench.cli import main


@pytest.fixture
def job(tree, monkeypatch):
    """A job's environment, and a solution that prints what GitHub would obey."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tree.path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tree.path / "summary.md"))
    tree.write("summary.md", "of an earlier command\n")
    tree.problem("level1/001_p", "level1/002_p")
    tree.solution("ann/level1/001_p", "fast 2")
    tree.solution("ann/level1/002_p", "wrong_value detail=::error::from_a_solution")
    return tree


@pytest.mark.parametrize("xdist", [[], ["-n2"]], ids=["alone", "xdist"])
def test_session(job, xdist: list[str]) -> None:
    result = job.run("solutions", *xdist, "--kb-fail-under=0.9")
    lines = result.outlines
    stop = next(line for line in lines if line.startswith("::stop-commands::"))
    resume = lines.index(f"::{stop.removeprefix('::stop-commands::')}::")
    assert lines.index(stop) < lines.index("  ::error::from_a_solution") < resume
    (told,) = [line for line in lines[resume + 1 :] if line.startswith("::")]
    assert told.startswith(
        "::error file=solutions/ann/level1/002_p.py,line=2,title=level1/002_p by ann::wrong_value"
    )
    page = (job.path / "summary.md").read_text()
    assert page.startswith("of an earlier command\n## Kernels\n")
    assert "- **gate FAILED" in page
    assert page.count("## Kernels") == 1


def test_report(job, capsys) -> None:
    job.run("solutions", "--kb-json=out.jsonl")
    (job.path / "summary.md").unlink()
    capsys.readouterr()
    assert main(["report", str(job.path / "out.jsonl")]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("::stop-commands::")
    assert sum(line.startswith("::error file=") for line in printed) == 1
    assert (job.path / "summary.md").read_text().startswith("## Kernels\n")


def test_a_page_of_the_job_that_nobody_asked_for_fails_nothing(job, monkeypatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/proc/self/x")
    result = job.run("solutions/ann/level1/001_p.py")
    result.stdout.fnmatch_lines(["/proc/self/x could not be written: *"])
    assert result.ret == pytest.ExitCode.OK


def test_elsewhere_only_what_is_asked_for(job, monkeypatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "false")
    result = job.run("solutions", "--kb-markdown=page.md")
    assert not any(line.startswith("::stop") for line in result.outlines)
    assert (job.path / "summary.md").read_text() == "of an earlier command\n"
    assert (job.path / "page.md").read_text().startswith("## Kernels\n")
    job.run("solutions", "--kb-markdown=page.md")
    assert (job.path / "page.md").read_text().count("## Kernels") == 1


def test_sessions_without_solutions_say_nothing(job) -> None:
    job.write("tests/test_mine.py", "def test_mine(): pass\n")
    assert "::" not in "\n".join(job.run("tests", "-q").outlines).replace("::test", "")
