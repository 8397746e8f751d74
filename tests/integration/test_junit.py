"""JUnit XML carries status and speedup, alone and under xdist."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest


@pytest.mark.parametrize("xdist", [[], ["-n2"]], ids=["alone", "xdist"])
def test_properties(tree, xdist: list[str]) -> None:
    tree.problem("level1/001_relu", "level1/002_tanh", "level1/003_gelu", "level1/004_exp")
    tree.solution("ann/level1/001_relu", "fast 1.84")
    tree.solution("ann/level1/002_tanh", "wrong_value")
    tree.solution("ann/level1/003_gelu", "not_built")
    tree.solution("ann/level1/004_exp_sample2", "skipped")
    tree.run("solutions", "--junit-xml=out.xml", *xdist)
    root = ET.parse(tree.path / "out.xml").getroot()  # noqa: S314 - of our own making
    found = {
        case.attrib["name"]: {
            item.attrib["name"]: item.attrib["value"] for item in case.iter("property")
        }
        for case in root.iter("testcase")
    }
    relu = found["test_kernel[level1/001_relu]"]
    assert relu["kernelbench_status"] == "fast"
    assert float(relu["speedup"]) == 1.84
    assert float(relu["speedup_low"]) < 1.84 < float(relu["speedup_high"])
    assert (relu["entrant"], relu["level"], relu["problem"]) == ("ann", "1", "1")
    statuses = [values["kernelbench_status"] for values in found.values()]
    assert sorted(statuses) == ["fast", "not_built", "skipped", "wrong_value"]
    assert found["test_kernel[level1/004_exp]"]["sample"] == "2"
    suite = next(root.iter("testsuite"))
    assert (suite.attrib["errors"], suite.attrib["failures"], suite.attrib["skipped"]) == (
        "1",
        "1",
        "1",
    )
