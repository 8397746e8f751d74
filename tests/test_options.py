"""The table of options covers the settings, each once."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from pytest_kernelbench.catalog.baseline import OURS
from pytest_kernelbench.options import OPTIONS
from pytest_kernelbench.settings import Settings

ROOT = Path(__file__).parents[1]
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


def test_each_is_in_the_documents() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    told = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    for option in OPTIONS:
        assert re.search(rf"{option.flag}(?![\w-])", told), f"{option.flag} is told of nowhere"


def test_baselines_are_in_the_documents() -> None:
    page = (ROOT / "docs/plugins.md").read_text(encoding="utf-8")
    assert ", ".join(f"`{each.name}`" for each in OURS) in page
    (option,) = (each for each in OPTIONS if each.name == "baseline")
    assert ", ".join(each.name for each in OURS) in option.help


def test_what_is_asked_of_single_pairs() -> None:
    assert Settings().required_speedup is None
    assert Settings(thresholds=(1.0, 2.0)).required_speedup == 2.0
    assert Settings(thresholds=(2.0,), fail_under=0.5).required_speedup is None
    assert Settings(thresholds=(2.0,), fail_under_levels=((1, 0.5),)).required_speedup is None
