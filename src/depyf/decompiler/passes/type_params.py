"""Definitions with type parameters, and `type` statements.

Before: f = <function <generic parameters of f>>(), which returns set_params(<function f>, (T := typevar('T'),))
After:  f = <function f with type parameters T>, which becomes `def f[T]()`

Before: X = typealias(('X', None, <function: return int>))
After:  type X = int
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from depyf.bytecode.code import Code
from depyf.decompiler.lift.nodes import BuildClass, Function, Intrinsic, TypeAlias, TypeParam, Var, literal_value
from depyf.decompiler.passes.body import Bodies
from depyf.decompiler.passes.deferred import deferred_value, written_in
from depyf.decompiler.steps import step

GENERIC = "<generic parameters of "
"""The prefix of the code that makes type parameters and evaluates a definition."""
KINDS = {
    "INTRINSIC_TYPEVAR": "",
    "INTRINSIC_TYPEVAR_WITH_BOUND": "",
    "INTRINSIC_TYPEVAR_WITH_CONSTRAINTS": "",
    "INTRINSIC_TYPEVARTUPLE": "*",
    "INTRINSIC_PARAMSPEC": "**",
}
WITH_DEFAULT = "INTRINSIC_SET_TYPEPARAM_DEFAULT"


def type_params_in(codes: Iterable[Code]) -> dict[int, frozenset[str]]:
    """Return the type parameters among the free variables of code objects, by the identity of the code.

    Args:
        codes: code objects, with the code that makes type parameters among them.
    """
    params: dict[int, frozenset[str]] = {}
    work = [(code, frozenset(code.cellvars)) for code in codes if code.name.startswith(GENERIC)]
    for code, around in work:  # The list grows during the iteration.
        for const in code.consts:
            free = around.intersection(const.freevars) if isinstance(const, Code) else None
            if free and isinstance(const, Code) and free - params.get(id(const), frozenset()):
                params[id(const)] = params.get(id(const), frozenset()) | free
                work.append((const, free))
    return params


def restore_generic(call: ast.Call, bodies: Bodies, around: Code) -> ast.expr | None:
    """Return the function, class or alias that a call makes together with its type parameters, or None.

    Args:
        call: the call of the function that makes the type parameters.
        bodies: the bodies of nested code objects, by identity.
        around: the code in which the definition is to stand.
    """
    scope = call.func
    if not isinstance(scope, Function) or not scope.code.name.startswith(GENERIC) or call.keywords:
        return None
    stmts = list(bodies[id(scope.code)].stmts)
    returned = stmts.pop() if stmts else None
    if not isinstance(returned, ast.Return) or returned.value is None:
        return None
    value = returned.value
    if isinstance(value, TypeAlias) and not stmts:
        return written_in(value, around)
    given = dict(zip(scope.code.varnames[: scope.code.argcount], call.args))
    generic = _class(value, stmts, bodies, around) if stmts else _function(value, given, bodies, around)
    return written_in(generic, around) if generic is not None else None


def restore_alias(intrinsic: Intrinsic, bodies: Bodies, around: Code) -> ast.expr:
    """Return the alias that an intrinsic function makes, or the expression unchanged.

    Args:
        intrinsic: the intrinsic function with its operands.
        bodies: the bodies of nested code objects, by identity.
        around: the code in which the alias is to stand.
    """
    match intrinsic:
        case Intrinsic(name="INTRINSIC_TYPEALIAS", args=[ast.Tuple(elts=[name, params, function])]):
            value = deferred_value(function, bodies, around)
            type_params = [] if literal_value(params) is None else _type_params(params, bodies, around)
            if value is not None and type_params is not None:
                step("`type {}`", literal_value(name))
                return TypeAlias(name=str(literal_value(name)), type_params=type_params, value=value)
    return intrinsic


def _function(
    returned: ast.expr, given: dict[str, ast.expr], bodies: Bodies, around: Code
) -> ast.expr | None:
    """Return the function in `set_type_params(function, parameters)`; its defaults are `given` from outside."""
    match returned:
        case Intrinsic(name="INTRINSIC_SET_FUNCTION_TYPE_PARAMS", args=[Function() as function, params]):
            type_params = _type_params(params, bodies, around)
            if type_params is not None:
                function.type_params = type_params
                function.defaults = _given(function.defaults, given)
                function.kwdefaults = _given(function.kwdefaults, given)
                return function
    return None


def _given(value: ast.expr | None, given: dict[str, ast.expr]) -> ast.expr | None:
    return given.get(value.id, value) if isinstance(value, Var) else value


def _class(returned: ast.expr, stmts: list[ast.stmt], bodies: Bodies, around: Code) -> ast.expr | None:
    """Return the class without the base that stands for its type parameters."""
    match returned, stmts[0]:
        case (
            ast.Call(func=BuildClass() as maker, args=[*_, Var(id=".generic_base")]) as call,
            ast.Assign(targets=[Var(id=".type_params")], value=params),
        ):
            type_params = _type_params(params, bodies, around)
            if type_params is not None:
                call.args.pop()
                maker.type_params = type_params
                return call
    return None


def _type_params(display: ast.expr, bodies: Bodies, around: Code) -> list[ast.expr] | None:
    """Return the type parameters in a tuple of `T := typevar('T')`, or None if one of them is something else."""
    if not isinstance(display, ast.Tuple):
        return None
    params: list[ast.expr] = []
    for element in display.elts:
        value: ast.expr | None = element.value if isinstance(element, ast.NamedExpr) else None
        default: ast.expr | None = None
        if isinstance(value, Intrinsic) and value.name == WITH_DEFAULT:
            default = deferred_value(value.args[1], bodies, around)
            value = value.args[0]
        if not isinstance(value, Intrinsic) or value.name not in KINDS:
            return None
        bound = deferred_value(value.args[1], bodies, around) if len(value.args) == 2 else None
        name = str(literal_value(value.args[0]))
        params.append(TypeParam(name=name, stars=KINDS[value.name], bound=bound, default=default))
    return params
