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


def script(name: str) -> str:
    """Of the gate's step whose name begins so."""
    found: str = next(s["run"] for s in steps(ACTION) if str(s.get("name")).startswith(name))
    return found


OBEYED = [
    "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini",
    "setup.cfg", "setup.py", "conftest.py",
]  # fmt: skip
"""By pytest, before a plugin could refuse: for itself, or as the sign of a project's root."""


def orders(folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATHS": "solutions", "CONFIG": "", "PATH": "/usr/bin:/bin"} | given
    environment["GITHUB_OUTPUT"] = str(folder / "output")
    command = [BASH, "-eo", "pipefail", "-c", script("Take orders")]
    return subprocess.run(
        command, cwd=folder, check=False, env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize("name", OBEYED)
def test_the_gate_refuses_what_pytest_would_obey(tmp_path: Path, name: str) -> None:
    deep = tmp_path / "solutions/eve/level1"
    deep.mkdir(parents=True)
    (deep / "019_relu.py").touch()
    (tmp_path / name).touch()  # The project's own.
    assert not orders(tmp_path).returncode
    (deep / name).touch()
    refused = orders(tmp_path)
    assert refused.returncode == 1
    assert refused.stderr == (
        f"solutions/eve/level1/{name} lies in what is to be judged, "
        "and pytest would obey it: delete it.\n"
    )


def test_the_gate_refuses_paths_that_are_not_there(tmp_path: Path) -> None:
    assert orders(tmp_path, PATHS="nowhere").returncode == 1


@pytest.mark.parametrize(
    ("files", "given", "said"),
    [
        ({}, "", ("/dev/null", ".")),
        ({"setup.cfg": "[tool:pytest]\n"}, "", ("setup.cfg", ".")),
        ({"pyproject.toml": "[tool.ruff]\n", "tox.ini": "[pytest]\n"}, "", ("tox.ini", ".")),
        ({"pyproject.toml": "[tool.pytest]\n", "tox.ini": "[pytest]"}, "", ("pyproject.toml", ".")),
        ({"pyproject.toml": "[tool]\npytest.strict = true\n"}, "", ("pyproject.toml", ".")),
        ({"pytest.ini": "", "pyproject.toml": "[tool.pytest]\n"}, "", ("pytest.ini", ".")),
        ({"pytest.ini": "", "sub": ""}, "sub/own.toml", ("sub/own.toml", "sub")),
    ],
)
def test_the_gate_judges_by_the_projects_own_ini_file(
    tmp_path: Path, files: dict[str, str], given: str, said: tuple[str, str]
) -> None:
    (tmp_path / "solutions").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert not orders(tmp_path, CONFIG=given).returncode
    config, root = said
    assert (tmp_path / "output").read_text() == f"config={config}\nroot={root}\n"


def test_whatever_judges_strangers_names_ini_file_and_root() -> None:
    named = [text for text in scripts(ACTION) if "-m pytest" in text]
    assert len(named) == 2
    assert all('-m pytest -c "$CONFIG" --rootdir "$ROOT"' in text for text in named)
    makefile = (GITHUB.parent / "Makefile").read_text()
    assert "$(PYTEST) -c pyproject.toml --rootdir . solutions/" in makefile
    page = (GITHUB.parent / "docs/ci.md").read_text()
    assert "pytest -c pyproject.toml --rootdir . solutions/" in page


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
    environment = {"PATHS": "solutions", "BASE": base, "PATH": "/usr/bin:/bin"}
    subprocess.run(
        [BASH, "-eo", "pipefail", "-c", script("Take only")],
        cwd=tmp_path,
        check=True,
        env=environment,
    )
    found = {
        path.name: path.read_text()
        for path in tmp_path.rglob("*")
        if ".git" not in path.parts and path.is_file()
    }
    assert found == {"conftest": "ours", "one": "theirs", "two": "ours", "three": "theirs"}
