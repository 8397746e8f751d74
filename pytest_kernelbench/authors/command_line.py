"""What the commands of this room read from a command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pytest_kernelbench.authors.conversation import Sampling
from pytest_kernelbench.authors.examples import SETS, answered
from pytest_kernelbench.authors.feedback import KINDS
from pytest_kernelbench.authors.hardware import HERE, table
from pytest_kernelbench.authors.prompt import NO_HARDWARE, PromptOptions
from pytest_kernelbench.authors.texts import backends
from pytest_kernelbench.authors.trajectory import POLICIES, UNTIL
from pytest_kernelbench.catalog.problems import ProblemCatalog
from pytest_kernelbench.decoding import decoded
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.reading import add_size, argument, device, real, whole
from pytest_kernelbench.reading import problem as problem_id
from pytest_kernelbench.settings import DTYPES, Settings

if TYPE_CHECKING:
    import argparse

    from pytest_kernelbench.catalog.pair import Problem


def add_prompt_options(parser: argparse.ArgumentParser) -> None:
    """Declare what ``prompt_command`` reads."""
    parser.add_argument(
        "problem", nargs="*", type=argument(problem_id), help="as 1/19; all if none"
    )
    _add_problem_roots(parser)
    _add_help_options(parser)


def add_sample_options(parser: argparse.ArgumentParser) -> None:
    """Declare what ``sample_command`` reads."""
    _add_model_options(parser)
    parser.add_argument("-k", type=argument(whole(1)), default=1, help="answers to each problem")
    _add_chosen_problems(parser)
    _add_help_options(parser)


def add_refine_options(parser: argparse.ArgumentParser) -> None:
    """Declare what ``refine_command`` reads."""
    _add_model_options(parser, required=False)
    _add_turns(parser)
    _add_judging(parser)
    _add_chosen_problems(parser)
    _add_help_options(parser)


def add_study_options(parser: argparse.ArgumentParser) -> None:
    """Declare what ``study_command`` reads."""
    parser.add_argument("file", type=Path, help="the study, a TOML file")


def _add_turns(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--replay", type=Path, metavar="FILE", help="judge a trajectory again, asking no model"
    )
    parser.add_argument("--turns", type=argument(whole(1)), default=10, help="answers in all")
    parser.add_argument(
        "--feedback", default="execution", help=f"of {', '.join(KINDS)}; several with commas"
    )
    parser.add_argument("--choose", choices=POLICIES, default="best", help="which turn is kept")
    parser.add_argument("--until", choices=UNTIL, default="never", help="when to end early")
    parser.add_argument(
        "--history",
        choices=("last", "all"),
        default="last",
        help="which earlier turns the model is shown (default: %(default)s)",
    )
    parser.add_argument(
        "-k", type=argument(whole(1)), default=1, help="refinements of each problem"
    )
    parser.add_argument(
        "--from",
        dest="start",
        type=Path,
        metavar="DIR",
        help="begin at the solutions of this folder",
    )


def _add_judging(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", type=argument(device), default="auto", help="where to judge")
    add_size(parser)
    parser.add_argument(
        "--seeds",
        type=argument(whole(1)),
        default=Settings.seeds,
        metavar="N",
        help="rounds of inputs (default: %(default)s)",
    )
    parser.add_argument(
        "--budget",
        type=argument(real(0)),
        default=Settings.budget_s,
        metavar="S",
        help="seconds of timed calls a pair (default: %(default)g)",
    )
    parser.add_argument("--correctness-only", action="store_true", help="time nothing")
    parser.add_argument(
        "--cache",
        type=Path,
        default=Settings.cache_dir,
        metavar="DIR",
        help="what is built and found out (default: %(default)s)",
    )


def _add_model_options(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    parser.add_argument("--model", required=required, help="as the endpoint calls it")
    parser.add_argument("--to", type=Path, required=True, help="folder, as solutions/MODEL")
    parser.add_argument("--base-url", default="", help="of any OpenAI-compatible server")
    parser.add_argument(
        "--key-variable",
        default="OPENAI_API_KEY",
        metavar="NAME",
        help="environment variable with the key (default: %(default)s)",
    )
    _add_request(parser)
    _add_pace(parser)
    _add_spending(parser)


def _add_request(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--temperature", type=argument(real(0)), metavar="X", help="(default: the endpoint's)"
    )
    parser.add_argument(
        "--top-p",
        type=argument(real(0, above=True)),
        metavar="X",
        help="mass of the most likely tokens to sample from (default: the endpoint's)",
    )
    parser.add_argument(
        "--max-tokens", type=argument(whole(1)), default=16_384, help="of an answer"
    )
    parser.add_argument(
        "--extra", action="append", default=[], metavar="NAME=JSON", help="more of the request"
    )
    parser.add_argument(
        "--no-stream", action="store_true", help="take each answer whole, not as it is written"
    )


def _add_pace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--concurrency",
        type=argument(whole(1)),
        default=8,
        metavar="N",
        help="requests at a time (default: %(default)s)",
    )
    parser.add_argument(
        "--attempts",
        type=argument(whole(1)),
        default=6,
        metavar="N",
        help="requests in all for an answer that fails to come (default: %(default)s)",
    )
    parser.add_argument(
        "--timeout",
        type=argument(real(0, above=True)),
        default=600.0,
        metavar="S",
        help="seconds to wait for an answer (default: %(default)g)",
    )
    parser.add_argument(
        "--requests-per-minute", type=argument(whole(1)), metavar="N", help="at most"
    )
    parser.add_argument("--tokens-per-minute", type=argument(whole(1)), metavar="N", help="at most")


def _add_spending(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--budget-tokens", type=argument(whole(1)), metavar="N", help="ask no more after so many"
    )
    parser.add_argument(
        "--budget-money", type=argument(real(0)), metavar="X", help="ask no more after so much"
    )
    price = "of a million tokens"
    parser.add_argument("--price-in", type=argument(real(0)), default=0.0, metavar="X", help=price)
    parser.add_argument("--price-out", type=argument(real(0)), default=0.0, metavar="X", help=price)


def _add_problem_roots(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--problems",
        type=Path,
        action="append",
        metavar="DIR",
        help="folder of problems (default: problems); repeatable",
    )
    parser.add_argument(
        "--level",
        type=argument(whole(1)),
        action="append",
        metavar="N",
        help="only this level; repeatable",
    )


def _add_chosen_problems(parser: argparse.ArgumentParser) -> None:
    _add_problem_roots(parser)
    parser.add_argument(
        "--problem", type=argument(problem_id), action="append", help="as 1/19; repeatable"
    )


def _add_help_options(parser: argparse.ArgumentParser) -> None:
    devices = ", ".join(each.also[0] for each in table())
    parser.add_argument(
        "--backend",
        choices=backends(),
        default="cuda",
        help="what kernels are to be written in (default: %(default)s)",
    )
    parser.add_argument(
        "--precision",
        choices=tuple(DTYPES),
        default="fp32",
        help="of the inputs that are asked for (default: %(default)s)",
    )
    parser.add_argument("--examples", choices=tuple(SETS), help="one, where there is one")
    parser.add_argument(
        "--hardware", default=NO_HARDWARE, help=f"{NO_HARDWARE}, {HERE}, or one of {devices}"
    )
    parser.add_argument("--concepts", action="store_true", help="explain words of the hardware")
    parser.add_argument("--templates", type=Path, metavar="DIR", help="texts that replace ours")


def prompt_options(args: argparse.Namespace) -> PromptOptions:
    """The help that a command line asks for."""
    return PromptOptions(
        backend=args.backend,
        precision=args.precision,
        examples=args.examples or ("one" if answered("one", args.backend) else "none"),
        hardware=args.hardware,
        concepts=args.concepts,
        templates=str(args.templates or ""),
    )


def chosen_problems(
    roots: list[Path] | None, levels: list[int] | None, wanted: list[str] | None
) -> tuple[Problem, ...]:
    """The problems asked for; raises ``UsageError`` if one is not there."""
    catalog = ProblemCatalog(roots or [Path("problems")])
    found = tuple(
        each
        for each in catalog.problems
        if (not levels or each.level in levels)
        and (not wanted or f"{each.level}/{each.number}" in wanted)
    )
    missing = {*(wanted or ())} - {f"{each.level}/{each.number}" for each in found}
    if missing or not found:
        what = f"problem {min(missing)}" if missing else "problem"
        message = f"there is no such {what}; searched: {catalog.describe()}"
        raise UsageError(message)
    return found


def sampling_of(args: argparse.Namespace) -> Sampling:
    """How the model is to be asked."""
    extra = []
    for text in args.extra:
        name, _, value = text.partition("=")
        try:
            extra.append((name, decoded(value, object)))
        except msgspec.MsgspecError as error:
            message = f"--extra {text!r}: {value!r} is no JSON (a text stands in double quotes)"
            raise UsageError(message) from error
    return Sampling(args.model, args.temperature, args.top_p, args.max_tokens, tuple(sorted(extra)))
