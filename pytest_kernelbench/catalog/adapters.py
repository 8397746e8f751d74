"""Source that makes another entry point a ``ModelNew``: written here, run by contenders alone.

=============  ====================================================================================
custom_kernel  a function of one argument: the inputs as a tuple, or the only input itself
run, forward   a function of the inputs, followed by parameters and buffers where it takes more
destination    a function of the inputs and of the outputs that it fills
pybind         a C++ or CUDA source that binds ``forward``, called like the function above
fn             the same, handed to a ``Model.forward(..., fn=...)`` that comes with it
package        a class in one of several files
=============  ====================================================================================

Each but the last derives from the problem's ``Model``, so that parameters have the same names and
are made the same way. The problem's text is laid beside it as ``kb_reference.py``.
"""

from __future__ import annotations

from pytest_kernelbench.catalog.material import Material

MAIN = "solution.py"
"""Of a solution of several files; what lies beside a file of this name is laid beside it again."""
REFERENCE = "kb_reference.py"
FUNCTIONAL = "kb_functional.py"

_HELPERS = '''
def _kb_arity(function):
    """How many arguments a function needs; pybind11 writes that into its docstring."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        head = (function.__doc__ or "").partition("->")[0]
        return len(re.findall(r"[A-Za-z_]\\w*: ", head))
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in places and p.default is inspect.Parameter.empty for p in parameters)


def _kb_arguments(function, inputs, model):
    """The inputs; then, if the function takes more, parameters and buffers in their order."""
    lacking = _kb_arity(function) - len(inputs)
    if lacking <= 0:
        return inputs
    return (*inputs, *[*model.parameters(), *model.buffers()][:lacking])
'''

_CALLS = {
    "custom_kernel": "return {function}(inputs[0] if len(inputs) == 1 else inputs)",
    "run": "return {function}(*_kb_arguments({function}, inputs, self))",
    "destination": """\
shapes = tuple(getattr(value, "shape", None) for value in inputs)
        if shapes not in self._kb_outputs:
            # Only to learn what is to be filled: once for each combination of shapes.
            self._kb_outputs[shapes] = super().forward(*inputs)
        like = self._kb_outputs[shapes]
        several = isinstance(like, (tuple, list))
        outputs = [torch.empty_like(each) for each in (like if several else [like])]
        {function}(*inputs, *outputs)
        return type(like)(outputs) if several else outputs[0]""",
    "fn": "return super().forward(*inputs, fn={function})",
}
_CALLS["forward"] = _CALLS["pybind"] = _CALLS["run"]

_MODEL = '''

class ModelNew(_KbModel):
    """The problem's Model, whose forward is {shown}."""

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self._kb_outputs = {{}}

    def forward(self, *inputs):
        {call}
'''

_LOAD = '''\
"""{source}, called as ModelNew{remark}. Written by pytest-kernelbench."""

import inspect
import os
import re

import torch
from torch.utils.cpp_extension import load

from {module} import Model as _KbModel

_HERE = os.path.dirname(os.path.abspath(__file__))
_extension = load(
    name="{name}",
    sources=[{sources}],
    extra_include_paths=[_HERE],
)
_kb_function = _extension.{function}

'''

_IMPORT = '''\
"""{function} of {source}, called as ModelNew. Written by pytest-kernelbench."""

import importlib.util
import inspect
import os
import re
import sys

import torch
{reference}
_HERE = os.path.dirname(os.path.abspath(__file__))
_PATH = os.path.join(_HERE, "{source}")
sys.path.insert(0, os.path.dirname(_PATH))
_spec = importlib.util.spec_from_file_location("{module}", _PATH)
_module = importlib.util.module_from_spec(_spec)
sys.modules["{module}"] = _module
_spec.loader.exec_module(_module)
'''
_IMPORT_REFERENCE = "from kb_reference import Model as _KbModel\n"

_APPENDED = """

# What follows was appended by pytest-kernelbench: {function}, called as ModelNew.
import inspect
import re

import torch
from kb_reference import Model as _KbModel

"""


def adapted(material: Material, entry: str, adapter: str, reference: str) -> Material:
    """The files of a solution with what makes them a ``ModelNew`` of the problem ``reference``.

    ``adapter`` is a name of the table above, for files out of an archive behind ``extension:`` or
    ``package:``; ``entry`` is then ``FILE::NAME``.
    """
    form, colon, rest = adapter.partition(":")
    source, colons, name = entry.partition("::")
    if not colons:
        source, name = material.files[0][0], entry
    if colon:
        adapt = _extension if form == "extension" else _package
        return adapt(material.files, source, name, rest, reference)
    if adapter in ("pybind", "fn"):
        return _extension(material.files, source, name, adapter, reference)
    return _function(material, name, adapter, reference)


def describe(entry: str, adapter: str) -> str:
    """The adapter, for the verdict's notes."""
    name = adapter.rpartition(":")[2]
    if name == "package":
        return f"adapter {name}: {entry}, with its files laid out in a folder"
    how = {
        "custom_kernel": "called with the inputs as one argument",
        "destination": "called with the inputs and with outputs to fill",
        "fn": "handed to its own Model's forward as fn",
    }
    told = how.get(name, "called with the inputs, then parameters as far as it takes more")
    return f"adapter {name}: {entry}() is {told}"


def _function(material: Material, function: str, adapter: str, reference: str) -> Material:
    """A Python source that defines ``function``: the adapter follows it, line numbers stay."""
    (_, text), *beside = material.files
    main = (
        text.rstrip("\n")
        + _APPENDED.format(function=f"{function}()")
        + _HELPERS.lstrip("\n")
        + _model(adapter, function, f"{function}()")
    )
    return Material(((MAIN, main), *beside, (REFERENCE, reference)))


def _extension(
    files: tuple[tuple[str, str], ...], source: str, function: str, adapter: str, reference: str
) -> Material:
    """C++ or CUDA sources, and ``kb_functional.py``: a ``Model`` whose forward takes ``fn``."""
    names = [name for name, _ in files]
    compiled = [name for name in names if name.endswith((".cu", ".cpp", ".cc", ".cxx"))]
    places = ", ".join(f'os.path.join(_HERE, "{name}")' for name in compiled)
    on_device = any("__global__" in text for _, text in files)
    model = FUNCTIONAL if adapter == "fn" else REFERENCE
    main = _LOAD.format(
        source=source,
        # Whoever looks for what a solution needs looks into this file.
        remark=" (it has __global__ functions: it needs CUDA)" if on_device else "",
        module=model.removesuffix(".py"),
        name="kb_" + Material(files).digest,
        sources=places,
        function=function,
    )
    main += _HELPERS.lstrip("\n") + _model(adapter, "_kb_function", f"{function}() of {source}")
    beside = () if FUNCTIONAL in names else ((REFERENCE, reference),)
    return Material(((MAIN, main), *files, *beside))


def _package(
    files: tuple[tuple[str, str], ...], source: str, name: str, adapter: str, reference: str
) -> Material:
    """Several files; ``name`` in ``source`` is a class ``ModelNew``, or a function to adapt."""
    taken = {path for path, _ in files}
    main_name = MAIN if MAIN not in taken else "model_new.py"
    module = "kb_" + Material(files).digest
    head = _IMPORT.format(
        function=name,
        source=source,
        module=module,
        reference="" if adapter == "package" else _IMPORT_REFERENCE,
    )
    if adapter == "package":
        return Material(((main_name, f"{head}ModelNew = _module.{name}\n"), *files))
    main = (
        f"{head}_kb_function = _module.{name}\n\n"
        + _HELPERS
        + _model(adapter, "_kb_function", f"{name}() of {source}")
    )
    return Material(((main_name, main), *files, (REFERENCE, reference)))


def _model(adapter: str, function: str, shown: str) -> str:
    return _MODEL.format(shown=shown, call=_CALLS[adapter].format(function=function))
