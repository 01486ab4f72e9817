"""A small dump as a context leaves it, written without torch; and names that try to be more than text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HOSTILE = "<img src=x onerror=\"document.title='owned'\"></script><script>document.title='owned'</script>"

SOURCE = """\
import torch


def toy(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b
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
    """Return a compile as the index tells it."""
    return {
        "id": compile_id,
        "attempts": 1,
        "trigger": {"kind": "first call"},
        "called_from": [line(20, "toy(a, b)", "<module>")],
        "transformed": {"unavailable": "Dynamo made no code"},
        "graphs_called": ["__compiled_fn_1"],
        "resume_functions_called": [],
        "artefacts": [],
        "guards": [],
        "guard_count": 2,
        "op_count": 4,
        "hits": 3,
        "breaks": [],
        "failure": None,
        "gone": None,
        "contrast": None,
        "began": 0.5,
        "seconds": {"total": 2.0, "backend": 1.5, "inductor": 1.0, "code generation": 0.5},
        **changes,
    }


def function(name: str, compiles: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """Return a root function as the index tells it."""
    return {
        "name": name,
        "file": "toy.py",
        "line": 4,
        "dump": "",
        "compiles": compiles,
        "resume_functions": [],
        **changes,
    }


def index(functions: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """Return an index with these functions."""
    order = [one["id"] for each in functions for two in (each, *each["resume_functions"]) for one in two["compiles"]]
    return {
        "schema": 1,
        "torch": "2.13.0",
        "python": "3.11.7",
        "ended": True,
        "functions": functions,
        "order": order,
        "sources": [{"file": "toy.py", "path": "/home/me/toy.py", "dump": "source/toy.py"}],
        "outside": [],
        "compiled_before": [],
        "skipped": [],
        "unavailable": {},
        "problems": [],
        **changes,
    }


def artefact(stage: str, kind: str, file: str, part: str = "") -> dict[str, Any]:
    return {"stage": stage, "kind": kind, "part": part, "attempt": 0, "file": file}


def toy_entry() -> dict[str, Any]:
    """Return the first compile of the toy function, with a graph break and the files that `write_toy` writes."""
    return entry(
        "0/0",
        transformed={
            "file": "__transformed_code_0_for_toy.py",
            "level": "EQUIVALENT",
            "reason": "",
            "installed": True,
            "instructions": 20,
        },
        artefacts=[artefact("Captured_Graph", "graph", "__compiled_fn_1.Captured_Graph.0.py")],
        guards=[
            {"kind": "TENSOR_MATCH", "source": 'L["a"]', "clause": 'tensor(L["a"], size=(10,))', "where": line(5)},
            {"kind": "GLOBAL_STATE", "source": "", "clause": "global_state()", "where": None},
        ],
        breaks=[
            {
                "reason": "Data-dependent branching",
                "explanation": "Detected data-dependent branching.",
                "hints": ["Use `torch.cond` to express dynamic control flow."],
                "code": "GB0170",
                "where": line(6, "if b.sum() < 0:"),
                "stack": [line(6, "if b.sum() < 0:")],
            }
        ],
    )


def write_dump(directory: Path, content: dict[str, Any], files: dict[str, str]) -> Path:
    """Write an index and files into a directory, and return it."""
    for name, text in {**files, "index.json": json.dumps(content)}.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return directory


FILES = {
    "source/toy.py": SOURCE,
    "__compiled_fn_1.Captured_Graph.0.py": GRAPH,
    "__transformed_code_0_for_toy.py": TRANSFORMED,
}


def write_toy(directory: Path, name: str = "toy") -> Path:
    """Write the dump of the toy function, under another name if one is given."""
    return write_dump(directory, index([function(name, [toy_entry()])]), FILES)
