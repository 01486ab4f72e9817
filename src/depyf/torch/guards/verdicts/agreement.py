"""Does our guard give torch's verdict on the call that was compiled? Where it does not, torch's own guard is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from depyf.torch.guards import of_function, tree
from depyf.torch.guards.cpp import Wrapper
from depyf.torch.guards.fold import fold
from depyf.torch.guards.names import Names
from depyf.torch.guards.render import guard_name, render
from depyf.torch.guards.verdicts.explain import explain


def read(wrapper: Any, local_values: Mapping[str, object] | None, filename: str = "") -> tuple[tree.Tree, str]:
    """Read the guards of an entry and compare their verdict with torch's.

    Args:
        wrapper: the entry's guards, `entry.guard_manager`.
        local_values: the locals, cells and free variables of the call that was compiled, `None` if they are unknown.
        filename: the file of the compiled function.

    Returns:
        The guards, and in words where the verdicts differ; '' where they agree or there is nothing to compare with.
    """
    if not hasattr(wrapper, "root"):
        found = of_function.read(wrapper, filename)
        found.clauses = fold(found.clauses)
        return tree.without_checks(found), ""
    found = tree.read(wrapper, local_values, filename)
    found.clauses = fold(found.clauses)
    differs = ""
    if local_values is not None:
        differs = _compare(found, wrapper, local_values)
    return tree.without_checks(found), differs


def _compare(found: tree.Tree, wrapper: Wrapper, local_values: Mapping[str, object]) -> str:
    G = wrapper.global_scope["G"]
    torch_verdict = bool(wrapper.root.check(dict(local_values)))
    ours = executable(found)(local_values, G)
    if torch_verdict == ours:
        return ""
    reasons = "; ".join(map(str, explain(found, local_values, G)))
    said = f"on the call that was compiled torch's own guards say {torch_verdict}, these say {ours}"
    return f"{said}: {reasons}" if reasons else said


def executable(found: tree.Tree) -> Callable[[Mapping[str, object], Mapping[str, object]], bool]:
    """Return the guard that the text for `found` makes."""
    names = Names()
    text = "\n".join(render(found, "", names, bare=True))
    scope: dict[str, object] = {**tree.SCOPE, **{name: held.get() for name, held in names.bound.items()}}
    exec(compile(text, "<guard>", "exec"), scope)
    made = scope[guard_name("")]
    assert callable(made)
    return made
