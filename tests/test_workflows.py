"""The workflows and actions in .github: well formed, and no input is read as shell."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_kernelbench.options import OPTIONS

GITHUB = Path(__file__).parent.parent / ".github"
FILES = sorted(GITHUB.rglob("*.yml"))
BASH = shutil.which("bash") or "bash"
ACTION = GITHUB / "actions/gate/action.yml"


def steps(path: Path) -> list[dict[str, Any]]:
    """All of a file."""
    plain = yaml.safe_load(path.read_text())
    if "runs" in plain:
        found: list[dict[str, Any]] = plain["runs"]["steps"]
        return found
    return [step for job in plain["jobs"].values() for step in job["steps"]]


def scripts(path: Path) -> list[str]:
    return [step["run"] for step in steps(path) if "run" in step]


def test_there_are_some() -> None:
    assert ACTION in FILES
    assert all(steps(path) for path in FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_scripts_are_shell(path: Path) -> None:
    for script in scripts(path):
        done = subprocess.run(
            [BASH, "-n"], input=script, text=True, capture_output=True, check=False
        )
        assert not done.returncode, done.stderr


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_from_outside_is_read_as_shell(path: Path) -> None:
    """A branch can be called ``$(rm -rf ~)``: expressions go through the environment."""
    assert not any("${{" in script for script in scripts(path))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_workflow_runs_strangers_code_with_rights(path: Path) -> None:
    text = path.read_text()
    assert "pull_request_target" not in text
    if "jobs" in yaml.safe_load(text):
        assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
        checkouts = [s for s in steps(path) if str(s.get("uses")).startswith("actions/checkout")]
        assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_the_gate_gives_only_options_that_there_are() -> None:
    given = set(re.findall(r"--kb-[a-z-]+", "\n".join(scripts(ACTION))))
    assert given == {
        "--kb-build-only", "--kb-cache", "--kb-changed", "--kb-compare", "--kb-device", "--kb-html",
        "--kb-json",
    }  # fmt: skip
    assert given <= {option.flag for option in OPTIONS}


def test_inputs_are_declared_and_used() -> None:
    plain = yaml.safe_load(ACTION.read_text())
    used = set(re.findall(r"inputs\.([a-z-]+)", ACTION.read_text()))
    assert used == set(plain["inputs"])
    gate = next(s for s in steps(GITHUB / "workflows/gpu-gate.yml") if "gate" in s.get("uses", ""))
    assert set(gate["with"]) <= set(plain["inputs"])


GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]


def test_only_solutions_come_from_a_pull_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")

    def git(*arguments: str) -> str:
        done = subprocess.run(
            [*GIT, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def write(**files: str) -> None:
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        git("add", ".")
        git("commit", "-q", "-m", "x")

    git("init", "-q", "-b", "main")
    write(conftest="ours", solutions__one="ours", solutions__two="ours")
    git("checkout", "-q", "-b", "theirs")
    write(conftest="theirs", solutions__one="theirs", solutions__three="theirs")
    git("checkout", "-q", "main")
    write(conftest="ours later", solutions__two="ours later")
    base = git("rev-parse", "HEAD")
    git("checkout", "-q", "theirs")
    script = next(s["run"] for s in steps(ACTION) if str(s.get("name")).startswith("Take only"))
    environment = {"PATHS": "solutions", "BASE": base, "PATH": "/usr/bin:/bin"}
    subprocess.run(
        [BASH, "-eo", "pipefail", "-c", script], cwd=tmp_path, check=True, env=environment
    )
    found = {
        path.name: path.read_text()
        for path in tmp_path.rglob("*")
        if ".git" not in path.parts and path.is_file()
    }
    assert found == {"conftest": "ours", "one": "theirs", "two": "ours", "three": "theirs"}
