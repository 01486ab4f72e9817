"""Switches of torch's own: one statement at the top of the file that has the finding.

before: `n = x.sum().item()` breaks the graph
after: `torch._dynamo.config.capture_scalar_outputs = True`, and the number is a symbol of the graph
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from depyf.findings import Finding
from depyf.fix.edit import Edit, event_of, kinds_of, proposer
from depyf.fix.trees import after_import_of_torch
from depyf.model.index_reader import Run

CONFIG = "torch._dynamo.config"
SWITCHES = {
    "break-item": (f"{CONFIG}.capture_scalar_outputs = True",),
    "break-tolist": (f"{CONFIG}.capture_scalar_outputs = True",),
    "break-dynamic-shape": (f"{CONFIG}.capture_dynamic_output_shape_ops = True",),
    "break-boolean-mask": (f"{CONFIG}.capture_dynamic_output_shape_ops = True",),
    "module-int": (f"{CONFIG}.allow_unspec_int_on_nn_module = True",),
    "counter": (f"{CONFIG}.allow_unspec_int_on_nn_module = True",),
    "set-in-call": (f"{CONFIG}.allow_unspec_int_on_nn_module = True",),
    "parameter-size": (
        f"{CONFIG}.force_parameter_static_shapes = False",
        f"{CONFIG}.allow_unspec_int_on_nn_module = True",
    ),
    "argument-float": (f"{CONFIG}.specialize_float = False",),
    "global-float": (f"{CONFIG}.specialize_float = False",),
    "closure-float": (f"{CONFIG}.specialize_float = False",),
    "object-float": (f"{CONFIG}.specialize_float = False",),
    "module-float": (f"{CONFIG}.specialize_float = False",),
    "learning-rate": (f"{CONFIG}.specialize_float = False",),
}
"""Statements by the kind of the finding, in the order in which they are tried."""


@proposer
def switches(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the switches for a finding."""
    for kind in kinds_of(event_of(run, finding), finding):
        for text in SWITCHES.get(kind, ()):
            yield _switch(finding, text, kind)


@proposer
def named_switches(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the switch that torch names in its message about a break, unless it hides errors."""
    if not finding.kind.startswith(("break-", "graph-break")):
        return
    import torch._dynamo.config as config

    for name in dict.fromkeys(_NAMED.findall(f"{finding.cause} {finding.fix}")):
        if getattr(config, name, None) is False and name not in _NO_EDITS:
            yield _switch(finding, f"{CONFIG}.{name} = True", finding.kind)


_NAMED = re.compile(r"torch\._dynamo\.config\.(\w+)")
_NO_EDITS = frozenset(("suppress_errors", "disable", "verbose", "replay_record_enabled"))
"""Switches that hide a break and do not remove it."""


@proposer
def reordered_prints(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the switch that lets Dynamo print after the graph, for a call of `print` that breaks it."""
    if finding.kind == "break-print":
        # torch loses the prints of functions that Dynamo inlines.
        text = f"{CONFIG}.reorderable_logging_functions.add(print)"
        yield replace(_switch(finding, text, finding.kind), in_root=lambda _, line: [line])


def _switch(finding: Finding, text: str, kind: str) -> Edit:
    def apply(module: cst.Module, _: int) -> cst.Module:
        return after_import_of_torch(module, text)

    file = finding.where.file if finding.where is not None else ""
    line = finding.where.line if finding.where is not None else 0
    return Edit(file, line, text, (kind, str(finding.where)), apply, is_of_file=True)
