"""Check whether depyf's guard gives torch's verdict on the compiled call.

Each clause is evaluated on the values from the walk over torch's guards. The expressions of the clauses are the parts
of the guard's text. Expressions that differ only in a value are compiled once. With `DEPYF_CHECK=1` the whole text is
also run, and must give the same verdict.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from depyf.torch.guards import tree
from depyf.torch.guards.cpp import Wrapper
from depyf.torch.guards.fold import fold
from depyf.torch.guards.names import Names
from depyf.torch.guards.render import IMPORTS, guard_name, render
from depyf.torch.guards.verdicts.explain import explain, holds

_IS_CHECKED = os.environ.get("DEPYF_CHECK") == "1"


def read(
    wrapper: Any, local_values: Mapping[str, object] | None, filename: str = "", earlier: tree.Tree | None = None
) -> tuple[tree.Tree, str]:
    """Read the guards of an entry and compare their verdict with torch's.

    Args:
        wrapper: the entry's guards, `entry.guard_manager`.
        local_values: the locals, cells and free variables of the compiled call, or None if unknown.
        filename: the file of the compiled function.
        earlier: the guards of another entry of the function, for sharing equal parts.

    Returns:
        The guards, and in words where the verdicts differ; "" if they agree or there is nothing to compare with.
    """
    if not hasattr(wrapper, "root"):
        from depyf.torch.guards import of_function

        return _read(of_function.read(wrapper, filename), earlier), ""
    read, values = tree.read(wrapper, local_values, filename)
    tree_read = _read(read, earlier)
    return tree_read, "" if local_values is None else _compare(tree_read, wrapper, local_values, values)


def _read(read: tree.Tree, earlier: tree.Tree | None) -> tree.Tree:
    read.clauses = fold(read.clauses)
    plain = tree.without_checks(read)
    if earlier is not None:
        tree.share(plain, earlier)
    return plain


def _compare(
    guards: tree.Tree, wrapper: Wrapper, local_values: Mapping[str, object], values: Sequence[object]
) -> str:
    G = wrapper.global_scope["G"]
    torch_verdict = bool(wrapper.root.check(dict(local_values)))
    ours = holds(guards, local_values, G, values)
    if _IS_CHECKED and executable(guards)(local_values, G) != ours:
        raise AssertionError(f"the clauses of a guard give {ours}, its text gives the opposite")
    if torch_verdict == ours:
        return ""
    reasons = "; ".join(map(str, explain(guards, local_values, G)))
    said = f"on the compiled call torch's own guards give {torch_verdict}, these give {ours}"
    return f"{said}: {reasons}" if reasons else said


def executable(guards: tree.Tree) -> Callable[[Mapping[str, object], Mapping[str, object]], bool]:
    """Return the guard function that the text for `guards` defines."""
    names = Names(IMPORTS)
    text = "\n".join(render(guards, "", names, bare=True))
    scope: dict[str, object] = {**tree.SCOPE, **{name: held.get() for name, held in names.bound.items()}}
    exec(compile(text, "<guard>", "exec"), scope)
    guard = scope[guard_name("")]
    assert callable(guard)
    return guard
