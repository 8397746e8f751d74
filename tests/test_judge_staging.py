"""What a runner finds beside its model's source."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_kernelbench.catalog.fingerprint import companions
from pytest_kernelbench.judge import staging
from pytest_kernelbench.judge.staging import staged


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    (folder / "lib").mkdir(parents=True)
    (folder / "solution.py").write_text("import lib.x")
    (folder / "lib" / "x.py").write_text("x = 1")
    return folder / "solution.py"


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_folder_of_its_own_is_laid_beside_it(source: Path, tmp_path: Path) -> None:
    there = staged(source, tmp_path / "there", alone=False)
    assert files(there.parent) == {"solution.py": "import lib.x", "lib/x.py": "x = 1"}


def test_no_bytecode_is_laid_beside_it(source: Path, tmp_path: Path) -> None:
    (source.parent / "lib/__pycache__").mkdir()
    (source.parent / "lib/__pycache__/x.cpython-311.pyc").write_text("another x")
    there = staged(source, tmp_path / "there", alone=False)
    assert set(files(there.parent)) == {"solution.py", "lib/x.py"}


def test_a_file_among_others_has_what_it_names(source: Path, tmp_path: Path) -> None:
    one, other = source.with_name("019_relu.py"), source.with_name("020_gelu.py")
    one.write_text("import helper\nload('k', [here + '/csrc/k.cpp'])\nopen('020_gelu.py')")
    other.write_text("class ModelNew: pass")
    source.with_name("helper.py").write_text("x = 1")
    (source.parent / "csrc").mkdir()
    (source.parent / "csrc/k.cpp").write_text("int k;")
    (source.parent / "csrc/gelu.cpp").write_text("int gelu;")
    there = staged(one, tmp_path / "there", alone=False)
    assert set(files(there.parent)) == {"019_relu.py", "helper.py", "csrc/k.cpp"}
    # A verdict hangs on all of it.
    assert set(companions(one)) >= {source.with_name("helper.py"), source.parent / "csrc/k.cpp"}


def test_a_model_alone_has_nothing_beside_it(source: Path, tmp_path: Path) -> None:
    there = staged(source, tmp_path / "there", alone=True)
    assert files(there.parent) == {"solution.py": "import lib.x"}


def test_no_link_brings_what_lies_elsewhere(source: Path, tmp_path: Path) -> None:
    """Who copies may read more than who is judged."""
    secret = tmp_path / "elsewhere" / "secret"
    secret.parent.mkdir()
    secret.write_text("the key")
    folder = source.parent
    (folder / "absolute.txt").symlink_to(secret)
    (folder / "relative.txt").symlink_to("../elsewhere/secret")
    (folder / "folder").symlink_to(secret.parent)
    (folder / "by_two").symlink_to("absolute.txt")
    (folder / "nowhere").symlink_to("gone")
    (folder / "round").symlink_to("round")
    (folder / "lib" / "same.py").symlink_to("x.py")
    there = staged(source, tmp_path / "there", alone=False)
    found = files(there.parent)
    assert found == {"solution.py": "import lib.x", "lib/x.py": "x = 1", "lib/same.py": "x = 1"}
    assert not (there.parent / "lib" / "same.py").is_symlink()


def test_a_folder_that_is_reached_by_a_link_is_its_own(source: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(source.parent)
    there = staged(tmp_path / "link" / "solution.py", tmp_path / "there", alone=False)
    assert set(files(there.parent)) == {"solution.py", "lib/x.py"}


def test_what_only_claims_to_have_bytes_is_not_copied(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "MOST_BYTES", 1 << 20)
    with (source.parent / "sparse").open("wb") as file:
        file.truncate(60 << 30)
    with pytest.raises(OSError, match="the files beside it have more than"):
        staged(source, tmp_path / "there", alone=False)
    assert (tmp_path / "there/sparse").stat().st_size <= (1 << 20) + 1
