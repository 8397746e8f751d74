"""Which files beside a solution are its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_kernelbench.catalog import belongings as module
from pytest_kernelbench.catalog import changed
from pytest_kernelbench.catalog.belongings import belongings

ENTRY = "\nclass ModelNew: pass\n"
BINDS = 'PYBIND11_MODULE(x, m) {{ m.def("{}", &f); }}\n'
FORWARD = BINDS.format("forward")
FILES = {
    "k.cpp": BINDS.format("relu"),
    "f.cu": FORWARD,
    "020_gelu.cu": FORWARD,
    "019_relu.cu": FORWARD,
    "020_parts.cu": "",
    "csrc/k.cpp": '#include "k.h"\n',
    "csrc/k.h": '#include <deep/er.cuh>\n#include "../k.cpp"\n',
    "csrc/deep/er.cuh": "",
    "csrc/other.cpp": "",
    "helper.py": "import deeper\ndef run(x): pass\n",
    "deeper.py": "T = open('table.bin')\n",
    "package/__init__.py": "from .inner import f\n",
    "package/inner.py": "def f(): pass\n",
    "package/outer.py": "",
    "table.bin": "ModelOld",
    "020_gelu.py": ENTRY,
    "020_gelu_s2.py": "def run(x): pass\n",
    "variant.py": "def f(): pass\nif f:\n    class ModelNew: pass\n",
    "reference.py": "class Model: pass\n",
    "broken.py": "def (",
    "settings.json": '{"block": 64}',
    "rows.json": '[{"code": "class ModelNew: pass"}]',
    "answer.md": "```python\nclass ModelNew: pass\n```\n",
    "__pycache__/helper.py": "",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "level1"
    for name, text in FILES.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    return home


def own(folder: Path, text: str) -> list[str]:
    solution = folder / "019_relu.py"
    solution.write_text(text + ENTRY)
    return [path.relative_to(folder).as_posix() for path in belongings(solution)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("load('k', ['k.cpp'])", ["k.cpp"]),
        ("load('k', [f'{here}/f.cu'])", ["f.cu"]),
        ("join(here, 'csrc', 'k.cpp')", ["csrc/deep/er.cuh", "csrc/k.cpp", "csrc/k.h", "k.cpp"]),
        ("(here / 'csrc').glob('o*.cpp')", ["csrc/other.cpp"]),
        ("[n for n in listdir('csrc') if n.endswith('.cuh')]", []),
        ("[n for n in listdir('csrc/deep') if n.endswith('.cuh')]", ["csrc/deep/er.cuh"]),
        ("glob(here + '/*.cpp')", ["k.cpp"]),
        ("glob(here + '/*.cu')", ["019_relu.cu", "f.cu"]),
        ("__file__.replace('.py', '.cu')", ["019_relu.cu"]),
        ("f'{kind}.cpp'", ["k.cpp"]),
        ("load_inline('''\n#include \"k.h\"\n''', extra_include_paths=['csrc'])",
         ["csrc/deep/er.cuh", "csrc/k.cpp", "csrc/k.h", "k.cpp"]),
        ("from helper import run", ["deeper.py", "helper.py", "table.bin"]),
        ("import importlib as i\ni.import_module('deeper')", ["deeper.py", "table.bin"]),
        ("import package.inner", ["package/__init__.py", "package/inner.py"]),
        ("open('settings.json')", ["settings.json"]),
    ],
)  # fmt: skip
def test_what_is_named_and_what_that_names(folder: Path, text: str, names: list[str]) -> None:
    assert own(folder, text) == names


@pytest.mark.parametrize(
    "text",
    ["# as in k.cpp", '"""As in k.cpp."""', '"""As in\nk.cpp\n"""', "# import helper", "x = (:"],
)
def test_what_is_spoken_of_is_not_used(folder: Path, text: str) -> None:
    assert own(folder, text) == []


@pytest.mark.parametrize(
    "name",
    ["020_gelu.py", "020_gelu_s2.py", "020_gelu.cu", "variant.py", "reference.py", "broken.py",
     "rows.json", "answer.md", "__pycache__"],
)  # fmt: skip
def test_another_solution_is_nobodys(folder: Path, name: str) -> None:
    assert own(folder, f"open({name!r})\nimport variant, reference, broken") == []


def test_a_link_is_what_it_leads_to(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.bin").write_text("the key")
    for name, target in (("a", "../secret.bin"), ("b", "020_gelu.py"), ("c", "table.bin")):
        (folder / f"{name}.bin").symlink_to(target)
    os.mkfifo(folder / "d.bin")
    assert own(folder, "'a.bin', 'b.bin', 'c.bin', 'd.bin', '../secret.bin'") == ["c.bin"]


def test_there_is_an_end_to_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "k.h").write_text('#include "k.h"\n')
    assert own(folder, "'k.h'") == ["k.h"]
    monkeypatch.setattr(module, "MOST", 2)
    assert len(own(folder, "'k.h', 'k.cpp', 'f.cu'")) == 2


def test_a_file_that_changes_is_read_again(folder: Path) -> None:
    assert "csrc/k.h" in own(folder, "'csrc/k.cpp'")
    source = folder / "csrc/k.cpp"
    source.write_text("")
    os.utime(source, ns=(1, 1))
    assert own(folder, "'csrc/k.cpp' ") == ["csrc/k.cpp", "k.cpp"]


def test_a_branch_that_changes_a_helper_touches_who_imports_it(folder: Path) -> None:
    """``--kb-changed``."""
    own(folder, "import helper")
    for name, touched in (("helper.py", True), ("table.bin", True), ("variant.py", False)):
        assert changed.touches(frozenset({folder / name}), folder / "019_relu.py") is touched
