"""The difference between the keys of two entries of a cache of kernels, by the parts that a live capture names.

before: compiler flags: -O3 -mavx2
after:  compiler flag: a flag of the compiler: `-mavx2` became `-mavx512f`
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from depyf.findings.cache_misses.lines import Cause, of_lines, short

FIRST = ("compiler", "compiler flag", "Triton version", "Triton target", "environment variable")
"""Kinds of differences that concern all kernels."""
OF_KERNELS = (
    *("Triton kernel", "Triton argument", "Triton constant", "Triton global", "Triton property"),
    *("C++ source", "Triton option", "configurations"),
)
"""Kinds of differences that concern one kernel. If its text differs, its arguments differ because of that."""

SOURCES = frozenset({"C++ source", "C++ kernels", "Triton source", "tuned kernel"})
"""Parts that hold the text of a kernel. The nearest entry is the one that shares most of its lines."""

DEPENDENCIES = "Triton dependencies"
"""The kernel's source, the values that it reads, and its callees."""

_PART = re.compile(r"Triton (?P<what>global|argument|constant|property|option|variable)\[(?P<name>.+)\]$")
_SUBJECTS = {
    "global": "the global `{}` that the kernel reads",
    "argument": "the type of argument `{}`",
    "constant": "`{}`",
    "property": "the known properties of argument `{}`",
    "option": "`{}`",
    "variable": "`{}`",
}
_PLAIN = {
    "compiler": ("compiler", "the C++ compiler"),
    "Triton version": ("Triton version", "Triton"),
    "Triton target": ("Triton target", "the device that is compiled for"),
    "cache key tag": ("torch setting", "`torch.compiler.config.cache_key_tag`"),
}
_LINES = {
    "compiler flags": ("compiler flag", "a flag of the compiler", False),
    "C++ source": ("C++ source", "a line of the kernel", False),
    "C++ kernels": ("C++ source", "a line of the kernel", False),
    "Triton source": ("Triton kernel", "a line of the kernel", True),
    "tuned kernel": ("Triton kernel", "a line of the kernel", True),
    "configurations": ("configurations", "a configuration that is tried", False),
}


def is_of_kernel(name: str) -> bool:
    """Return whether a part belongs to the key of a kernel."""
    return name in _LINES or name in _PLAIN or name == DEPENDENCIES or _PART.match(name) is not None


def kernel_causes(name: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Cause]:
    """Yield the cause for one part of a kernel's key, unless another part causes it.

    before, after: the values of the parts of both keys by name.
    """
    old, other = before.get(name, "nothing"), after.get(name, "nothing")
    part = _PART.match(name)
    if name in _LINES:
        kind, what, is_python = _LINES[name]
        yield of_lines(kind, what, old, other, is_python=is_python)
    elif name in _PLAIN:
        yield Cause(*_PLAIN[name], short(old), short(other))
    elif part is not None:
        what = part["what"]
        kind = "environment variable" if what == "variable" else f"Triton {what}"
        yield Cause(kind, _SUBJECTS[what].format(part["name"]), short(old), short(other))
    elif not _has_other_source(before, after):
        yield Cause("Triton kernel", "a function that the kernel calls", "one", "another")


def _has_other_source(before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Return whether two Triton kernels differ in their own text or in the globals that they read."""
    texts = [name for name in {*before, *after} if name == "Triton source" or name.startswith("Triton global[")]
    return any(before.get(name) != after.get(name) for name in texts)
