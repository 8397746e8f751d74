"""Options and ini values as given: what is taken, and what is refused before anything runs."""

from __future__ import annotations

import errno

import pytest

from pytest_kernelbench import checking

USAGE = pytest.ExitCode.USAGE_ERROR


@pytest.fixture
def project(tree):
    tree.problem("level1/001_relu", "level2/003_mix")
    tree.solution("ann/level1/001_relu", "fast 1.84")
    return tree


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--kb-level=9"], "--kb-level 9: there is no such level; searched: *(levels 1, 2: 2*"),
        (["--kb-level=x"], "--kb-level: 'x' is not a whole number of at least 1"),
        (["--kb-level="], "--kb-level: '' is not a whole number of at least 1"),
        (["--kb-problem=1/2"], "--kb-problem 1/2: there is no such one; searched: *"),
        (["--kb-problem=relu"], "--kb-problem: 'relu' is *LEVEL/NUMBER, as in 1/19*"),
        (["--kb-level=1", "--kb-problem=2/3"], "--kb-problem 2/3 lies outside of --kb-level 1"),
        (["--kb-seeds=2.5"], "--kb-seeds: '2.5' is not a whole number of at least 1"),
        (["--kb-dtype=float32"], "--kb-dtype: 'float32' is none of fp32, fp16, bf16"),
        (["--kb-device=gpu"], "--kb-device: 'gpu' is none of auto, cpu, cuda, cuda:N"),
        (["--kb-fail-under=50"], "--kb-fail-under: '50' is above 1, but fast_p is a *"),
        (["--kb-fail-under=0.5", "--kb-fail-under=0.6"], "--kb-fail-under is given more *"),
        (["--kb-fail-under=3:0.5"], "--kb-fail-under 3:...: level 3 is not judged"),
        (["--kb-level=1", "--kb-fail-under=2:0.5"], "--kb-fail-under 2:...: level 2 is not judged"),
        (["--kb-problem=1/1", "--kb-fail-under=2:1"], "--kb-fail-under 2:...: level 2 is not *"),
        (["--kb-build-only", "--kb-p=1"], "--kb-build-only and --kb-p exclude each other: *"),
        (["--kb-build-only", "--kb-correctness-only"], "--kb-build-only and *"),
        (["--kb-build-only", "--kb-html=x.html"], "--kb-build-only and --kb-html exclude each *"),
        (["--kb-correctness-only", "--kb-p=1"], "--kb-correctness-only and --kb-p exclude *"),
        (["--kb-correctness-only", "--kb-fail-under=1"], "--kb-correctness-only and *"),
        (["--kb-baseline=numpy"], "--kb-baseline numpy: unknown; there are compile, *eager"),
        (["--kb-engine=cloud"], "--kb-engine cloud: unknown; there are local, ray"),
        (["--kb-json=nowhere/x.jsonl"], "--kb-json */nowhere/x.jsonl: not a file in a folder*"),
        (["--kb-problems=nix"], "--kb-problems */nix: there is no such folder or file"),
        (["--kb-problems=problems,nix"], "--kb-problems */problems,nix: there is no such *"),
        (["--kb-problems=problems", "--kb-problems=solutions"], "--kb-problems *: no problems: *"),
        (["--kb-problems=conftest.py"], "--kb-problems */conftest.py: neither a folder nor *"),
        (["--kb-cache=conftest.py"], "--kb-cache */conftest.py: */conftest.py is no folder"),
        (["--kb-cache=conftest.py/x"], "--kb-cache */conftest.py/x: */conftest.py is no folder"),
        (["--kb-cache=/proc/x"], "--kb-cache /proc/x: /proc cannot be written"),
        (["--kb-foreign-baseline"], "--kb-foreign-baseline is about --kb-baseline-times: *"),
        (["--kb-timeout=0"], "--kb-timeout: '0' is not a number above 0"),
        (["--kb-device=cuda:99"], "*--kb-device=cuda:99: * CUDA devices are visible here*"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("xdist", [[], ["-n2"]], ids=["alone", "xdist"])
def test_refused(project, xdist: list[str], args: list[str], message: str) -> None:
    result = project.run("solutions", *xdist, *args)
    assert result.ret == USAGE
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    assert not (project.path / "ahead").exists()


def test_a_cache_that_cannot_be_written_is_refused_where_it_was_asked_for(
    project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(checking, "mkdtemp", full)
        result = project.run("solutions", "--kb-cache=one/two")
    assert result.ret == USAGE
    result.stderr.fnmatch_lines([f"ERROR: --kb-cache */one/two: {project.path} cannot be written"])
    project.run("solutions").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--kb-compare=a", "--kb-json=./a"], "--kb-json would write over --kb-compare */a: *"),
        (["--kb-compare=a", "--kb-resume=link"], "--kb-resume would write over --kb-compare *"),
        (["--kb-compare=a", "--kb-html=link"], "--kb-html would write over --kb-compare */a: *"),
        (["--kb-compare=a", "--junit-xml=a"], "--junit-xml would write over --kb-compare */a: *"),
        (["--kb-resume=a", "--kb-json=b", "--kb-csv=a"], "--kb-csv would write over --kb-resume *"),
        (["--kb-resume=a", "--kb-csv=link"], "--kb-resume and --kb-csv would both write */link: *"),
        (["--kb-json=b", "--junit-xml=b"], "--kb-json and --junit-xml would both write */b: *"),
        (["--kb-json=b", "--benchmark-json=b"], "--kb-json and --benchmark-json would both *"),
        (["--kb-trace=b", "--kb-csv=b"], "--kb-trace and --kb-csv would both write */b: name *"),
        (["--kb-solutions=a.jsonl", "--kb-json=a.jsonl"], "* would write over --kb-solutions *"),
        (["a.jsonl", "--kb-json=a.jsonl"], "--kb-json would write over argument */a.jsonl: *"),
        (["--kb-problem=p.py", "--kb-json=p.py"], "--kb-json would write over --kb-problem *"),
        (["--kb-problems=a.jsonl", "--kb-csv=a.jsonl"], "* would write over --kb-problems *"),
        (["--kb-baseline-times=a", "--kb-csv=a"], "--kb-csv would write over --kb-baseline*"),
    ],
)  # fmt: skip
def test_no_file_is_read_and_written(project, args: list[str], message: str) -> None:
    files = [project.write(name, "kept") for name in ("a", "a.jsonl", "p.py")]
    (project.path / "link").symlink_to("a")
    result = project.run("solutions", *args)
    assert result.ret == USAGE
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    assert [file.read_text() for file in files] == ["kept"] * 3


def test_every_file_of_the_table_is_read_or_written() -> None:
    from pytest_kernelbench.checking import READ, WRITTEN
    from pytest_kernelbench.options import OPTIONS

    files = {option.field for option in OPTIONS if option.is_path} - {"cache_dir"}
    assert files == {*READ, *WRITTEN} - {"problem_files"}


INI = """[pytest]
kb_level = ["1"]
kb_p = ["1", "1.5"]
kb_seeds = 3
kb_strict = true
kb_fail_under = ["1:0.9"]
kb_atol = 0.5
kb_cache = "elsewhere"
kb_problems = ["problems"]
"""

SHOW = """
def pytest_kernelbench_engine(settings):
    print("SETTINGS", settings)
    return FakeEngine(settings)
"""


def settings(tree, *args: str, config: str = "pytest.toml") -> str:
    path = tree.path / "conftest.py"
    if "SETTINGS" not in path.read_text():
        path.write_text(path.read_text() + SHOW)
    result = tree.run("solutions", "-s", "-c", str(tree.path / config), *args)
    return next(line for line in result.outlines if "SETTINGS" in line)


def test_ini_twins(project) -> None:
    project.write("pytest.toml", INI)
    text = settings(project)
    for part in ("levels=(1,)", "thresholds=(1.0, 1.5)", "seeds=3", "strict=True", "atol=0.5"):
        assert part in text
    assert "fail_under_levels=((1, 0.9),)" in text
    assert f"cache_dir=PosixPath('{project.path / 'elsewhere'}')" in text
    assert f"problem_roots=(PosixPath('{project.path / 'problems'}'),)" in text


def test_the_command_line_goes_before_the_ini_file(project) -> None:
    project.write("pytest.toml", INI)
    text = settings(project, "--kb-p=2", "--kb-seeds=7", "--kb-cache=here")
    assert "thresholds=(2.0,)" in text
    assert "seeds=7" in text
    assert f"cache_dir=PosixPath('{project.path / 'here'}')" in text


def test_an_ini_file_of_the_old_kind(project) -> None:
    project.write(
        "old.ini", "[pytest]\nkb_level = 1\nkb_seeds = 3\nkb_strict = yes\nkb_p =\n  1\n  2\n"
    )
    text = settings(project, config="old.ini")
    for part in ("levels=(1,)", "thresholds=(1.0, 2.0)", "seeds=3", "strict=True"):
        assert part in text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('kb_seeds = "3"', "*kb_seeds*expects*int*"),
        ("kb_level = 1", "*kb_level*expects*list*"),
        ('kb_strict = "yes"', "*kb_strict*expects*bool*"),
        ('kb_problems = ["nix"]', "ERROR: kb_problems */nix in pytest.toml: there is no such *"),
        ('kb_level = ["9"]', "ERROR: kb_level 9 in pytest.toml: there is no such level*"),
        (
            'kb_dtype = "fp64"',
            "ERROR: kb_dtype in *pytest.toml: 'fp64' is none of fp32, fp16, bf16",
        ),
    ],
)
def test_ini_values_are_typed_strictly(project, line: str, message: str) -> None:
    project.write("pytest.toml", f"[pytest]\n{line}\n")
    result = project.run("solutions")
    assert result.ret == USAGE
    output = result.stdout.str() + result.stderr.str()
    pytest.LineMatcher(output.splitlines()).fnmatch_lines([message])


def test_a_misspelt_ini_value_is_refused_under_strict(project) -> None:
    project.write("pytest.toml", "[pytest]\nstrict = true\nkb_levle = []\n")
    assert project.run("solutions").ret == USAGE


@pytest.mark.parametrize("xdist", [[], ["-n2"]], ids=["alone", "xdist"])
@pytest.mark.parametrize(
    ("file", "message"),
    [
        (
            '[tool.pytest.ini_options]\nkb_fail_undr = ["0.9"]\n',
            "kb_fail_undr in *pyproject.toml: there is no such *; did you mean kb_fail_under?",
        ),
        ("[tool.pytest]\nkb_xyzzy = 1\n", "kb_xyzzy in *pyproject.toml: there is no such *bench"),
        (
            "[tool.pytest.ini_options]\nkb_level = [true]\n",
            "kb_level in *pyproject.toml: True is no text and no number",
        ),
        (
            '[tool.pytest.ini_options]\nkb_problems = [["a"]]\n',
            "kb_problems in *pyproject.toml: ['a'] is no text and no number",
        ),
        (
            "[tool.pytest.ini_options]\nkb_level = [0]\n",
            "kb_level in *pyproject.toml: '0' is not a whole number of at least 1",
        ),
        (
            "[tool.pytest.ini_options]\nkb_device = []\n",
            "kb_device in *pyproject.toml: it takes one value, not []",
        ),
        (
            '[tool.pytest.ini_options]\nkb_engine = ["local", "ray"]\n',
            "kb_engine in *pyproject.toml: it takes one value, not ['local', 'ray']",
        ),
        (
            '[tool.pytest.ini_options]\nkb_json = ["a", "b"]\n',
            "kb_json in *pyproject.toml: it takes one value, not ['a', 'b']",
        ),
        (
            '[tool.pytest.ini_options]\nkb_seeds = "zero"\n',
            "kb_seeds in *pyproject.toml: *'zero'",
        ),
        (
            '[tool.pytest.ini_options]\nkb_correctness_only = "maybe"\n',
            "kb_correctness_only in *pyproject.toml: *'maybe'",
        ),
    ],
)  # fmt: skip
def test_ini_values_that_say_nothing_are_refused_by_name(
    project, xdist: list[str], file: str, message: str
) -> None:
    project.write("pyproject.toml", file)
    (project.path / "pytest.toml").unlink()
    result = project.run("solutions", *xdist, "-p", "no:hypothesispytest", "-Wignore")
    assert result.ret == USAGE
    result.stderr.fnmatch_lines([f"ERROR: {message.replace('[', '[[]')}"])
    assert not (project.path / "ahead").exists()


def test_other_names_in_the_ini_file_are_not_ours_to_refuse(project) -> None:
    project.write("pytest.toml", "[pytest]\nkbd = 1\n")
    assert project.run("solutions", "-Wignore").ret == 0


def test_numbers_in_an_ini_file_are_as_good_as_texts(project) -> None:
    project.write("pyproject.toml", "[tool.pytest.ini_options]\nkb_level = [1]\nkb_p = [1.5]\n")
    (project.path / "pytest.toml").unlink()
    text = settings(project, config="pyproject.toml")
    assert "levels=(1,)" in text
    assert "thresholds=(1.5,)" in text


def test_defaults_reach_the_engine(project) -> None:
    text = settings(project)
    assert f"problem_roots=(PosixPath('{project.path / 'problems'}'),)" in text
    assert "baseline_prepare=(('eager', ''),)" in text
    text = settings(project, "--kb-baseline=compile,eager")
    assert "baseline_prepare=(('compile', 'torch:compile'), ('eager', ''))" in text
    assert "baselines=('compile', 'eager')" in text


def test_help_has_every_option(project) -> None:
    from pytest_kernelbench.options import OPTIONS

    text = project.run("--help").stdout.str()
    for option in OPTIONS:
        assert option.flag in text
        assert f"{option.ini} (" in text
