"""``--kb-changed``: only what a branch touches is judged."""

from __future__ import annotations

import subprocess

import pytest

GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]


@pytest.fixture
def branch(tree, monkeypatch):
    """A branch that has parted from ``main``, which has since gone on."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    for number in (1, 2, 3):
        tree.problem(f"level1/{number:03d}_p")
        for entrant in ("ann", "bob"):
            tree.solution(f"{entrant}/level1/{number:03d}_p", "fast 2")
    tree.write("solutions/eve/level1/001_p/solution.py", "class ModelNew: pass\n")
    tree.write("solutions/eve/level1/001_p/parts/kernel.txt", "1")
    tree.write("solutions/bob/level1/common.cuh", "1")
    git(tree, "init", "-q", "-b", "main")
    git(tree, "add", ".")
    git(tree, "commit", "-q", "-m", "start")
    git(tree, "checkout", "-q", "-b", "mine")
    return tree


def git(tree, *arguments: str) -> None:
    subprocess.run([*GIT, *arguments], cwd=tree.path, check=True, capture_output=True)


def judged(tree, *args: str, folder: object = "solutions") -> list[str]:
    result = tree.run(str(folder), "-v", "-p", "no:benchmark", "--kb-changed=main", *args)
    lines = [line for line in result.outlines if "::test_kernel" in line and "PASSED" in line]
    return sorted(line.partition("solutions/")[2].partition("::")[0] for line in lines)


ANN2, BOB2 = "ann/level1/002_p.py", "bob/level1/002_p.py"
EVE = "eve/level1/001_p/solution.py"
BOBS = [f"bob/level1/00{number}_p.py" for number in (1, 2, 3)]
CHANGES = [
    ([], []),
    ([f"solutions/{ANN2}"], [ANN2]),
    (["problems/level1/002_p.py"], [ANN2, BOB2]),
    (["solutions/bob/level1/common.cuh"], BOBS),
    (["solutions/eve/level1/001_p/parts/kernel.txt"], [EVE]),
    (["README.md"], []),
    (["solutions/new one/level1/003_p.py"], ["new one/level1/003_p.py"]),
]


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize(("files", "expected"), CHANGES)
def test_what_changed(branch, files: list[str], expected: list[str], *, committed: bool) -> None:
    for file in files:
        branch.write(file, "# fake: fast 3\n# changed\nclass ModelNew: pass\n")
    if committed and files:
        git(branch, "add", ".")
        git(branch, "commit", "-q", "-m", "mine")
    assert judged(branch) == expected


def test_what_changed_through_a_link(branch, tmp_path_factory) -> None:
    """Git tells of true places; a checkout may be reached by another path."""
    link = tmp_path_factory.mktemp("elsewhere") / "link"
    link.symlink_to(branch.path)
    branch.write(f"solutions/{ANN2}", "# fake: fast 3\nclass ModelNew: pass\n")
    branch.write("solutions/bob/level1/common.cuh", "2")
    branch.write("solutions/eve/level1/001_p/parts/kernel.txt", "2")
    assert judged(branch, f"--rootdir={link}", folder=link / "solutions") == sorted(
        [ANN2, EVE, *BOBS]
    )


def test_what_a_link_leads_to_changed(branch) -> None:
    (branch.path / "solutions/ann/level1/003_p.py").unlink()
    branch.write("solutions/shared/kernel.txt", "# fake: fast 2\nclass ModelNew: pass\n")
    (branch.path / "solutions/ann/level1/003_p.py").symlink_to("../../shared/kernel.txt")
    git(branch, "add", ".")
    git(branch, "commit", "-q", "-m", "a link")
    git(branch, "branch", "-f", "main", "HEAD")
    assert judged(branch) == []
    branch.write("solutions/shared/kernel.txt", "# fake: fast 3\nclass ModelNew: pass\n")
    assert judged(branch) == ["ann/level1/003_p.py"]


def test_what_changed_on_the_other_branch_is_no_matter(branch) -> None:
    git(branch, "checkout", "-q", "main")
    branch.solution("ann/level1/001_p", "fast 5")
    git(branch, "commit", "-q", "-a", "-m", "theirs")
    git(branch, "checkout", "-q", "mine")
    branch.solution("ann/level1/003_p", "fast 5")
    assert judged(branch) == ["ann/level1/003_p.py"]


def test_a_part_that_is_deleted(branch) -> None:
    (branch.path / "solutions/bob/level1/common.cuh").unlink()
    assert judged(branch) == BOBS


def test_nothing_to_judge_is_no_failure_of_the_gate(branch) -> None:
    result = branch.run("solutions", "--kb-changed=main")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


REFUSED = [
    ("nowhere", "*--kb-changed: git merge-base failed in * Not a valid object name nowhere*"),
    ("--upload-pack=x", "*--kb-changed*: '--upload-pack=x' is no name of a commit*"),
]


@pytest.mark.parametrize(("commit", "message"), REFUSED)
def test_refused(branch, commit: str, message: str) -> None:
    result = branch.run("solutions", f"--kb-changed={commit}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])


def test_a_share_of_what_changed_is_no_score(branch) -> None:
    result = branch.run("solutions", "--kb-changed=main", "--kb-fail-under=1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
