"""The parts of an `index.json` as a context writes it, for dumps that are written without a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Part = dict[str, Any]


def entry(compile_id: str, **changes: object) -> Part:
    """Return a compile."""
    return {
        "id": compile_id,
        "attempts": 1,
        "trigger": {"kind": "first call"},
        "called_from": [],
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


def transformed(file: str, instructions: int = 20) -> Part:
    """Return transformed code that is proven and runs."""
    return {"file": file, "level": "EQUIVALENT", "reason": "", "installed": True, "instructions": instructions}


def artefact(stage: str, kind: str, file: str, part: str = "") -> Part:
    """Return an artefact of a stage, in a file."""
    return {"stage": stage, "kind": kind, "part": part, "attempt": 0, "file": file}


def broken(where: Part, **changes: object) -> Part:
    """Return a graph break at a line."""
    return {
        "reason": "Data-dependent branching",
        "explanation": "",
        "hints": [],
        "code": "GB0170",
        "where": where,
        "stack": [],
        **changes,
    }


def function(name: str, file: str, line: int, compiles: Sequence[Part], **changes: object) -> Part:
    """Return a root function."""
    return {
        "name": name,
        "file": file,
        "line": line,
        "dump": "",
        "compiles": list(compiles),
        "resume_functions": [],
        **changes,
    }


def index(functions: Sequence[Part], files: Sequence[str], **changes: object) -> Part:
    """Return an index with these functions of these files."""
    order = [
        compiled["id"]
        for root in functions
        for two in (root, *root["resume_functions"])
        for compiled in two["compiles"]
    ]
    return {
        "schema": 1,
        "torch": "2.13.0",
        "python": "3.11.7",
        "ended": True,
        "functions": list(functions),
        "order": order,
        "sources": [{"file": file, "path": f"/home/me/{file}", "dump": f"source/{file}"} for file in files],
        "outside": [],
        "compiled_before": [],
        "skipped": [],
        "unavailable": {},
        "problems": [],
        **changes,
    }


def write_dump(directory: Path, content: Part, files: Mapping[str, str]) -> Path:
    """Write an index and files into a directory, and return it."""
    for name, text in {**files, "index.json": json.dumps(content)}.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return directory
