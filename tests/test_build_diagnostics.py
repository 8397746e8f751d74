"""The first real errors in what compilers, linkers and ptxas print."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from pytest_kernelbench.build.diagnostics import Finding, errors, findings, warnings

GNU = """\
/w/calls/00-ab/main.cpp: In function 'at::Tensor f(at::Tensor)':
/w/calls/00-ab/main.cpp:7:12: error: 'nope' was not declared in this scope
    7 |     return nope(x);
      |            ^~~~
/w/calls/00-ab/main.cpp:7:12: error: 'nope' was not declared in this scope
    7 |     return nope(x);
      |            ^~~~
"""
EDG = """\
/w/cuda.cu(14): error: identifier "blockIdy" is undefined
      int i = blockIdy.x * 256;
              ^

/w/cuda.cu(20): warning #177-D: variable "n" was declared but never referenced
      int n = 3;
          ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

1 error detected in the compilation of "/w/cuda.cu".
"""
NUMBERED = '/w/cuda.cu(3): error #20: identifier "x" is undefined\n  x = 1;\n  ^\n'
INCLUDE = """\
/w/cuda.cu:2:10: fatal error: cutlass/cutlass.h: No such file or directory
    2 | #include <cutlass/cutlass.h>
      |          ^~~~~~~~~~~~~~~~~~~
compilation terminated.
"""
PTXAS_SAYS = "Entry function '_Z1kv' uses too much shared data (0x1c000 bytes, 0xc000 max)"
PTXAS = f"ptxas error   : {PTXAS_SAYS}\n"
NVCC = "nvcc fatal   : Unsupported gpu architecture 'compute_12'\n"
LINKER = """\
/usr/bin/ld: main.o: in function `pybind11_init_x(pybind11::module_&)':
main.cpp:(.text+0x1f): undefined reference to `relu_cuda(at::Tensor)'
/usr/bin/ld: cannot find -lcublasLt: No such file or directory
collect2: error: ld returned 1 exit status
"""
KILLED = "c++: fatal error: Killed signal terminated program cc1plus\n"
HARMLESS = """\
waiting for lock file to be released
block size 256, error bound 1e-3: fine
[1/2] c++ -MMD -MF main.o.d -c main.cpp -o main.o
"""


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (
            GNU,
            Finding(
                "'nope' was not declared in this scope",
                "/w/calls/00-ab/main.cpp",
                7,
                "return nope(x);",
            ),
        ),
        (
            EDG,
            Finding(
                'identifier "blockIdy" is undefined', "/w/cuda.cu", 14, "int i = blockIdy.x * 256;"
            ),
        ),
        (NUMBERED, Finding('identifier "x" is undefined', "/w/cuda.cu", 3, "x = 1;")),
        (
            INCLUDE,
            Finding(
                "cutlass/cutlass.h: No such file or directory",
                "/w/cuda.cu",
                2,
                "#include <cutlass/cutlass.h>",
            ),
        ),
        (PTXAS, Finding(f"ptxas: {PTXAS_SAYS}")),
        (NVCC, Finding("nvcc: Unsupported gpu architecture 'compute_12'")),
        (KILLED, Finding("c++: Killed signal terminated program cc1plus")),
    ],
)
def test_first_error(log: str, expected: Finding) -> None:
    assert errors(log) == (expected,)


def test_linker_says_what_is_undefined_and_not_that_it_failed() -> None:
    messages = [found.message for found in errors(LINKER)]
    assert messages == [
        "ld: undefined reference to `relu_cuda(at::Tensor)'",
        "ld: cannot find -lcublasLt: No such file or directory",
    ]


def test_words_that_mean_nothing() -> None:
    assert findings(HARMLESS) == ()


def test_all_errors_of_several_tools_in_order() -> None:
    lines = [found.line for found in errors(GNU + EDG + PTXAS)]
    assert lines == [7, 14, 0]


def test_warnings_are_kept_but_not_those_about_torch() -> None:
    torch = "/x/torch/include/c10/a.h:5:1: warning: unused\n"
    assert [found.line for found in warnings(torch + EDG)] == [20]
    assert [found.warning for found in errors(torch + EDG)] == [False]


def test_text_names_the_line_of_the_solution() -> None:
    solution = 'src = """\nint a;\n      int i = blockIdy.x * 256;\n"""\n'
    assert errors(EDG)[0].text(solution) == (
        'cuda.cu:14: identifier "blockIdy" is undefined\n'
        "    int i = blockIdy.x * 256;    (line 3 of the solution)"
    )


def test_text_names_no_line_where_two_read_the_same() -> None:
    solution = "x = 1;\n  x = 1;\n"
    assert errors(NUMBERED)[0].text(solution).endswith("\n    x = 1;")


def test_long_messages_are_cut() -> None:
    (found,) = errors(f"/w/a.cpp:1:1: error: {'x' * 5000}\n")
    assert len(found.message) < 700


def test_a_line_number_that_no_file_has_is_no_error() -> None:
    assert findings(f"a.cpp:{'9' * 5000}: error: x\na.cu({'9' * 5000}): error: x\n") == ()


def test_a_long_line_of_source_is_cut() -> None:
    shown = f"a.cpp:7:1: error: x\n    7 | {'y' * 5000}\n"
    assert len(errors(shown)[0].text()) < 700


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ptxas /tmp/x.ptx, line 12; error   : no such", "ptxas: no such"),
        ("ptxas fatal   : (C7907) internal error", "ptxas: (C7907) internal error"),
        ("/usr/bin/x86_64-g++-12: error: no input files", "x86_64-g++-12: no input files"),
        ("/usr/bin/ld: cannot find /a/b/libx.so: none", "ld: cannot find libx.so: none"),
        ("ld: /t/m.o:(.t+1): undefined reference to `f'",
         "ld: m.o:(.t+1): undefined reference to `f'"),
        ("ld.lld: relocation of `/t/a.o' and (/u/b.o)", "ld: relocation of `a.o' and (b.o)"),
        ("ld: cannot find /x or and/or ./a/b", "ld: cannot find /x or and/or ./a/b"),
    ],
)  # fmt: skip
def test_whose_words(line: str, message: str) -> None:
    assert [found.message for found in findings(line)] == [message]


@pytest.mark.parametrize(
    "line", ["ptxas info    : 0 bytes: error: x", "ptxasserror: x", "make: error: x"]
)
def test_nobodys_words(line: str) -> None:
    assert findings(line) == ()


ENDLESS: dict[str, Callable[[int], str]] = {
    "blanks": lambda n: "ptxas" + " " * n,
    "semicolons": lambda n: "nvcc " + "x ;" * (n // 3),
    "tools": lambda n: "/" + "as/as" * (n // 5),
    "one tool": lambda n: "as" * (n // 2) + ": error",
    "slashes": lambda n: "ld: cannot find " + "/" * n,
    "folders": lambda n: "ld: cannot find " + " /a" * (n // 3),
    "places": lambda n: "a:1:" * (n // 4),
    "brackets": lambda n: "a(1): " * (n // 6),
    "undefined": lambda n: "x" * n + ": undefined reference",
    "many errors": lambda n: "x.cu(1): error: y\n" * (n // 18),
    "many kinds": lambda n: "\n".join(f"x.cu({k}): error: y" for k in range(n // 20)),
}
FEW, MANY = 20_000, 80_000
"""Characters: of too many, what takes the square of their number would never end."""


@pytest.mark.parametrize("log", ENDLESS.values(), ids=ENDLESS)
def test_no_log_takes_long(log: Callable[[int], str]) -> None:
    """A solution's own compiler may print anything: four times as much takes four times as long.

    What takes the square of it takes 16 times as long. Seconds of a processor, and the least of
    three: the machine may have other work.
    """
    few_s, many_s = (min(read_in_s(log(count)) for _ in range(3)) for count in (FEW, MANY))
    assert many_s < 9 * max(few_s, LEAST_S)


LEAST_S = 0.001
"""What is shorter is hard to compare."""


def read_in_s(log: str) -> float:
    before_s = time.thread_time()
    errors(log)
    warnings(log)
    return time.thread_time() - before_s
