"""The examples of docs/plugins.md do what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_kernelbench import judge, library
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Status

PAGE = Path(__file__).parents[2] / "docs/plugins.md"


def example(title: str, number: int = 0) -> str:
    section = PAGE.read_text(encoding="utf-8").partition(f"## {title}\n")[2].partition("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)[number]


@pytest.fixture
def plugged(tree):
    """A project whose conftest also holds the example of that title."""
    tree.problem("level1/019_relu")

    def plug(title: str) -> None:
        path = tree.path / "conftest.py"
        text = example(title)
        path.write_text(path.read_text() + "\n\n" + text, encoding="utf-8")

    return plug


@pytest.mark.parametrize(
    "title",
    ["Another layout of solutions", "Another baseline", "Another engine", "Hearing each verdict"],
)
def test_examples_are_short(title: str) -> None:
    lines = [line for line in example(title).splitlines() if line.strip()]
    assert len(lines) <= 10


def test_adapter(tree, plugged) -> None:
    plugged("Another layout of solutions")
    tree.write("kernels/ann/l1_p19.py", "# fake: fast 2\n")
    tree.write("kernels/ann/l1_p20.py", "# fake: fast 2\n")
    result = tree.run("kernels", "-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "kernels/ann/l1_p19.py::test_kernel?level1/019_relu? PASSED 2.00x*",
            "there is no problem 1/20; searched: *",
            "  ann * 1 *1/1 *1/1 *",
        ]
    )


def test_adapter_puts_its_folders_under_guard(tree, plugged) -> None:
    plugged("Another layout of solutions")
    tree.write("kernels/ann/l1_p19.py", "# fake: fast 2\n")
    tree.write("kernels/ann/conftest.py", "raise SystemExit('executed')\n")
    result = tree.run("kernels")
    assert result.ret in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERRUPTED)
    assert "is refused" in result.stdout.str() + result.stderr.str()


def test_baseline(tree, plugged) -> None:
    plugged("Another baseline")
    tree.solution("ann/level1/019_relu")
    path = tree.path / "conftest.py"
    show = "\n\ndef pytest_kernelbench_engine(settings):\n    print(settings)\n"
    path.write_text(path.read_text() + show + "    return FakeEngine(settings)\n")
    result = tree.run("solutions", "-s", "--kb-baseline=half,eager")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["*baseline_prepare=(('half', 'my_baselines:in_half_precision'), ('eager', ''))*"]
    )


@pytest.mark.slow
def test_baseline_is_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = "import torch\nclass Model(torch.nn.Module):\n    def forward(self, a):\n"
    problem += "        return a @ a\ndef get_init_inputs(): return []\n"
    problem += "def get_inputs(): return [torch.randn(256, 256)]\n"
    (tmp_path / "square.py").write_text(problem)
    solution = tmp_path / "solution.py"
    solution.write_text(problem.replace("Model(", "ModelNew("))
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "my_baselines.py").write_text(example("Another baseline", 1))
    settings = Settings(
        device="cpu",
        seeds=1,
        budget_s=0.1,
        baselines=("half",),
        baseline_prepare=(("half", "my_baselines:in_half_precision"),),
        cache_dir=tmp_path / "cache",
    )
    try:
        with pytest.raises(UsageError, match="finds no module 'my_baselines': install it, or"):
            judge(tmp_path / "square.py", solution, settings=settings)
        library._made.cache_clear()
        monkeypatch.setenv("PYTHONPATH", str(folder))
        verdict = judge(tmp_path / "square.py", solution, settings=settings)
        assert verdict.status is Status.NOT_A_KERNEL, verdict
    finally:
        library._shared(settings).close()
        library._made.cache_clear()


def test_engine(tree, monkeypatch) -> None:
    from pytest_kernelbench.engine import local

    made = []

    class Recorded:
        def __init__(self, settings: object) -> None:
            made.append(settings)

        def ahead(self, _pairs: object) -> None:
            raise OSError

    monkeypatch.setattr(local, "LocalEngine", Recorded)
    tree.problem("level1/019_relu")
    tree.solution("ann/level1/019_relu")
    path = tree.path / "conftest.py"
    path.write_text("\n\n" + example("Another engine"))
    tree.run("solutions", "--kb-engine=careful").assert_outcomes(errors=1)
    assert made[0].timeout_s == 60.0
    assert tree.run("solutions", "--kb-engine=careless").ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("xdist", [[], ["-n2"]], ids=["alone", "xdist"])
def test_verdict(tree, plugged, xdist: list[str]) -> None:
    plugged("Hearing each verdict")
    tree.solution("ann/level1/019_relu", "fast 3")
    tree.solution("bob/level1/019_relu", "right 1")
    tree.solution("eve/level1/019_relu", "wrong_value 9")
    tree.run("solutions", *xdist)
    assert (tree.path / "hall-of-fame.txt").read_text() == (
        "solutions/ann/level1/019_relu.py::test_kernel[level1/019_relu] 3.00x\n"
    )
