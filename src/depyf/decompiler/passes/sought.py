"""The nodes that the last pass replaces or reads names from; each body records its own with its declarations."""

from __future__ import annotations

import ast

from depyf.decompiler.lift.imports import Import
from depyf.decompiler.lift.nodes import (
    AsyncDefinition,
    AsyncIter,
    AsyncNext,
    Cell,
    Common,
    Definition,
    Function,
    GetAwaitable,
    GetIter,
    Object,
    Temp,
    WithExcept,
)

KINDS = frozenset(
    {Temp, Object, GetIter, AsyncIter, AsyncNext, GetAwaitable, WithExcept, Common, Cell, Function, ast.Slice}
)
"""Nodes that are not Python yet."""
NAMED = frozenset({Temp, Definition, AsyncDefinition, Import})
"""Nodes with the names of temporaries."""
SOUGHT: frozenset[type] = KINDS | NAMED | {ast.Subscript, ast.ExceptHandler}
