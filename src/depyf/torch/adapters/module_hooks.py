"""The hooks of modules, which guards of most releases do not check."""

from __future__ import annotations

from collections.abc import Iterator

import torch

HOOKS = {
    "_forward_pre_hooks": "forward pre-hook",
    "_forward_hooks": "forward hook",
    "_backward_pre_hooks": "backward pre-hook",
    "_backward_hooks": "backward hook",
}
"""The attributes of a module that hold its hooks, with the words for one."""


def are_guarded() -> bool:
    """Return whether a changed hook makes torch compile again."""
    return not getattr(torch._dynamo.config, "skip_nnmodule_hook_guards", True)


def hooks_of(module: torch.nn.Module) -> Iterator[tuple[str, int, object]]:
    """Yield the hooks of a module: the attribute, torch's number of the hook, and the function."""
    for name in HOOKS:
        held = vars(module).get(name)
        if isinstance(held, dict):
            yield from ((name, number, hook) for number, hook in list(held.items()))


def without_disable(hook: object) -> object | None:
    """Return the function that `torch.compiler.disable` wraps in a hook, or None for any other hook."""
    function = getattr(hook, "__func__", hook)
    if not callable(hook) or getattr(function, "_torchdynamo_disable", False) is not True:
        return None
    original: object = getattr(function, "_torchdynamo_orig_callable", function)
    return original
