"""Syntax trees of functions, without what no bytecode holds, and the causes by which two of them differ."""

from __future__ import annotations

import ast
import copy
from collections import defaultdict
from collections.abc import Callable, Iterator

FOLDED = (int, float, complex)
Definition = ast.FunctionDef | ast.AsyncFunctionDef


class WithoutUnheld(ast.NodeTransformer):
    """Takes out what bytecode does not hold: folded constants, annotations of locals, `pass`, lone constants."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        """Leave the assignment of an annotated one."""
        self.generic_visit(node)
        return ast.Assign(targets=[node.target], value=node.value) if node.value is not None else None

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """Drop a statement that is a constant."""
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_Pass(self, node: ast.Pass) -> None:
        """Drop a `pass`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Compute an operation on two constants."""
        self.generic_visit(node)
        if isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant):
            whole = ast.fix_missing_locations(ast.Expression(node))
            try:
                return ast.Constant(eval(compile(whole, "", "eval")))  # noqa: S307  two constants
            except (ArithmeticError, TypeError, ValueError):
                return node
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Compute the negative of a number."""
        self.generic_visit(node)
        operand = node.operand
        if isinstance(node.op, ast.USub) and isinstance(operand, ast.Constant) and isinstance(operand.value, FOLDED):
            return ast.Constant(-operand.value)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Forget how a string was prefixed."""
        return ast.Constant(node.value)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Forget whether a name is loaded."""
        return ast.Name(node.id)


def held(function: Definition) -> Definition:
    """Return what bytecode holds of the tree of a function."""
    stripped: Definition = WithoutUnheld().visit(copy.deepcopy(function))
    for node in ast.walk(stripped):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.decorator_list, node.returns, node.type_comment = [], None, None
            for arg in ast.walk(node.args):
                if isinstance(arg, ast.arg):
                    arg.annotation = None
    return stripped


class WithoutFolded(ast.NodeTransformer):
    """Takes out what the compiler decides before any instruction is there, so that none tells it."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Write a list that is only searched as a tuple, and order the constants of a set that is."""
        self.generic_visit(node)
        for place, (op, comparator) in enumerate(zip(node.ops, node.comparators)):
            if isinstance(op, (ast.In, ast.NotIn)):
                node.comparators[place] = _listed(comparator)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        """Write a list that is only iterated as a tuple."""
        self.generic_visit(node)
        node.iter = _listed(node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """Write a list that is only iterated as a tuple."""
        self.generic_visit(node)
        node.iter = _listed(node.iter)
        return node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        """Put the body of `if __debug__` in its place."""
        self.generic_visit(node)
        return node.body if isinstance(node.test, ast.Name) and node.test.id == "__debug__" else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Compute an item of a constant."""
        self.generic_visit(node)
        if isinstance(node.value, ast.Constant) and isinstance(node.slice, ast.Constant):
            text, place = node.value.value, node.slice.value
            if isinstance(text, (str, bytes)) and isinstance(place, int) and -len(text) <= place < len(text):
                return ast.Constant(text[place])
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """Write an f-string without fields as a string."""
        if all(isinstance(part, ast.Constant) for part in node.values):
            return ast.Constant("".join(str(part.value) for part in node.values if isinstance(part, ast.Constant)))
        return self.generic_visit(node)


def _listed(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.List):
        return ast.Tuple(node.elts, ast.Load())
    if isinstance(node, ast.Set) and all(isinstance(element, ast.Constant) for element in node.elts):
        return ast.Set(sorted(node.elts, key=ast.dump))
    return node


def folded(function: Definition) -> Definition:
    """Return a tree from `held` without what is decided before there are instructions.

    `global` and `nonlocal` of names that a function only reads are no part of it either.
    """
    stripped: Definition = WithoutFolded().visit(copy.deepcopy(function))
    for block in blocks(stripped):
        for stmt in [declaration for declaration in block if isinstance(declaration, (ast.Global, ast.Nonlocal))]:
            stmt.names = sorted(set(stmt.names) & _bound(stripped))
            if not stmt.names:
                block.remove(stmt)
    return stripped


def _bound(tree: ast.AST) -> set[str]:
    """Return the names that a function or one inside of it binds."""
    names: set[str] = set()
    for node in ast.walk(tree):
        targets: list[ast.expr] = []
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, (ast.Assign, ast.Delete)):
            targets = node.targets
        elif isinstance(node, (ast.AugAssign, ast.For, ast.AsyncFor, ast.NamedExpr, ast.comprehension)):
            targets = [node.target]
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            targets = [node.optional_vars]
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        names.update(
            name_node.id for target in targets for name_node in ast.walk(target) if isinstance(name_node, ast.Name)
        )
    return names


def functions(tree: ast.AST) -> dict[str, list[Definition]]:
    """Return the functions of a module by their qualified names."""
    by_name: dict[str, list[Definition]] = defaultdict(list)
    work = [(tree, "")]
    while work:
        outer, name = work.pop()
        for node in ast.iter_child_nodes(outer):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                if not isinstance(node, ast.ClassDef):
                    by_name[name + node.name].append(node)
                work.append((node, f"{name}{node.name}."))
            else:
                work.append((node, name))
    return by_name


# -- causes ------------------------------------------------------------------------------

ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield every sequence of statements."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def ends(block: list[ast.stmt]) -> bool:
    """Return whether control never goes on behind a sequence of statements."""
    last = block[-1] if block else None
    if isinstance(last, ast.If):
        return bool(last.orelse) and ends(last.body) and ends(last.orelse)
    return isinstance(last, ENDS)


def without_else(tree: ast.AST) -> None:
    """Move the `else` of what never falls through behind it."""
    for block in blocks(tree):
        place = 0
        while place < len(block):
            stmt = block[place]
            place += 1
            if isinstance(stmt, ast.If) and stmt.orelse and ends(stmt.body):
                block[place:place] = stmt.orelse
                stmt.orelse = []
            elif isinstance(stmt, ast.Try) and stmt.orelse and all(ends(handler.body) for handler in stmt.handlers):
                block[place:place] = stmt.orelse
                stmt.orelse = []


def without_none(tree: ast.AST) -> None:
    """Write `return None` as `return`, and leave it out at the end of a function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant) and node.value.value is None:
            node.value = None
    work = [node.body for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    while work:
        block = work.pop()
        if block and isinstance(block[-1], ast.Return) and block[-1].value is None:
            block.pop()
        elif block and isinstance(last := block[-1], (ast.If, ast.Try, ast.With, ast.AsyncWith)):
            work += [last.body, getattr(last, "orelse", [])]
            work += [handler.body for handler in getattr(last, "handlers", [])]


def without_imports(tree: ast.AST) -> None:
    """Write one import a statement."""
    for block in blocks(tree):
        block[:] = [statement for stmt in block for statement in _single(stmt)]


def _single(stmt: ast.stmt) -> list[ast.stmt]:
    match stmt:
        case ast.Import(names):
            return [ast.Import([name]) for name in names]
        case ast.ImportFrom(module, names, level):
            return [ast.ImportFrom(module, [name], level) for name in names]
    return [stmt]


def without_globals(tree: ast.AST) -> None:
    """Drop `global` and `nonlocal`."""
    for block in blocks(tree):
        block[:] = [stmt for stmt in block if not isinstance(stmt, (ast.Global, ast.Nonlocal))]


def without_order(tree: ast.AST) -> None:
    """Sort the constants of sets."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Set):
            node.elts.sort(key=ast.dump)


def without_nests(tree: ast.AST) -> None:
    """Join `if a: if b` to `if a and b`, and chains of one operator to one."""
    for node in ast.walk(tree):
        while isinstance(node, ast.If) and not node.orelse and len(node.body) == 1:
            inner = node.body[0]
            if not isinstance(inner, ast.If) or inner.orelse:
                break
            node.test, node.body = ast.BoolOp(ast.And(), [node.test, inner.test]), inner.body
    for node in ast.walk(tree):
        while isinstance(node, ast.BoolOp) and any(_alike(node, operand) for operand in node.values):
            node.values = [part for operand in node.values for part in _joined(node, operand)]


def _joined(node: ast.BoolOp, other: ast.expr) -> list[ast.expr]:
    return other.values if isinstance(other, ast.BoolOp) and _alike(node, other) else [other]


def _alike(node: ast.BoolOp, other: ast.expr) -> bool:
    return isinstance(other, ast.BoolOp) and type(other.op) is type(node.op)


def without_nots(tree: ast.AST) -> None:
    """Write each test with `not` by its opposite, the arms turned, and `not` inside of operands outside."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.IfExp)):
            while isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not):
                node.test = node.test.operand
                if node.orelse or isinstance(node, ast.IfExp):
                    node.body, node.orelse = node.orelse, node.body


def without_fstrings(tree: ast.AST) -> None:
    """Forget how strings are parted."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            node.values = [part for part in node.values if not isinstance(part, ast.Constant)]


Rule = Callable[[ast.AST], None]
CAUSES: dict[str, Rule] = {
    "`else` behind a way out": without_else,
    "`return None`, `return` or nothing": without_none,
    "one import or several": without_imports,
    "`global` that nothing needs": without_globals,
    "order of a set's constants": without_order,
    "nested `if` or `and`": without_nests,
    "`not` and turned arms": without_nots,
    "parts of strings": without_fstrings,
}


def causes(written: Definition, decompiled: Definition) -> list[str]:
    """Return why two trees differ: one cause if that explains it, else those that together do, else what differs."""
    for name, rule in CAUSES.items():
        if _equal(written, decompiled, [rule]):
            return [name]
    rules = list(CAUSES)
    if not _equal(written, decompiled, [CAUSES[name] for name in rules]):
        return [f"other: {difference(written, decompiled)}"]
    for name in list(rules):
        rest = [rule for rule in rules if rule != name]
        if _equal(written, decompiled, [CAUSES[rule] for rule in rest]):
            rules = rest
    return rules


def _equal(first: Definition, other: Definition, rules: list[Rule]) -> bool:
    pair = [copy.deepcopy(first), copy.deepcopy(other)]
    for tree in pair:
        for rule in rules:
            rule(tree)
    return ast.dump(pair[0]) == ast.dump(pair[1])


def difference(first: ast.AST, other: ast.AST) -> str:
    """Return where two trees first differ, by the kinds of nodes there."""
    work: list[tuple[object, object, str]] = [(first, other, "")]
    while work:
        left, right, place = work.pop()
        if isinstance(left, list) and isinstance(right, list):
            pairs = list(zip(left, right))
            if all(_text(a) == _text(b) for a, b in pairs):
                rest = [type(node_after).__name__ for node_after in (left[len(pairs) :] or right[len(pairs) :])[:1]]
                return f"{place} {'lacks' if len(left) > len(right) else 'has more'}: {rest}"
            work += [(a, b, place) for a, b in reversed(pairs) if _text(a) != _text(b)]
        elif isinstance(left, ast.AST) and isinstance(right, ast.AST) and type(left) is type(right):
            for name in reversed(left._fields):
                a, b = getattr(left, name, None), getattr(right, name, None)
                if _text(a) != _text(b):
                    work.append((a, b, f"{type(left).__name__}.{name}"))
        else:
            return f"{place}: {_kind(left)} vs {_kind(right)}"
    return "nothing"


def _text(node: object) -> str:
    if isinstance(node, list):
        return str([_text(element) for element in node])
    return ast.dump(node) if isinstance(node, ast.AST) else repr(node)


def _kind(node: object) -> str:
    return type(node).__name__ if isinstance(node, (ast.AST, list)) else f"{type(node).__name__} value"
