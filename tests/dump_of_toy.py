"""A small dump as a context leaves it, written without torch; and names that try to be more than text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks import index_parts
from benchmarks.index_parts import artefact, write_dump

HOSTILE = "<img src=x onerror=\"document.title='owned'\"></script><script>document.title='owned'</script>"

SOURCE = """\
import torch


def toy(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b
    raise AssertionError
"""

GRAPH = """\
class GraphModule(torch.nn.Module):
    def forward(self, L_a_: "f32[10]"):
        # File: /home/me/toy.py:5 in toy, code: x = a / (torch.abs(a) + 1)
        abs_1: "f32[10]" = torch.abs(L_a_)
        x: "f32[10]" = L_a_ / abs_1

        # File: /home/me/toy.py:6 in toy, code: if b.sum() < 0:
        lt = x < 0
        return (lt, x)
"""

TRANSFORMED = """\
# toy, toy.py:4
def toy(a, b):
    lt, x = __compiled_fn_1(a, b)
    # graph break at :6, `if b.sum() < 0:`: Data-dependent branching (GB0170)
    if lt:
        return __resume_at_102_2(b, x)  # continues in the user's line 7
    return __resume_at_112_3(b, x)  # continues in the user's line 8
"""


def line(number: int, text: str = "", function: str = "toy") -> dict[str, Any]:
    return {"file": "toy.py", "line": number, "function": function, "text": text}


def entry(compile_id: str, **changes: Any) -> dict[str, Any]:
    """Return a compile of the toy function as the index tells it."""
    return index_parts.entry(compile_id, **{"called_from": [line(20, "toy(a, b)", "<module>")], **changes})


def function(name: str, compiles: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """Return a root function of the toy's file as the index tells it."""
    return index_parts.function(name, "toy.py", 4, compiles, **changes)


def index(functions: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """Return an index with these functions."""
    return index_parts.index(functions, ["toy.py"], **changes)


def toy_entry() -> dict[str, Any]:
    """Return the first compile of the toy function, with a graph break and the files that `write_toy` writes."""
    return entry(
        "0/0",
        transformed=index_parts.transformed("__transformed_code_0_for_toy.py"),
        artefacts=[artefact("Captured_Graph", "graph", "__compiled_fn_1.Captured_Graph.0.py")],
        guards=[
            {"kind": "TENSOR_MATCH", "source": 'L["a"]', "clause": 'tensor(L["a"], size=(10,))', "where": line(5)},
            {"kind": "GLOBAL_STATE", "source": "", "clause": "global_state()", "where": None},
        ],
        breaks=[
            index_parts.broken(
                line(6, "if b.sum() < 0:"),
                explanation="Detected data-dependent branching.",
                hints=["Use `torch.cond` to express dynamic control flow."],
                stack=[line(6, "if b.sum() < 0:")],
            )
        ],
    )


FILES = {
    "source/toy.py": SOURCE,
    "__compiled_fn_1.Captured_Graph.0.py": GRAPH,
    "__transformed_code_0_for_toy.py": TRANSFORMED,
}


def write_toy(directory: Path, name: str = "toy") -> Path:
    """Write the dump of the toy function, under another name if one is given."""
    return write_dump(directory, index([function(name, [toy_entry()])]), FILES)
