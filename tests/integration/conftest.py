"""What several files of judged pairs ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from judged import Judge, judging


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    """Agreement alone, on the CPU; one for all tests of a file."""
    with judging(tmp_path_factory.mktemp("judge")) as made:
        yield made
