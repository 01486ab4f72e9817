"""Names for graphs inside a graph, which torch before 2.6 prints without a name.

before
    cond_true_0 = self.cond_true_0
    cond = torch.ops.higher_order.cond(gt, cond_true_0, cond_false_0, [l_x_])
    class GraphModule(torch.nn.Module): ...

after
    class cond_true_0(torch.nn.Module): ...
"""

from __future__ import annotations

import ast
import re

from depyf.bytecode.patterns import pattern

_NAMELESS = pattern(r"^( *)class <lambda>\(", re.MULTILINE)
_NESTED = pattern(r"^ +class ", re.MULTILINE)
_HIGHER_ORDER = "torch.ops.higher_order."


def with_names(code: str) -> str:
    """Return a graph's text with every nested graph named as its outer graph calls it.

    torch prints nested graphs in the order of their use. If their number does not match, they stay unchanged. Raises
    SyntaxError if the text is not Python.
    """
    if "class <lambda>(" in code:
        code = _NAMELESS.sub(r"\1class GraphModule(", code)
    if " class " not in code or _NESTED.search(code) is None:
        return code
    lines = code.split("\n")
    pending = [graph for graph in ast.parse(code).body if isinstance(graph, ast.ClassDef)]
    while pending:
        outer = pending.pop()
        inside = [nested for nested in outer.body if isinstance(nested, ast.ClassDef)]
        pending += inside
        if not inside:
            continue
        read, called = _attributes_read(outer), _graphs_called(outer)
        if any(graph.name not in read for graph in inside) and len(called) == len(inside):
            for graph, name in zip(inside, called, strict=True):
                line = lines[graph.lineno - 1]
                lines[graph.lineno - 1] = line.replace(f"class {graph.name}(", f"class {name}(", 1)
    return "\n".join(lines)


def _own_nodes(graph: ast.ClassDef) -> list[ast.AST]:
    """Return the nodes of a graph's functions, in no order, without those of nested graphs."""
    return [node for statement in graph.body if not isinstance(statement, ast.ClassDef) for node in ast.walk(statement)]


def _attributes_read(graph: ast.ClassDef) -> dict[str, str]:
    """Return the attributes of `self` that a graph reads, and the variables that it assigns them to."""
    return {
        node.value.attr: node.targets[0].id
        for node in _own_nodes(graph)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Attribute)
        and isinstance(node.value.value, ast.Name)
        and node.value.value.id == "self"
        and isinstance(node.targets[0], ast.Name)
    }


def _graphs_called(graph: ast.ClassDef) -> list[str]:
    """Return the attributes of a graph that it passes to higher-order operators, in the order of the calls."""
    attributes = {variable: attribute for attribute, variable in _attributes_read(graph).items()}
    calls = [node for node in _own_nodes(graph) if isinstance(node, ast.Call)]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    given = (
        argument.id
        for call in calls
        if ast.unparse(call.func).startswith(_HIGHER_ORDER)
        for argument in call.args
        if isinstance(argument, ast.Name)
    )
    return list(dict.fromkeys(attributes[name] for name in given if name in attributes))
