"""Parse the statements of a kernel's body, of Triton and of C++, into one kind of syntax tree.

before: `auto tmp2 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(16));`
after: `tmp2 = load(in_ptr0 + x0)`
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from depyf.bytecode.records import dataclass
from depyf.links.inductor.module import Kernel
from depyf.model.syntax import names_in, nodes_below

_TEMPLATE = re.compile(r"(?<=\w)<[\w:,\s*&]+>(?=::|\(|\{)")
_DECLARED = re.compile(
    r"^(?:const\s+)?(?:auto|float|double|bool|half|bfloat16|c10::\w+|(?:u?int\d+_t)|long|int|at::vec::\w+(?:<[^=]*>)?)"
    r"[&*]?\s+(?P<rest>\w+\s*(?:=|\().*)$"
)
_STORED = re.compile(r"^(?P<value>.+)\.store\((?P<place>.+)\)$")
_ATOMIC = re.compile(r"^atomic_\w+\(&?(?P<place>\w+\[.+\]), (?P<value>.+)\)$")
_NUMBER = re.compile(r"\b(\d+(?:\.\d*)?(?:e[+-]?\d+)?)(?:ULL|LL|UL|L|U|f|F)\b")
_LITERAL = re.compile(r"(?<![\w.])(\d+\.)(?!\d)")
_REDUCED = re.compile(r"at::vec::vec_reduce_all.*\},\s*(?P<vector>\w+)\)+$|!?(?P<mask>\w+)\.all_(?:zero|masked)\(\)$")
_FUNCTION = re.compile(r"^(?=.)(?:auto (?P<name>\w+) =)?\s*(?P<begins>\[&\])?$")
"""before: `auto tmp6 = [&]`, in one line or two: its return value is the value of `tmp6()`, or of `tmp6`"""
_CONDITIONAL = re.compile(r"^(?P<test>[^?]+)\?(?P<yes>[^?:]+):(?P<no>[^?:]+)$")


_OPERATORS: dict[type, tuple[str, ...]] = {
    ast.Add: ("add",),
    ast.Sub: ("sub",),
    ast.Mult: ("mul",),
    ast.Div: ("div",),
    ast.BitAnd: ("bitwise_and", "logical_and"),
    ast.BitOr: ("bitwise_or", "logical_or"),
    ast.BitXor: ("bitwise_xor", "logical_xor"),
    ast.And: ("logical_and", "bitwise_and"),
    ast.Or: ("logical_or", "bitwise_or"),
    ast.Invert: ("bitwise_not", "logical_not"),
    ast.Not: ("logical_not", "bitwise_not"),
    ast.USub: ("neg",),
    ast.Eq: ("eq",),
    ast.NotEq: ("ne",),
    ast.Lt: ("lt",),
    ast.LtE: ("le",),
    ast.Gt: ("gt",),
    ast.GtE: ("ge",),
    ast.IfExp: ("where",),
}
_COMPARISONS = frozenset(("eq", "ne", "lt", "le", "gt", "ge"))
_CALLS = {"blendv": "where"}
_TRANSPARENT = frozenset(
    ("load", "loadu", "full", "broadcast_to", "to", "static_cast", "Vectorized", "float", "convert")
)
_WHOLE = frozenset(("sum", "prod", "max2", "min2", "any", "xor_sum", "reduce", "welford"))
"""Functions with which Triton kernels reduce the accumulator of a loop."""
_COMPUTED = re.compile(r"^tmp\d+$")
_ACCUMULATOR = re.compile(r"^(?:_tmp\d+|tmp_acc\d+\w*)$")


def is_accumulator(name: str) -> bool:
    """Return whether a variable of a kernel is the accumulator of a loop."""
    return _ACCUMULATOR.match(name) is not None


@dataclass(frozen=True)
class Statement:
    """A statement: its line in the kernel's text, from 1 on, the variables that it assigns, and the value.

    A store assigns no variable; it has a `place`. An atomic store combines its value with the value that is there.
    """

    line: int
    targets: tuple[str, ...]
    value: ast.expr
    place: ast.expr | None = None
    is_atomic: bool = False

    @functools.cached_property
    def is_scattered(self) -> bool:
        """Whether it writes some elements at computed places, so that the result depends on the previous content."""
        place = names_in(self.place) if self.place is not None else []
        return self.is_atomic or any(map(_COMPUTED.match, place))

    @functools.cached_property
    def names(self) -> list[str]:
        """The names in its value."""
        return names_in(self.value)

    @functools.cached_property
    def operations(self) -> frozenset[str]:
        """The names in a graph for the operations of its value."""
        names: set[str] = set()
        for node in nodes_below(self.value):
            if isinstance(node, ast.Call):
                name = _called(node.func)
                names.add(_CALLS.get(name, name))
            elif isinstance(node, (ast.BinOp, ast.BoolOp, ast.UnaryOp)):
                names.update(_OPERATORS.get(type(node.op), ()))
            elif isinstance(node, ast.Compare):
                names.update(name for op in node.ops for name in _OPERATORS.get(type(op), ()))
            elif isinstance(node, ast.IfExp):
                names.update(_OPERATORS[ast.IfExp])
        return frozenset(names)

    @property
    def gives_truths(self) -> bool:
        """Whether it is a comparison."""
        return bool(self.operations & _COMPARISONS)

    @functools.cached_property
    def computes(self) -> bool:
        """Whether its value does more than load, convert or reshape."""
        for node in nodes_below(self.value):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name in ("load", "loadu"):
                    return False
                if name not in _TRANSPARENT:
                    return True
            elif isinstance(node, (ast.BinOp, ast.Compare, ast.UnaryOp, ast.BoolOp)):
                return True
        return False

    @functools.cached_property
    def accumulates(self) -> bool:
        """Whether it adds to an accumulator, which has the result only at the end of the loop."""
        if not any(map(is_accumulator, self.names)) or isinstance(self.value, ast.Name):
            return False
        calls = [node.func for node in nodes_below(self.value) if isinstance(node, ast.Call)]
        return not any(_called(call) in _WHOLE for call in calls)


def _called(function: ast.expr) -> str:
    """Return the last part of the callee's name."""
    return ast.unparse(function).rpartition(".")[2]


def statements(kernel: Kernel) -> list[Statement]:
    """Return the statements of a kernel in order, without those that are not understood."""
    return list(_of_triton(kernel.text) if kernel.language == "triton" else _of_cpp(kernel.text))


def function_name(kernel: Kernel) -> str:
    """Return the name of a Triton kernel's function. Inductor's module has another name for a program's own kernel."""
    function = _function(kernel.text)
    return function.name if function is not None else kernel.name


def parameters(kernel: Kernel) -> list[str]:
    """Return the names of a kernel's parameters, in order."""
    if kernel.language == "triton":
        function = _function(kernel.text)
        return [arg.arg for arg in function.args.args] if function is not None else []
    head = re.search(r"\bkernel\((?P<listed>[^)]*)\)", kernel.text)
    listed = head["listed"].split(",") if head is not None else []
    return [parameter.split()[-1].lstrip("*&") for parameter in listed if parameter.strip()]


@functools.lru_cache(maxsize=16)
def _function(text: str) -> ast.FunctionDef | None:
    """Return the function of a Triton kernel. Other functions are its callees, such as the operator of a scan."""
    functions = [node for node in _parsed(text).body if isinstance(node, ast.FunctionDef)]
    kernels = [
        function for function in functions if "triton_heuristics." in "".join(map(ast.unparse, function.decorator_list))
    ]
    return next(iter(kernels or functions[-1:]), None)


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError:
        return ast.Module([], [])


def _of_triton(text: str) -> Iterator[Statement]:
    function = _function(text)
    body = nodes_below(function) if function is not None else []
    nodes = [node for node in body if isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr))]
    for node in sorted(nodes, key=lambda node: node.lineno):
        match node:
            case ast.AugAssign(target=ast.Name(id=name) as target, op=operator, value=value):
                yield Statement(node.lineno, (name,), ast.copy_location(ast.BinOp(target, operator, value), node))
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield Statement(node.lineno, (name,), value)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=value):
                yield Statement(
                    node.lineno, tuple(element.id for element in names if isinstance(element, ast.Name)), value
                )
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=[place, value, *_])):
                if name == "store" or name.startswith("atomic_"):
                    yield Statement(node.lineno, (), value, place, name != "store")


def _of_cpp(text: str) -> Iterator[Statement]:
    functions, depth, declared = list[tuple[str, int]](), 0, ""
    for number, row in enumerate(text.splitlines(), start=1):
        line = row.strip()
        opened = _FUNCTION.match(line)
        declared = opened["name"] or declared if opened is not None else declared
        if opened is not None and opened["begins"]:
            functions.append((declared, depth))
        depth += line.count("{") - line.count("}")
        if functions and line.startswith("}") and depth <= functions[-1][1]:
            functions.pop()
        if not line.endswith(";") or line.startswith(("#", "//", "for", "std::atomic", "inductor_cpu")):
            continue
        line = line.removesuffix(";").strip()
        returned = _expression(line.removeprefix("return ")) if functions and line.startswith("return ") else None
        statement = Statement(number, functions[-1][:1], returned) if returned is not None else _statement(number, line)
        if statement is not None:
            yield statement


def _statement(number: int, line: str) -> Statement | None:
    if line.startswith("return"):
        return None
    declared = _DECLARED.match(line)
    line = declared["rest"] if declared is not None else line
    stored = (_STORED.match(line) or _ATOMIC.match(line)) if declared is None else None
    if stored is not None:
        value, place = _expression(stored["value"]), _expression(stored["place"])
        is_atomic = line.startswith("atomic_")
        return Statement(number, (), value, place, is_atomic) if value is not None and place is not None else None
    left, _, right = line.partition(" = ")
    value = _expression(right)
    if not right or value is None:
        return None
    if re.fullmatch(r"\w+", left.strip()):
        return Statement(number, (left.strip(),), value)
    place = _expression(left)
    return Statement(number, (), value, place) if isinstance(place, ast.Subscript) else None


@functools.lru_cache(maxsize=1024)
def _expression(text: str) -> ast.expr | None:
    """Return a C++ expression as a Python expression, or None if it cannot be parsed. Cached: most occur often."""
    reduced = _REDUCED.search(text)
    if reduced is not None:
        text = reduced["vector"] or reduced["mask"]
    last, text = "", text.replace(".template ", ".")
    while last != text:
        last, text = text, _TEMPLATE.sub("", text)
    text = re.sub(r"decltype\(\w+\)", "decltype", text)
    text = (
        text.replace("std::numeric_limits::infinity()", 'float("inf")')
        .replace("::", ".")
        .replace(".from(", ".convert(")
    )
    text = _LITERAL.sub(r"\g<1>0", _NUMBER.sub(r"\1", text))
    text = re.sub(r"!(?!=)", " not ", text).replace("&&", " and ").replace("||", " or ")
    conditional = _CONDITIONAL.match(text)
    if conditional is not None:
        text = f"where({conditional['test']}, {conditional['yes']}, {conditional['no']})"
    text = re.sub(r"\btrue\b", "True", re.sub(r"\bfalse\b", "False", text))
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None
