"""The one table of options: a ``--kb-*`` option, its ini twin and a field of ``Settings`` each."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_kernelbench import reading
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pytest


PREFIX = "kb_"
"""Of every name in the ini file."""


@dataclass(frozen=True)
class Option:
    """One row: where a value comes from, how its text is read, where it goes."""

    name: str
    """``fail-under`` is the option ``--kb-fail-under`` and the ini value ``kb_fail_under``."""
    field: str
    help: str
    read: Callable[[str], Any] | None = None
    """From text to value; raises ``ValueError``. Without it the option is a switch."""
    metavar: str | None = None
    ini_type: str = "string"
    many: bool = False
    """Given repeatedly or with commas; the field is a tuple."""
    is_path: bool = False

    @property
    def flag(self) -> str:
        """As on the command line."""
        return f"--kb-{self.name}"

    @property
    def ini(self) -> str:
        """As in the ini file; also the name in pytest's namespace of options."""
        return f"{PREFIX}{self.name.replace('-', '_')}"


OPTIONS = (
    Option("level", "levels", "Only problems of these levels", reading.whole(1), "N", many=True),
    Option(
        "problem", "problems",
        "Only these problems, as LEVEL/NUMBER, or the file of a problem that lies elsewhere",
        reading.problem, "L/N|FILE", many=True,
    ),
    Option(
        "entrant", "entrants", "Only solutions of these entrants", reading.word, "NAME", many=True
    ),
    Option(
        "p",
        "thresholds",
        "Pass only what is shown to be more than P times as fast as the baseline",
        reading.real(0),
        "P",
        many=True,
    ),
    Option(
        "fail-under",
        "fail_under_levels",
        "Fail the session if fast_P of any level (or of level L, as L:F) is below F; "
        "a slow pair then does not fail by itself",
        reading.gate,
        "F",
        many=True,
    ),
    Option(
        "baseline",
        "baselines",
        "What speedups are measured against: eager, compile, compile-max; the first decides "
        "(default: eager)",
        reading.word,
        "NAME",
        many=True,
    ),
    Option(
        "device",
        "device",
        "Where to judge: auto, cpu, cuda, cuda:N (default: auto)",
        reading.device,
        "DEVICE",
    ),
    Option(
        "size",
        "size",
        "Sizes of the problems: full, smoke, auto (default: full on a GPU, smoke on a CPU)",
        reading.choice("auto", "full", "smoke"),
        "SIZE",
    ),
    Option(
        "dtype",
        "dtype",
        "Type of inputs and parameters: fp32, fp16, bf16 (default: fp32)",
        reading.choice("fp32", "fp16", "bf16"),
        "DTYPE",
    ),
    Option(
        "seeds", "seeds", "Rounds of agreement, each on fresh inputs (default: 5)",
        reading.whole(1), "N", "int",
    ),
    Option("atol", "atol", "Absolute tolerance (default: by dtype)", reading.real(0), "X", "float"),
    Option("rtol", "rtol", "Relative tolerance (default: by dtype)", reading.real(0), "X", "float"),
    Option("shapes", "shapes", "Judge each problem's other sizes too"),
    Option("tf32", "tf32", "Let both sides use TF32 where they would"),
    Option(
        "expect-failure", "expected_to_fail",
        "Solutions below folders (or in files) of these names must fail: not to be right, or not "
        "to be built, is then expected, and being right is a failure",
        reading.word, "NAME", many=True,
    ),
    Option("strict", "strict", "Fail what only ran library kernels, and findings on any problem"),
    Option(
        "correctness-only", "correctness_only", "Judge agreement and measure no time"
    ),
    Option("build-only", "build_only", "Build every solution and judge none (needs no GPU)"),
    Option(
        "timeout",
        "timeout_s",
        "Seconds for each step of a solution: import, construction, a round (default: 120)",
        reading.real(0, above=True),
        "S",
        "float",
    ),
    Option(
        "budget",
        "budget_s",
        "Seconds of timing a pair and baseline (default: 2)",
        reading.real(0, above=True),
        "S",
        "float",
    ),
    Option(
        "build-timeout",
        "build_timeout_s",
        "Seconds for one build (default: 900)",
        reading.real(0, above=True),
        "S",
        "float",
    ),
    Option(
        "build-jobs", "build_jobs", "Builds at a time (default: by cores and memory)",
        reading.whole(1), "N", "int",
    ),
    Option(
        "cache", "cache_dir", "Folder for builds and measured facts (default: .kernelbench)",
        Path, "DIR", is_path=True,
    ),
    Option(
        "cache-limit", "cache_limit_gb", "Gigabytes of builds to keep (default: 20)",
        reading.real(0, above=True), "GB", "float",
    ),
    Option(
        "engine", "engine", "Where pairs are judged: local, ray (default: local)", reading.word,
        "NAME",
    ),
    Option(
        "ray-address", "ray_address",
        "The Ray cluster: auto, HOST:PORT (default: Ray on this machine, for the session)",
        reading.address, "HOST:PORT",
    ),
    Option("gpu", "gpu", "On a cluster with several: the kind of GPU, as Ray names it (H200)",
           reading.word, "KIND"),
    Option(
        "problems", "problem_roots",
        "Folders or tables of problems; the first that has a number wins (default: problems)",
        Path, "PATH", many=True, is_path=True,
    ),
    Option(
        "solutions", "archives",
        "Files with a solution a row (JSON, JSON Lines, parquet), as if named as arguments",
        Path, "FILE", many=True, is_path=True,
    ),
    Option(
        "solution-folders",
        "solution_folders",
        "Names of folders that hold nothing but solutions (default: solutions)",
        reading.word,
        "NAME",
        many=True,
    ),
    Option("json", "json", "Write a JSON record for each verdict as it comes", Path, "FILE",
           is_path=True),
    Option(
        "resume", "resume",
        "Judge only what has no verdict in this file of records, and add to it", Path, "FILE",
        is_path=True,
    ),
    Option(
        "compare", "compare",
        "Fail the session if a solution is shown to be slower than in this file of records",
        Path, "FILE", is_path=True,
    ),
    Option(
        "max-slowdown", "max_slowdown",
        "How much more time than then --kb-compare lets a solution take (default: 0.05)",
        reading.percent, "SHARE",
    ),
    Option(
        "changed", "changed_since",
        "Only solutions that changed since this commit, or whose problems did", reading.commit,
        "COMMIT",
    ),
    Option(
        "markdown", "markdown",
        "Write the summary as Markdown (in GitHub Actions it is on the job's page in any case)",
        Path, "FILE", is_path=True,
    ),
    Option(
        "eval-results", "eval_results",
        "Write KernelBench's eval_results.json (one for each entrant and level)", Path, "FILE",
        is_path=True,
    ),
    Option("trace", "trace", "Write flashinfer-bench's traces, a line of JSON each", Path, "FILE",
           is_path=True),
    Option("csv", "csv", "Write a table of all verdicts", Path, "FILE", is_path=True),
    Option("html", "html", "Write a page with plots, scores and every pair", Path, "FILE",
           is_path=True),
    Option(
        "baseline-times", "baseline_times",
        "Also give speedups against the baselines of this KernelBench timing file", Path, "FILE",
        is_path=True,
    ),
    Option(
        "foreign-baseline", "foreign_baseline",
        "Take --kb-baseline-times though they were measured on another device",
    ),
    Option("at-k", "at_k", "Also report pass@k and fast_p@k for these k", reading.whole(1), "K",
           many=True),
)  # fmt: skip


def register(parser: pytest.Parser) -> None:
    """Tell pytest of every row, as an option and as an ini value."""
    group = parser.getgroup("kernelbench", "GPU kernels as tests")
    for option in OPTIONS:
        if option.read is None:
            group.addoption(
                option.flag, dest=option.ini, action="store_true", default=None, help=option.help
            )
            parser.addini(option.ini, option.help, type="bool", default=None)
            continue
        group.addoption(
            option.flag,
            dest=option.ini,
            action="append" if option.many else "store",
            metavar=option.metavar,
            help=option.help,
        )
        ini_type: Any = "linelist" if option.many else option.ini_type
        parser.addini(option.ini, option.help, type=ini_type, default=None)


def values(
    config: pytest.Config, namespace: object | None = None, only: tuple[str, ...] = ()
) -> dict[str, Any]:
    """What was given, by field of ``Settings``; what was not given is left out.

    ``namespace`` serves before pytest has parsed its options for good; ``only`` names fields.
    """
    found = {}
    for option in OPTIONS:
        if only and option.field not in only:
            continue
        value = _value(option, config, config.option if namespace is None else namespace)
        if value is not None:
            found[option.field] = value
    return found


def _value(option: Option, config: pytest.Config, namespace: object) -> Any:  # noqa: ANN401
    given, origin = getattr(namespace, option.ini, None), option.flag
    base = config.invocation_params.dir
    if given is None:
        origin = f"{option.ini} in {config.inipath}"
        given = _from_ini(option, config, origin)
        base = config.inipath.parent if config.inipath else config.rootpath
    if given is None or option.read is None:
        return given
    return from_texts(option, _texts(given, origin), origin, base)


def _from_ini(option: Option, config: pytest.Config, origin: str) -> Any:  # noqa: ANN401
    try:
        return config.getini(option.ini)
    except Exception as error:  # noqa: BLE001 - of pytest's own, which differs by its version
        said = str(error)
        message = said if option.ini in said else f"{origin}: {said}"
        raise UsageError(message) from None


def _texts(given: object, origin: str) -> list[str]:
    """An ini file in TOML may hold anything; numbers are as good as their texts."""
    values = given if isinstance(given, list) else [given]
    for value in values:
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            message = f"{origin}: {value!r} is no text and no number"
            raise UsageError(message)
    return [str(value) for value in values]


def refuse_unknown(config: pytest.Config) -> None:
    """Raise ``UsageError`` on an ini value of ours that there is not: a gate would never be."""
    # Private: what is in the file is not to be had otherwise, as ``inicfg`` is deprecated.
    for name in sorted(config._get_unknown_ini_keys()):  # noqa: SLF001
        if not name.startswith(PREFIX):
            continue
        near = get_close_matches(name, [option.ini for option in OPTIONS], n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        message = f"{name} in {config.inipath}: there is no such option of pytest-kernelbench{hint}"
        raise UsageError(message)


def from_texts(option: Option, texts: Iterable[str], origin: str, base: Path = Path()) -> Any:  # noqa: ANN401
    """An option's value from its texts; ``base`` is what relative paths are relative to.

    Raises ``UsageError`` that begins with ``origin``, also where it is one value and is given none
    or several.
    """
    if option.read is None:
        return True
    texts = list(texts)
    if not option.many and len(texts) != 1:
        message = f"{origin}: it takes one value, not {texts!r}"
        raise UsageError(message)
    if option.many and not option.is_path:
        texts = [part.strip() for text in texts for part in text.split(",")]
    try:
        read = [option.read(text) for text in texts]
    except ValueError as error:
        message = f"{origin}: {error}"
        raise UsageError(message) from None
    if option.is_path:
        read = [base / path.expanduser() for path in read]
    return tuple(dict.fromkeys(read)) if option.many else read[0]


def check_values(settings: Settings) -> None:
    """Refuse what no option could have been given: settings are also made without pytest.

    Raises ``UsageError`` that begins with the field's name.
    """
    usual = Settings()
    for option in OPTIONS:
        value = getattr(settings, option.field)
        left_out = value is None and getattr(usual, option.field) is None
        if option.read is None or option.is_path or left_out:
            continue
        if option.many and not isinstance(value, tuple):
            message = f"{option.field}: {value!r} is no tuple"
            raise UsageError(message)
        gates = option.field == "fail_under_levels"
        texts = [f"{level}:{share}" for level, share in value] if gates else value
        for text in texts if option.many else [texts]:
            _check_value(option.field, option.read, text)
    if settings.fail_under is not None:
        _check_value("fail_under", reading.gate, settings.fail_under)


def _check_value(field: str, read: Callable[[str], Any], value: object) -> None:
    try:
        read(str(value))
    except ValueError as error:
        message = f"{field}: {error}"
        raise UsageError(message) from None


def split_gates(
    gates: Iterable[tuple[int | None, float]], flag: str = "--kb-fail-under"
) -> dict[str, Any]:
    """The fields of ``Settings`` that ``--kb-fail-under`` is split into."""
    everywhere = [share for level, share in gates if level is None]
    single = {level: share for level, share in gates if level is not None}
    if len(everywhere) > 1 or len(single) < len([g for g in gates if g[0] is not None]):
        message = f"{flag} is given more than once for the same levels"
        raise UsageError(message)
    return {
        "fail_under": everywhere[0] if everywhere else None,
        "fail_under_levels": tuple(sorted(single.items())),
    }
