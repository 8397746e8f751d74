"""Real compiles with torch's headers: the lean way, the fall-back, the reported cases."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from pytest_kernelbench.build.builder import Builder
from pytest_kernelbench.build.extension import Extension
from pytest_kernelbench.build.toolchain import find_toolchain
from pytest_kernelbench.errors import BuildError
from pytest_kernelbench.settings import Settings

pytestmark = pytest.mark.slow
Made = dict[str, Future[Extension]]
USUAL = ("08_max_pool2d", "12_concat_scale")
SOURCES = Path(__file__).parents[1] / "benchmarks" / "build_sources"
REPORTS = Path(__file__).parent / "data" / "cases" / "reports"
TOOLS = find_toolchain(os.environ)
needs_compiler = pytest.mark.skipif(not TOOLS.cxx, reason="no C++ compiler")
needs_nvcc = pytest.mark.skipif(not TOOLS.nvcc, reason="no nvcc")
ADD = """\
import torch
from torch.utils.cpp_extension import load_inline
source = "torch::Tensor f(torch::Tensor a, torch::Tensor b) { return a OP b; }"
ext = load_inline("fused_op", source, functions=["f"], verbose=False)
class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return ext.f(a, b)
"""
NEEDS_THE_WHOLE = ADD.replace(
    "torch::Tensor f(",
    "struct N : torch:: /* */ nn::Module {}; torch::Tensor f(",
)
"""The comment hides it from who looks through the text for what the lean headers lack."""
GELU = r"""
#include <torch/types.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

template <typename scalar_t>
__global__ void gelu_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, int64_t n) {
    int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = static_cast<float>(x[i]);
        y[i] = static_cast<scalar_t>(0.5f * v * (1.0f + erff(v * 0.70710678f)));
    }
}

torch::Tensor gelu(torch::Tensor x) {
    const at::cuda::OptionalCUDAGuard guard(x.device());
    auto y = torch::empty_like(x);
    const dim3 blocks((x.numel() + 255) / 256);
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "gelu", ([&] {
        gelu_kernel<scalar_t><<<blocks, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
            x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel());
    }));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""
DEVICE_CODE = f"""\
import os
os.environ["PYTEST_KERNELBENCH_PLAIN"] = "WHETHER"
import torch
from torch.utils.cpp_extension import load
with open("gelu.cu", "w") as file:
    file.write({GELU!r})
load("gelu", ["gelu.cu"], extra_cuda_cflags=["-O3", "--use_fast_math"], is_python_module=False)
class ModelNew(torch.nn.Module):
    pass
"""
"""Device code alone: it is what is compared, and bindings read torch's headers once more."""
REPLAY = """\
import importlib.util, json, sys
from pathlib import Path
from pytest_kernelbench.build import replay
replay.install(Path(sys.argv[1]))
import torch
spec = importlib.util.spec_from_file_location("solution", sys.argv[2])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(json.dumps(module.ModelNew()(torch.tensor([2.0]), torch.tensor([5.0])).tolist()))
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for the module, so that precompiled headers serve all tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def made(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """What several tests look at, built at once: a compiler for each processor all the while."""
    texts = {
        "needs the whole": NEEDS_THE_WHOLE.replace("OP", "+"),
        "wrong": ADD.replace("a OP b", "a + nope"),
    }
    if TOOLS.nvcc:
        device = {
            "device code, plain": DEVICE_CODE.replace("WHETHER", "1"),
            "device code": DEVICE_CODE.replace("WHETHER", ""),
        }
        usual = {name: (SOURCES / f"{name}.py").read_text() for name in USUAL}
        texts = device | texts | usual  # the longest first
    folder = tmp_path_factory.mktemp("made")
    paths = {name: folder / f"{name.replace(' ', '_')}.py" for name in texts}
    for name, path in paths.items():
        path.write_text(texts[name])
    builder = Builder(Settings(cache_dir=cache), arch="9.0")
    with pytest.MonkeyPatch.context() as patched:
        # A header takes longer than it would spare these few; one is made by the test about it.
        patched.setattr(builder._precompiled, "consider", lambda *_: None)
        builds = builder.ahead((path, "ModelNew") for path in paths.values())
        yield dict(zip(paths, builds, strict=True))
        builder.close()


def run_replay(folder: Path, solution: Path) -> Any:
    """What a contender gets that compiles nothing: there is no compiler on its PATH."""
    environment = {"PATH": "/nowhere", "HOME": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", REPLAY, str(folder), str(solution)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def tool_logs(folder: Path) -> str:
    return "\n".join(path.read_text() for path in sorted((folder / "tools").glob("*.log")))


def copy(source: Path, folder: Path, name: str | None = None) -> Path:
    target = folder / (name or source.name)
    target.write_bytes(source.read_bytes())
    return target


@needs_compiler
def test_one_name_and_two_sources_and_two_sessions_at_once(cache: Path, tmp_path: Path) -> None:
    """B2 and P1: every copy gets its own kernel, like sources are built once."""
    paths = {}
    for name in ("add", "mul"):
        text = (REPORTS / f"B2-same-extension-name/solution_{name}.py").read_text()
        for n in range(3):
            paths[name, n] = tmp_path / f"{name}_{n}.py"
            paths[name, n].write_text(text)
    sessions = [Builder(Settings(cache_dir=cache)) for _ in range(2)]
    for session in sessions:
        session.ahead((path, "ModelNew") for path in paths.values())
    made = {key: sessions[1].build(path) for key, path in paths.items()}
    also = {key: sessions[0].build(path) for key, path in paths.items()}
    for session in sessions:
        session.close()
    for name, expected in (("add", [7.0]), ("mul", [10.0])):
        folders = {made[name, n].folder for n in range(3)} | {
            also[name, n].folder for n in range(3)
        }
        assert len(folders) == 1
        assert run_replay(*folders, paths[name, 0]) == expected
    built = [e for e in (*made.values(), *also.values()) if not e.cached]
    assert len(built) == 2
    assert all("# lean" in tool_logs(extension.folder) for extension in built)


@needs_compiler
def test_lock_that_a_killed_build_left_blocks_nobody(
    cache: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    """B1: and neither does one in the folder that the user named."""
    place = tmp_path / "torch_extensions" / "stale_lock_ext"
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(place.parent))
    subprocess.run(["/bin/sh", REPORTS / "B1-stale-lock" / "make_stale_lock.sh"], check=True)
    assert (place / "lock").is_file()
    solution = copy(REPORTS / "B1-stale-lock" / "solution.py", tmp_path)
    builder = Builder(Settings(cache_dir=cache, build_timeout_s=300))
    extension = builder.build(solution)
    builder.close()
    assert run_replay(extension.folder, solution) == [7.0]
    assert list(place.iterdir()) == [place / "lock"]


@needs_compiler
def test_ninja_that_lies_in_the_environment_alone_is_found(
    cache: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    """B5: a PATH with a compiler and without ninja."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("g++", "gcc", "c++", "cc", "ld", "as", "sh", "uname", "env"):
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(tools))
    assert shutil.which("ninja") is None
    solution = copy(REPORTS / "B5-ninja-not-on-path" / "solution.py", tmp_path)
    builder = Builder(Settings(cache_dir=cache))
    extension = builder.build(solution)
    builder.close()
    assert run_replay(extension.folder, solution) == [7.0]


@needs_compiler
def test_what_the_lean_headers_lack_is_built_with_the_whole(made: Made, tmp_path: Path) -> None:
    extension = made["needs the whole"].result()
    assert "# plain, after the lean headers did not do" in tool_logs(extension.folder)
    solution = tmp_path / "s.py"
    solution.write_text(NEEDS_THE_WHOLE.replace("OP", "+"))
    assert run_replay(extension.folder, solution) == [7.0]


@needs_compiler
def test_the_error_shown_is_that_of_the_plain_build(made: Made) -> None:
    with pytest.raises(BuildError) as caught:
        made["wrong"].result()
    assert str(caught.value).splitlines()[0].startswith("main.cpp:2: ")
    assert "nope" in str(caught.value).splitlines()[0]
    assert "# plain" in tool_logs(Path(caught.value.log).parent)


@needs_nvcc
def test_device_code_is_that_of_the_plain_build(made: Made) -> None:
    from triton.backends.nvidia import driver

    cuobjdump = Path(driver.__file__).parent / "bin" / "cuobjdump"
    extension, reference = made["device code"].result(), made["device code, plain"].result()
    assert "# lean" in tool_logs(extension.folder)
    assert "# lean" not in tool_logs(reference.folder)
    assert "sm_90" in tool_logs(extension.folder)
    dumps = [
        subprocess.run(
            [cuobjdump, "-sass", next(e.folder.glob("calls/*/*.so"))],
            capture_output=True,
            check=True,
        ).stdout
        for e in (extension, reference)
    ]
    code = [dump[dump.index(b"Function :") :] for dump in dumps]
    assert code[0] == code[1]
    assert b"MUFU" in code[0] or b"FMUL" in code[0]


@needs_nvcc
@pytest.mark.parametrize("name", USUAL)
def test_usual_sources_need_no_fall_back(made: Made, name: str) -> None:
    logs = tool_logs(made[name].result().folder)
    assert logs.count("# lean") == 2
    assert "# plain" not in logs


@needs_compiler
def test_a_precompiled_header_is_made_and_used(cache: Path, tmp_path: Path) -> None:
    builder = Builder(Settings(cache_dir=cache))
    flags = ("-fPIC", "-std=c++20", "-O1")
    assert builder._precompiled.make(flags)
    assert not builder._precompiled.make(flags)
    solution = tmp_path / "s.py"
    flags_given = 'extra_cflags=["-O1", "-Winvalid-pch"]'
    solution.write_text(ADD.replace("OP", "/").replace("verbose=False", flags_given))
    extension = builder.build(solution)
    builder.close()
    logs = tool_logs(extension.folder)
    assert "# lean, precompiled" in logs
    assert "not used because" not in logs
    assert run_replay(extension.folder, solution) == [0.4000000059604645]
