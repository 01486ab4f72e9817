"""The kernels that a module of Inductor's defines, each with the lines of its text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from depyf.bytecode.records import dataclass

_DEFINED = re.compile(r"^(?P<name>[A-Za-z_]\w*) = async_compile\.\w+\(")
_ENDS = "'''"


@dataclass(frozen=True, slots=True)
class KernelDefinition:
    """A kernel in a module; all lines count from 1.

    begin: the first comment above it, or `first`.
    first: the line that assigns the kernel's name.
    last: the line that ends its text.
    """

    name: str
    begin: int
    first: int
    last: int

    def text(self, rows: list[str]) -> str:
        """Return the definition, with the comments above it."""
        return "\n".join(rows[self.begin - 1 : self.last]) + "\n"


def kernel_definitions(text: str) -> Iterator[KernelDefinition]:
    """Yield the definitions of a module, in order.

    before: `# the sum`, `cpp_fused_sum_0 = async_compile.cpp_pybinding([...], r'''`, the text of the kernel, `''')`
    after: `cpp_fused_sum_0`, from the comment to the quotes
    """
    rows = text.splitlines()
    end = 0
    for index, row in enumerate(rows):
        defined = _DEFINED.match(row)
        if defined is None or index < end:
            continue
        end = next((number for number in range(index + 1, len(rows)) if rows[number].startswith(_ENDS)), index) + 1
        begin = index
        while begin and rows[begin - 1].startswith("#"):
            begin -= 1
        yield KernelDefinition(defined["name"], begin + 1, index + 1, end)
