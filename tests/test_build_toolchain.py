"""Which tools are found, and what a build child sees of the user's environment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.build.environment import ccache_environment, child_environment, passed_on
from pytest_kernelbench.build.toolchain import find_toolchain, search_path

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def toolkits(tmp_path: Path) -> tuple[Path, Path]:
    """Two CUDA toolkits, each with an nvcc that says its version."""
    homes = []
    for version, archs in (("12.4", "sm_80 sm_90"), ("13.0", "sm_90 sm_120")):
        nvcc = tmp_path / f"cuda-{version}" / "bin" / "nvcc"
        nvcc.parent.mkdir(parents=True)
        home = nvcc.parents[1]
        nvcc.write_text(
            f'#!/bin/sh\ncase "$1" in --version) echo release {version};;'
            f' --list-gpu-code) echo {archs};; --dryrun) echo "#$ TOP={home}/bin/..";; esac\n'
        )
        nvcc.chmod(0o755)
        homes.append(home)
    return homes[0], homes[1]


def test_cuda_home_decides_among_several_toolkits(toolkits: tuple[Path, Path]) -> None:
    path = os.pathsep.join([str(toolkits[1] / "bin"), os.environ["PATH"]])
    old = find_toolchain({"PATH": path, "CUDA_HOME": str(toolkits[0])})
    new = find_toolchain({"PATH": path})
    assert (old.nvcc, old.cuda_home) == (str(toolkits[0] / "bin" / "nvcc"), str(toolkits[0]))
    assert (new.nvcc, new.cuda_home) == (str(toolkits[1] / "bin" / "nvcc"), str(toolkits[1]))
    assert old.arch_list == ("8.0", "9.0")
    assert old.identity != new.identity


def test_the_usual_architecture_unless_nvcc_does_not_know_it(toolkits: tuple[Path, Path]) -> None:
    tools = find_toolchain({"PATH": os.environ["PATH"], "CUDA_HOME": str(toolkits[1])})
    assert tools.default_arch() == "9.0"
    nvcc = toolkits[1] / "bin" / "nvcc"
    nvcc.write_text(nvcc.read_text().replace("sm_90 sm_120", "sm_120 sm_75"))
    tools = find_toolchain({"PATH": os.environ["PATH"], "CUDA_HOME": str(toolkits[1])})
    assert tools.default_arch() == "12.0"


def test_ninja_is_found_though_path_does_not_name_it(tmp_path: Path) -> None:
    tools = find_toolchain({"PATH": str(tmp_path)})
    assert tools.ninja.endswith("/ninja")


def test_a_file_called_torch_is_not_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may lie beside solutions, in a folder that PYTHONPATH names."""
    (tmp_path / "torch.py").write_text("raise SystemExit\n")
    real = find_toolchain(os.environ)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert find_toolchain(os.environ).torch_folder == real.torch_folder


def test_search_path_ends_with_that_of_the_user() -> None:
    assert search_path({"PATH": "/one:/two"}).endswith(f"{os.pathsep}/one{os.pathsep}/two")


def test_where_nothing_is_everything_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_kernelbench.build.toolchain.search_path", lambda _: str(tmp_path))
    monkeypatch.setattr("pytest_kernelbench.build.toolchain._USUAL_CUDA", str(tmp_path))
    tools = find_toolchain({})
    assert tools.missing == ("ninja", "c++", "nvcc")
    assert tools.torch_version


def test_a_child_sees_no_device_no_home_and_no_secrets(tmp_path: Path) -> None:
    env = {"PATH": "/usr/bin", "HOME": "/home/me", "TOKEN": "secret", "CPATH": "/inc", "CC": "gcc"}
    passed = passed_on(find_toolchain(os.environ), tmp_path / "wrappers", "9.0")
    seen = child_environment(env, tmp_path, passed, 2)
    assert seen["CUDA_VISIBLE_DEVICES"] == ""
    assert seen["HOME"] == str(tmp_path / "home")
    assert seen["TMPDIR"] == str(tmp_path / "tmp")
    assert (seen["CPATH"], seen["CC"], seen["MAX_JOBS"]) == ("/inc", "gcc", "2")
    assert "TOKEN" not in seen
    assert seen["PATH"].split(os.pathsep)[0] == str(tmp_path / "wrappers" / "bin")
    assert seen["TORCH_CUDA_ARCH_LIST"] == "9.0"


def test_ccache_is_each_solutions_own(tmp_path: Path) -> None:
    """What one builds with is nothing that another's module body could have written to."""
    solutions = [tmp_path / "ann_1.py", tmp_path / "ann_1.py", tmp_path / "bob_1.py"]
    made = [ccache_environment(tmp_path / "ccache", each, tmp_path) for each in solutions]
    stores = [values["CCACHE_DIR"] for values in made]
    assert stores[0] == stores[1] != stores[2]
    assert all(os.path.isdir(store) for store in stores)  # noqa: PTH112
    assert made[0]["CCACHE_BASEDIR"] == str(tmp_path)
