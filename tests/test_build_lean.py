"""What of torch's headers a source needs, and how compile commands are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.build import lean, standins
from pytest_kernelbench.build.driver import compiled_source, flags_key, host_flags

if TYPE_CHECKING:
    from pathlib import Path

TORCH = "#include <torch/extension.h>\n"
HEADERS = {
    "ATen/ops/relu.h": "relu",
    "ATen/ops/empty_like.h": "empty_like",
    "ATen/ops/cat.h": "Tensor cat(const at::ITensorListRef & tensors)",
    "ATen/Dispatch.h": "dispatch",
    "ATen/Parallel.h": "parallel",
}
FACTORIES = {"empty_like": "inline at::Tensor empty_like() {}", "zeros": "inline zeros"}


def selected(text: str) -> str:
    return lean.selected_header(text, lambda name: HEADERS.get(name, ""), FACTORIES)


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        (TORCH + "torch::Tensor f(torch::Tensor x) { return torch::empty_like(x); }", True),
        ("#include <ATen/ATen.h>\n", True),
        ("#include <pybind11/pybind11.h>\nvoid f();", False),
        ("__global__ void k(float* x) {}", False),
        (TORCH + "struct Net : torch::nn::Module {};", False),
        (TORCH + "class F : public torch::autograd::Function<F> {};", False),
        ("#include <torch/script.h>\n", False),
        (TORCH + "THPVariable_Wrap(x);", False),
    ],
)
def test_worth_trying(text: str, *, worth: bool) -> None:
    assert lean.worth_trying(text) is worth


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("at::relu(x)", "#include <ATen/ops/relu.h>"),
        ("torch::relu_(x)", "#include <ATen/ops/relu.h>"),
        ("at::relu_out(y, x)", "#include <ATen/ops/relu.h>"),
        ("using namespace torch; auto y = relu(x);", "#include <ATen/ops/relu.h>"),
        ("torch::cat({a, b})", "#include <ATen/core/IListRef.h>"),
        ("AT_DISPATCH_FLOATING_TYPES(t, n, f)", "#include <ATen/Dispatch.h>"),
        ("at::parallel_for(0, n, 1, f)", "#include <ATen/Parallel.h>"),
        ("torch::empty_like(x)", "inline at::Tensor empty_like() {}"),
        ("torch::empty_like(x)", "#include <ATen/ops/empty_like.h>"),
        ("PYBIND11_MODULE(x, m) {}", "#include <torch/csrc/utils/pybind.h>"),
        ("at::globalContext()", "#define KERNELBENCH_WHOLE"),
        ("thrust::complex<float> z;", "#define KERNELBENCH_COMPLEX"),
        ("AT_DISPATCH_COMPLEX_TYPES(t, n, f)", "#define KERNELBENCH_COMPLEX"),
        ("cublasSgemm(h)", "#define KERNELBENCH_CUDA_LIBRARIES"),
    ],
)
def test_what_a_word_asks_for(text: str, line: str) -> None:
    assert line in selected(TORCH + text).splitlines()
    assert line not in selected(TORCH).splitlines()


def test_operators_without_their_namespace_are_not_taken_for_functions() -> None:
    assert "ATen/ops/relu.h" not in selected(TORCH + "x.relu(); int relu(int);")


def test_whole_text_follows_includes_in_quotes_once(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "a.cu").write_text('#include "b.cuh"\n#include "c.h"\nint a;')
    (tmp_path / "b.cuh").write_text('#include "a.cu"\nint b;')
    (tmp_path / "inc" / "c.h").write_text("int c;")
    text = lean.whole_text(str(tmp_path / "a.cu"), [str(tmp_path / "inc")])
    assert text.count("int a;") == text.count("int b;") == text.count("int c;") == 1


def test_factories_are_cut_out_with_all_their_overloads() -> None:
    text = (
        "namespace torch {\n"
        "inline at::Tensor full(int a) {\n  return autograd::make_variable(at::full(a));\n}\n"
        "inline at::Tensor full(\n    int a,\n    int b) {\n  if (a) {\n    b;\n  }\n}\n"
        "inline int other() {\n}\n}"
    )
    cut = dict(standins._factories(text))
    assert set(cut) == {"full"}
    assert cut["full"].count("inline at::Tensor full(") == 2
    assert "autograd" not in cut["full"]


def test_cuda_context_stands_without_the_library_headers() -> None:
    text = "#include <cusparse.h>\n#include <cuda_runtime_api.h>\ncublasHandle_t get();\n"
    text += "int warp_size();"
    light = standins._CUDA_LIBRARY.sub("", text)
    assert light.split() == ["#include", "<cuda_runtime_api.h>", "int", "warp_size();"]


@pytest.mark.parametrize(
    ("command", "source"),
    [
        ("-MMD -MF main.o.d -fPIC -c /a/main.cpp -o main.o", "/a/main.cpp"),
        ("-O3 -c cuda.cu -o cuda.cuda.o", "cuda.cu"),
        ("main.o cuda.cuda.o -shared -o x.so", ""),
        ("-v", ""),
        ("-c a.cpp b.cpp", ""),
        ("-E a.cpp", ""),
    ],
)
def test_compiled_source(command: str, source: str) -> None:
    assert compiled_source(command.split()) == source


def test_host_flags_are_those_that_a_precompiled_header_depends_on() -> None:
    command = (
        "-MMD -MF main.o.d -DTORCH_EXTENSION_NAME=x -I /a -I/b -isystem /t -Wall -fPIC -std=c++20 "
        "-O3 -march=native -c /a/main.cpp -o main.o"
    )
    assert host_flags(command.split()) == ["-fPIC", "-std=c++20", "-O3", "-march=native"]


def test_flags_have_different_names() -> None:
    assert flags_key(["-O3", "-fPIC"]) != flags_key(["-O2", "-fPIC"])
    assert flags_key(["-O3 -fPIC"]) != flags_key(["-O3", "-fPIC"])
