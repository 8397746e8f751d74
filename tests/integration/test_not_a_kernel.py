"""Solutions with no kernel of their own are flagged, and no others: on the CPU, judged for real."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from judged import Judge, judging

from pytest_kernelbench.build.builder import Builder
from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.judge import host_trial, wire
from pytest_kernelbench.judge.profiles import profile_of
from pytest_kernelbench.judge.rejection import Rejected
from pytest_kernelbench.selftest.table import CORPUS
from pytest_kernelbench.verdict import Status, Verdict

PROBLEM = """
import torch
from torch import nn

ROWS, COLS, OUT = {rows}, {cols}, 512


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        return {body}


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return [COLS]
"""

HEAD = """
import ctypes
from pathlib import Path

import torch
from torch import nn
{imports}


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))
        {init}

    def forward(self, x):
        {forward}
"""

C_SOURCE = r"""
#include <Python.h>

void bias_relu(const float *x, const float *b, float *y, long rows, long cols) {
    for (long r = 0; r < rows; r++)
        for (long c = 0; c < cols; c++) {
            float v = x[r * cols + c] + b[c];
            y[r * cols + c] = v > 0 ? v : 0;
        }
}

static PyObject *call(PyObject *self, PyObject *args) {
    unsigned long long x, b, y;
    long rows, cols;
    if (!PyArg_ParseTuple(args, "KKKll", &x, &b, &y, &rows, &cols)) return NULL;
    bias_relu((const float *)x, (const float *)b, (float *)y, rows, cols);
    Py_RETURN_NONE;
}

static PyObject *nothing(PyObject *self, PyObject *args) { Py_RETURN_NONE; }

static PyMethodDef methods[] = {
    {"bias_relu", call, METH_VARARGS, ""}, {"nothing", nothing, METH_NOARGS, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "fast", "", -1, methods};
PyMODINIT_FUNC PyInit_fast(void) { return PyModule_Create(&module); }
"""

POINTERS = "x.data_ptr(), self.bias.data_ptr(), y.data_ptr(), *x.shape"
OWN_CALL = f"y = torch.empty_like(x); fast.bias_relu({POINTERS}); return y"
DECOY = "fast.nothing(); return torch.relu(x + self.bias)"
LIBRARY = 'self.fast = ctypes.CDLL(str(Path(__file__).parent / "fast.so"))'
VIA_CTYPES = (
    "f = self.fast.bias_relu; y = torch.empty_like(x); p = ctypes.c_void_p; "
    "f(p(x.data_ptr()), p(self.bias.data_ptr()), p(y.data_ptr()), "
    "ctypes.c_long(x.shape[0]), ctypes.c_long(x.shape[1])); return y"
)

TRITON = """
import triton
import triton.language as tl

@triton.jit
def _bias_relu(x, b, y, cols, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    m = c < cols
    v = tl.load(x + row * cols + c, mask=m) + tl.load(b + c, mask=m)
    tl.store(y + row * cols + c, tl.maximum(v, 0.0), mask=m)
"""
LAUNCH = (
    "y = torch.empty_like(x); "
    "_bias_relu[(x.shape[0],)](x, self.bias, y, x.shape[1], B=128); return y"
)
COPY = "return torch.relu(x + self.bias)"
NUMPY = "return torch.from_numpy(np.maximum(x.numpy() + self.bias.detach().numpy(), 0))"
THREADS = (
    "halves = list(self.pool.map(lambda h: torch.relu(h + self.bias), x.chunk(2))); "
    "return torch.cat(halves)"
)


class Bench:
    """Solutions to ``relu(x + bias)``, each in its own folder, with ``fast.so`` if there is one."""

    def __init__(self, folder: Path, judge: Judge) -> None:
        self.folder = folder
        self.judge = judge
        self.problems = {
            name: self._write(
                f"{name}.py", PROBLEM.format(rows=rows, cols=cols, body="torch.relu(x + self.bias)")
            )
            for name, rows, cols in (("small", 8, 32), ("large", 512, 1024))
        }
        self.extension: Path | None = None

    def _write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def solution(self, name: str, forward: str, imports: str = "", init: str = "pass") -> Path:
        text = HEAD.format(imports=imports, init=init, forward=forward)
        path = self._write(f"{name}/solution.py", text)
        if self.extension is not None:
            shutil.copy(self.extension, path.parent)
        return path

    def __call__(self, size: str, forward: str, imports: str = "", init: str = "pass") -> Verdict:
        path = self.solution(f"s{abs(hash((forward, imports, init)))}", forward, imports, init)
        return self.judge(self.problems[size], path)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with judging(tmp_path_factory.mktemp("judge"), seeds=1) as judge:
        yield Bench(tmp_path_factory.mktemp("pairs"), judge)


@pytest.fixture(scope="module")
def compiled(bench: Bench) -> Bench:
    """The same with an extension module that has one true kernel and one that does nothing."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    include = Path(sysconfig.get_paths()["include"])
    if compiler is None or not (include / "Python.h").is_file():
        pytest.skip("needs a C compiler and Python's headers")
    source = bench.folder / "fast.c"
    source.write_text(C_SOURCE, encoding="utf-8")
    bench.extension = bench.folder / "fast.so"
    command = [compiler, "-O2", "-shared", "-fPIC", f"-I{include}", source, "-o", bench.extension]
    subprocess.run(command, check=True)
    return bench


@pytest.mark.parametrize(
    ("forward", "imports", "init", "seen"),
    [
        (COPY, "", "pass", "aten::add"),
        ('return getattr(torch.ops, "at" + "en").relu(x + self.bias)', "", "pass", "aten::relu"),
        (NUMPY, "import numpy as np", "pass", "outside operators"),
        (
            THREADS,
            "from concurrent.futures import ThreadPoolExecutor",
            "self.pool = ThreadPoolExecutor(2)",
            "aten::add",
        ),
    ],
    ids=["copy", "hidden", "numpy", "threads"],
)
def test_the_library_alone_is_flagged(
    bench: Bench, forward: str, imports: str, init: str, seen: str
) -> None:
    # Small: most of the time is Python's.
    verdict = bench("small", forward, imports, init)
    assert verdict.status is Status.NOT_A_KERNEL, (verdict.reasons, verdict.detail)
    assert verdict.agreed
    assert seen in verdict.kernels
    assert "no compiled code of its own ran" in verdict.reasons[0]
    assert sum(verdict.kernels.values()) == pytest.approx(1, abs=0.01)


def test_a_copy_is_flagged_where_operators_take_the_time(bench: Bench) -> None:
    verdict = bench("large", COPY)
    assert verdict.status is Status.NOT_A_KERNEL, (verdict.reasons, verdict.detail)
    assert verdict.kernels["aten::add"] > 0.01


def test_inheriting_the_model_is_flagged(bench: Bench) -> None:
    path = bench.folder / "inherit.py"
    model = bench.problems["small"].read_text(encoding="utf-8")
    path.write_text(f"{model}\n\nclass ModelNew(Model):\n    pass\n", encoding="utf-8")
    assert bench.judge(bench.problems["small"], path).status is Status.NOT_A_KERNEL


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize(
    ("forward", "imports", "init", "seen"),
    [
        (OWN_CALL, "import fast", "pass", "bias_relu"),
        (VIA_CTYPES, "", LIBRARY, "outside operators"),
    ],
    ids=["extension", "ctypes"],
)
def test_compiled_code_of_its_own_is_not(
    compiled: Bench, size: str, forward: str, imports: str, init: str, seen: str
) -> None:
    verdict = compiled(size, forward, imports, init)
    assert verdict.status is Status.RIGHT, (verdict.reasons, verdict.kernels, verdict.detail)
    assert verdict.kernels[seen] > (0.5 if size == "large" else 0.02)


def test_a_decoy_is_flagged_where_it_can_be_told(
    compiled: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_trial, "others_share", lambda *_: 0.0)  # else it is not told
    verdict = compiled("large", DECOY, "import fast")
    assert verdict.status is Status.NOT_A_KERNEL, (verdict.kernels, verdict.detail)
    assert verdict.reasons[0].startswith("only library kernels ran: aten::")
    assert "nothing" in verdict.reasons[0]


def test_the_library_for_a_part_is_told(compiled: Bench) -> None:
    forward = f"x = torch.tanh(x) * 0 + x; {OWN_CALL}"
    verdict = compiled("large", forward, "import fast")
    assert verdict.status is Status.RIGHT, (verdict.reasons, verdict.kernels)
    assert any("of operator time in library kernels: aten::" in note for note in verdict.notes)


def test_a_triton_kernel_is_not_flagged(bench: Bench) -> None:
    pytest.importorskip("triton")
    verdict = bench("small", LAUNCH, TRITON)
    assert verdict.status is Status.RIGHT, (verdict.reasons, verdict.kernels, verdict.detail)
    assert next(iter(verdict.kernels)) == "_bias_relu"


@pytest.mark.parametrize("failing", ["os._exit(3)", "exec('raise RuntimeError')"])
def test_failing_where_one_looks_is_flagged(bench: Bench, failing: str) -> None:
    forward = f"import os, sys; {failing} if sys.getprofile() else 0; " + COPY
    verdict = bench("small", forward)
    assert verdict.status is Status.NOT_A_KERNEL
    assert verdict.agreed
    assert verdict.reasons[0].startswith("it fails where one looks which kernels run: ")


class _Mute:
    """A trial whose contender says nothing under the profiler."""

    def profile(self) -> wire.Profiled:
        raise Rejected(Status.TIMED_OUT, "gave no answer")


def test_a_profile_that_takes_too_long_is_a_note() -> None:
    profiled = profile_of(_Mute())  # type: ignore[arg-type]
    assert profiled.note == "gave no answer"
    assert not profiled.refused


@pytest.mark.slow
def test_torch_compile_is_flagged(bench: Bench) -> None:
    if shutil.which("c++") is None:
        pytest.skip("needs a C++ compiler")
    init = "self.fn = torch.compile(lambda x, b: torch.relu(x + b))"
    bench.judge.referee.settings = replace(bench.judge.referee.settings, timeout_s=240.0)
    bench.judge.referee.discard_bench()
    verdict = bench("large", "return self.fn(x, self.bias)", init=init)
    assert verdict.status is Status.NOT_A_KERNEL, (verdict.reasons, verdict.detail)
    assert "torch.compile" in verdict.kernels, "before or after what lies outside of operators"


@pytest.mark.slow
def test_an_extension_by_pybind_is_not_flagged(bench: Bench) -> None:
    if shutil.which("c++") is None:
        pytest.skip("needs a C++ compiler")
    root = Path(__file__).parents[2]
    verdict = built(
        bench,
        root / "problems" / "level1" / "025_swish.py",
        root / "solutions" / "cpp" / "level1" / "025_swish.py",
    )
    assert verdict.status is Status.RIGHT, (verdict.reasons, verdict.kernels, verdict.detail)


@pytest.mark.slow
def test_who_switches_the_profiler_off_is_flagged(bench: Bench) -> None:
    if shutil.which("c++") is None:
        pytest.skip("needs a C++ compiler")
    verdict = built(
        bench, CORPUS / "problems" / "softmax.py", CORPUS / "notkernel_silent_profiler.py"
    )
    assert verdict.status is Status.NOT_A_KERNEL, (verdict.reasons, verdict.kernels)
    assert "switches torch's profiler off" in verdict.reasons[0]


def built(bench: Bench, problem: Path, solution: Path) -> Verdict:
    """Build and judge a pair."""
    referee = bench.judge.referee
    builder = Builder(referee.settings, None)
    try:
        extension = builder.build(solution, "ModelNew")
        pair = Pair(Problem(problem, 1, 1, problem.stem), Solution(solution, "cpp"))
        return referee.judge(pair, extension)
    finally:
        builder.close()
