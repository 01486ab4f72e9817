"""Write expressions as source, with only the necessary parentheses.

The tree is walked with an explicit stack of text and (node, precedence) pairs.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from depyf.decompiler.emit import constants
from depyf.decompiler.emit.formats import becomes_f_string, converts_to_text, format_call, percent
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.emit.precedence import (
    AND,
    ARITH,
    ATOM,
    AWAIT,
    BAND,
    BOR,
    BXOR,
    COMPARE,
    FACTOR,
    NAMED,
    NOT,
    OR,
    POWER,
    SHIFT,
    STAR,
    TERM,
    TEST,
    TUPLE,
    WALRUS,
    YIELD,
)
from depyf.decompiler.emit.strings import f_string, without_backslash
from depyf.decompiler.emit.templates import template
from depyf.decompiler.lift.nodes import Braced, Percent, Quoted, Template, Var, is_starred

Piece = str | tuple[ast.expr, int]

BINARY: dict[type[ast.operator], tuple[str, int]] = {
    ast.BitOr: ("|", BOR),
    ast.BitXor: ("^", BXOR),
    ast.BitAnd: ("&", BAND),
    ast.LShift: ("<<", SHIFT),
    ast.RShift: (">>", SHIFT),
    ast.Add: ("+", ARITH),
    ast.Sub: ("-", ARITH),
    ast.Mult: ("*", TERM),
    ast.MatMult: ("@", TERM),
    ast.Div: ("/", TERM),
    ast.FloorDiv: ("//", TERM),
    ast.Mod: ("%", TERM),
    ast.Pow: ("**", POWER),
}
UNARY: dict[type[ast.unaryop], tuple[str, int]] = {
    ast.Not: ("not ", NOT),
    ast.USub: ("-", FACTOR),
    ast.UAdd: ("+", FACTOR),
    ast.Invert: ("~", FACTOR),
}
COMPARES: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


NAMES = frozenset({ast.Name, Var})
"""Nodes that are written as their name, unless a writer has another rule."""


class ExpressionWriter:
    """Writes expressions in the grammar of one Python version.

    no_backslash: write strings with literal characters instead of escapes, if possible.
    rules: how to write each node.
    """

    def __init__(
        self, grammar: Grammar, no_backslash: bool = False, rules: Mapping[type, Rule] | None = None
    ) -> None:
        self.grammar = grammar
        self.no_backslash = no_backslash
        self.rules = RULES if rules is None else rules
        self.names_are_plain = self.rules.get(ast.Name) is _name
        # By identity: if an f-string is tried in several forms, its inner ones are written once.
        self.joined: dict[int, tuple[list[Piece], int]] = {}

    def write(self, expr: ast.expr, precedence: int = TEST) -> str:
        """Return the source of an expression, in parentheses if it binds less tightly than `precedence`."""
        names_are_plain, rules = self.names_are_plain, self.rules
        if names_are_plain and type(expr) in NAMES:
            return expr.id  # type: ignore[attr-defined,no-any-return]
        out: list[str] = []
        work: list[Piece] = [(expr, precedence)]
        while work:
            piece = work.pop()
            if not isinstance(piece, tuple):
                out.append(piece)
                continue
            node, needed = piece
            kind = type(node)
            if names_are_plain and kind in NAMES:
                out.append(node.id)  # type: ignore[attr-defined]
                continue
            rule = rules.get(kind)
            pieces, node_precedence = rule(self, node) if rule is not None else self._inherited(node)
            if node_precedence < needed:
                work.append(")")
                work += pieces[::-1]
                work.append("(")
            elif len(pieces) == 1:
                work.append(pieces[0])
            else:
                work += pieces[::-1]
        return "".join(out)

    def _inherited(self, node: ast.expr) -> tuple[list[Piece], int]:
        for kind in type(node).__mro__:
            rule = self.rules.get(kind)
            if rule is not None:
                return rule(self, node)
        raise TypeError(f"{type(node).__name__} has no source form")

    def arguments(self, args: ast.arguments) -> list[Piece]:
        """Return the parameter list of a function or lambda."""
        pieces: list[Piece] = []

        def add(prefix: str, arg: ast.arg, default: ast.expr | None) -> None:
            """Append the text of one parameter.

            Args:
                prefix: `*`, `**` or nothing.
                arg: the parameter's name and annotation.
                default: the default value, or None.
            """
            if pieces:
                pieces.append(", ")
            pieces.append(prefix + arg.arg)
            if arg.annotation is not None:
                pieces.extend([": ", (arg.annotation, STAR if prefix == "*" else TEST)])
            if default is not None:
                pieces.append(" = " if arg.annotation is not None else "=")
                pieces.append((default, TEST))

        positional = [*args.posonlyargs, *args.args]
        missing = len(positional) - len(args.defaults)
        for number, arg in enumerate(positional):
            add("", arg, args.defaults[number - missing] if number >= missing else None)
            if args.posonlyargs and number == len(args.posonlyargs) - 1:
                pieces.append(", /")
        if args.vararg is not None:
            add("*", args.vararg, None)
        elif args.kwonlyargs:
            pieces.append(", *" if pieces else "*")
        for arg, default in zip(args.kwonlyargs, args.kw_defaults):
            add("", arg, default)
        if args.kwarg is not None:
            add("**", args.kwarg, None)
        return pieces


Rule = Callable[[ExpressionWriter, "ast.expr"], "tuple[list[Piece], int]"]


def _join(pieces: list[list[Piece]], separator: str) -> list[Piece]:
    out: list[Piece] = []
    for piece in pieces:
        out += piece
        out.append(separator)
    del out[-1:]
    return out


def _name(writer: ExpressionWriter, node: ast.Name) -> tuple[list[Piece], int]:
    return [node.id], ATOM


def _constant(writer: ExpressionWriter, node: ast.Constant) -> tuple[list[Piece], int]:
    text = constants.source(node.value)
    if writer.no_backslash and isinstance(node.value, str):
        text = without_backslash(node.value) or text
    return [text], FACTOR if text.startswith("-") else ATOM


def _attribute(writer: ExpressionWriter, node: ast.Attribute) -> tuple[list[Piece], int]:
    value = node.value
    if isinstance(value, ast.Constant) and type(value.value) in (int, float, complex):
        return ["(", (value, TEST), ").", node.attr], ATOM
    if writer.names_are_plain and type(value) in NAMES:
        return [f"{value.id}.{node.attr}"], ATOM  # type: ignore[attr-defined]
    return [(value, ATOM), ".", node.attr], ATOM


def _subscript(writer: ExpressionWriter, node: ast.Subscript) -> tuple[list[Piece], int]:
    index = node.slice
    if isinstance(index, ast.Tuple) and index.elts and writer.grammar.bare_index_tuple(index):
        alone = len(index.elts) == 1 and not isinstance(index.elts[0], ast.Starred)
        return [(node.value, ATOM), "[", *_elements(index.elts, STAR, alone), "]"], ATOM
    return [(node.value, ATOM), "[", (index, TEST), "]"], ATOM


def _elements(elts: list[ast.expr], precedence: int, comma: bool) -> list[Piece]:
    pieces = _join([[(element, precedence)] for element in elts], ", ")
    return [*pieces, ","] if comma else pieces


def _slice(writer: ExpressionWriter, node: ast.Slice) -> tuple[list[Piece], int]:
    pieces: list[Piece] = []
    if node.lower is not None:
        pieces.append((node.lower, TEST))
    pieces.append(":")
    if node.upper is not None:
        pieces.append((node.upper, TEST))
    if node.step is not None:
        pieces += [":", (node.step, TEST)]
    return pieces, ATOM


def _tuple(writer: ExpressionWriter, node: ast.Tuple) -> tuple[list[Piece], int]:
    if not node.elts:
        return ["()"], ATOM
    return _elements(node.elts, NAMED, len(node.elts) == 1), TUPLE


def _list(writer: ExpressionWriter, node: ast.List) -> tuple[list[Piece], int]:
    return ["[", *_elements(node.elts, WALRUS, False), "]"], ATOM


def _set(writer: ExpressionWriter, node: ast.Set) -> tuple[list[Piece], int]:
    if not node.elts:
        return ["{*()}"], ATOM
    return ["{", *_elements(node.elts, NAMED, False), "}"], ATOM


def _dict(writer: ExpressionWriter, node: ast.Dict) -> tuple[list[Piece], int]:
    parts: list[list[Piece]] = []
    for key, value in zip(node.keys, node.values):
        parts.append([(key, TEST), ": ", (value, TEST)] if key is not None else ["**", (value, BOR)])
    return ["{", *_join(parts, ", "), "}"], ATOM


def _starred(writer: ExpressionWriter, node: ast.Starred) -> tuple[list[Piece], int]:
    return ["*", (node.value, BOR)], STAR


def _unary(writer: ExpressionWriter, node: ast.UnaryOp) -> tuple[list[Piece], int]:
    sign, precedence = UNARY[type(node.op)]
    return [sign, (node.operand, precedence)], precedence


def _binary(writer: ExpressionWriter, node: ast.BinOp) -> tuple[list[Piece], int]:
    sign, precedence = BINARY[type(node.op)]
    if precedence == POWER:
        return [(node.left, AWAIT), f" {sign} ", (node.right, FACTOR)], POWER
    return [(node.left, precedence), f" {sign} ", (node.right, precedence + 1)], precedence


def _operation(writer: ExpressionWriter, node: ast.BinOp) -> tuple[list[Piece], int]:
    """Write a `%` operation that the compiler must not fold: its template becomes an f-string."""
    if writer.grammar.percent_joins and becomes_f_string(node):
        node.left = ast.JoinedStr(values=[node.left])
    return _binary(writer, node)


def _bool(writer: ExpressionWriter, node: ast.BoolOp) -> tuple[list[Piece], int]:
    word, precedence = (" and ", AND) if isinstance(node.op, ast.And) else (" or ", OR)
    return _join([[(value, precedence + 1)] for value in node.values], word), precedence


def _compare(writer: ExpressionWriter, node: ast.Compare) -> tuple[list[Piece], int]:
    pieces: list[Piece] = [(node.left, COMPARE + 1)]
    for op, right in zip(node.ops, node.comparators):
        pieces += [f" {COMPARES[type(op)]} ", (right, COMPARE + 1)]
    return pieces, COMPARE


def _conditional(writer: ExpressionWriter, node: ast.IfExp) -> tuple[list[Piece], int]:
    return [(node.body, OR), " if ", (node.test, OR), " else ", (node.orelse, TEST)], TEST


def _named(writer: ExpressionWriter, node: ast.NamedExpr) -> tuple[list[Piece], int]:
    return [(node.target, ATOM), " := ", (node.value, TEST)], WALRUS


def _lambda(writer: ExpressionWriter, node: ast.Lambda) -> tuple[list[Piece], int]:
    arguments = writer.arguments(node.args)
    return ["lambda" + (" " if arguments else ""), *arguments, ": ", (node.body, TEST)], TEST


def _call(writer: ExpressionWriter, node: ast.Call) -> tuple[list[Piece], int]:
    alone = len(node.args) == 1 and not node.keywords and isinstance(node.args[0], ast.GeneratorExp)
    if alone:
        return [(node.func, ATOM), (node.args[0], ATOM)], ATOM
    pieces: list[Piece] = [(node.func, ATOM), "("]
    for arg in node.args:
        pieces += ((arg, WALRUS), ", ")
    for keyword in node.keywords:
        pieces += ("**" if keyword.arg is None else f"{keyword.arg}=", (keyword.value, TEST), ", ")
    if len(pieces) > 2:
        del pieces[-1]
    pieces.append(")")
    return pieces, ATOM


def _yield(writer: ExpressionWriter, node: ast.Yield) -> tuple[list[Piece], int]:
    if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
        return ["yield"], YIELD
    bare = TEST if isinstance(node.value, ast.NamedExpr) else TUPLE  # `yield a := b` is not an expression.
    return ["yield ", (node.value, STAR if is_starred(node.value) else bare)], YIELD


def _yield_from(writer: ExpressionWriter, node: ast.YieldFrom) -> tuple[list[Piece], int]:
    return ["yield from ", (node.value, TEST)], YIELD


def _await(writer: ExpressionWriter, node: ast.Await) -> tuple[list[Piece], int]:
    return ["await ", (node.value, ATOM)], AWAIT


def _generators(generators: list[ast.comprehension]) -> list[Piece]:
    pieces: list[Piece] = []
    for generator in generators:
        pieces.append(" async for " if generator.is_async else " for ")
        pieces += [(generator.target, TUPLE), " in ", (generator.iter, OR)]
        for test in generator.ifs:
            pieces += [" if ", (test, OR)]
    return pieces


def _list_comp(writer: ExpressionWriter, node: ast.ListComp) -> tuple[list[Piece], int]:
    return ["[", (node.elt, NAMED), *_generators(node.generators), "]"], ATOM


def _set_comp(writer: ExpressionWriter, node: ast.SetComp) -> tuple[list[Piece], int]:
    return ["{", (node.elt, NAMED), *_generators(node.generators), "}"], ATOM


def _generator(writer: ExpressionWriter, node: ast.GeneratorExp) -> tuple[list[Piece], int]:
    return ["(", (node.elt, NAMED), *_generators(node.generators), ")"], ATOM


def _dict_comp(writer: ExpressionWriter, node: ast.DictComp) -> tuple[list[Piece], int]:
    item: list[Piece] = ["**", (node.key, BOR)]
    if node.value is not None:
        item = [(node.key, TEST), ": ", (node.value, TEST)]
    return ["{", *item, *_generators(node.generators), "}"], ATOM


def _quoted(writer: ExpressionWriter, node: Quoted) -> tuple[list[Piece], int]:
    return [node.text], ATOM


def _joined(writer: ExpressionWriter, node: ast.JoinedStr) -> tuple[list[Piece], int]:
    if id(node) not in writer.joined:
        writer.joined[id(node)] = _formatted(writer, node)
    return writer.joined[id(node)]


def _formatted(writer: ExpressionWriter, node: ast.JoinedStr) -> tuple[list[Piece], int]:
    operation = percent(node) if writer.grammar.percent_joins else None
    is_percent = isinstance(node, Percent) or (converts_to_text(node) and not isinstance(node, Braced))
    text = f_string(writer, node) if operation is None or not is_percent else None
    if text is not None:
        return [text], ATOM
    if operation is not None:
        return _binary(writer, operation)
    if writer.grammar.nested_quotes:
        text = f_string(writer, node, nested_quotes=True)
    else:
        text = f_string(ExpressionWriter(writer.grammar, no_backslash=True, rules=writer.rules), node)
    if text is not None:
        return [text], ATOM
    return _call(writer, format_call(node))


def _template(writer: ExpressionWriter, node: Template) -> tuple[list[Piece], int]:
    return [template(writer, node)], ATOM


RULES: dict[type, Rule] = {
    ast.Name: _name,  # type: ignore[dict-item]
    ast.Constant: _constant,  # type: ignore[dict-item]
    ast.Attribute: _attribute,  # type: ignore[dict-item]
    ast.Subscript: _subscript,  # type: ignore[dict-item]
    ast.Slice: _slice,  # type: ignore[dict-item]
    ast.Tuple: _tuple,  # type: ignore[dict-item]
    ast.List: _list,  # type: ignore[dict-item]
    ast.Set: _set,  # type: ignore[dict-item]
    ast.Dict: _dict,  # type: ignore[dict-item]
    ast.Starred: _starred,  # type: ignore[dict-item]
    ast.UnaryOp: _unary,  # type: ignore[dict-item]
    ast.BinOp: _operation,  # type: ignore[dict-item]
    ast.BoolOp: _bool,  # type: ignore[dict-item]
    ast.Compare: _compare,  # type: ignore[dict-item]
    ast.IfExp: _conditional,  # type: ignore[dict-item]
    ast.NamedExpr: _named,  # type: ignore[dict-item]
    ast.Lambda: _lambda,  # type: ignore[dict-item]
    ast.Call: _call,  # type: ignore[dict-item]
    ast.Yield: _yield,  # type: ignore[dict-item]
    ast.YieldFrom: _yield_from,  # type: ignore[dict-item]
    ast.Await: _await,  # type: ignore[dict-item]
    ast.ListComp: _list_comp,  # type: ignore[dict-item]
    ast.SetComp: _set_comp,  # type: ignore[dict-item]
    ast.GeneratorExp: _generator,  # type: ignore[dict-item]
    ast.DictComp: _dict_comp,  # type: ignore[dict-item]
    ast.JoinedStr: _joined,  # type: ignore[dict-item]
    Braced: _joined,  # type: ignore[dict-item]
    Percent: _joined,  # type: ignore[dict-item]
    Template: _template,  # type: ignore[dict-item]
    Quoted: _quoted,  # type: ignore[dict-item]
}
"""How to write each node: its pieces, and its precedence."""
