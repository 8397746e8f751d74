"""The first real errors in what compilers, linkers and ptxas print."""

from __future__ import annotations

import time

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


ENDLESS = {
    "blanks": "ptxas" + " " * 1_000_000,
    "semicolons": "nvcc " + "x ;" * 300_000,
    "tools": "/" + "as/as" * 200_000,
    "one tool": "as" * 500_000 + ": error",
    "slashes": "ld: cannot find " + "/" * 1_000_000,
    "folders": "ld: cannot find " + " /a" * 300_000,
    "places": "a:1:" * 250_000,
    "brackets": "a(1): " * 200_000,
    "undefined": "x" * 1_000_000 + ": undefined reference",
    "many errors": "x.cu(1): error: y\n" * 100_000,
    "many kinds": "\n".join(f"x.cu({n}): error: y" for n in range(100_000)),
}


@pytest.mark.parametrize("log", ENDLESS.values(), ids=ENDLESS)
def test_no_log_takes_long(log: str) -> None:
    """A solution's own compiler may print anything."""
    started = time.monotonic()
    errors(log)
    warnings(log)
    assert time.monotonic() - started < 5
