"""The table of options covers the settings, each once."""

from __future__ import annotations

import dataclasses

from pytest_kernelbench.options import OPTIONS
from pytest_kernelbench.settings import Settings

DERIVED = {"fail_under", "baseline_prepare", "problem_files"}
"""Fields that another option's value is split into."""


def test_every_field_has_one_option_and_every_option_a_field() -> None:
    fields = {field.name for field in dataclasses.fields(Settings)} - DERIVED
    assert sorted(option.field for option in OPTIONS) == sorted(fields)


def test_names_are_unique_and_help_is_a_phrase() -> None:
    assert len({option.name for option in OPTIONS}) == len(OPTIONS)
    for option in OPTIONS:
        assert option.help[0].isupper(), option.name
        assert not option.help.endswith("."), option.name
        assert "%" not in option.help, "argparse takes it for a format"
        assert option.ini == option.flag.replace("--", "").replace("-", "_")


def test_what_is_asked_of_single_pairs() -> None:
    assert Settings().required_speedup is None
    assert Settings(thresholds=(1.0, 2.0)).required_speedup == 2.0
    assert Settings(thresholds=(2.0,), fail_under=0.5).required_speedup is None
    assert Settings(thresholds=(2.0,), fail_under_levels=((1, 0.5),)).required_speedup is None
