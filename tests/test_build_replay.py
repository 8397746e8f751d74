"""The contender's stand-ins for ``load`` and ``load_inline``: no torch is needed to hold them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_kernelbench.build import replay


def load_inline(
    name: str,
    cpp_sources: Any,
    cuda_sources: Any = None,
    functions: Any = None,
    extra_cflags: Any = None,
    build_directory: Any = None,
    verbose: bool = False,  # noqa: FBT001, FBT002 - as torch has it
    is_python_module: bool = True,  # noqa: FBT001, FBT002
) -> str:
    del cpp_sources, cuda_sources, functions, extra_cflags, build_directory, verbose
    return f"really built {name} {is_python_module}"


def load(name: str, sources: Any, extra_include_paths: Any = None, verbose: bool = False) -> str:  # noqa: FBT001, FBT002
    del sources, extra_include_paths, verbose
    return f"really built {name}"


def key(*args: Any, folder: str = "/sol", **kwargs: Any) -> str:
    return replay.call_key(load_inline, args, kwargs, folder)


def test_spelling_of_a_call_does_not_matter() -> None:
    positional = key("x", "int a;", None, ["f"])
    assert positional == key(name="x", cpp_sources="int a;", functions=("f",))
    assert positional == key("x", "int a;", functions=["f"], verbose=True, build_directory="/b")


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "y"},
        {"cpp_sources": "int b;"},
        {"cpp_sources": ["int a;"]},
        {"functions": {"f": "doc"}},
        {"functions": ["f", "g"]},
        {"extra_cflags": ["-O3"]},
        {"cuda_sources": ""},
        {"is_python_module": False},
    ],
)
def test_what_changes_the_library_changes_the_key(changed: dict[str, Any]) -> None:
    call = {"name": "x", "cpp_sources": "int a;", "functions": ["f"]}
    assert key(**call) != key(**{**call, **changed})


def test_key_does_not_depend_on_where_the_solution_lies() -> None:
    here = key("x", "a", extra_cflags=["-I/one/place/include"], folder="/one/place")
    there = key("x", "a", extra_cflags=["-I/elsewhere/include"], folder="/elsewhere")
    assert here == there


def test_load_is_known_by_the_contents_of_its_sources(tmp_path: Path) -> None:
    keys = []
    for folder, text in (("a", "int x;"), ("b", "int x;"), ("c", "int y;")):
        (tmp_path / folder).mkdir()
        source = tmp_path / folder / "k.cu"
        source.write_text(text)
        keys.append(replay.call_key(load, ("x", [str(source)]), {}, str(tmp_path / folder)))
    assert keys[0] == keys[1] != keys[2]


def test_arguments_that_do_not_fit_are_left_to_the_real_function() -> None:
    assert replay.call_key(load_inline, (), {"nonsense": 1}, "") == ""


@pytest.fixture
def cpp_extension(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """What ``install`` patches, without torch."""
    module = ModuleType("torch.utils.cpp_extension")
    module.load, module.load_inline = load, load_inline  # type: ignore[attr-defined]
    torch, utils = ModuleType("torch"), ModuleType("torch.utils")
    torch.utils, utils.cpp_extension = utils, module  # type: ignore[attr-defined]
    for name, fake in (("torch", torch), ("torch.utils", utils), (module.__name__, module)):
        monkeypatch.setitem(sys.modules, name, fake)
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.delenv("CUDA_HOME", raising=False)
    return module


def install(folder: Path, calls: dict[str, Any], environment: dict[str, str]) -> None:
    manifest = {"calls": calls, "environment": environment}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    replay.install(folder)


def call_of(name: str, **kwargs: Any) -> str:
    return replay.call_key(load_inline, (name, "src"), kwargs, str(Path(__file__).parent))


def test_a_miss_is_really_built_with_the_same_tools(tmp_path: Path, cpp_extension: Any) -> None:
    install(tmp_path, {}, {"CUDA_HOME": "/cuda", "PATH": "/wrappers"})
    assert cpp_extension.load_inline("x", "src") == "really built x True"
    assert os.environ["CUDA_HOME"] == "/cuda"
    assert os.environ["PATH"] == f"/wrappers{os.pathsep}/usr/bin"
    del os.environ["CUDA_HOME"]


def test_a_program_is_answered_by_its_path(tmp_path: Path, cpp_extension: Any) -> None:
    call = {"name": "x", "library": "calls/x", "kind": "program", "error": ""}
    install(tmp_path, {call_of("x"): call}, {})
    assert cpp_extension.load_inline("x", "src") == str(tmp_path / "calls/x")
    assert cpp_extension.load_inline("x", "other") == "really built x True"


def test_a_call_that_failed_fails_again_in_the_same_words(
    tmp_path: Path, cpp_extension: Any
) -> None:
    call = {"name": "x", "library": "", "kind": "module", "error": "Error building extension 'x'"}
    install(tmp_path, {call_of("x"): call}, {})
    with pytest.raises(RuntimeError, match="Error building extension 'x'"):
        cpp_extension.load_inline("x", "src")
