"""Expressions without a node in Python's own `ast`, and constants as expressions.

All are `ast.expr`, so that they can be used as any expression. The passes turn them into plain `ast`; `emit/` prints
the rest.
"""

from __future__ import annotations

import ast
from collections.abc import Set as AbstractSet
from dataclasses import field
from typing import cast

from depyf.bytecode.code import Code
from depyf.bytecode.records import dataclass
from depyf.bytecode.set_order import written
from depyf.bytecode.versions.known import facts_of
from depyf.decompiler.graph.tac import Inst

LITERALS = (int, str, bytes, float, complex, bool, type(None), type(Ellipsis))


LOAD = ast.Load()
"""The context of all nodes that are read: it has no state, so one object suffices."""


class Expression(ast.expr):
    """One of the pipeline's own expressions; its fields are given by name."""

    def __init__(self, **fields: object) -> None:
        self.__dict__ = fields


class Var(ast.Name):
    """A variable; `scope` is how the bytecode reaches it: fast, deref, global, name, classderef."""

    scope: str

    def __init__(self, id: object, ctx: ast.expr_context, scope: str) -> None:
        self.__dict__ = {"id": str(id), "ctx": ctx, "scope": scope}


KINDS = {"FAST": "fast", "NAME": "name", "GLOBAL": "global", "DEREF": "deref", "CLASSDEREF": "classderef"}


class _Scopes(dict[str, str]):
    """By operation: how it reaches the variable that it names."""

    def __missing__(self, op: str) -> str:
        self[op] = scope = KINDS[op.partition("_")[2].partition("_")[0]]
        return scope


SCOPE = _Scopes()


def variable(inst: Inst, context: ast.expr_context) -> Var:
    """Return the variable that a LOAD_x, STORE_x or DELETE_x operation names."""
    return Var(inst.arg, context, SCOPE[inst.op])


class Common(ast.Name):
    """A builtin that the compiler refers to, independent of its name's binding."""


class Temp(Expression):
    """The value of temporary `temp`; it gets a name if it must be printed."""

    _fields = ("temp",)
    temp: int


class Ref(Expression):
    """A second use of a value that is still pending; resolved before a block is finished."""

    _fields = ("entry",)
    entry: Entry


class Object(Expression):
    """A constant without a literal; `order` is the order of a set's members in a display."""

    _fields = ("value",)
    value: object
    order: tuple[object, ...] = ()


class Augmented(Expression):
    """The result of an in-place operator that has not been stored yet."""

    _fields = ("left", "op", "right")
    left: ast.expr
    op: ast.operator
    right: ast.expr


class GetIter(Expression):
    """`iter(value)` as a `for` statement or a comprehension does it."""

    _fields = ("value",)
    value: ast.expr


class GetAwaitable(Expression):
    """The first half of `await value`, or of another implicit await (`where`)."""

    _fields = ("value",)
    value: ast.expr
    where: int


class GetYieldFromIter(Expression):
    """The first half of `yield from value`."""

    _fields = ("value",)
    value: ast.expr


class AsyncIter(Expression):
    """`aiter(value)` as an `async for` does it."""

    _fields = ("value",)
    value: ast.expr


class AsyncNext(Expression):
    """The awaitable of the next value of an asynchronous iterator."""

    _fields = ("value",)
    value: ast.expr


class Module(Expression):
    """The module that an import has found.

    is_lazy: it is found on first use (3.15).
    """

    _fields = ()
    name: str
    level: int
    names: tuple[str, ...] | None
    is_lazy: bool


class FromModule(Expression):
    """Attribute `name` of an imported module, before it is bound."""

    _fields = ("module",)
    module: ast.expr
    name: str


class Function(Expression):
    """A function made here from a code object.

    annotate: the function that evaluates its annotations lazily.
    type_params: type parameters in the function's definition.
    """

    _fields = ("defaults", "kwdefaults", "annotations", "closure", "type_params")
    code: Code
    defaults: ast.expr | None
    kwdefaults: ast.expr | None
    annotations: ast.expr | None
    closure: ast.expr | None
    annotate: ast.expr | None
    type_params: list[ast.expr]


class TypeAliasStatement(ast.stmt):
    """A `type` statement: the `ast` of Python 3.11 has no node for it."""

    _fields = ("target", "type_params", "value")

    def __init__(self, target: Var, type_params: list[ast.expr], value: ast.expr, lineno: int) -> None:
        super().__init__()
        self.target = target
        self.type_params = type_params
        self.value = value
        self.lineno = lineno


class Definition(ast.FunctionDef):
    """A `def` with the variable that it binds."""

    _fields = tuple(dict.fromkeys((*ast.FunctionDef._fields, "type_params")))
    target: Var | Temp
    type_params: list[ast.expr]


class AsyncDefinition(ast.AsyncFunctionDef):
    """An `async def` with the variable that it binds."""

    _fields = tuple(dict.fromkeys((*ast.AsyncFunctionDef._fields, "type_params")))
    target: Var | Temp
    type_params: list[ast.expr]


class ClassDefinition(ast.ClassDef):
    """A `class` with the variable that it binds."""

    _fields = tuple(dict.fromkeys((*ast.ClassDef._fields, "type_params")))
    target: Var
    type_params: list[ast.expr]


class Namespace(Expression):
    """The namespace of a class's body, as a value."""

    _fields = ()


class BuildClass(Expression):
    """`__build_class__`, the callee of a class statement; its type parameters, if the definition has any."""

    _fields = ("type_params",)
    type_params: list[ast.expr]


class Interpolation(Expression):
    """A replacement field of a template string; `text` is the text of its expression that it stores."""

    _fields = ("value", "format_spec")
    value: ast.expr
    text: object
    conversion: int
    format_spec: ast.JoinedStr | None


class Template(Expression):
    """A template string: a string before each interpolation, and one after the last."""

    _fields = ("interpolations",)
    strings: list[str]
    interpolations: list[ast.expr]


class TypeParam(Expression):
    """A type parameter of a definition; `stars` is empty, `*` or `**`."""

    _fields = ("bound", "default")
    name: str
    stars: str
    bound: ast.expr | None
    default: ast.expr | None


class TypeAlias(Expression):
    """The value that a `type` statement binds."""

    _fields = ("type_params", "value")
    name: str
    type_params: list[ast.expr]
    value: ast.expr


class Cell(Expression):
    """The cell of a variable, as a value."""

    _fields = ()
    name: str


class ExcMatch(Expression):
    """The test of the exception being handled against a type: the head of an `except` clause."""

    _fields = ("exc", "type")
    exc: ast.expr
    type: ast.expr
    star: bool


class WithExcept(Expression):
    """The result of calling a context manager's exit with the exception being handled."""

    _fields = ("exit",)
    exit: ast.expr


class Percent(ast.JoinedStr):
    """An f-string that the compiler has made from an operation with `%`."""


class Braced(ast.JoinedStr):
    """An f-string that was written as one."""


class Quoted(Expression):
    """An expression of which only the text is known."""

    _fields = ()
    text: str


class TryStar(ast.Try):
    """`try` with `except*` clauses: the `ast` of Python 3.10 has no node for it."""


class MatchTest(Expression):
    """Whether `subject` matches a pattern; a match also binds the pattern's captures."""

    _fields = ("subject", "pattern")
    subject: ast.expr
    pattern: ast.pattern


class Capture(ast.MatchAs):
    """`pattern as name`, or just a name, with the variable that it binds."""

    def __init__(self, pattern: ast.pattern | None, variable: Var | None) -> None:
        super().__init__(pattern=pattern, name=variable.id if variable is not None else None)
        self.variable = variable


class CaptureStar(ast.MatchStar):
    """`*name` in a sequence pattern, or `*_`."""

    def __init__(self, variable: Var | None) -> None:
        super().__init__(name=variable.id if variable is not None else None)
        self.variable = variable


class CaptureRest(ast.MatchMapping):
    """A mapping pattern, perhaps with `**name` at its end."""

    def __init__(self, keys: list[ast.expr], patterns: list[ast.pattern], variable: Var | None) -> None:
        super().__init__(keys=keys, patterns=patterns, rest=variable.id if variable is not None else None)
        self.variable = variable


class SetupAnnotations(ast.stmt):
    """Make `__annotations__` unless it exists, as the annotation of a variable implies."""

    _fields = ()


class Tuple_(ast.Tuple):
    """A tuple made by LIST_TO_TUPLE: the arguments of a call, not an operand of `*`."""


def is_starred(expr: ast.expr) -> bool:
    """Return whether an expression is a tuple with a starred element; old grammars often require parentheses."""
    return isinstance(expr, ast.Tuple) and any(isinstance(element, ast.Starred) for element in expr.elts)


class Intrinsic(Expression):
    """An interpreter-internal function without a name in Python."""

    _fields = ("args",)
    name: str
    args: list[ast.expr]


@dataclass(slots=True)
class Entry:
    """A computed value with remaining uses: a pending expression.

    effect: PURE, LOCAL (reads local variables) or IMPURE (its order matters).
    reads, writes: local variables read, and written by `:=` or as targets.
    uses: the number of remaining uses.
    targets: assignment targets it has already been stored to.
    replacement: the expression for its `Ref`s, once that is known.
    """

    temp: int
    expr: ast.expr
    effect: int
    reads: frozenset[str]
    writes: AbstractSet[str]
    uses: int
    line: int | None
    targets: list[ast.expr] = field(default_factory=list)
    replacement: ast.expr | None = None
    shared: bool = False


PURE, LOCAL, IMPURE = 0, 1, 2
EMPTY: frozenset[str] = frozenset()


def constant(value: object) -> ast.expr:
    """Return the expression of a constant: a literal if there is one, else an `Object`."""
    return literal(value) if is_literal(value) else Object(value=value)


def constant_of(code: Code, value: object) -> ast.expr:
    """Return the expression of a constant from some code."""
    if type(value) is not frozenset:
        return constant(value)
    # Reading a file fills each set once more than the compiler does.
    times = facts_of(code.version, str(code)).set_fills + (code.origin is None)
    return Object(value=value, order=written(value, times))


def literal(value: object) -> ast.expr:
    """Return a constant's node; unlike in source, tuples of literals are constants too."""
    return ast.Constant(cast("None", value))


NO_LITERAL = object()


def literal_value(expr: ast.expr | None) -> object:
    """Return the value of a constant's node, or NO_LITERAL for any other node."""
    return expr.value if isinstance(expr, ast.Constant) else NO_LITERAL


def is_literal(value: object) -> bool:
    """Return whether a constant has a literal that evaluates to an equal value."""
    work = [value]
    while work:
        item = work.pop()
        kind = type(item)
        if kind is tuple:
            work.extend(item)  # type: ignore[arg-type]
        elif kind not in LITERALS:
            return False
    return True
