"""Properties of a compiled graph, from the object that torch calls."""

from __future__ import annotations

import types
from typing import Any

import torch.fx
from torch._dynamo.eval_frame import innermost_fn

AOT_MODULE = "torch._functorch.aot_autograd"


def own_output_count(compiled: object) -> int | None:
    """Return the length of the tuple or list that a call of `compiled` returns, if it is a plain graph module."""
    inner: Any = innermost_fn(compiled) if callable(compiled) else compiled
    module = inner.__self__ if isinstance(inner, types.MethodType) else None
    if not isinstance(module, torch.fx.GraphModule) or inner.__func__ is not type(module).forward:
        return None
    if type(module.graph._codegen) is not torch.fx.graph.CodeGen:
        return None  # Its outputs are converted to another form, for example a dictionary.
    outputs = [node.args[0] for node in module.graph.nodes if node.op == "output"]
    return len(outputs[0]) if len(outputs) == 1 and type(outputs[0]) in (tuple, list) else None


def returns_graph_outputs(compiled: object) -> bool:
    """Return whether a call of `compiled` returns a list or tuple of exactly the outputs of the captured graph.

    AOTAutograd does so with any compiler: its runtime wrapper makes a list and checks its length.
    """
    inner: Any = innermost_fn(compiled) if callable(compiled) else compiled
    return isinstance(inner, types.FunctionType) and inner.__module__ == AOT_MODULE
