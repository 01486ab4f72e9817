"""The assumptions of a proof about the globals that Dynamo's code loads.

Dynamo puts graphs, resume functions and modules into the globals of the user's function, under its own names, before it
hands over the code. It removes them when nothing refers to the code any more. So they do not change while it runs.
"""

from __future__ import annotations

import types

from depyf.model.artifacts.graph_source import output_count, output_names
from depyf.model.names import compiled_fn_number, is_installed
from depyf.model.run import Compile
from depyf.torch.adapters import seams
from depyf.torch.adapters.graphs import own_output_count, returns_graph_outputs
from depyf.verify.assumptions import Assumptions


def assumptions(compiled: Compile, new_code: types.CodeType) -> Assumptions:
    """Return what is known about the globals that `new_code` loads.

    The number of values that a graph returns is not known for every backend.
    """
    scope = seams.globals_in_progress()
    if not isinstance(scope, dict):
        return Assumptions()
    captured = [artefact for artefact in compiled.artefacts if artefact.stage == "Captured_Graph"]
    graphs = [name for name in new_code.co_names if compiled_fn_number(name) is not None]
    lengths = {}
    for name, artefact in zip(graphs, captured, strict=False):
        count = own_output_count(scope.get(name))
        if count is None and returns_graph_outputs(scope.get(name)):
            count = output_count(artefact.text)
        if count is not None:
            lengths[name] = count
    installed = frozenset(name for name in new_code.co_names if is_installed(name) and name in scope)
    return Assumptions(lengths, installed)


def result_names(compiled: Compile, new_code: types.CodeType) -> dict[str, tuple[str, ...]]:
    """Return, for each graph function, the graph's names of its return values."""
    captured = [artefact for artefact in compiled.artefacts if artefact.stage == "Captured_Graph"]
    graphs = [name for name in new_code.co_names if compiled_fn_number(name) is not None]
    return {name: output_names(artefact.text) for name, artefact in zip(graphs, captured, strict=False)}
