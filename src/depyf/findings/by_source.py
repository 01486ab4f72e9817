"""Advice that fits the user's statement at a graph break: what the arms of a branch do, what a number is needed for."""

from __future__ import annotations

import ast
from typing import TypeGuard

from depyf.model.run import Function
from depyf.model.syntax import names_in, nodes_below, parsed, statements_below
from depyf.model.user_line import UserLine
from depyf.model.user_source import file_text

CHECK = "check the values after the call; or write `torch._assert_async(condition, message)`, which stays in the graph"
REPORT = "return the value, and report it after the call of the compiled function"
SLICE = (
    "keep the whole width, and mask what is beyond the bound: `torch.arange(width) < bound`; or set "
    "`torch._dynamo.config.capture_scalar_outputs = True`"
)

WRITE = (
    "write the items with `index_copy_`, at positions in a tensor such as `start + torch.arange(count)`; or set "
    "`torch._dynamo.config.capture_scalar_outputs = True`"
)
NUMBER = (
    "read the number before the call of the compiled function, and pass it as an argument; or set "
    "`torch._dynamo.config.capture_scalar_outputs = True`"
)
LOOP = (
    "run the loop a fixed number of times, with `torch.where` inside; or compile its body as a function of its own, "
    "and leave the loop outside"
)
TO_ITS_END = (
    "run the loop to its end, and keep a tensor `done`: `x = torch.where(done, x, new)` leaves `x` as it is from there "
    "on; or compile the body of the loop as a function of its own, and leave the loop outside"
)
AFTER = "return the condition with the result, and branch after the call of the compiled function"
OUTSIDE = "move the branch out of the compiled function"
NUMBERS = (
    "read the numbers before the call of the compiled function, and pass what is computed of them; or, for a tensor of "
    "integers, set `torch._dynamo.config.capture_scalar_outputs = True`"
)
LATER = "return the tensor, and call `.tolist()` on it after the call of the compiled function"

DRAW = (
    "draw the number before the call, pass it as a tensor argument, and choose with `torch.where` instead of the "
    "branch; or draw it with `torch.rand`, which gives other numbers"
)
SEED = "seed before the call of the compiled function"
ARGUMENT = "draw the number before the call, and pass it as a tensor argument"
TABLE = (
    "put the values of `{table}` into one tensor before the first call, and index that with the tensor, without "
    "`{taker}`: `table[index]` takes the values of all items at once"
)

_REPORTING = ("print", "warn", "warning", "info", "debug", "error", "critical", "exception", "log")
"""The names of functions that report: `print`, `warnings.warn`, and the methods of a logger."""


def advice_by_source(kind: str, function: Function, line: UserLine) -> str:
    """Return what to do about a graph break at a line by what the source does there, or "" for the usual advice.

    For `if loss.isnan(): raise ValueError` there is no second value that `torch.where` could choose. In
    `logger.info(x.item())` the number cannot stay a tensor, nor can it as a bound of a slice.

    Args:
        kind: The name of the kind of break.
        function: The function that was compiled.
        line: The line of the break, in the function or in one that Dynamo inlined.
    """
    give = _ADVICE.get(kind)
    if give is None:
        return ""
    tree, number = _around(function, line)
    statement = _statement(tree, number)
    if statement is None:
        return ""
    is_table = kind == "break-item" and not _reports(statement)
    table = _of_table(statement, parsed(file_text(line.filename))) if is_table else ""
    return table or give(statement, tree)


def reports_at(function: Function, line: UserLine) -> bool:
    """Return whether the statement at a line is a call that reports something, such as `print(x.item())`.

    Args:
        function: The function that was compiled.
        line: The line of a break.
    """
    statement = _statement(*_around(function, line))
    return statement is not None and _reports(statement)


def _statement(tree: ast.AST, number: int) -> ast.stmt | None:
    """Return the smallest statement that holds a line, or None."""
    statements = [each for each in statements_below(tree) if each.lineno <= number <= (each.end_lineno or each.lineno)]
    return max(statements, key=lambda each: each.lineno, default=None)


def _around(function: Function, line: UserLine) -> tuple[ast.AST, int]:
    """Return the tree of the function that holds a line, and the line's number in that tree."""
    # The text of a resume function begins inside of its function.
    is_whole = line.filename == function.filename and not function.is_resume
    if is_whole and 0 <= line.line - function.first_line < len(function.source.splitlines()):
        return parsed(function.source), line.line - function.first_line + 1
    tree = parsed(file_text(line.filename))
    functions = [node for node in nodes_below(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    holding = [
        definition
        for definition in functions
        if definition.lineno <= line.line <= (definition.end_lineno or definition.lineno)
    ]
    return max(holding, key=lambda definition: definition.lineno, default=tree), line.line


def _of_branch(statement: ast.stmt, tree: ast.AST) -> str:
    if not isinstance(statement, ast.If):
        return ""
    arms = [*statement.body, *statement.orelse]
    if any(isinstance(inner, ast.Break) for inner in arms):
        loops = [node for node in nodes_below(tree) if isinstance(node, ast.For) and statement in node.body]
        return TO_ITS_END if loops else LOOP
    if any(map(_has_effect, arms)):
        return OUTSIDE
    if any(map(_returns_constant, arms)):
        return AFTER
    if statement.orelse:
        return ""
    *before, last = statement.body
    if not all(map(_reports, before)):
        return ""
    if isinstance(last, ast.Raise):
        return CHECK
    return REPORT if _reports(last) else ""


def _of_item(statement: ast.stmt, tree: ast.AST) -> str:
    if _reports(statement):
        return REPORT
    if hasattr(statement, "body"):
        return ""
    if isinstance(statement, ast.Assign):
        names = {name for target in statement.targets for name in names_in(target)}
        if any(names & _bounds(target) for target in _written(tree)):
            return WRITE
        if _bounds(tree) & names:
            return SLICE
        if _given(tree) & names:
            return NUMBER
    calls = [node.func for node in nodes_below(statement) if isinstance(node, ast.Call)]
    takes = {
        callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", "") for callee in calls
    } & _TAKING
    return SLICE if _bounds(statement) and not takes else ""


def _of_table(statement: ast.stmt, tree: ast.AST) -> str:
    """Return the advice where a number of a tensor picks a value of a table of numbers: `WEIGHTS[int(label)]`, or "".

    A tensor replaces such a table, but not a list of modules.
    """
    tables = _tables(tree)
    for node in nodes_below(statement):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in tables:
            for call in nodes_below(node.slice):
                name = _name_called(call.func) if isinstance(call, ast.Call) else ""
                if name in _TAKING:
                    return TABLE.format(table=node.value.id, taker=f".{name}()" if name == "item" else f"{name}()")
    return ""


def _tables(tree: ast.AST) -> set[str]:
    """Return the names that a tree assigns a dict, a list or a tuple of numbers, with integers as keys."""
    names: set[str] = set()
    for node in nodes_below(tree):
        if isinstance(node, ast.Assign) and _is_table(node.value):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return names


def _is_table(value: ast.expr) -> bool:
    keys = value.keys if isinstance(value, ast.Dict) else []
    values = value.values if isinstance(value, ast.Dict) else getattr(value, "elts", [])
    is_display = isinstance(value, (ast.Dict, ast.List, ast.Tuple))
    numbers = [number.value for number in (*keys, *values) if isinstance(number, ast.Constant)]
    is_of_numbers = all(isinstance(number, (int, float)) for number in numbers)
    return is_display and bool(values) and is_of_numbers and len(numbers) == len(keys) + len(values)


def _of_random(statement: ast.stmt, tree: ast.AST) -> str:
    """Return the advice for a number that Python draws, by whether it seeds, decides a branch, or is a value."""
    calls = [node.func for node in nodes_below(_head(statement)) if isinstance(node, ast.Call)]
    drawn = [call for call in calls if isinstance(call, ast.Attribute) and _name_called(call.value) == "random"]
    if any(call.attr in ("seed", "setstate") for call in drawn):
        return SEED
    if isinstance(statement, ast.If):
        return DRAW
    return ARGUMENT if drawn else ""


def _head(statement: ast.stmt) -> ast.AST:
    """Return the condition of a branch or a loop, and any other statement as it is."""
    return statement.test if isinstance(statement, (ast.If, ast.While)) else statement


def _of_list(statement: ast.stmt, tree: ast.AST) -> str:
    """Return the advice where the numbers of `.tolist()` are needed as such: by a loop, a call or a slice."""
    if _reports(statement):
        return REPORT
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return NUMBERS
    if _is_returned(statement, tree):
        return LATER
    taken = [node for node in nodes_below(statement) if isinstance(node, ast.Call) and _is_list(node)]
    handed = [
        given
        for node in nodes_below(statement)
        if isinstance(node, ast.Call) and node not in taken
        for given in (*node.args, *(keyword.value for keyword in node.keywords), node.func)
    ]
    return NUMBERS if any(node in taken for given in handed for node in nodes_below(given)) else ""


def _is_returned(statement: ast.stmt, tree: ast.AST) -> bool:
    """Return whether a function returns the list that `.tolist()` gives, and does nothing else with it.

    history = losses.tolist()
    return loss, history
    """
    names = (
        [target.id for target in statement.targets if isinstance(target, ast.Name)] if _gives_list(statement) else []
    )
    nodes = nodes_below(tree)
    reads = [node for node in nodes if isinstance(node, ast.Name) and node.id in names and _is_read(node)]
    returned = [node for inner in nodes if isinstance(inner, ast.Return) for node in _items(inner.value)]
    return bool(reads) and all(any(read is node for node in returned) for read in reads)


def _gives_list(statement: ast.stmt) -> TypeGuard[ast.Assign]:
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call) and _is_list(statement.value)


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _items(value: ast.expr | None) -> list[ast.expr]:
    """Return a value, or the items of a tuple, a list or a dict."""
    match value:
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Dict(values=items):
            return items
    return [value] if value is not None else []


def _is_list(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "tolist"


_TAKING = {"item", "tolist", "int", "float", "bool"}
"""The functions that take a number out of a tensor."""


def _written(tree: ast.AST) -> list[ast.expr]:
    """Return the targets of the assignments in a tree."""
    return [
        target
        for node in nodes_below(tree)
        if isinstance(node, (ast.Assign, ast.AugAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]


def _given(tree: ast.AST) -> set[str]:
    """Return the names that calls get as arguments. A call such as `x.new_zeros(count)` needs a number.

    A call of `print` or of a function for elements, such as `torch.clamp`, takes a tensor as well.
    """
    calls = [node for node in nodes_below(tree) if isinstance(node, ast.Call)]
    given = [
        value
        for call in calls
        if _name_called(call) not in (*_REPORTING, *_FOR_ELEMENTS)
        for value in (*call.args, *(keyword.value for keyword in call.keywords))
    ]
    return {value.id for value in given if isinstance(value, ast.Name)}


_FOR_ELEMENTS = (
    "append", "clamp", "maximum", "minimum", "where", "mul", "add", "sub", "div", "pow", "lerp", "masked_fill", "eq",
    "ne", "lt", "le", "gt", "ge", "tensor", "as_tensor", "stack", "abs", "round", "float", "item",
)  # fmt: skip
"""Functions that take a tensor of one element where they take a number."""


def _bounds(tree: ast.AST) -> set[str]:
    """Return the names in the bounds of slices. `x[1:]` has none."""
    return {name for node in nodes_below(tree) if isinstance(node, ast.Slice) for name in names_in(node)}


_ADVICE = {
    "break-data-dependent-branch": _of_branch,
    "break-item": _of_item,
    "break-tolist": _of_list,
    "break-random": _of_random,
}


def _reports(statement: ast.stmt) -> bool:
    """Return whether a statement is a call that reports something."""
    return _calls(statement) and _name_called(statement.value) in _REPORTING


def _calls(statement: ast.stmt) -> TypeGuard[ast.Expr]:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)


def _returns_constant(statement: ast.stmt) -> bool:
    """Return whether a statement returns None or another constant, which `torch.where` cannot choose."""
    if not isinstance(statement, ast.Return):
        return False
    value = statement.value
    return value is None or (isinstance(value, ast.Constant) and type(value.value) not in (int, float))


def _has_effect(statement: ast.stmt) -> bool:
    """Return whether a statement is a call for its effect, such as `kept.append(x)`, and reports nothing.

    A tensor's method in place, such as `x.mul_(2)`, gives a value that `torch.where` could choose.
    """
    return _calls(statement) and not _reports(statement) and not _name_called(statement.value).endswith("_")


def _name_called(call: ast.expr) -> str:
    """Return the name of the function or the method that a call calls, or ""."""
    called = call.func if isinstance(call, ast.Call) else call
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
