"""The table of options covers the settings, each once."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_kernelbench.catalog.baseline import OURS
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.options import OPTIONS, Option, check_values, from_texts
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


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"seeds": 0}, "seeds: '0' is not a whole number of at least 1"),
        ({"seeds": 2.5}, "seeds: '2.5' is not a whole number"),
        ({"seeds": 5.0}, "seeds: '5.0' is not a whole number"),
        ({"device": None}, "device: 'None' is none of"),
        ({"seeds": True}, "seeds: 'True' is not a whole number"),
        ({"budget_s": -1.0}, "budget_s: '-1.0' is not a number above 0"),
        ({"timeout_s": 0}, "timeout_s: '0' is not a number above 0"),
        ({"build_timeout_s": math.inf}, "build_timeout_s: 'inf' is not a number above 0"),
        ({"thresholds": (1.0, -1.0)}, "thresholds: '-1.0' is not a number of at least 0"),
        ({"thresholds": (math.nan,)}, "thresholds: 'nan' is not a number"),
        ({"thresholds": 2.0}, "thresholds: 2.0 is no tuple"),
        ({"baselines": "eager"}, "baselines: 'eager' is no tuple"),
        ({"fail_under": 1.5}, "fail_under: '1.5' is above 1"),
        ({"fail_under_levels": ((0, 0.5),)}, "fail_under_levels: '0' is not a whole number"),
        ({"max_slowdown": -0.1}, "max_slowdown: '-0.1' is not a number"),
        ({"atol": -1e-3}, "atol: '-0.001' is not a number"),
        ({"dtype": "fp64"}, "dtype: 'fp64' is none of fp32, fp16, bf16"),
        ({"size": "huge"}, "size: 'huge' is none of auto, full, smoke"),
        ({"device": "tpu"}, "device: 'tpu' is none of auto, cpu, cuda, cuda:N"),
        ({"engine": ""}, "engine: it needs a name"),
        ({"ray_address": "here"}, "ray_address: 'here' is neither auto nor HOST:PORT"),
        ({"problems": ("relu",)}, "problems: 'relu' is neither LEVEL/NUMBER"),
        ({"at_k": (0,)}, "at_k: '0' is not a whole number"),
    ],
)
def test_what_no_option_takes_no_settings_have(given: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=re.escape(says)):
        check_values(Settings(**given))


def test_what_options_take_settings_may_have() -> None:
    check_values(Settings())
    check_values(
        Settings(
            seeds=1, thresholds=(0.0, 1.5), device="cuda:1", dtype="bf16", atol=0, at_k=(1, 5),
            fail_under=1, fail_under_levels=((2, 0.5),), problems=("1/19",), build_jobs=3,
            cache_dir=Path("x"), max_slowdown=0.1, baselines=("mine",), tf32=True, gpu="H200",
        )
    )  # fmt: skip


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_one_value_is_neither_none_nor_several(option: Option) -> None:
    if option.read is None or option.many:
        return
    for texts in ([], ["1", "2"]):
        with pytest.raises(
            UsageError, match=f"^here: it takes one value, not {re.escape(str(texts))}$"
        ):
            from_texts(option, texts, "here")


def test_what_is_asked_of_single_pairs() -> None:
    assert Settings().required_speedup is None
    assert Settings(thresholds=(1.0, 2.0)).required_speedup == 2.0
    assert Settings(thresholds=(2.0,), fail_under=0.5).required_speedup is None
    assert Settings(thresholds=(2.0,), fail_under_levels=((1, 0.5),)).required_speedup is None
