"""Guard trees made by hand: every guard and every accessor that torch has, without a program that needs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch._dynamo.guards import GuardManagerType, GuardManagerWrapper, _get_closure_vars

from benchmarks.guard_verdicts.verdicts import executable
from depyf.torch.guards.tree import Tree
from depyf.torch.guards.verdicts import agreement
from depyf.torch.guards.verdicts.explain import explain


def frame() -> None:
    """Stand for the compiled function."""


Value = Any


@dataclass(frozen=True)
class Handmade:
    """A tree of torch's, what was read of it, and the guard."""

    root: Value
    tree: Tree
    differs: str
    guard: Callable[[dict[str, Value], dict[str, Value]], bool]
    text: str

    def verdict(self, L: dict[str, Value]) -> bool:
        """Return the verdict on which torch, the guard and the explanation agree."""
        said = {bool(self.root.check(dict(L))), self.guard(L, globals()), not explain(self.tree, L, globals())}
        assert len(said) == 1, (self.root.check(dict(L)), self.guard(L, globals()), explain(self.tree, L, globals()))
        return said.pop()


def local(root: Value, name: str, value: Value, *, as_dict: bool = False) -> Value:
    """Return the manager of a local variable."""
    return root.framelocals_manager((name, 0), f"L['{name}']", value, kind(as_dict))


def kind(as_dict: bool = False) -> GuardManagerType:
    """Return torch's word for an ordinary manager, or for one that knows the order of a dict."""
    return GuardManagerType.DICT_GUARD_MANAGER if as_dict else GuardManagerType.GUARD_MANAGER


def make(build: Callable[[Value], None], L: dict[str, Value], *, with_locals: bool = True) -> Handmade:
    """Return the tree that `build` makes of a root, read with the locals of the call or without."""
    wrapper = GuardManagerWrapper()
    build(wrapper.root)
    wrapper.closure_vars = dict(_get_closure_vars())
    wrapper.global_scope = {"G": globals()}
    tree, differs = agreement.read(wrapper, L if with_locals else None, __file__)
    guard, text = executable(frame, "0/0", tree)
    return Handmade(wrapper.root, tree, differs, guard, text)
