"""The type parameters of a live function.

The bound, constraints and default of a parameter are evaluated lazily. If Python can give their text without evaluation
(3.14), the text is written; otherwise only the parameter's name.
"""

from __future__ import annotations

import ast
import importlib
import types
import typing

from depyf.decompiler.lift.nodes import Quoted, TypeParam

STARS = {"TypeVar": "", "TypeVarTuple": "*", "ParamSpec": "**"}


def type_params(function: types.FunctionType) -> list[ast.expr]:
    """Return the type parameters of a function's definition."""
    params: list[ast.expr] = []
    for param in getattr(function, "__type_params__", ()):
        stars = STARS.get(type(param).__name__)
        if stars is None or type(param) is not getattr(typing, type(param).__name__, None):
            continue
        bound = _text(param, "evaluate_bound") or _text(param, "evaluate_constraints")
        params.append(
            TypeParam(name=param.__name__, stars=stars, bound=bound, default=_text(param, "evaluate_default"))
        )
    return params


def _text(param: object, evaluator: str) -> ast.expr | None:
    evaluate = getattr(param, evaluator, None)
    if evaluate is None:
        return None
    library = importlib.import_module("annotationlib")
    return Quoted(text=library.call_evaluate_function(evaluate, library.Format.STRING))
