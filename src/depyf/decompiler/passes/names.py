"""Names invented for one decompilation: of temporaries, of objects without a literal, of variables."""

from __future__ import annotations

import keyword
import re
import types
import unicodedata
from dataclasses import field

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Listing
from depyf.bytecode.operations import OF_VARIABLES
from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.tac import Graph


@dataclass(slots=True)
class Names:
    """Names invented for one decompilation.

    objects: placeholder names, and their constants without a literal.
    variables: identifiers, and the names that they replace because those are not identifiers.
    functions: names of functions in the text, and the real names of these functions.
    hints: suggested names for temporaries.
    are_writable: a source can contain all names of the code.
    says_variables: a source can contain the names of all variables.
    tried: by wish, the highest number already taken.
    reserved: the taken names, without the variables of `rows`.
    rows: listings whose variables are added at the first request.
    """

    reserved: set[str]
    objects: dict[str, object] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    hints: dict[int, str] = field(default_factory=dict)
    are_writable: bool = True
    says_variables: bool = True
    by_identity: dict[int, str] = field(default_factory=dict)
    by_name: dict[str, str] = field(default_factory=dict)
    tried: dict[str, int] = field(default_factory=dict)
    rows: list[Listing] = field(default_factory=list)

    @property
    def taken(self) -> set[str]:
        """The taken names."""
        for listing in self.rows:
            code = listing.code
            self.reserved.update(code.varnames, code.cellvars, code.freevars, variables_in(listing))
        self.rows = []
        return self.reserved

    def fresh(self, wish: str) -> str:
        """Return an unused identifier like `wish`."""
        base = re.sub(r"\W+", "_", unicodedata.normalize("NFKC", wish)).strip("_") or "name"
        if base[0].isdigit():
            base = "_" + base
        number = self.tried.get(base, 1)
        name = base if number == 1 else f"{base}_{number}"
        while name in self.taken or keyword.iskeyword(name):
            number += 1
            name = f"{base}_{number}"
        self.tried[base] = number
        self.taken.add(name)
        return name

    def free(self, graph: Graph) -> None:
        """Take over a graph's hints, and free the names of the variables that no operation names any more."""
        used = {inst.arg for block in graph.live() for inst in block.insts if inst.op in OF_VARIABLES}
        self.hints.update(graph.hints)
        self.taken.difference_update(set(graph.code.varnames) - used - set(graph.code.parameters))
        self.tried.clear()

    def of_object(self, value: object) -> str:
        """Return the placeholder of an object; one object has one name."""
        if isinstance(value, Code) and value.origin is not None:
            value = value.origin  # The program has the code object, not depyf's view of it.
        if id(value) not in self.by_identity:
            name = self.by_identity[id(value)] = self.fresh(f"object_{_label(value)}")
            self.objects[name] = value
        return self.by_identity[id(value)]

    def of_variable(self, name: str) -> str:
        """Return the identifier of a variable whose name is not one."""
        if name not in self.by_name:
            self.by_name[name] = self.fresh(name)
            self.variables[self.by_name[name]] = name
        return self.by_name[name]


def variables_in(listing: Listing) -> list[str]:
    """Return the variable of each operation in a listing that names one."""
    return [str(item.arg) for item in listing.instructions if item.op in OF_VARIABLES]


def _label(value: object) -> str:
    if isinstance(value, types.CodeType):
        return value.co_name
    return getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or type(value).__name__
