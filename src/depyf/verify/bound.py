"""Resolve the names that a module's text first binds to builtins or to depyf's own functions: loads become constants.

Before: CONST 0; CONST ('iter',); IMPORT_NAME builtins; IMPORT_FROM iter; STORE_NAME object_iter; POP; ...
        and anywhere LOAD_GLOBAL object_iter
After:  ...; and there CONST <built-in function iter>

The text of a function has such objects as constants, but a module is compiled by itself. The proof is then about a
namespace with these additional names, and no code in the original uses them.
"""

from __future__ import annotations

import importlib
from dataclasses import replace

from depyf.bytecode.code import Code
from depyf.bytecode.depths import stack_depths
from depyf.bytecode.known import OWN_MODULES
from depyf.bytecode.listing import Instruction, Listing
from depyf.bytecode.listings import Listings, Made

MODULES = frozenset(("builtins", "sys", *OWN_MODULES))
BINDING = ("CONST", "CONST", "IMPORT_NAME", "IMPORT_FROM", "STORE_NAME", "POP")
READERS = frozenset({"globals", "locals", "vars", "dir", "eval", "exec", "__dict__"})
"""Names that show a namespace to a program. Code with any of these could see the additional names."""


def take_bound(original: Code, candidate: Code, listings: Listings) -> bool:
    """Replace the listings of a module's candidate and of its nested code: the bound builtins become constants.

    Args:
        original: the code of the original's module.
        candidate: the code of the candidate's module.
        listings: the known listings, which are changed.

    Returns:
        Whether there was anything to replace.
    """
    listing = listings.of(candidate)
    start, bound = _bindings(listing)
    if not bound or not _is_unseen(original, bound):
        return False
    length = len(BINDING) * len(bound)
    codes = [listings.of(code) for code in _tree(candidate)]
    others = [item for nested_listing in codes for item in nested_listing.instructions]
    stores = [item for item in others if item.arg in bound and item.op.startswith(("STORE_", "DELETE_"))]
    if len(stores) != len(bound):
        return False
    for nested_listing in codes:
        items = [_loaded(item, bound, is_module=nested_listing is listing) for item in nested_listing.instructions]
        changed = replace(nested_listing, instructions=items)
        if nested_listing is listing:
            changed = _without(changed, start, length)
        stack_depths(changed)
        listings.known[id(nested_listing.code)] = Made(nested_listing.code, changed, says_lines=False, is_measured=True)
    return True


def _bindings(listing: Listing) -> tuple[int, dict[object, object]]:
    """Return where the bindings of builtins begin, and each name's object. A docstring and imports may come before."""
    items = listing.instructions
    imports = [place - 2 for place, item in enumerate(items) if item.op == "IMPORT_NAME"]
    start = next((place for place in imports if place >= 0 and _binding(items, place) is not None), -1)
    bound: dict[object, object] = {}
    place = start
    while start >= 0 and (binding := _binding(items, place)) is not None:
        bound[binding[0]] = binding[1]
        place += len(BINDING)
    is_first = all(item.target < 0 and item.handler < 0 for item in items[: max(place, 0)])
    return (start, bound) if is_first else (-1, {})


def _binding(items: list[Instruction], place: int) -> tuple[object, object] | None:
    """Return the name and the object that the operations at a place bind, if they import a builtin."""
    operations = items[place : place + len(BINDING)]
    if tuple(item.op for item in operations) != BINDING:
        return None
    level, names, module, attribute, store, _ = (item.arg for item in operations)
    if level != 0 or names != (attribute,) or module not in MODULES or not isinstance(attribute, str):
        return None
    held = importlib.import_module(str(module))
    return (store, getattr(held, attribute)) if hasattr(held, attribute) and store != attribute else None


def _is_unseen(original: Code, bound: dict[object, object]) -> bool:
    """Return whether the original uses none of the bound names, and nothing that shows a namespace."""
    hidden = {*bound, *READERS}
    for code in _tree(original):
        named = {*code.names, *code.varnames, *code.cellvars, *code.freevars}
        named.update(const for const in code.consts if isinstance(const, str))
        if not hidden.isdisjoint(named):
            return False
    return True


def _tree(code: Code) -> list[Code]:
    """Return a code object and all inside it."""
    codes = [code]
    for outer in codes:  # The list grows during the iteration.
        codes += [const for const in outer.consts if isinstance(const, Code)]
    return codes


def _loaded(item: Instruction, bound: dict[object, object], *, is_module: bool) -> Instruction:
    """Return a constant for the load of a bound name; a class body may find the name in its own namespace instead."""
    loads = item.op == "LOAD_GLOBAL" or (is_module and item.op == "LOAD_NAME")
    return replace(item, op="CONST", arg=bound[item.arg]) if loads and item.arg in bound else item


def _without(listing: Listing, start: int, length: int) -> Listing:
    """Return a listing without operations that precede every jump and handler."""

    def moved(target: int) -> int:
        return target - length if target >= start else target

    items = [
        replace(item, target=moved(item.target))
        for place, item in enumerate(listing.instructions)
        if not start <= place < start + length
    ]
    handlers = [replace(handler, target=moved(handler.target)) for handler in listing.handlers]
    return replace(listing, instructions=items, handlers=handlers, beyond={}, loops=[])
