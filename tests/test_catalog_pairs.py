"""``kb pairs`` shows what answers what, how that was told, and what comes near."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from pytest_kernelbench.catalog.adapters import adapted, describe
from pytest_kernelbench.catalog.claim import Claim
from pytest_kernelbench.catalog.material import Material
from pytest_kernelbench.catalog.near import near, spans
from pytest_kernelbench.catalog.pair import Pair
from pytest_kernelbench.catalog.problems import ProblemCatalog
from pytest_kernelbench.catalog.solutions import Matchmaker, own_adapters
from pytest_kernelbench.catalog.sources import archive
from pytest_kernelbench.cli import main
from pytest_kernelbench.engine.needs import declared_devices, needs_cuda

NEW = "class ModelNew: pass\n"
MODEL = "class Model: pass\ndef get_inputs(): return []\n"


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in (
        "level1/019_relu",
        "level1/020_leaky_relu",
        "level1/021_sigmoid",
        "level2/019_mix",
    ):
        write(tmp_path, f"problems/{name}.py", MODEL)
    return tmp_path


def write(root: Path, name: str, text: str = NEW) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def pairs(*arguments: str) -> int:
    return main(["pairs", *arguments])


def test_a_table(disk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(disk, "runs/gpt/level_1_problem_119_sample_0_kernel.py")
    write(disk, "runs/gpt/level_1_problem_19_sample_10_kernel.py")
    write(disk, "runs/gpt/level_1_problem_19_sample_9_kernel.py")
    write(disk, "runs/gpt/notes.md", "# Notes")
    rows = [{"level": 1, "task_id": 20, "code": NEW}, {"level": 1, "task_id": 21, "code": None}]
    write(disk, "rows.json", json.dumps(rows))
    write(disk, "answers/sigmoyd.md", f"```\n{NEW}```\n")
    assert pairs("runs", "rows.json", "answers") == 1
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    cells = [line.split("  ") for line in lines]
    table = [[cell.strip() for cell in row if cell.strip()] for row in cells]
    assert table[0] == ["file", "format", "problem", "why"]
    assert table[1] == [
        "runs/gpt/level_1_problem_19_sample_9_kernel.py", "KernelBench run", "level1/019_relu",
        "by number; gpt, sample 9",
    ]  # fmt: skip
    assert table[2][0].endswith("sample_10_kernel.py")
    assert table[3][2] == "-"
    assert "there is no problem 1/119; searched: " in table[3][3]
    assert table[4] == ["level 1 has no problem 119: it has 19 to 21"]
    assert table[5][:3] == ["rows.json:1", "archive", "level1/020_leaky_relu"]
    assert table[6] == ["rows.json:2", "archive", "-", "no solution: unanswered"]
    assert table[7][:3] == ["answers/sigmoyd.md", "answer", "-"]
    assert table[8] == ["no problem is called 'sigmoyd'; nearest: level1/021_sigmoid"]
    assert lines[-1].startswith("6 found, 3 paired; searched ")


def test_all_paired(disk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(disk, "solutions/ann/level2/019_mix.py")
    assert pairs("solutions") == 0
    assert "tree of entrants" in capsys.readouterr().out
    write(disk, "kernel.py")
    assert pairs("kernel.py", "--problem", "problems/level1/019_relu.py") == 0
    assert "the only problem that was named; kernel, sample 0" in capsys.readouterr().out


def test_a_folder_and_one_in_it(disk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(disk, "runs/gpt/level_1_problem_19_sample_0_kernel.py")
    assert pairs("runs", "runs/gpt") == 0
    assert "1 found, 1 paired" in capsys.readouterr().out


def test_what_is_not_there(disk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert disk.is_dir()
    assert pairs("nothing") == 2
    assert "there is no such file or folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("claim", "hint"),
    [
        (Claim("a", 1, 119), "\n  level 1 has no problem 119: it has 19 to 21"),
        (Claim("a", 3, 19), "\n  there is no level 3: there are levels 1 to 2"),
        (Claim("a", None, 19), "\n  number 19 is in levels 1 to 2: say which"),
        (Claim("a", 1, 20, "relu"), "\n  'relu' is level1/019_relu"),
        (Claim("a", name="Leaky-ReLUs"), "\n  no problem is called 'Leaky-ReLUs'; nearest: "),
        (Claim("a", name="zzz"), ""),
        (Claim("a"), ""),
    ],
)
def test_near_misses(disk: Path, claim: Claim, hint: str) -> None:
    told = near(claim, ProblemCatalog([disk / "problems"]))
    assert told.startswith(hint)
    assert (told == "") is (hint == "")


def test_without_problems_the_option_is_named(tmp_path: Path) -> None:
    catalog = ProblemCatalog([tmp_path], option="--kb-problems")
    assert near(Claim("a", 1, 19), catalog) == ""
    assert catalog.describe().endswith("; --kb-problems=DIR says where")
    assert "DIR" not in ProblemCatalog([tmp_path]).describe()


def test_why_a_root_has_no_problems(disk: Path) -> None:
    catalog = ProblemCatalog([disk / "nowhere"])
    (disk / "a.md").write_text("text")
    (disk / "a.jsonl").write_text("")
    (disk / "empty").mkdir()
    assert catalog.lack(disk / "problems") == catalog.lack(disk / "a.jsonl") == ""
    assert catalog.lack(disk / "nowhere") == "there is no such folder or file"
    assert catalog.lack(disk / "a.md").startswith("neither a folder nor one of .json, ")
    assert catalog.lack(disk / "empty") == "no problems: files named levelN/NNN_name.py"
    assert catalog.describe() == f"{disk / 'nowhere'} (there is no such folder or file)"


def test_pairs_of_problems_that_are_not_there(
    disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pairs", str(disk), "--problems", str(disk / "nowhere")]) == 2
    told = capsys.readouterr().err
    assert told == f"kb pairs: --problems {disk / 'nowhere'}: there is no such folder or file\n"


def test_spans() -> None:
    assert spans([5, 1, 2, 3, 9, 8]) == "1 to 3, 5, 8 to 9"
    assert spans([]) == "none"


# Adapters

REFERENCE = "class Model: pass\n"
FILES = (("kernel.cu", '__global__ void k() {}\nPYBIND11_MODULE(x, m) { m.def("forward", &f); }'),)


@pytest.mark.parametrize(
    ("files", "entry", "adapter"),
    [
        ((("a.py", "from __future__ import annotations\ndef custom_kernel(d): pass"),),
         "custom_kernel", "custom_kernel"),
        ((("a.py", "def run(x): pass"),), "run", "run"),
        (FILES, "forward", "pybind"),
        ((*FILES, ("kb_functional.py", REFERENCE)), "forward", "fn"),
        ((("m.py", "def f(x, out): pass"),), "m.py::f", "package:destination"),
        ((("m.py", NEW), ("solution.py", "")), "m.py::ModelNew", "package:package"),
        (FILES, "kernel.cu::go", "extension:destination"),
    ],
)  # fmt: skip
def test_adapted(files: tuple[tuple[str, str], ...], entry: str, adapter: str) -> None:
    material = adapted(Material(files), entry, adapter, REFERENCE)
    (main, text), *beside = material.files
    assert main in ("solution.py", "model_new.py")
    names = [name for name, _ in beside]
    assert len({main, *names}) == len(material.files)
    bound = {node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}
    assert "ModelNew" in bound or "ModelNew = " in text
    assert ("kb_reference.py" in names) is (adapter not in ("fn", "package:package"))
    assert describe(entry, adapter).startswith(f"adapter {adapter.rpartition(':')[2]}: ")


def test_an_adapter_keeps_the_lines_of_the_source() -> None:
    source = "def run(x):\n    return x\n"
    text = adapted(Material((("a.py", source),)), "run", "run", REFERENCE).files[0][1]
    assert text.startswith(source)


def test_a_wrapper_says_that_it_needs_cuda(tmp_path: Path) -> None:
    text = adapted(Material(FILES), "forward", "pybind", REFERENCE).files[0][1]
    assert needs_cuda(write(tmp_path, "solution.py", text))
    on_cpu = Material((("kernel.cpp", FILES[0][1].partition("\n")[2]),))
    text = adapted(on_cpu, "forward", "pybind", REFERENCE).files[0][1]
    assert not needs_cuda(write(tmp_path, "solution.py", text))


@pytest.mark.parametrize(
    ("text", "devices"),
    [
        ('DEVICES = ("cpu",)\n', ("cpu",)),
        ("import x\n\nDEVICES: tuple[str, ...] = (\n  'cpu',\n  'cuda',\n)\n", ("cpu", "cuda")),
        ("DEVICES=['cuda']", ("cuda",)),
        ("DEVICES:\nx = ('cpu',)\n", ()),
        (" DEVICES = ('cpu',)\n", ()),
        ("DEVICES = ", ()),
    ],
)  # fmt: skip
def test_devices_are_declared_in_a_line_of_the_file(
    tmp_path: Path, text: str, devices: tuple[str, ...]
) -> None:
    assert declared_devices(write(tmp_path, "solution.py", text)) == devices


def test_the_adapter_is_named_in_the_notes(disk: Path) -> None:
    path = write(disk, "solutions/ann/level1/019_relu.py", "def custom_kernel(data): return data\n")
    maker = Matchmaker(
        ProblemCatalog([disk / "problems"]), own_adapters(("solutions",)), disk / "cache"
    )
    claim = maker.claim(path)
    assert claim is not None
    pair = maker.pair(path, claim)
    assert isinstance(pair, Pair)
    assert pair.solution.entry == "ModelNew"
    assert pair.solution.path.is_relative_to(disk / "cache/sources")
    assert pair.solution.notes == (
        "from 019_relu.py",
        "adapter custom_kernel: custom_kernel() is called with the inputs as one argument",
    )


def test_what_is_defined_again_is_noted(disk: Path) -> None:
    path = write(disk, "solutions/ann/level1/019_relu.py", MODEL + NEW)
    maker = Matchmaker(ProblemCatalog([disk / "problems"]), own_adapters(("solutions",)))
    claim = maker.claim(path)
    assert claim is not None
    pair = maker.pair(path, maker.understood(path, claim))
    assert isinstance(pair, Pair)
    assert pair.solution.path == path
    assert pair.solution.notes == (
        "its own Model, get_inputs are not used: the problem's file decides",
    )


def test_what_a_row_defines_again_is_noted(disk: Path) -> None:
    row = {"level": 1, "problem_id": 19, "code": MODEL + NEW}
    path = write(disk, "rows.jsonl", json.dumps(row))
    maker = Matchmaker(ProblemCatalog([disk / "problems"]), cache=disk / "cache")
    made = archive.pairs(path, maker)["row1"]
    assert made.solution.notes == (
        "from rows.jsonl:1",
        "its own Model, get_inputs are not used: the problem's file decides",
    )


@pytest.mark.parametrize(
    ("name", "problem", "sample"),
    [
        ("relu_v1.py", "level1/019_relu", 1),
        ("ReLU-v12.py", "level1/019_relu", 12),
        ("leaky_relu.py", "level1/020_leaky_relu", 0),
    ],
)
def test_versions_are_tries(disk: Path, name: str, problem: str, sample: int) -> None:
    maker = Matchmaker(
        ProblemCatalog([disk / "problems"]), own_adapters(("solutions",)), disk / "cache"
    )
    path = write(disk, f"flat/{name}")
    claim = maker.claim(path, named=True)
    assert claim is not None
    made = maker.pair(path, claim)
    assert isinstance(made, Pair)
    assert (made.problem.id, made.solution.sample) == (problem, sample)


def test_a_name_of_several_lines_is_refused(disk: Path) -> None:
    path = write(disk, "solutions/ann\n==== 1 passed\x1b[2J/level1/019_relu.py")
    maker = Matchmaker(ProblemCatalog([disk / "problems"]), own_adapters(("solutions",)))
    claim = maker.claim(path)
    assert claim is not None
    refusal = r"ann\x0a==== 1 passed\x1b[2J has control characters in its name: give it another"
    assert maker.pair(path, claim) == refusal
