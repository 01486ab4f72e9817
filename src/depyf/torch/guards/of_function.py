"""The guards of torch before 2.3: a Python function, whose parts torch keeps as text.

___check_global_state()             global_state(grad_mode=True, num_threads=2)
___check_type_id(L['n'], 94...)     type(L["n"]) is int
L['n'] == 3                         L["n"] == 3
___check_tensors(L['x'], ...)       torch_check_tensors(L["x"], ...)  # torch's own guard

torch also checks that the entry is still valid and that backend, configuration and `fullgraph` match. These are not
properties of a call, and outside a compiled call there is nothing to check.
"""

from __future__ import annotations

import builtins
import collections
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

import torch

from depyf.model.guard_failure import Check
from depyf.torch.guards import kinds
from depyf.torch.guards.clause import At, Clause, Leaf, Text
from depyf.torch.guards.expression import torch_expression
from depyf.torch.guards.held import Held
from depyf.torch.guards.kinds.identity import named
from depyf.torch.guards.kinds.place import Place
from depyf.torch.guards.tree import Node, Tree
from depyf.torch.guards.verdicts.difference import ABSENT
from depyf.torch.guards.words import expression, user_line

_OUTSIDE = (
    "___guarded_code.valid",
    "(___skip_backend_check()",
    "___compile_config_hash() == ",
    "not ___needs_nopython()",
    "___needs_nopython()",
)
_TENSORS = re.compile(r"___check_tensors\((?P<tensors>.*), tensor_check_names=tensor_check_names\)$", re.DOTALL)
_IDENTITY = re.compile(r"___check_(?P<what>type|obj)_id\((?P<source>.*), (?P<id>\d+)\)$", re.DOTALL)
_KNOWN_TYPES = {
    id(var): var
    for module in (builtins, collections, torch, torch.nn)
    for var in vars(module).values()
    if isinstance(var, type)
}


class GuardFunction(Protocol):
    """The content of a cache entry: the function, and its parts."""

    closure_vars: Mapping[str, object]
    verbose_code_parts: list[str]

    def __call__(self, local_values: Mapping[str, object]) -> bool:
        """Return torch's verdict, inside a compiled call."""


def read(function: GuardFunction, filename: str = "") -> Tree:
    """Read the guards of a cache entry; `filename` is the file of the compiled function."""
    scope = dict(function.closure_vars)
    root = Place(0, "", ABSENT, None, filename, scope, True, At(0))
    tree = Tree([Node(-1, (), "")], [], [], None)
    for part in function.verbose_code_parts:
        if not expression(part).startswith(_OUTSIDE):
            tree.clauses += _clauses(part, root, scope)
    return tree


def _clauses(part: str, root: Place, scope: Mapping[str, Any]) -> Iterator[Clause]:
    text = expression(part)
    if text == "___check_global_state()":
        asks = scope["___check_global_state"]
        state_clauses = kinds.clauses(Leaf("GLOBAL_STATE", (part,), lambda _: bool(asks())), root)
        yield from state_clauses or ()
        return
    kind, said = _said(text, scope)
    (clause,) = root.clause(Leaf(kind, (part,), None), *said, about=Check.CONDITION)
    through = isinstance(said[0], Held) and said[0].name.startswith("torch_")
    note = "torch's own guard: it does not show its check" if through else ""
    yield replace(clause, line=user_line(part, root.filename), calls_through=through, note=note)


def _said(text: str, scope: Mapping[str, Any]) -> tuple[str, Text]:
    """Return the kind of a guard and its text."""
    if identity := _IDENTITY.match(text):
        value = torch_expression(identity["source"], scope, {})
        known = _KNOWN_TYPES.get(int(identity["id"])) if identity["what"] == "type" else None
        if value is not None and known is not None:
            return "TYPE_MATCH", ("type(", *value, ") is ", named(known))
        if value is not None:
            kind = "TYPE_MATCH" if identity["what"] == "type" else "ID_MATCH"
            check_of_identity = _bound(scope[f"___check_{identity['what']}_id"], int(identity["id"]))
            return kind, (Held(f"torch_{kind.lower()}", check_of_identity, weak=False), "(", *value, ")")
    if tensors := _TENSORS.match(text):
        values = torch_expression(f"({tensors['tensors']})", scope, {})
        if values is not None:
            check = Held("torch_check_tensors", _of_all(scope["___check_tensors"]), weak=False)
            return "TENSOR_MATCH", (check, *values)
    condition = torch_expression(text, scope, {})
    if condition is not None:
        return "LAMBDA_GUARD", condition
    return "LAMBDA_GUARD", (Held("torch_guard", _evaluated(text, scope), weak=False), "(L, G)")


def _bound(check: Callable[[object, int], bool], identity: int) -> Callable[[object], bool]:
    return lambda value: check(value, identity)


def _of_all(check: Callable[..., bool]) -> Callable[..., bool]:
    return lambda *values: check(*values)


def _evaluated(text: str, scope: Mapping[str, object]) -> Callable[[object, object], bool]:
    code = compile(text, "<guard>", "eval")
    return lambda L, G: bool(eval(code, {**scope, "L": L, "G": G}))
