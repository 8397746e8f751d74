"""The numbers go through pytest-benchmark, alone and under xdist."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def pairs(tree):
    tree.problem("level1/001_relu", "level2/001_mix")
    tree.solution("ann/level1/001_relu", "fast 2")
    tree.solution("bob/level1/001_relu", "wrong_value")
    tree.solution("bob/level2/001_mix", "right 0.8")
    return tree


def entries(tree, *args: str) -> dict[str, dict]:
    tree.run("solutions", "--benchmark-json=out.json", *args)
    found = json.loads((tree.path / "out.json").read_text())["benchmarks"]
    return {entry["fullname"]: entry for entry in found}


ANN = "solutions/ann/level1/001_relu.py::test_kernel[level1/001_relu]"
BOB = "solutions/bob/level2/001_mix.py::test_kernel[level2/001_mix]"


def test_json_has_each_turn_as_a_round(pairs) -> None:
    found = entries(pairs)
    assert set(found) == {ANN, BOB}, "a wrong kernel has no time"
    ann = found[ANN]
    assert ann["stats"]["data"] == pytest.approx([49.5e-6, 50e-6, 50.5e-6], rel=1e-12)
    assert ann["stats"]["rounds"] == 3
    assert ann["group"] == "level 1"
    assert ann["params"] == {"problem": "level1/001_relu"}
    assert ann["extra_info"]["speedup"] == 2.0
    assert ann["extra_info"]["baseline"] == "eager"
    assert ann["options"]["timer"] == "kernelbench"
    assert ann["name"] == "001_relu ann"
    assert found[BOB]["group"] == "level 2"


def test_json_is_the_same_under_xdist(pairs) -> None:
    alone, distributed = entries(pairs), entries(pairs, "-n2")
    assert set(alone) == set(distributed)
    for name, entry in alone.items():
        other = distributed[name]
        for key in ("name", "fullname", "group", "param", "params", "extra_info"):
            assert entry[key] == other[key], key
        assert entry["stats"]["data"] == other["stats"]["data"]
        assert entry["stats"]["median"] == other["stats"]["median"]


def test_no_warning_under_xdist(pairs) -> None:
    result = pairs.pytester.runpytest_subprocess("solutions", "-n2")
    output = result.stdout.str() + result.stderr.str()
    assert "Benchmarks are automatically disabled" not in output
    assert "not used" not in output
    assert "benchmark 'level 1'" in output


def test_no_warning_alone(pairs) -> None:
    pairs.run("solutions", "-Werror").assert_outcomes(passed=2, failed=1)


def test_compare(pairs) -> None:
    pairs.run("solutions", "--benchmark-autosave")
    pairs.solution("ann/level1/001_relu", "fast 1.0")
    fail = ("--benchmark-compare", "--benchmark-compare-fail=median:10%")
    for xdist in ([], ["-n2"]):
        result = pairs.pytester.runpytest_subprocess("solutions", *fail, *xdist)
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        output = result.stdout.str() + result.stderr.str()
        assert "Performance has regressed" in output


@pytest.mark.parametrize(
    ("option", "outcomes"),
    [
        ("--benchmark-skip", {"skipped": 3}),
        ("--benchmark-only", {"passed": 2, "failed": 1}),
        ("--benchmark-disable", {"passed": 2, "failed": 1}),
    ],
)
def test_options_of_pytest_benchmark(pairs, option: str, outcomes: dict[str, int]) -> None:
    pairs.run("solutions", option).assert_outcomes(**outcomes)
    assert (pairs.path / "ahead").exists() == (option != "--benchmark-skip"), "skipped, not judged"


def test_names_we_rely_on_are_there() -> None:
    from pytest_benchmark.session import BenchmarkSession  # noqa: F401
    from pytest_benchmark.stats import Metadata

    assert {"update", "as_dict"} <= set(dir(Metadata))
