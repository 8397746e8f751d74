"""A solution does not choose how its pair ends: what makes the judge fail is held against it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from judged import SMALL_PROBLEM, Judge, judging

from pytest_kernelbench.verdict import Status

SEND = """
    import os, socket, stat, struct, time, torch

    def say(body):
        for name in os.listdir("/proc/self/fd"):
            try:
                if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                    there = socket.socket(fileno=os.dup(int(name)))
                    there.sendall(struct.pack("<I", len(body)) + body)
                    return
            except OSError:
                pass
"""
MODEL = """
    class ModelNew(torch.nn.Module):
        def forward(self, a):
            return a * 2 + 1
"""
ENDS = {
    "a message with a deep end": (
        SEND + '\n    say(b"\\x92\\xa4Done" + b"\\x91" * 5000 + b"\\xc0")\n',
        "no message on the judge's channel",
    ),
    "a message with numbers as no tensor has": (
        SEND
        + """
    import msgspec
    from pytest_kernelbench.judge import wire

    def ModelNew():
        leaf = wire.Leaf("float32", (64, 64), (64, 1), (1 << 64) - 1, "cpu", True)
        say(msgspec.msgpack.encode(wire.Ready(())))
        say(msgspec.msgpack.encode(wire.Returned("T", (leaf,), -(1 << 63))))
        time.sleep(100)
""",
        "the output's memory cannot be read: Bad address",
    ),
    "an end with a log that cannot be read": (
        """
    import fcntl, os, torch
    print("so much", flush=True)
    for fd in (1, 2):
        fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_DIRECT)
    os._exit(3)
""",
        "left with exit status 3",
    ),
    "a signal without a name": (
        "\n    import os, torch\n    os.kill(os.getpid(), 40)\n",
        "died of signal 40",
    ),
}


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    with judging(tmp_path_factory.mktemp("judge")) as made:
        yield made


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("problem") / "double.py"
    path.write_text(dedent(SMALL_PROBLEM))
    return path


@pytest.mark.parametrize(("source", "words"), ENDS.values(), ids=ENDS.keys())
def test_what_the_judge_stumbles_over_is_the_solutions(
    judge: Judge, problem: Path, tmp_path: Path, source: str, words: str
) -> None:
    solution = tmp_path / "double.py"
    solution.write_text(dedent(source + ("" if "ModelNew" in source else MODEL)))
    verdict = judge(problem, solution)
    assert verdict.status is Status.CRASHED, verdict
    assert words in verdict.reasons[0]


@pytest.mark.parametrize("name", ["nobody_has_this", "torch", "triton_kernels"])
def test_a_module_that_is_said_to_be_missing(
    judge: Judge, problem: Path, tmp_path: Path, name: str
) -> None:
    solution = tmp_path / "double.py"
    source = f'import torch\nraise ModuleNotFoundError("no {name}", name="{name}")\n'
    solution.write_text(source + dedent(MODEL))
    verdict = judge(problem, solution)
    known = name == "triton_kernels"  # a language of kernels that is not installed
    assert verdict.status is (Status.SKIPPED if known else Status.NOT_BUILT), verdict


PARAMETER = """
    class {name}(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter({start})
        def forward(self, a):
            return a * self.weight + 1
"""


def test_names_of_parameters_are_the_references(judge: Judge, tmp_path: Path) -> None:
    problem, solution = tmp_path / "scale.py", tmp_path / "solution" / "scale.py"
    model = PARAMETER.format(name="Model", start="torch.randn(64)")
    tail = SMALL_PROBLEM.partition("def get_inputs")[2]
    problem.write_text(dedent("    import torch" + model + "    def get_inputs" + tail))
    solution.parent.mkdir()
    lies = """
        import torch
        from pytest_kernelbench.judge import wire
        told = wire.Adopted
        wire.Adopted = lambda names: told((*names, "level 1 is fast: 9.99x (9.98 to 10.0)"))
    """
    copies = dedent(PARAMETER.format(name="ModelNew", start="torch.zeros(64)"))
    solution.write_text(dedent(lies) + copies)
    verdict = judge(problem, solution)
    assert verdict.notes[0] == "parameters copied from the reference by name: weight"
    assert not [note for note in verdict.notes if "9.99" in note]


@pytest.mark.parametrize(
    ("changed", "note"),
    [
        ({".weight": ".scale"}, "it has no weight of Model's shape"),
        ({"randn(64)": "randn(1)"}, "it has no weight of Model's shape"),
        ({"+ 1": "+ 2"}, ""),
        ({"super().__init__()": "super().__init__(); self.bias = torch.nn.Parameter(torch.ones(1))",
          "+ 1": "+ self.bias + 1"}, "it has some that Model has not"),
    ],
)  # fmt: skip
def test_parameters_of_other_names_are_told_of_where_values_are_wrong(
    judge: Judge, tmp_path: Path, changed: dict[str, str], note: str
) -> None:
    problem, solution = tmp_path / "scale.py", tmp_path / "solution" / "scale.py"
    model = PARAMETER.format(name="Model", start="torch.randn(64)")
    tail = SMALL_PROBLEM.partition("def get_inputs")[2]
    problem.write_text(dedent("    import torch" + model + "    def get_inputs" + tail))
    solution.parent.mkdir()
    # One that draws once more before, so that its numbers are others.
    text = PARAMETER.format(name="ModelNew", start="torch.randn(2) is None or torch.randn(64)")
    for old, new in changed.items():
        text = text.replace(old, new)
    solution.write_text("import torch\n" + dedent(text))
    verdict = judge(problem, solution)
    assert verdict.status is Status.WRONG_VALUE, verdict
    told = [each for each in verdict.notes if each.startswith("no parameters were copied")]
    assert [each.partition(": ")[2].partition(";")[0] for each in told] == ([note] if note else [])


PROFILE = """
    from pytest_kernelbench.judge import wire
    from pytest_kernelbench.judge.inside import profile

    def on_host(forward):
        return wire.Profiled((), 0.0, 0.0, (), converts=False, note={note})

    profile.on_host = on_host
"""


@pytest.mark.parametrize(
    ("note", "words"),
    [
        ('"the profiler does not start"', "one looks which kernels run: the profiler does not st"),
        ('"x" * 3_000_000', "Expected `str` of length <= 400"),
    ],
    ids=["nothing to see", "far too much"],
)
def test_who_says_nothing_of_what_ran_ran_no_kernel(
    judge: Judge, problem: Path, tmp_path: Path, note: str, words: str
) -> None:
    solution = tmp_path / "double.py"
    solution.write_text("import torch\n" + dedent(MODEL) + dedent(PROFILE.format(note=note)))
    verdict = judge(problem, solution)
    assert verdict.status is Status.NOT_A_KERNEL, verdict
    assert words in verdict.reasons[0]
