"""Find the rule that shows a mutant to be the same program."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable

from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from tools.survivors.difference import Difference, Function, difference
from tools.survivors.instructions import is_dead_store, same_instructions
from tools.survivors.moves import is_quiet_move, is_read_moved
from tools.survivors.places import Places
from tools.survivors.specialised import is_same_specialised
from tools.survivors.values import has_same_arms, is_copy_read, is_list_method_read, is_only_tested

FRAME_READERS = frozenset({"locals", "vars", "dir", "eval", "exec"})
FRAME_GETTERS = frozenset({"_getframe", "currentframe"})

Rule = Callable[[Difference, Places], bool]
RULES: dict[str, Rule] = {
    "same arms": has_same_arms,
    "quiet assignment moved": is_quiet_move,
}
"""The rules that hold whoever looks at variables: nothing runs between the one order and the other."""
PRIVATE_RULES: dict[str, Rule] = {
    "read moved past quiet assignments": is_read_moved,
    "method of a list read later": is_list_method_read,
    "copy of a variable": is_copy_read,
    "constant that is only tested": is_only_tested,
}
"""The rules for code whose variables nobody else looks at."""


def explained(original: Function, changed: Function, codes: tuple[types.CodeType, types.CodeType]) -> str | None:
    """Return the class that shows a mutant to be the same program, or None where no rule shows it.

    original, changed: the trees, which have the lines that `codes` were compiled with.
    """
    if same_instructions(*codes):
        return "same instructions"
    places = Places(codes[0], original, reads_frame=reads_frame(original, codes[0]))
    found = difference(original, changed)
    if found is not None:
        rules = RULES if places.reads_frame else {**RULES, **PRIVATE_RULES}
        for name, rule in rules.items():
            if rule(found, places):
                return name
    if places.reads_frame:
        return None
    if is_dead_store(codes):
        return "dead store"
    return "same once numbers are followed" if is_same_specialised(codes) else None


def reads_frame(original: Function, code: types.CodeType) -> bool:
    """Tell whether a function, or one inside it, names what looks at the variables of its caller."""
    taken = {node.attr for node in ast.walk(original) if isinstance(node, ast.Attribute)}
    loaded = {item.arg for item in normalise(read(code)).instructions if item.op in ("LOAD_GLOBAL", "LOAD_NAME")}
    return bool(loaded & (FRAME_READERS | FRAME_GETTERS) or taken & FRAME_GETTERS)
