"""A study's file: models, ways to ask them, problems, and how answers are judged."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from pytest_kernelbench.authors.conversation import Sampling
from pytest_kernelbench.authors.endpoint import Endpoint, EndpointOptions
from pytest_kernelbench.authors.feedback import check_kinds
from pytest_kernelbench.authors.limits import Budget, Pace, Prices
from pytest_kernelbench.authors.prompt import NO_HARDWARE, PromptOptions
from pytest_kernelbench.authors.toml import read_toml
from pytest_kernelbench.authors.trajectory import Plan
from pytest_kernelbench.catalog.baseline import check_baselines
from pytest_kernelbench.catalog.problems import ProblemCatalog
from pytest_kernelbench.engine.choice import check_engine
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.options import OPTIONS, check_values, from_texts
from pytest_kernelbench.reading import problem as read_problem_id
from pytest_kernelbench.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_kernelbench.catalog.pair import Problem


Count = Annotated[int, msgspec.Meta(ge=1)]
Amount = Annotated[float, msgspec.Meta(ge=0, le=1e15)]


class JudgeSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[judge]``: as the ``--kb-*`` options of the same names."""

    device: str = "auto"
    size: str = "auto"
    dtype: str = "fp32"
    seeds: int = 5
    atol: float | None = None
    rtol: float | None = None
    baselines: tuple[str, ...] = ("eager",)
    strict: bool = False
    timeout_s: float = 120.0
    budget_s: float = 2.0
    build_timeout_s: float = 900.0
    build_jobs: int | None = None
    correctness_only: bool = False
    tf32: bool = False
    cache_dir: str = ".kernelbench"
    engine: str = "local"
    ray_address: str | None = None
    gpu: str | None = None


class ModelSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One ``[[model]]``: who is asked, and where."""

    name: str
    """A folder's name, and the first half of the entrant."""
    model: str = ""
    """As the endpoint calls it; the name if empty."""
    base_url: str = ""
    key_variable: str = "OPENAI_API_KEY"
    stream: bool = True
    temperature: Amount | None = None
    top_p: Amount | None = None
    max_tokens: Count = 16_384
    extra: dict[str, Any] = msgspec.field(default_factory=dict)
    concurrency: Count = 8
    attempts: Count = 6
    timeout_s: Amount = 600.0
    requests_per_minute: Count | None = None
    tokens_per_minute: Count | None = None
    budget_tokens: Count | None = None
    budget_money: Amount | None = None
    price_in: Amount = 0.0
    """Of a million tokens."""
    price_out: Amount = 0.0

    @property
    def sampling(self) -> Sampling:
        """How it is asked."""
        extra = tuple(sorted(self.extra.items()))
        model = self.model or self.name
        return Sampling(model, self.temperature, self.top_p, self.max_tokens, extra)

    def endpoint(self, budget: Budget) -> Endpoint:
        """The author; made within the event loop that asks it."""
        options = EndpointOptions(
            base_url=self.base_url,
            key_variable=self.key_variable,
            stream=self.stream,
            attempts=self.attempts,
            timeout_s=self.timeout_s,
        )
        pace = Pace(self.requests_per_minute, self.tokens_per_minute)
        return Endpoint(options, budget, pace)

    def budget(self) -> Budget:
        """What may be spent on it in this study."""
        return Budget(self.budget_tokens, self.budget_money, Prices(self.price_in, self.price_out))


class ArmSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One ``[[arm]]``: a way to ask. With ``turns`` above 1 each sample is refined."""

    name: str
    samples: Count = 1
    start: str = ""
    """An arm before this one, whose solutions are refined here; then ``samples`` are its."""
    turns: Count = 1
    """Answers to each sample; beside the solution it begins at, if there is a ``start``."""
    feedback: list[str] = msgspec.field(default_factory=lambda: ["execution"])
    choose: str = "best"
    until: str = "never"
    history: str = "last"
    backend: str = "cuda"
    examples: str = "one"
    hardware: str = NO_HARDWARE
    concepts: bool = False
    templates: str = ""

    @property
    def refines(self) -> bool:
        """Whether it shows a model its own solutions."""
        return self.turns > 1 or bool(self.start)


class StudySpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    model: list[ModelSpec]
    arm: list[ArmSpec]
    name: str = "study"
    to: str = ""
    """The folder of everything that comes of it; beside the file, by its name, if empty."""
    problem_roots: list[str] = msgspec.field(default_factory=lambda: ["problems"])
    levels: list[int] = msgspec.field(default_factory=list)
    problems: list[str] = msgspec.field(default_factory=list)
    thresholds: list[float] = msgspec.field(default_factory=lambda: [1.0, 2.0])
    at_k: list[int] = msgspec.field(default_factory=list)
    """The k of fast_p@k; all that the samples allow if empty."""
    judge: JudgeSpec = msgspec.field(default_factory=JudgeSpec)


@dataclass(frozen=True)
class Study:
    """A file that was read and found to make sense."""

    spec: StudySpec
    folder: Path
    settings: Settings
    problems: tuple[Problem, ...]

    def entrant_folder(self, model: ModelSpec, arm: ArmSpec) -> Path:
        """Where the solutions of one cell of the grid lie; pytest can judge them too."""
        return self.folder / "solutions" / model.name / arm.name

    def options(self, arm: ArmSpec) -> PromptOptions:
        """What an arm's prompts hold."""
        return PromptOptions(
            backend=arm.backend,
            precision=self.settings.dtype,
            examples=arm.examples,
            hardware=arm.hardware,
            concepts=arm.concepts,
            templates=arm.templates,
        )

    def plan(self, model: ModelSpec, arm: ArmSpec) -> Plan:
        """How an arm refines."""
        kinds = check_kinds(arm.feedback)
        return Plan(
            model.sampling,
            self.options(arm),
            arm.turns,
            kinds,
            arm.choose,
            arm.until,
            arm.history,
        )


def read_study(path: Path) -> Study:
    """Read and check a study before anything is asked; raises ``UsageError``."""
    spec = read_toml(path, StudySpec)
    home = path.absolute().parent
    folder = Path(os.path.normpath(home / (spec.to or path.stem)))
    settings = _settings(spec, home)
    check_baselines(settings)
    catalog = ProblemCatalog(settings.problem_roots)
    study = Study(spec, folder, settings, _problems(spec, catalog))
    _check_names(spec, path)
    for number, arm in enumerate(spec.arm):
        _check_start(arm, spec.arm[:number], path)
        for model in spec.model:
            study.plan(model, arm)
    for model in spec.model:
        model.budget()
    return study


def _check_names(spec: StudySpec, path: Path) -> None:
    for what, names in (
        ("model", [m.name for m in spec.model]),
        ("arm", [a.name for a in spec.arm]),
    ):
        if not names:
            message = f"{path} has no [[{what}]]"
            raise UsageError(message)
        for name in names:
            if names.count(name) > 1 or "/" in name or name.startswith("."):
                message = (
                    f"{path}: {what} {name!r}: names are folders, each its own, without / and ."
                )
                raise UsageError(message)


def _check_start(arm: ArmSpec, earlier: Sequence[ArmSpec], path: Path) -> None:
    before = {each.name: each for each in earlier if not each.refines}
    if arm.start and arm.start not in before:
        can = f"there are {', '.join(before)}" if before else "there is none"
        message = (
            f"{path}: arm {arm.name!r} starts from {arm.start!r}: it can start from an arm "
            f"before it that only samples; {can}"
        )
        raise UsageError(message)
    if arm.start and arm.samples not in (1, before[arm.start].samples):
        message = (
            f"{path}: arm {arm.name!r} starts from the {before[arm.start].samples} samples of "
            f"{arm.start!r}: leave its own samples = {arm.samples} out"
        )
        raise UsageError(message)


def _settings(spec: StudySpec, home: Path) -> Settings:
    given = {name: getattr(spec.judge, name) for name in JudgeSpec.__struct_fields__}
    for option in OPTIONS:
        value = given.get(option.field)
        if value is None or option.read is None:
            continue
        texts = map(str, value if option.many else [value])
        given[option.field] = from_texts(option, texts, f"[judge] {option.field}", home)
    check_engine(given["engine"])
    settings = Settings(
        **given
        | {
            "problem_roots": tuple(home / root for root in spec.problem_roots),
            "thresholds": tuple(spec.thresholds),
        }
    )
    check_values(replace(settings, levels=tuple(spec.levels), at_k=tuple(spec.at_k)))
    return settings


def _problems(spec: StudySpec, catalog: ProblemCatalog) -> tuple[Problem, ...]:
    try:
        wanted = {read_problem_id(each) for each in spec.problems}
    except ValueError as error:
        message = f"problems: {error}"
        raise UsageError(message) from None
    found = tuple(
        each
        for each in catalog.problems
        if (not spec.levels or each.level in spec.levels)
        and (not wanted or f"{each.level}/{each.number}" in wanted)
    )
    missing = wanted - {f"{each.level}/{each.number}" for each in found}
    if missing or not found:
        what = f"problem {min(missing)}" if missing else "any problem"
        message = f"the study asks for {what}, which is not there; searched: {catalog.describe()}"
        raise UsageError(message)
    return found
