"""The test that every solution is collected with; what it asks for is in ``fixtures``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.expectations import expect_faster, expect_own_kernels, expect_right

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Verdict


@pytest.mark.filterwarnings("ignore:Benchmark fixture was not used")  # a wrong kernel has no time
def test_kernel(
    verdict: Verdict, kb_settings: Settings, record_times: Callable[[Verdict], None]
) -> None:
    """The solution computes what its problem does and, where ``--kb-p`` asks for it, faster."""
    expect_right(verdict)
    expect_own_kernels(verdict, strict=kb_settings.strict)
    record_times(verdict)
    expect_faster(verdict, kb_settings.required_speedup)
