"""Libraries that can switch torch's profiler off."""

from __future__ import annotations

from pathlib import Path

from pytest_kernelbench.judge.silence import silenced


def test_only_a_library_that_names_the_switch(tmp_path: Path) -> None:
    library = tmp_path / "calls" / "00-abc" / "made.so"
    library.parent.mkdir(parents=True)
    for contents in (b"", b"\x7fELF" + b"_ZN2at6gelu" * 1000):
        library.write_bytes(contents)
        assert silenced(tmp_path) is None
    library.write_bytes(b"\x7fELF" + b"\0" * 9000 + b"_ZN2at20enableRecordFunctionEb\0")
    finding = silenced(tmp_path)
    assert finding is not None
    assert not finding.is_kernel
    assert "made.so" in finding.accusation


def test_no_extension_is_silent(tmp_path: Path) -> None:
    assert silenced(tmp_path) is None
