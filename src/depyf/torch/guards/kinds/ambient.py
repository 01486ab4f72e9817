"""Guards on the state around the call: torch's flags, modes, default device and hooks. Readers see them as one."""

from __future__ import annotations

from collections.abc import Mapping

from depyf.torch.adapters import global_state as adapter
from depyf.torch.guards.clause import Clause, Leaf, Piece, Text
from depyf.torch.guards.expression import evaluate, torch_expression
from depyf.torch.guards.held import hold
from depyf.torch.guards.kinds.place import Place
from depyf.torch.guards.literal import literal
from depyf.torch.guards.verdicts import ambient
from depyf.torch.guards.verdicts.difference import Missing
from depyf.torch.guards.words import expression
from depyf.torch.replica.runtime import as_before_guards

_STATE = "___check_global_state() against "
_HOOKS = "torch._functorch.aot_autograd.utils.top_saved_tensors_hooks ids == "
_DEVICE = "utils_device.CURRENT_DEVICE == "


def global_state(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`global_state(grad_mode=True, default_dtype=torch.float32, num_threads=2)`.

    Before 2.8 torch's text does not contain the state. It is the current one, if torch's own guard accepts that.
    """
    _, separator, description = leaf.parts[0].partition(_STATE)
    if separator:
        return say(leaf, at, ambient.flags(expression(description)))
    with as_before_guards():
        as_now = leaf.check is not None and leaf.check({})
    return say(leaf, at, ambient.own_flags()) if as_now else None


def default_device(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`global_state(default_device=torch.device("cuda"))`."""
    text = torch_expression(expression(leaf.parts[0]).removeprefix(_DEVICE), at.scope, {})
    return None if text is None else say(leaf, at, {"default_device": evaluate(text, at.no_node, {})})


def torch_function_modes(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`global_state(torch_function_modes=())`. torch's text does not name the modes, so its own guard must accept."""
    modes = adapter.mode_types()
    if leaf.check is None or not leaf.check({}):
        return None
    return say(leaf, at, {"torch_function_modes": modes})


def saved_tensors_hooks(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`global_state(saved_tensors_hooks=None)`."""
    said = expression(leaf.parts[0]).removeprefix(_HOOKS)
    hooks = adapter.saved_tensors_hooks()
    addresses = None if hooks is None else tuple(map(id, hooks))
    return say(leaf, at, {"saved_tensors_hooks": hooks}) if said == repr(addresses) else None


def is_saved_tensors_hooks(leaf: Leaf) -> bool:
    """Return whether a lambda guard of torch's is the one on the saved-tensors hooks."""
    return bool(leaf.parts) and leaf.parts[0].startswith(_HOOKS)


def dual_level(leaf: Leaf, at: Place) -> list[Clause]:
    """`torch.autograd.forward_ad._current_level == 0`."""
    level, _, number = expression(leaf.parts[0]).partition(" == ")
    return at.clause(leaf, f"equals({level}, {number})", expected=number, actual=(level,))


def say(leaf: Leaf, at: Place, flags: Mapping[str, object]) -> list[Clause]:
    """Return the clause on these flags.

    Args:
        leaf: torch's guard.
        at: the value at which torch stores it.
        flags: the flags and their values.
    """
    arguments = spelled(flags)
    differences = ("global_state_differences(", *arguments, ")")
    return at.clause(leaf, "global_state(", *arguments, ")", differences=differences, flags=flags)


def spelled(flags: Mapping[str, object]) -> Text:
    """Return `flags` as keyword arguments, without those at their default."""
    pieces: list[Piece] = []
    for name, value in flags.items():
        if name not in ambient.USUAL or ambient.USUAL[name] != value:
            pieces += [", " if pieces else "", f"{name}=", *_spell(value)]
    return tuple(pieces)


def _spell(value: object) -> list[Piece]:
    if isinstance(value, Missing):
        return [repr(value)]
    if isinstance(value, dict):
        return ["{" + ", ".join(f'"{key}": {literal(item)}' for key, item in value.items()) + "}"]
    if isinstance(value, tuple) and value:
        return ["(", *(piece for item in value for piece in (_constant(item), ", ")), ")"]
    return [_constant(value)]


def _constant(value: object) -> Piece:
    text = literal(value)
    return hold(value, "ambient") if text is None else text
