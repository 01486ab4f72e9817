"""The parameters of a function: from its code object and the values that its maker attached."""

from __future__ import annotations

import ast

from depyf.bytecode.code import CO_VARARGS, CO_VARKEYWORDS, Code
from depyf.decompiler.lift.nodes import Function, constant, literal_value
from depyf.decompiler.passes.annotations import annotation


def parameters(
    code: Code, function: Function | None = None
) -> tuple[ast.arguments, ast.expr | None]:
    """Return the parameters and the return annotation.

    Raises ValueError if defaults or annotations are not displays.
    """
    names = code.varnames
    annotations: dict[str, ast.expr] = {}
    if function is not None:
        written = _annotations(function.annotations)
        annotations = {name: annotation(expr, code) for name, expr in written.items()}
    count, kwonly = code.argcount, code.kwonly_count

    def arg(name: str) -> ast.arg:
        return ast.arg(arg=name, annotation=annotations.get(name))

    positional = [arg(name) for name in names[:count]]
    place = count + kwonly
    vararg = kwarg = None
    if code.flags & CO_VARARGS:
        vararg, place = arg(names[place]), place + 1
    if code.flags & CO_VARKEYWORDS:
        kwarg = arg(names[place])
    kw_defaults = _keyword_defaults(function.kwdefaults) if function is not None else {}
    keyword_names = names[count : count + kwonly]
    arguments = ast.arguments(
        posonlyargs=positional[: code.posonly_count],
        args=positional[code.posonly_count :],
        vararg=vararg,
        kwonlyargs=[arg(name) for name in keyword_names],
        kw_defaults=[kw_defaults.get(name) for name in keyword_names],
        kwarg=kwarg,
        defaults=elements(function.defaults) if function is not None else [],
    )
    return arguments, annotations.get("return")


def elements(display: ast.expr | None) -> list[ast.expr]:
    """Return the elements of a tuple, written as a display or a constant."""
    if display is None:
        return []
    if isinstance(display, ast.Tuple):
        return display.elts
    value = literal_value(display)
    if isinstance(value, tuple):
        return [constant(item) for item in value]
    raise ValueError("the defaults of a function are not a tuple display")


def _keyword_defaults(display: ast.expr | None) -> dict[str, ast.expr]:
    if display is None:
        return {}
    if not isinstance(display, ast.Dict):
        raise ValueError("the keyword defaults of a function are not a dict display")
    return _pairs(display)


def _pairs(display: ast.Dict) -> dict[str, ast.expr]:
    pairs = {}
    for key, value in zip(display.keys, display.values):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise ValueError("a parameter's name is not a constant")
        pairs[key.value] = value
    return pairs


def _annotations(display: ast.expr | None) -> dict[str, ast.expr]:
    """Return annotations by name, from a dict (3.9 and older) or a tuple of alternating names and values."""
    if display is None:
        return {}
    if isinstance(display, ast.Dict):
        return _pairs(display)
    parts = elements(display)
    return {str(literal_value(name)): value for name, value in zip(parts[::2], parts[1::2], strict=True)}
