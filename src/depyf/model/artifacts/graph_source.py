"""Turn a graph's text, as torch prints it, into a Python file that can be imported."""

from __future__ import annotations

import ast
import builtins
import functools
import re
from dataclasses import field
from symtable import SymbolTable, symtable

from depyf.bytecode.patterns import pattern
from depyf.bytecode.records import dataclass
from depyf.model.artifacts.nested_graphs import with_names
from depyf.model.user_line import UserLine

SAYS_PLACE = r"# (?:(?:Annotation|recompute|ac_graph_id): [^\n]*? )?File: "
"""The start of a comment in a graph that names a line of the user's. The stream of its nodes may come first."""
_USER_LINE = pattern(
    rf"{SAYS_PLACE}(?P<file>.*?):(?P<line>\d+) in (?P<fn>.*?), code: (?P<code>.*)$", re.MULTILINE
)

KNOWN_IMPORTS = {
    "torch": "import torch",
    "device": "from torch import device",
    "inf": "from torch import inf",
    "nan": "from torch import nan",
    "tensor": "from torch import tensor",
    "fx_pytree": "from torch.fx import _pytree as fx_pytree",
    "pytree": "from torch.utils import _pytree as pytree",
    "math": "import math",
    "operator": "import operator",
    "_operator": "import _operator",
    "NoneType": "NoneType = type(None)",
}
"""Names that torch's printer writes without a module, and the import that defines each."""


@dataclass(frozen=True, slots=True)
class GraphFile:
    """The text of a graph's file, and the reason if it is not importable Python."""

    text: str
    reason: str = ""


def graph_file(text: str, header: list[str]) -> GraphFile:
    """Return the file of a graph: `header` as comments, the imports that its code needs, and the code.

    If torch prints something that is not Python, the text becomes a string, so that the file still parses.
    """
    source = _without_header(text)
    return GraphFile("".join(f"# {line}\n" for line in header) + source.text, source.reason)


@functools.lru_cache(maxsize=16)
def _without_header(text: str) -> GraphFile:
    """Return the file of a graph without its header. Recompiles often have the same graph."""
    try:
        code = _named(text)
        table = symtable(code, "<graph>", "exec")
    except SyntaxError as error:
        reason = f"torch's text of this graph is not Python: {error.msg}, line {error.lineno} of it"
        return GraphFile(f"# {reason}\nTEXT = {_as_string(text)}\n", reason)
    names = _names(table, code)
    imports = "".join(f"{line}\n" for line in _imports(names))
    return GraphFile(f"from __future__ import annotations\n\n{imports}\n\n{code}{_attributes(table, names)}")


def _named(text: str) -> str:
    return with_names(text.strip("\n") + "\n")


@functools.lru_cache(maxsize=16)
def user_lines(text: str) -> tuple[UserLine, ...]:
    """Return the user's lines that a graph's nodes came from, each once, in the order of the graph."""
    lines_of_nodes = (
        UserLine(match["file"], int(match["line"]), match["code"].strip(), match["fn"])
        for match in _USER_LINE.finditer(text)
    )
    return tuple(dict.fromkeys(lines_of_nodes))


def output_count(text: str) -> int | None:
    """Return how many values a graph returns, or None if its text does not show it."""
    outputs = _outputs(text)
    return len(outputs) if outputs is not None else None


def output_names(text: str) -> tuple[str, ...]:
    """Return the names of the values that a graph returns; a value without a name is `output_N`."""
    outputs = _outputs(text) or []
    return tuple(
        output.id if isinstance(output, ast.Name) else f"output_{number}" for number, output in enumerate(outputs)
    )


_RETURN = pattern(r"^ {8}return (?P<value>.*(?:\n {9,}.*|\n {8}[)\]].*|\n)*)", re.MULTILINE)
"""The `return` of a method of a top-level class in a text. Nested classes are indented further."""


@functools.lru_cache(maxsize=16)
def _outputs(text: str) -> list[ast.expr] | None:
    returns = list(_RETURN.finditer(_named(text)))
    try:
        value = ast.parse(f"({returns[-1]['value']}\n)", mode="eval").body if returns else None
    except SyntaxError:
        return None
    return value.elts if isinstance(value, (ast.Tuple, ast.List)) else None


@dataclass(slots=True)
class _Names:
    """The names that a text reads, the names that it assigns, and the attributes of `self` that it reads."""

    loaded: dict[str, None] = field(default_factory=lambda: {"torch": None})
    stored: set[str] = field(default_factory=set)
    of_self: dict[str, None] = field(default_factory=dict)


def _names(table: SymbolTable, code: str) -> _Names:
    """Return the names of a text from Python's symbol table, which is a hundred times smaller than a syntax tree."""
    names = _Names(of_self=dict.fromkeys(filter(None, _OF_SELF.findall(code) if _may_read_self(code) else ())))
    pending = [table]
    while pending:
        scope = pending.pop()
        pending += scope.get_children()
        for symbol in scope.get_symbols():
            if symbol.is_referenced() and symbol.get_name() not in _OF_CLASSES:
                names.loaded[symbol.get_name()] = None
            if symbol.is_parameter() or symbol.is_assigned() and not symbol.is_imported():
                names.stored.add(symbol.get_name())
    return names


_OF_CLASSES = frozenset(("__class__", "__classdict__", "__conditional_annotations__"))
"""Names that Python's compiler adds to classes."""
_SELF = pattern(r"self\s*\.")
_DEEP = 100
"""Characters at the beginning of a line within which its comment begins."""
_OF_SELF = pattern(
    r"'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""
    r"|#[^\n]*|(?<![\w.])self\s*\.\s*(\w+)",
    re.DOTALL,
)
"""An attribute of `self`, or a string or comment that may hide one."""


def _may_read_self(code: str) -> bool:
    """Return whether `self.` stands outside of the lines that are comments, as in few graphs.

    To look for the strings and comments of a long text takes long.
    """
    starts = (code.rfind("\n", 0, match.start()) + 1 for match in _SELF.finditer(code))
    return any(not code[start : start + _DEEP].lstrip().startswith("#") for start in starts)


def _imports(names: _Names) -> list[str]:
    free = [name for name in names.loaded if name not in names.stored and not hasattr(builtins, name)]
    known = sorted(KNOWN_IMPORTS[name] for name in free if name in KNOWN_IMPORTS)
    unknown = sorted(name for name in free if name not in KNOWN_IMPORTS)
    if unknown:
        known.append(f"# Names that torch's printer does not explain: {', '.join(unknown)}")
    return known


def _attributes(table: SymbolTable, names: _Names) -> str:
    """Return statements that create the submodules of a graph, and comments that name the other attributes it needs.

    before: `self.cond_true_0` is a class that the text defines
    after: `self.cond_true_0` is a module of that class
    """
    inside = [path for path in _classes(table) if "." in path]
    lines = [f"{path} = {path}()" for path in sorted(inside, key=lambda path: -path.count("."))]
    defined = {path.rpartition(".")[2] for path in inside}
    missing = [name for name in names.of_self if name not in defined]
    comments = [f"# The process has to set, as they are in no text: {', '.join(missing)}"] if missing else []
    return "".join(f"{line}\n" for line in ["", "", *comments, *lines]) if comments or lines else ""


def _classes(table: SymbolTable) -> list[str]:
    """Return the qualified names of the classes that a text defines, including nested ones."""
    names = []
    pending = [("", child) for child in table.get_children()]
    while pending:
        prefix, scope = pending.pop()
        if scope.get_type() == "class":
            names.append(f"{prefix}{scope.get_name()}")
            pending += [(f"{names[-1]}.", child) for child in scope.get_children()]
    return names


def _as_string(text: str) -> str:
    lines = text.split("\n")
    return "(\n" + "".join(f"    {line + chr(10)!r}\n" for line in lines) + ")"
