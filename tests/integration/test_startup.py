"""What the plugin costs in a run that has nothing to do with kernels."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

CASE = Path(__file__).parent.parent / "data/cases/reports/U1-plugin-imports-torch"
HEAVY = ("torch", "numpy", "triton", "pandas")


@pytest.fixture
def empty(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder without kernels."""
    shutil.copy(CASE / "test_empty.py", pytester.path)
    pytester.makefile(".toml", pytest="[pytest]\n")
    return pytester


def test_reported_case_no_heavy_import(empty: pytest.Pytester) -> None:
    result = empty.run(sys.executable, "-X", "importtime", "-m", "pytest", "-q", "test_empty.py")
    assert result.ret == 0
    imported = {line.rpartition("|")[2].strip() for line in result.errlines if "|" in line}
    assert "pytest_kernelbench.options" in imported
    assert not imported.intersection(HEAVY)


BLOCK = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "numpy", "triton"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


@pytest.mark.parametrize("args", [["--version"], ["-h"], ["-q"], ["--markers"], ["--fixtures"]])
def test_works_without_torch(empty: pytest.Pytester, args: list[str]) -> None:
    result = empty.run(sys.executable, "-c", BLOCK, *args)
    assert result.ret == 0
    if args == ["-h"]:
        result.stdout.fnmatch_lines(["*--kb-level=N*"])


def test_a_verdict_is_reached_without_torch(tree) -> None:
    tree.problem("level1/001_relu")
    tree.solution("ann/level1/001_relu", "fast 2")
    result = tree.pytester.run(sys.executable, "-c", BLOCK, "solutions", "--kb-json=out.jsonl")
    result.assert_outcomes(passed=1)
