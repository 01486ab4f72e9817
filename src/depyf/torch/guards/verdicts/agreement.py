"""Does our guard give torch's verdict on the call that was compiled?

The text of the guard is run. Where it differs in constants alone from the text of an earlier entry that was run, its
clauses are asked one by one: those that are new are compiled, the others are known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from depyf.torch.guards import of_function, tree
from depyf.torch.guards.clause import At, Text
from depyf.torch.guards.cpp import Wrapper
from depyf.torch.guards.fold import fold
from depyf.torch.guards.names import Names
from depyf.torch.guards.render import IMPORTS, guard_name, render
from depyf.torch.guards.verdicts.explain import explain, holds


def read(
    wrapper: Any, local_values: Mapping[str, object] | None, filename: str = "", earlier: tree.Tree | None = None
) -> tuple[tree.Tree, str]:
    """Read the guards of an entry and compare their verdict with torch's.

    Args:
        wrapper: the entry's guards, `entry.guard_manager`.
        local_values: the locals, cells and free variables of the call that was compiled, `None` if they are unknown.
        filename: the file of the compiled function.
        earlier: the guards of another entry of the function, which these share what is equal with.

    Returns:
        The guards, and in words where the verdicts differ; '' where they agree or there is nothing to compare with.
    """
    if not hasattr(wrapper, "root"):
        return _read(of_function.read(wrapper, filename), earlier), ""
    found = _read(tree.read(wrapper, local_values, filename), earlier)
    if local_values is None:
        return found, ""
    return found, _compare(found, wrapper, local_values, earlier)


def _read(read: tree.Tree, earlier: tree.Tree | None) -> tree.Tree:
    read.clauses = fold(read.clauses)
    found = tree.without_checks(read)
    if earlier is not None:
        tree.share(found, earlier)
    return found


def _compare(
    found: tree.Tree, wrapper: Wrapper, local_values: Mapping[str, object], earlier: tree.Tree | None
) -> str:
    G = wrapper.global_scope["G"]
    torch_verdict = bool(wrapper.root.check(dict(local_values)))
    if earlier is not None and earlier.was_run and _has_form_of(found, earlier):
        ours = holds(found, local_values, G)
    else:
        ours = executable(found)(local_values, G)
    found.was_run = True
    if torch_verdict == ours:
        return ""
    reasons = "; ".join(map(str, explain(found, local_values, G)))
    said = f"on the call that was compiled torch's own guards say {torch_verdict}, these say {ours}"
    return f"{said}: {reasons}" if reasons else said


def _has_form_of(found: tree.Tree, other: tree.Tree) -> bool:
    """Return whether the texts of two trees differ in constants alone: names, and what is put where, are the same."""
    return (
        found.nodes is other.nodes
        and len(found.clauses) == len(other.clauses)
        and not (found.beyond or other.beyond)
        and all(
            one is another or _in_constants_alone(one.text, another.text)
            for one, another in zip(found.clauses, other.clauses, strict=True)
        )
    )


def _in_constants_alone(one: Text, other: Text) -> bool:
    return len(one) == len(other) and all(
        mine == its if isinstance(mine, At) else isinstance(mine, str) and isinstance(its, str)
        for mine, its in zip(one, other, strict=True)
    )


def executable(found: tree.Tree) -> Callable[[Mapping[str, object], Mapping[str, object]], bool]:
    """Return the guard that the text for `found` makes."""
    names = Names(IMPORTS)
    text = "\n".join(render(found, "", names, bare=True))
    scope: dict[str, object] = {**tree.SCOPE, **{name: held.get() for name, held in names.bound.items()}}
    exec(compile(text, "<guard>", "exec"), scope)
    made = scope[guard_name("")]
    assert callable(made)
    return made
