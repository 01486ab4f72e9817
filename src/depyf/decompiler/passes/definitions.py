"""Functions, classes and lambdas.

Before: f = deco(<function f of code>)        C = __build_class__(<function C>, 'C', Base)
After:  @deco                                 class C(Base):
        def f(...): ...                           ...
"""

from __future__ import annotations

import ast

from depyf.bytecode.code import CO_ASYNC_GENERATOR, CO_COROUTINE, Code
from depyf.bytecode.docstring import docstring
from depyf.decompiler.lift.definitions import names
from depyf.decompiler.lift.nodes import (
    AsyncDefinition,
    BuildClass,
    ClassDefinition,
    Definition,
    Function,
    Intrinsic,
    Temp,
    TypeAlias,
    TypeAliasStatement,
    Var,
)
from depyf.decompiler.lift.writable import is_writable
from depyf.decompiler.passes.body import Bodies, Body
from depyf.decompiler.passes.class_body import class_body
from depyf.decompiler.passes.comprehensions import is_awaited, restore_comprehension
from depyf.decompiler.passes.deferred import deferred_value, evaluated_later
from depyf.decompiler.passes.groups import DEFINITIONS
from depyf.decompiler.passes.names import Names
from depyf.decompiler.passes.parameters import parameters
from depyf.decompiler.passes.private_names import write_private_names
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.passes.type_params import restore_alias, restore_generic
from depyf.decompiler.passes.walk import rewrite_expressions, rewrite_sequences
from depyf.decompiler.steps import step
from depyf.verify.candidate.standin import WRAPPER

KINDS = frozenset({ast.Call, Intrinsic, ast.Await, Function})


@registers(
    "definitions",
    Stage.BODY,
    "insert the bodies of functions, classes, comprehensions and lambdas",
    takes=("body.stmts", "code", "bodies"),
    needs=DEFINITIONS,
    after={
        "deferred-annotations": "the function that evaluates annotations is not a definition",
        "annotations": "an annotation may contain a lambda",
        "class-temps": "nested functions have their own temporaries",
    },
)
def restore_functions(body: list[ast.stmt], code: Code, bodies: Bodies) -> list[ast.stmt]:
    """Turn the functions that the body of `code` makes into lambdas, comprehensions, and definitions.

    Args:
        body: the statements to rewrite.
        code: the code object of the body.
        bodies: the bodies of nested code objects, by identity.

    Returns:
        the new statements.
    """

    def expression(expr: ast.expr) -> ast.expr:
        if isinstance(expr, ast.Call):
            return _called(expr, bodies, code)
        if isinstance(expr, Intrinsic):
            return restore_alias(expr, bodies, code)
        if isinstance(expr, ast.Await) and is_awaited(expr.value):
            step("the comprehension itself awaits")
            return expr.value
        if not isinstance(expr, Function):
            return expr
        if expr.annotate is not None:
            step("take the annotations of {} from `__annotate__`", expr.code.name)
            expr.annotations = deferred_value(expr.annotate, bodies, code)
        return _lambda(expr, bodies[id(expr.code)]) if expr.code.name == "<lambda>" else expr

    rewrite_expressions(body, expression, KINDS)
    return rewrite_sequences(body, lambda stmts: [_definition(stmt, bodies) for stmt in stmts])


def _called(call: ast.Call, bodies: Bodies, code: Code) -> ast.expr:
    """Return the expression for a call of a function that is made only for this call."""
    restored = restore_comprehension(call, bodies)
    if restored is not None:
        step("a call of a comprehension's function becomes a comprehension")
        return restored
    generic = restore_generic(call, bodies, code)
    if generic is not None:
        step("remove the function around type parameters")
    return generic or call


def _lambda(function: Function, body: Body) -> ast.expr:
    value = _returned(body)
    if value is None:
        return function
    step("a function becomes a lambda")
    arguments, _ = parameters(function.code, function)
    return ast.Lambda(args=arguments, body=value)


def _returned(body: Body) -> ast.expr | None:
    """Return the expression of a body that is only a `return`, apart from removed code; None for another body."""
    only = body.stmts[0] if len(body.stmts) == 1 else None
    return body.unreached.beside(only.value) if isinstance(only, ast.Return) and only.value is not None else None


def _definition(stmt: ast.stmt, bodies: Bodies) -> ast.stmt:
    if not isinstance(stmt, ast.Assign) or len(stmt.targets) != 1:
        return stmt
    target = stmt.targets[0]
    if isinstance(target, Temp) and isinstance(stmt.value, Function):
        return _function(stmt.value, target, [], bodies[id(stmt.value.code)], stmt.lineno)
    if not isinstance(target, Var):
        return stmt
    value = stmt.value
    if isinstance(value, TypeAlias) and value.name == target.id:
        step("line {}: `type {}`", stmt.lineno, target.id)
        return TypeAliasStatement(target=target, type_params=value.type_params, value=value.value, lineno=stmt.lineno)
    decorators: list[ast.expr] = []
    while isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords:
        decorators.append(value.func)
        value = value.args[0]
    if isinstance(value, Function) and names(value.code, target.id):
        return _function(value, target, decorators, bodies[id(value.code)], stmt.lineno)
    if _is_class(value) and isinstance(value, ast.Call):
        return _class(value, target, decorators, bodies, stmt)
    return stmt


def _is_class(expr: ast.expr) -> bool:
    return isinstance(expr, ast.Call) and isinstance(expr.func, BuildClass) and len(expr.args) >= 2


def _function(function: Function, target: Var | Temp, decorators: list[ast.expr], body: Body, line: int) -> ast.stmt:
    step("line {}: `def {}`", line, function.code.name)
    arguments, returns = parameters(function.code, function)
    stmt = _kind(function.code)(
        name=function.code.name,
        args=arguments,
        body=with_docstring(body),
        decorator_list=decorators,
        returns=returns,
        lineno=line,
    )
    stmt.target = target
    stmt.type_params = function.type_params
    return stmt


def _kind(code: Code) -> type[Definition | AsyncDefinition]:
    return AsyncDefinition if code.flags & (CO_COROUTINE | CO_ASYNC_GENERATOR) else Definition


def with_docstring(body: Body) -> list[ast.stmt]:
    """Return a function's statements with its docstring in front."""
    text = docstring(body.code)
    stmts = list(body.stmts)
    if text is not None:
        stmts.insert(0, ast.Expr(value=ast.Constant(value=text), lineno=0))
    return stmts or [ast.Pass()]


# -- a separate function ----------------------------------------------------------------------


def define(body: Body, names: Names, maker: Function | None = None) -> tuple[ast.stmt, str]:
    """Return the definition of a body's function as a separate statement, and the name that it binds.

    Args:
        body: the statements and the code object of the function.
        names: the invented names; a lambda gets one, and so does a function whose name no source can contain.
        maker: the operation that would make the function, with its defaults and annotations; None for a bare code
            object.
    """
    code = body.code
    if (evaluated := evaluated_later(body)) is not None:
        target = Var(id=code.name, ctx=ast.Store(), scope="name")
        return TypeAliasStatement(target, [], evaluated, 0), code.name
    arguments, returns = parameters(code, maker)
    rest = [arg for arg in (arguments.vararg, arguments.kwarg) if arg is not None]
    for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest):
        if not is_writable(arg.arg):
            arg.arg = names.of_variable(arg.arg)
        if code.name == "<lambda>":
            arg.annotation = None
    value = _returned(body)
    if code.name == "<lambda>" and value is not None:
        name = names.fresh("lambda_function")
        function = ast.Lambda(args=arguments, body=value)
        return ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=function, lineno=0), name
    name = code.name if is_writable(code.name) else names.fresh(code.name)
    definition = _kind(code)(
        name=name, args=arguments, body=with_docstring(body), decorator_list=[], returns=returns, lineno=0
    )
    definition.type_params = maker.type_params if maker is not None else []
    return definition, name


def enclose(definition: ast.stmt, function: str, code: Code) -> ast.stmt:
    """Return a function that has the free variables of `code` as parameters and returns the function defined in it.

    Args:
        definition: the statement that defines the function.
        function: the name that the statement binds.
        code: the function's code object.
    """
    free = [ast.arg(arg=name, annotation=None) for name in code.freevars]
    arguments = ast.arguments(posonlyargs=[], args=free, kwonlyargs=[], kw_defaults=[], defaults=[])
    body = [definition, ast.Return(value=ast.Name(id=function, ctx=ast.Load()))]
    return ast.FunctionDef(
        name=WRAPPER + function, args=arguments, body=body, decorator_list=[], returns=None, lineno=0
    )


# -- classes -------------------------------------------------------------------------------


def _class(call: ast.Call, target: Var, decorators: list[ast.expr], bodies: Bodies, stmt: ast.stmt) -> ast.stmt:
    function, name = call.args[0], call.args[1]
    if not isinstance(function, Function) or not isinstance(name, ast.Constant):
        return stmt
    assert isinstance(call.func, BuildClass)
    step("line {}: `class {}`", stmt.lineno, name.value)
    body = bodies[id(function.code)]
    write_private_names(body.stmts, function.code)
    definition = ClassDefinition(
        name=str(name.value),
        bases=call.args[2:],
        keywords=call.keywords,
        body=class_body(body.code, body.stmts),
        decorator_list=decorators,
        lineno=stmt.lineno,
    )
    definition.target = target
    definition.type_params = call.func.type_params
    return definition

