"""Nothing in a folder of solutions is executed by pytest, however it is named."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from pytest_kernelbench.cli import main
from pytest_kernelbench.guard import INTRUDERS

EXECUTED = "import pathlib; pathlib.Path({!r}).touch()\n"


@pytest.fixture
def planted(tree):
    """Two solutions, and a file that must not be run."""
    tree.problem("level1/001_relu", "level1/002_tanh")
    tree.solution("ann/level1/001_relu", "wrong_value")
    tree.solution("bob/level1/002_tanh")
    mark = tree.path / "EXECUTED"

    def plant(name: str) -> Path:
        tree.write(name, EXECUTED.format(str(mark)))
        return mark

    return plant


NAMES = [
    "solutions/conftest.py",
    "solutions/ann/conftest.py",
    "solutions/ann/level1/conftest.py",
    "solutions/eve/tests/conftest.py",
    "solutions/test_me/conftest.py",
    "solutions/__init__.py",
    "solutions/ann/__init__.py",
    "solutions/ann/level1/__init__.py",
    "solutions/ann/sitecustomize.py",
]
ARGUMENTS = {
    "entrants": ["solutions/ann", "solutions/bob", "solutions/eve", "solutions/test_me"],
    "file": ["solutions/ann/level1/001_relu.py"],
    "node": ["solutions/ann/level1/001_relu.py::test_kernel[level1/001_relu]"],
    "none": [],
}


CASES = [(name, args) for name in NAMES for args in (["solutions"], ["."])] + [
    (name, args) for name in NAMES[:4] for args in ARGUMENTS.values()
]


@pytest.mark.parametrize(("name", "args"), CASES)
def test_planted_file_is_never_executed(tree, planted, name: str, args: list[str]) -> None:
    mark = planted(name)
    args = [arg for arg in args if (tree.path / arg.partition("::")[0]).exists()]
    result = tree.run(*args)
    assert not mark.exists()
    on_the_way = not args or any(
        (tree.path / name).parent.is_relative_to(tree.path / arg)
        or (tree.path / arg.partition("::")[0]).is_relative_to((tree.path / name).parent)
        for arg in args
    )
    if on_the_way:
        assert result.ret in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERRUPTED)
        output = result.stdout.str() + result.stderr.str()
        assert f"{Path(name).name} is refused: pytest would obey it" in output
        assert "move the file elsewhere or delete it" in output


@pytest.mark.parametrize("args", [["solutions"], ["."], ["-n2", "solutions"], ["-n2", "."]])
def test_refused_by_subprocesses_too(tree, planted, args: list[str]) -> None:
    mark = planted("solutions/eve/conftest.py")
    result = tree.pytester.runpytest_subprocess(*args)
    assert not mark.exists()
    assert result.ret != pytest.ExitCode.OK
    assert "conftest.py is refused" in result.stdout.str() + result.stderr.str()


INI = {
    "pytest.ini": "[pytest]\naddopts = --kb-p=0\n",
    "pytest.toml": "[pytest]\n",
    "tox.ini": "[pytest]\n",
    "pyproject.toml": "[tool.pytest]\nstrict = false\n",
    "setup.cfg": "[tool:pytest]\n",
}


@pytest.mark.parametrize("name", INI)
@pytest.mark.usefixtures("planted")
def test_an_ini_file_in_solutions_sets_no_option(tree, name: str) -> None:
    tree.write(f"solutions/ann/{name}", INI[name])
    result = tree.run("solutions/ann")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*solutions/ann/{name} is refused*"])


@pytest.mark.parametrize("name", INI)
def test_a_plugin_of_theirs_is_not_run_where_the_ini_file_is_named(
    tree, planted, name: str
) -> None:
    """Without -c it runs before we are loaded (docs/trust.md)."""
    mark = planted("solutions/ann/theirs.py")
    values = ('["-p", "theirs"]', '["."]') if name.endswith("toml") else ("-p theirs", ".")
    table = INI[name].partition("\n")[0]
    tree.write(
        f"solutions/ann/{name}", f"{table}\naddopts = {values[0]}\npythonpath = {values[1]}\n"
    )
    named = ["-c", "pytest.toml", "--rootdir", ".", "--collect-only", "solutions/ann"]
    assert tree.run(*named).ret == (
        pytest.ExitCode.USAGE_ERROR if name in INTRUDERS else pytest.ExitCode.OK
    )
    assert not mark.exists()
    result = tree.pytester.runpytest_subprocess("solutions/ann")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert mark.exists(), "pytest has become stricter: say so in docs/trust.md"


@pytest.fixture
def moved(tree):
    """A project without an ini file, and a folder in it that would be taken for the project."""
    (tree.path / "pytest.toml").unlink()
    tree.problem("level1/001_relu")
    for folder in ("solutions/eve", "entries/eve"):
        tree.write(f"{folder}/level1/001_relu.py", "# fake: right 1\nclass ModelNew: pass\n")
        tree.write(f"{folder}/problems/level1/001_relu.py", "class Model: pass\n")
        tree.write(f"{folder}/setup.py", "")
    # No name of it tells that it is one.
    tree.write("runs/eve/mine.py", "# fake: right 1\nclass ModelNew: pass\n")
    tree.write("runs/eve/problems/level1/001_mine.py", "class Model: pass\n")
    tree.write("runs/eve/setup.py", "")
    return tree


@pytest.mark.parametrize("folder", ["solutions/eve", "entries/eve", "runs/eve"])
def test_a_folder_of_solutions_is_no_project_because_of_what_it_brings(moved, folder: str) -> None:
    result = moved.run("-p", "no:hypothesispytest", folder)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{folder} would be taken for the project*--rootdir .*"])
    result = moved.run("-p", "no:hypothesispytest", folder, "--rootdir=.", "--collect-only")
    assert "would be taken" not in result.stderr.str()
    assert not (moved.path / folder / ".kernelbench").exists()


def test_a_whole_project_in_a_folder_below_has_its_root(moved) -> None:
    for name in ("setup.py", "problems/level1/001_relu.py", "tests/test_it.py"):
        moved.write(f"package/{name}", "def test_it(): pass\n")
    moved.run("-p", "no:hypothesispytest", "package").assert_outcomes(passed=1)


def test_problems_of_the_folder_one_stands_in_are_no_strangers(moved, monkeypatch) -> None:
    moved.write("pytest.toml", "[pytest]\n")
    (moved.path / "problems/level1/001_relu.py").unlink()
    (moved.path / "problems/level1").rmdir()
    (moved.path / "problems").rmdir()
    monkeypatch.chdir(moved.path / "solutions/eve")
    result = moved.run("-p", "no:hypothesispytest")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*solutions/eve would be taken for the project*"])


def test_whoever_stands_in_a_folder_of_solutions_has_it_for_a_project(moved, monkeypatch) -> None:
    monkeypatch.chdir(moved.path / "entries/eve")
    result = moved.run("-p", "no:hypothesispytest", "--collect-only")
    result.stdout.fnmatch_lines(["*<Function test_kernel?level1/001_relu?>*"])


@pytest.mark.parametrize("name", ["pytest.ini", "conftest.py", "problems/conftest.py"])
def test_a_way_through_solutions_and_out_again_is_none(tree, name: str) -> None:
    tree.problem("level1/001_relu")
    tree.solution("ann/level1/001_relu")
    if name != "conftest.py":  # which is there already
        tree.write(name, "[pytest]\n" if name.endswith("ini") else "")
    tree.run("solutions/../solutions/ann", "solutions/../problems").assert_outcomes(passed=1)


def test_the_way_into_solutions_through_another_folder_is_refused(tree, planted) -> None:
    mark = planted("solutions/ann/conftest.py")
    result = tree.run("problems/../solutions/ann")
    assert not mark.exists()
    result.stderr.fnmatch_lines(["*solutions/ann/conftest.py is refused*"])


def test_a_test_file_in_solutions_is_not_run(tree, planted) -> None:
    mark = planted("solutions/ann/test_it.py")
    planted("solutions/ann/level1/helper_test.py")
    result = tree.run("solutions", "-Wdefault")
    assert not mark.exists()
    result.assert_outcomes(passed=1, failed=1, warnings=2)
    result.stdout.fnmatch_lines(["*test_it.py is not run: *solutions is a folder of solutions*"])


@pytest.mark.parametrize("option", [[], ["--doctest-modules"], ["--doctest-glob=*.md"]])
@pytest.mark.usefixtures("planted")
def test_doctests_in_solutions_are_not_run(tree, option: list[str]) -> None:
    mark = tree.path / "EXECUTED"
    text = f">>> {EXECUTED.format(str(mark))}"
    for name in ("test_it.txt", "readme.md"):
        tree.write(f"solutions/ann/{name}", text)
    tree.solution("ann/level1/002_tanh", body=f'"""\n{text}"""\n')
    tree.run("solutions", "-Wdefault", *option)
    tree.run("solutions/ann/test_it.txt", "solutions/ann/readme.md", "-Wdefault", *option)
    assert not mark.exists()


def test_a_kernelbench_run_is_a_folder_of_solutions_under_any_name(tree, planted) -> None:
    tree.write("runs/gpt/level_1_problem_1_sample_0_kernel.py", "class ModelNew: pass\n")
    mark = planted("runs/gpt/conftest.py")
    result = tree.run("runs/gpt")
    assert not mark.exists()
    result.stderr.fnmatch_lines(["*runs/gpt/conftest.py is refused*"])


def test_ones_own_conftests_are_run(tree, planted) -> None:
    mark = planted("tests/conftest.py")
    tree.write("tests/test_mine.py", "def test_mine(): pass\n")
    tree.run("tests", "solutions/bob").assert_outcomes(passed=2)
    assert mark.exists()


def test_a_folder_called_solutions_without_any_is_left_alone(tree, planted) -> None:
    mark = planted("puzzles/solutions/conftest.py")
    tree.write("puzzles/solutions/test_day_1.py", "def test_it(): pass\n")
    tree.run("puzzles").assert_outcomes(passed=1)
    assert mark.exists()


def test_a_kernel_above_the_project_does_not_put_it_under_guard(tree, planted) -> None:
    outer = tree.path.parent / "level_1_problem_1_sample_0_kernel.py"
    outer.write_text("class ModelNew: pass\n", encoding="utf-8")
    try:
        planted("tests/conftest.py")
        tree.write("tests/test_mine.py", "def test_mine(): pass\n")
        tree.run("tests").assert_outcomes(passed=1)
    finally:
        outer.unlink()


def test_solutions_do_not_shadow_modules(tree, planted) -> None:
    """``python -m pytest`` in a folder of solutions would import their torch.py for torch."""
    mark = planted("solutions/ann/torch.py")
    tree.write(
        "conftest.py",
        (tree.path / "conftest.py").read_text()
        + "\ndef pytest_sessionfinish():\n    try:\n        import torch\n"
        "        assert 'ann' not in torch.__file__\n"
        "    except ModuleNotFoundError:\n        pass\n",
    )
    tree.pytester.path.joinpath("solutions/ann").mkdir(exist_ok=True)
    tree.pytester._monkeypatch.chdir(tree.path / "solutions/ann")
    result = tree.pytester.run(sys.executable, "-m", "pytest", "-c", str(tree.path / "pytest.toml"))
    result.assert_outcomes(failed=1)
    assert not mark.exists()


HOSTILE = "e\x1b[31mvil\n::error::x"


@pytest.mark.parametrize("args", [["solutions"], ["."], ["-n2", "solutions"], ["-v", "solutions"]])
@pytest.mark.parametrize("name", [f"{HOSTILE}/level1/001_relu", f"eve/level1/001_relu_{HOSTILE}"])
@pytest.mark.usefixtures("planted")
def test_a_name_that_commands_the_terminal_is_refused(tree, name: str, args: list[str]) -> None:
    tree.solution(name)
    result = tree.run(*args)
    assert result.ret in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.TESTS_FAILED)  # xdist's
    output = result.stdout.str() + result.stderr.str()
    assert r"e\x1b[31mvil\x0a::error::x" in output
    assert "the characters in its name would command the terminal" in output
    assert "\x1b" not in output
    assert "\n::error" not in output


@pytest.mark.usefixtures("planted")
def test_a_name_that_commands_the_terminal_is_refused_as_an_argument(tree) -> None:
    tree.solution("e\x1bcvil\nx/level1/001_relu")
    result = tree.run("solutions/e\x1bcvil\nx")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert r"solutions/e\x1bcvil\x0ax is refused" in result.stderr.str()
    assert "\x1b" not in result.stderr.str()


def test_names_of_ones_own_tests_are_ones_own(tree) -> None:
    tree.write("tests/test_\x1bmine.py", "def test_mine(): pass\n")
    tree.run("tests").assert_outcomes(passed=1)


def test_bytes_that_are_no_text_are_no_command(tree, planted) -> None:
    planted("tests/conftest.py")
    name = os.fsdecode(b"jos\xe9")
    tree.solution(f"{name}/level1/001_relu")
    # Of its own cache pytest makes UTF-8.
    tree.run(f"solutions/{name}", "-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_names_in_an_archive_are_refused_row_by_row(tree) -> None:
    tree.problem("level1/001_relu")
    rows = [
        {"level": 1, "problem_id": 1, "model": name, "code": "class ModelNew: pass"}
        for name in ("ann", HOSTILE)
    ]
    tree.write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    result = tree.run("a.jsonl")
    assert r"e\x1b[31mvil\x0a::error::x has control characters in its name" in result.stdout.str()
    assert "\x1b" not in result.stdout.str()


def test_pairs_shows_names_as_text(tree, capsys) -> None:
    tree.problem("level1/001_relu")
    tree.solution(f"{HOSTILE}/level1/001_relu")
    assert main(["pairs", str(tree.path / "solutions"), f"--problems={tree.path}/problems"]) == 1
    printed = capsys.readouterr().out
    assert r"e\x1b[31mvil\x0a::error::x has control characters in its name" in printed
    assert "\x1b" not in printed
    assert "\n::error" not in printed


def test_what_is_no_file_of_the_solution_is_told_and_not_read(tree) -> None:
    tree.problem(*(f"level1/00{number}_p" for number in range(1, 9)))
    level = tree.solution("ann/level1/001_p").parent
    tree.write("secret", "this is = the key\n")
    for number, target in {
        2: "../../../secret",
        3: "/proc/kmsg",
        4: "/dev/zero",
        5: "gone",
    }.items():
        (level / f"00{number}_p.py").symlink_to(target)
    os.mkfifo(level / "006_p.py")
    with (level / "007_p.py").open("wb") as file:
        file.truncate(60 << 30)
    (level / "008_p.py").symlink_to("001_p.py")
    result = tree.run("solutions", "-Wdefault", "--kb-json=v.jsonl", "--junitxml=j.xml")
    result.assert_outcomes(passed=2, failed=3, warnings=3)
    result.stdout.fnmatch_lines_random(
        [
            "002_p.py: it is a link, or lies in one, that leads out of the folder that is judged*",
            "003_p.py: it is a link, or lies in one, that leads out of the folder that is judged*",
            "*004_p.py is not judged: it is a device",
            "*005_p.py is not judged: it is a link that leads nowhere",
            "*006_p.py is not judged: it is a named pipe",
            "007_p.py: 007_p.py has 64,424,509,440 bytes, more than 4,194,304",
        ]
    )
    for written in (result.stdout.str(), *(tree.path / n for n in ("v.jsonl", "j.xml"))):
        text = written if isinstance(written, str) else written.read_text(encoding="utf-8")
        assert "the key" not in text


def test_a_round_way_in_solutions_ends(tree) -> None:
    tree.problem("level1/001_p")
    tree.solution("ann/level1/001_p")
    for name in ("one", "two"):
        (tree.path / "solutions/ann" / name).symlink_to("..")
    result = tree.run("solutions")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*solutions/ann/one is refused: it is a link to a folder*"])
