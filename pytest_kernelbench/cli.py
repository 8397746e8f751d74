"""``kb``: what is done with problems, builds and records outside of a pytest session."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from pytest_kernelbench import __version__
from pytest_kernelbench.errors import KernelbenchError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Command:
    """A verb; its module is imported only when it is used, as some of them need torch."""

    name: str
    help: str
    module: str
    declare: str
    """Name of the function that declares the command's arguments on a parser."""
    run: str
    """Name of the function that does it and gives the exit status."""


COMMANDS = (
    Command(
        "problems",
        "List the problems, or prove that they are fit to judge by",
        "pytest_kernelbench.judge.listing",
        "add_arguments",
        "problems_command",
    ),
    Command(
        "pairs",
        "Show which files answer which problems, and why",
        "pytest_kernelbench.catalog.pairs",
        "add_arguments",
        "pairs_command",
    ),
    Command(
        "report",
        "Sum up records of --kb-json: summary and gates, on any machine",
        "pytest_kernelbench.reports.command",
        "add_arguments",
        "report_command",
    ),
    Command(
        "cache",
        "Show, check or prune what was built",
        "pytest_kernelbench.build.command",
        "add_arguments",
        "cache_command",
    ),
    Command(
        "selftest",
        "Judge the shipped corpus of cheats and honest kernels on this machine",
        "pytest_kernelbench.selftest.command",
        "add_options",
        "selftest_command",
    ),
    Command(
        "prompt",
        "Print what a language model is asked",
        "pytest_kernelbench.authors.commands",
        "add_prompt_options",
        "prompt_command",
    ),
    Command(
        "sample",
        "Ask a language model for solutions",
        "pytest_kernelbench.authors.commands",
        "add_sample_options",
        "sample_command",
    ),
    Command(
        "refine",
        "Let a language model mend its solutions, told by the judge",
        "pytest_kernelbench.authors.commands",
        "add_refine_options",
        "refine_command",
    ),
    Command(
        "study",
        "Run a grid of models and ways to ask them, down to tables",
        "pytest_kernelbench.authors.commands",
        "add_study_options",
        "study_command",
    ),
)


def _flushed(status: int) -> int:
    """What is printed is out, or it is known here that nobody reads it."""
    sys.stdout.flush()
    return status


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is 2 where something asked for cannot be understood."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(prog="kb", description=__doc__)
    parser.add_argument("--version", action="version", version=f"kb {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        below = commands.add_parser(command.name, help=command.help, description=command.help)
        if command.name in given:
            declare: Callable[[argparse.ArgumentParser], None]
            declare = getattr(import_module(command.module), command.declare)
            declare(below)
    args = parser.parse_args(given)
    chosen = next(command for command in COMMANDS if command.name == args.command)
    run: Callable[[argparse.Namespace], int] = getattr(import_module(chosen.module), chosen.run)
    try:
        return _flushed(run(args))
    except UsageError as error:
        _tell(chosen.name, error)
        return 2
    except KernelbenchError as error:
        _tell(chosen.name, error)
        return 1
    except BrokenPipeError:
        # Whoever read it (``| head``) has seen enough; Python would complain once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        # A disk that is full, a folder that must not be read: no command needs to know each.
        print(f"kb {chosen.name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"kb {chosen.name}: stopped; what it has written stays", file=sys.stderr)
        return 130


def _tell(name: str, error: KernelbenchError) -> None:
    from pytest_kernelbench.texts import hanging, printable

    print(hanging(f"kb {name}: {printable(str(error))}"), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
