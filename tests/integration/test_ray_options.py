"""What is asked of a Ray cluster, refused before one is started or when there is none."""

from __future__ import annotations

import builtins
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from pytest_kernelbench import checking
from pytest_kernelbench.engine.choice import make_engine
from pytest_kernelbench.errors import MachineError, UsageError
from pytest_kernelbench.settings import Settings

USAGE = 4
ALL = ["--kb-engine=ray"]


@pytest.fixture
def project(tree):
    tree.problem("level1/019_relu")
    tree.solution("ann/level1/019_relu", "right")
    return tree


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--kb-ray-address=auto"], "--kb-ray-address is about a Ray cluster: give --kb-engine *"),
        (["--kb-gpu=H200"], "--kb-gpu is about a Ray cluster: give --kb-engine ray too"),
        ([*ALL, "--kb-ray-address=somewhere"], "--kb-ray-address: 'somewhere' is neither auto *"),
        ([*ALL, "--kb-ray-address=a:b"], "--kb-ray-address: 'a:b' is neither auto nor HOST:PORT*"),
        ([*ALL, "--kb-device=cuda:1"], "--kb-device cuda:1 names a GPU of this machine, but *"),
        ([*ALL, "--kb-device=cpu", "--kb-gpu=A100"], "--kb-gpu A100 and --kb-device cpu exclude *"),
        ([*ALL, "-n2"], "--kb-engine ray and pytest-xdist's -n exclude each other: *"),
    ],
)
def test_refused(project, monkeypatch, args: list[str], message: str) -> None:
    monkeypatch.setattr(checking, "find_spec", lambda _: object())
    result = project.run("solutions", *args)
    assert result.ret == USAGE
    result.stderr.fnmatch_lines([f"ERROR: {message}"])


def test_without_ray_one_sentence_says_so(project, monkeypatch) -> None:
    monkeypatch.setattr(checking, "find_spec", lambda _: None)
    result = project.run("solutions", *ALL)
    assert result.ret == USAGE
    result.stderr.fnmatch_lines(
        ["ERROR: --kb-engine ray: Ray is not installed*; pip install 'pytest-kernelbench?ray?'"]
    )


def test_without_ray_the_library_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "ray":
            message = "No module named 'ray'"
            raise ModuleNotFoundError(message, name=name)
        return real(name, *rest)

    for name in ("ray_engine", "cluster.connection"):
        monkeypatch.delitem(sys.modules, f"pytest_kernelbench.engine.{name}", raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(UsageError, match="Ray is not installed here; pip install"):
        make_engine(Settings(engine="ray"))


REFUSING = """
import pytest
from pytest_kernelbench.errors import MachineError, UsageError
def pytest_kernelbench_engine():
    try:
        open("/nowhere")
    except OSError as error:
        raise {error}("no Ray cluster can be reached there") from error
"""


@pytest.mark.parametrize(("error", "status"), [("UsageError", USAGE), ("MachineError", 1)])
def test_an_engine_that_cannot_be_made_ends_the_session_once(
    project, error: str, status: int
) -> None:
    project.write("conftest.py", REFUSING.format(error=error))
    project.solution("bob/level1/019_relu", "right")
    result = project.run("solutions")
    assert result.ret == status
    said = result.stdout.str() + result.stderr.str()
    assert said.count("no Ray cluster can be reached there") == 1
    assert "Traceback" not in said
    assert "have no verdict" not in said
    result.stdout.fnmatch_lines(
        ["no Ray cluster can be reached there", "!* nothing can be judged *"]
    )
    assert len(result.outlines) < 15


def test_an_engine_that_workers_cannot_make_is_a_line_a_pair(project) -> None:
    project.write("conftest.py", REFUSING.format(error="MachineError"))
    project.solution("bob/level1/019_relu", "right")
    result = project.pytester.runpytest_subprocess("solutions", "-n2")
    result.assert_outcomes(errors=2)
    assert result.stdout.str().count("no Ray cluster can be reached there") == 2
    assert "Traceback" not in result.stdout.str()


GPU = {"CPU": 8.0, "GPU": 2.0}


@pytest.mark.parametrize(
    ("asked", "nodes", "place"),
    [
        ({}, [{"CPU": 4.0}, {"CPU": 2.0}], (False, "", 2.0)),
        ({"correctness_only": True}, [{"CPU": 4.0}], (False, "", 1.0)),
        ({}, [{"CPU": 4.0}, GPU], (True, "", 1.0)),
        ({"device": "cpu"}, [GPU], (False, "", 8.0)),
        ({"gpu": "h200"}, [{**GPU, "accelerator_type:H200": 1.0}], (True, "H200", 1.0)),
    ],
)
def test_places(asked: Any, nodes: Any, place: Any) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    from pytest_kernelbench.engine.cluster.connection import Place, choose_place

    assert choose_place(Settings(**asked), nodes) == Place(*place)


MIXED = [{**GPU, "accelerator_type:H200": 1.0}, {**GPU, "accelerator_type:A100": 1.0}]


@pytest.mark.parametrize(
    ("asked", "nodes", "message"),
    [
        ({}, MIXED, r"A100, H200: times on different GPUs.*--kb-gpu A100"),
        ({"gpu": "B200"}, MIXED, r"no node of the Ray cluster has one; its nodes have A100, H200"),
        ({"device": "cuda"}, [{"CPU": 4.0}], "no node of the Ray cluster has a GPU"),
    ],
)
def test_no_place(asked: Any, nodes: Any, message: str) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    from pytest_kernelbench.engine.cluster.connection import choose_place

    with pytest.raises(UsageError, match=message):
        choose_place(Settings(**asked), nodes)


def test_nobody_at_that_address() -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    from pytest_kernelbench.engine.cluster.connection import Cluster

    with pytest.raises(UsageError, match=r"127\.0\.0\.1:9: no Ray cluster can be reached there"):
        Cluster(Settings(engine="ray", ray_address="127.0.0.1:9"))


@pytest.mark.parametrize("temporary", ["/tmp", "/tmp/" + 112 * "x"])  # noqa: S108
def test_a_ray_that_does_not_start_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, temporary: str
) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    from pytest_kernelbench.engine.cluster import connection

    folders: list[str] = []

    def fail(*, _temp_dir: str, **_: Any) -> None:
        folders.append(_temp_dir)
        message = "the GCS did not answer\nsee its log"
        raise RuntimeError(message)

    monkeypatch.setattr(connection.ray, "init", fail)
    monkeypatch.setattr(tempfile, "tempdir", temporary)
    with pytest.raises(MachineError, match=r"Ray cannot be started .*: the GCS did not answer$"):
        connection.Cluster(Settings(engine="ray"))
    socket = f"{folders[0]}/session_2026-11-30_09-58-31_442237_4194304/sockets/plasma_store"
    assert len(socket) <= 107
    assert not Path(folders[0]).exists()


def test_a_cluster_that_answers_otherwise_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    from pytest_kernelbench.engine.cluster import connection

    def fail(**_: Any) -> None:
        message = "version mismatch\nthe cluster has another"
        raise RuntimeError(message)

    monkeypatch.setattr(connection.ray, "init", fail)
    with pytest.raises(UsageError, match=r"auto: no Ray cluster .* \(version mismatch\); start"):
        connection.Cluster(Settings(engine="ray", ray_address="auto"))
