"""Template strings.

Before: v1 = CONST ('a', ''); v2 = LOAD_NAME x; v3 = CONST 'x'; v4 = BUILD_INTERPOLATION v2 v3; v5 = BUILD_TUPLE v4;
        v6 = BUILD_TEMPLATE v1 v5
After:  v6 = t'a{x}'
"""

from __future__ import annotations

import ast
from typing import cast

from depyf.decompiler.graph.tac import Inst
from depyf.decompiler.lift.fold import Folder
from depyf.decompiler.lift.nodes import PURE, Interpolation, Template, literal_value
from depyf.decompiler.lift.values import CONVERSION, joined


def build_interpolation(folder: Folder, inst: Inst) -> None:
    """BUILD_INTERPOLATION: a value, the text of its expression, perhaps a format."""
    conversion, spec = cast("tuple[str | None, bool]", inst.arg)

    def make(parts: list[ast.expr]) -> ast.expr:
        return Interpolation(
            value=parts[0],
            text=literal_value(parts[1]),
            conversion=CONVERSION[conversion],
            format_spec=joined([parts[2]]) if spec else None,
        )

    folder.combine(inst, make, effect=PURE)


def build_template(folder: Folder, inst: Inst) -> None:
    """BUILD_TEMPLATE: strings and interpolations alternate."""

    def make(parts: list[ast.expr]) -> ast.expr:
        strings, interpolations = (_elements(part) for part in parts)
        if strings is None or interpolations is None or len(strings) != len(interpolations) + 1:
            raise folder.error("a template is made of something that is not a display", inst)
        return Template(strings=[str(literal_value(text)) for text in strings], interpolations=interpolations)

    folder.combine(inst, make, effect=PURE)


def _elements(display: ast.expr) -> list[ast.expr] | None:
    values = literal_value(display)
    if isinstance(values, tuple):
        return [ast.Constant(value=value) for value in values]
    return display.elts if isinstance(display, ast.Tuple) else None
