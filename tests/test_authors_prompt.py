"""What a model is asked, and the facts and examples that go with it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from pytest_kernelbench.authors import hardware
from pytest_kernelbench.authors.examples import FOLDER, SETS, examples
from pytest_kernelbench.authors.hardware import (
    Hardware,
    describe,
    find_hardware,
    from_properties,
    read_device,
)
from pytest_kernelbench.authors.processor import describe_processor
from pytest_kernelbench.authors.prompt import PromptOptions, build_prompt, shown_source
from pytest_kernelbench.authors.texts import Texts, backends
from pytest_kernelbench.catalog.answers import Code, extract
from pytest_kernelbench.catalog.pair import Problem
from pytest_kernelbench.errors import MachineError, UsageError

SOURCE = '''"""ReLU."""

import torch

ROWS = 4

SMOKE = {
    "ROWS": 2,
}
SHAPES = [{"ROWS": 3}]
DTYPES = ("fp32",)
FAMILIES: tuple = ()


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(ROWS)]
'''


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    path = tmp_path / "019_relu.py"
    path.write_text(SOURCE)
    return Problem(path, 1, 19, "relu")


def test_backends_of_the_issue() -> None:
    assert {"cuda", "triton", "cute", "tilelang", "thunderkittens", "hip"} <= set(backends())


@pytest.mark.parametrize("backend", backends())
def test_every_backend_makes_a_prompt(problem: Problem, backend: str) -> None:
    text = build_prompt(problem, PromptOptions(backend=backend, examples="none")).text
    assert "class ModelNew" not in text
    assert "class Model(torch.nn.Module):" in text
    assert "${" not in text
    assert "single code block" in text


def test_help_is_given_only_where_it_is_asked_for(problem: Problem) -> None:
    bare = build_prompt(problem, PromptOptions(examples="none"))
    helped = build_prompt(
        problem, PromptOptions(examples="few", hardware="H200", concepts=True, precision="bf16")
    )
    for word in ("4,800 GB/s", "- Warp: 32 threads", "attention_kernel", "bias_gelu_gate"):
        assert word not in bare.text
        assert word in helped.text
    assert "float32" in bare.text
    assert "bfloat16" in helped.text
    assert bare.digest != helped.digest
    assert bare.digest == build_prompt(problem, PromptOptions(examples="none")).digest


def test_an_example_that_is_not_quite_what_is_asked_for_says_so(problem: Problem) -> None:
    def said(backend: str, precision: str = "fp32") -> str:
        text = build_prompt(problem, PromptOptions(backend, precision)).text
        return next(line for line in text.splitlines() if line.startswith("An answer to it"))

    assert said("cuda") == said("triton") == said("cpp") == "An answer to it:"
    assert "written in CUDA, which PyTorch translates to HIP" in said("hip")
    assert said("cuda", "bf16").endswith("for float32 tensors (yours will be bfloat16):")


def test_what_is_for_the_judge_is_not_shown(problem: Problem) -> None:
    shown = shown_source(problem.path)
    for name in ("SMOKE", "SHAPES", "DTYPES", "FAMILIES", '"ROWS": 2'):
        assert name not in shown
    assert "ROWS = 4\n" in shown
    assert ast.unparse(ast.parse(shown)).count("def ") == 2


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"], ids=ascii)
def test_what_ends_no_line_of_python_is_no_line(tmp_path: Path, end: str) -> None:
    path = tmp_path / "001_x.py"
    path.write_text(f'# one{end}line\nN = 4\nSMOKE = {{"N": 2}}\nLAST = 1\n', encoding="utf-8")
    assert shown_source(path) == f"# one{end}line\nN = 4\nLAST = 1"


def test_a_problem_that_cannot_be_shown(tmp_path: Path) -> None:
    path = tmp_path / "001_x.py"
    path.write_text("def (")
    with pytest.raises(UsageError, match=r"001_x\.py cannot be shown"):
        build_prompt(Problem(path, 1, 1, "x"), PromptOptions())


def test_an_own_template_replaces_ours(problem: Problem, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "intro.md").write_text("Be quick, for $$5.\n")
    text = build_prompt(problem, PromptOptions(templates=str(folder))).text
    assert text.startswith("Be quick, for $5.\n\nWrite the kernels in CUDA")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("introduction.md", "x", r"introduction\.md replaces nothing: .*intro\.md"),
        ("problem.md", "${src}", r"problem\.md: \$\{src\} is unknown here; .*\$\{source\}"),
        ("intro.md", "costs $ 5", r"intro\.md: .*a dollar sign of its own is written \$\$"),
    ],
)
def test_templates_that_are_wrong(
    problem: Problem, tmp_path: Path, name: str, content: str, says: str
) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / name).write_text(content)
    with pytest.raises(UsageError, match=says):
        build_prompt(problem, PromptOptions(templates=str(folder)))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"backend": "cobol"}, "no backend 'cobol'; there are cpp, cuda"),
        ({"precision": "fp8"}, "no precision 'fp8'; there are fp32"),
        ({"examples": "some"}, "no examples called 'some'; there are none, one, few"),
        ({"examples": "few", "backend": "cpp"}, "no example 'gelu' in cpp: .* none or one"),
        ({"hardware": "H900"}, "no figures of a device called 'H900' are known; known: B300, B200"),
        ({"templates": "/nowhere"}, "no folder /nowhere"),
    ],
)
def test_options_that_are_wrong(options: dict[str, str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        PromptOptions(**options)


def test_all_texts_can_be_replaced() -> None:
    own = Path(hardware.__file__).with_name("templates")
    assert Texts(own).folder == own


# Hardware


@pytest.mark.parametrize("device", hardware.table(), ids=lambda device: device.name)
def test_figures_are_whole_and_plausible(device: Hardware) -> None:
    assert device.source
    assert device.vendor in ("nvidia", "amd")
    assert device.memory_gb > 8
    assert device.bandwidth_gb_s >= 300
    assert device.units >= 40 or "names neither SMs nor L2" in device.source
    assert 0 < device.block_kb <= device.shared_kb
    assert device.registers_kb >= 256
    assert device.l2_mb > 0 or not device.units
    rates = device.tflops
    assert rates["fp16"] > rates["fp32"]
    if "fp8" in rates:
        assert rates["fp8"] == pytest.approx(2 * rates["fp16"], rel=0.02)
    if "tf32" in rates:
        assert rates["fp16"] == pytest.approx(2 * rates["tf32"], rel=0.05)  # data sheets round


def test_the_table_covers_both_makers() -> None:
    names = {each.also[0] for each in hardware.table()}
    assert {"H200", "H100", "B200", "A100", "L40S", "MI300X", "MI355X"} <= names
    every = [name for each in hardware.table() for name in (each.name, *each.also)]
    assert len(every) == len(set(every))


@pytest.mark.parametrize("name", ["h200", "NVIDIA H200", "nvidia h200 sxm", "H200"])
def test_names_of_one_device(name: str) -> None:
    assert find_hardware(name).name == "NVIDIA H200 SXM"


READ = {
    "name": "NVIDIA H200",
    "multi_processor_count": 132,
    "warp_size": 32,
    "shared_memory_per_multiprocessor": 233472,
    "shared_memory_per_block_optin": 232448,
    "regs_per_multiprocessor": 65536,
    "L2_cache_size": 62914560,
    "major": 9,
    "minor": 0,
    "total_memory": 150_000_000_000,
    "memory_clock_rate": None,
    "memory_bus_width": None,
    "gcnArchName": None,
}


def test_what_the_device_says_goes_before_the_table() -> None:
    read = from_properties(READ)
    assert read.l2_mb == 60.0
    assert read.block_kb == 227
    assert read.tflops["bf16"] == 989
    assert read.source.startswith("torch's device properties and NVIDIA H200 data sheet")


def test_a_device_that_is_not_in_the_table() -> None:
    read = from_properties(
        READ | {"name": "NVIDIA X1", "memory_clock_rate": 2_619_000, "memory_bus_width": 5120}
    )
    assert read.target == "sm_90"
    assert read.bandwidth_gb_s == pytest.approx(3352, abs=1)
    assert read.memory_gb == 150
    assert not any(line.startswith("Peak") for line in read.lines())
    amd = from_properties(
        READ | {"name": "AMD X2", "gcnArchName": "gfx942:sramecc+", "warp_size": 64}
    )
    assert (amd.vendor, amd.target) == ("amd", "gfx942")
    assert "CUs: 132, wavefront of 64 threads" in list(amd.lines())


def test_a_torch_of_the_current_folder_does_not_describe_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, installed = tmp_path / "here", tmp_path / "installed"
    for folder in (here, installed):
        folder.mkdir()
    (here / "torch.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    (installed / "torch.py").write_text(
        "from types import SimpleNamespace\n"
        f"read = SimpleNamespace(**{READ!r})\n"
        "cuda = SimpleNamespace(get_device_properties=lambda _: read)\n"
    )
    monkeypatch.chdir(here)
    monkeypatch.setenv("PYTHONPATH", str(installed))
    assert read_device() == from_properties(READ)
    assert not (here / "ran").exists()


def test_a_device_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("raise OSError('the driver is gone')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(MachineError, match="the driver is gone; name it with --hardware NAME"):
        read_device()


def test_here_without_a_gpu_is_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert describe("here") == describe_processor()
    assert any(line.startswith("Cores: ") for line in describe("here"))


# Examples


def test_every_example_has_its_parts() -> None:
    for which in SETS:
        for backend in ("cuda", "triton", "hip"):
            for example in examples(which, backend):
                assert example.title
                text = example.answer.read_text()
                answer = extract(f"```python\n{text}```")
                assert isinstance(answer, Code)
                assert answer.entry.name == "ModelNew"
    assert len(examples("few", "cuda")) == 3
    assert len(list(FOLDER.glob("*/with_*.py"))) == 9
