"""The kernels that Inductor's module calls: the lines of each call, and the line of the first kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator

from depyf.bytecode.records import dataclass

_CALL = re.compile(
    r"(?<![\w.])(?P<name>extern_kernels\.\w+|torch\.ops\.\w+\.\w+(?:\.\w+)?|(?:cpp|triton|pallas|cutedsl)_\w+?)(?:\.run)?\("
)
_DEFINITION = re.compile(r"^(?P<name>[A-Za-z_]\w*) = async_compile\.\w+\(")


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A line of a module that calls a kernel."""

    line: int
    name: str


def kernel_calls(text: str) -> Iterator[KernelCall]:
    """Yield the kernel calls in the function of a module that runs the graph.

    before: `        cpp_fused_add_0(arg1_1, buf0)`, `        extern_kernels.mm(arg0_1, arg1_1, out=buf1)`
    after: `cpp_fused_add_0` and `extern_kernels.mm`, with their lines
    """
    is_text_of_kernel = False
    for number, row in enumerate(text.splitlines(), start=1):
        if row.count("'''") == 1:
            is_text_of_kernel = not is_text_of_kernel
        elif not is_text_of_kernel and row[:1].isspace() and not row.lstrip().startswith(("#", "//", "def ", "assert")):
            call = _CALL.search(row)
            if call is not None and "async_compile" not in row:
                yield KernelCall(number, call["name"])


def first_kernel(text: str) -> int:
    """Return the line of a module that defines its first kernel, or calls it; 1 if it has no kernel."""
    for number, row in enumerate(text.splitlines(), start=1):
        if _DEFINITION.match(row):
            return number
    return next((kernel_call.line for kernel_call in kernel_calls(text)), 1)
