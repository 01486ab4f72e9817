"""Make program-written code shorter: rewrites of three-address code that keep its meaning, not its instructions.

They serve code that Dynamo writes, which keeps values in variables of its own and passes arguments through lists
that are built only to be taken apart. Code that a compiler wrote is left alone, so that it can be exact.
"""

from __future__ import annotations

from depyf.lift.simplify.containers import evaluate_containers
from depyf.lift.simplify.dead import remove_dead
from depyf.lift.simplify.promote import promote_variables
from depyf.lift.simplify.reload import reload_where_used
from depyf.lift.simplify.results import Results, unpack_results
from depyf.lift.tac import Graph


def simplify(graph: Graph, results: Results) -> None:
    """Apply every rewrite, in the order in which each makes room for the next.

    results: what is known of the sequences that globals return.
    """
    promote_variables(graph)
    evaluate_containers(graph)
    unpack_results(graph, results)
    remove_dead(graph)
    reload_where_used(graph)


__all__ = ["Results", "simplify"]
