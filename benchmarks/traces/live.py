"""The report made live beside the one made from the same run's trace: `python -m benchmarks.traces.live [MODULE...]`.

Runs the benchmarks' programs inside `prepare_debug` with `keep_trace`, reads the trace, and compares every fact that a
trace holds. Prints the facts that it does not hold, with the reason, and the differences.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

import depyf
from benchmarks.dynamo_code import MODULES, load
from depyf.model.names import resumed_function
from depyf.model.run import Session
from depyf.trace.job.dumping import dump_trace
from depyf.trace.stages import KERNEL_CACHES

UNTOLD = {
    "transformed, graphs_called, resume_functions_called": "the trace holds no bytecode but that of resume functions",
    "guards": "the trace holds torch's text of them, which the report shows, and no executable form",
    "hits, gone, skipped, compiled_before": "nothing is written when compiled code runs or an entry goes",
    "explained and contrast of a recompile": "they are made by calling the guards of other entries",
    "which of several callers of a resume function was first": "only bytecode names them; the trace's is one of them",
    "resumes_at, offset": "the line after a break is in the bytecode; the trace says where the graph broke",
    "the last line of called_from": "torch writes no caller for a function that calls what torch.compile returned",
    "looks into the caches of kernels": "torch records those into its caches of graphs alone",
    "metrics": "a live capture leaves them out: they are other numbers in each run",
}
AS_THEY_ARE = ("id", "op_count", "guard_count", "attempts")
MOST = int(os.environ.get("PROGRAMS", "1000"))
NOT_LIVE = frozenset(
    {
        *("compilation_metrics", "bwd_compilation_metrics", "symbolic_shapes", "recompile_reasons", "torch_version"),
        *("dynamo_graph_break_reason", "dynamo_cpp_guards_str", "dynamo_guards", "torch._functorch.config", "link"),
    }
)
"""Artefacts whose facts a capture has in its model, or leaves out."""


def facts(index: dict[str, Any]) -> dict[str, Any]:
    """Return what a live capture and a trace tell alike, by the compile and the name of the fact."""
    facts_by_name: dict[str, Any] = {
        "order": index["order"],
        "roots": [function["name"] for function in index["functions"]],
    }
    for root in index["functions"]:
        for function in (root, *root["resume_functions"]):
            for compiled in function["compiles"]:
                compile_facts = {name: compiled[name] for name in AS_THEY_ARE}
                compile_facts |= _told(compiled)
                compile_facts["function"] = function["name"], function["file"], function["line"], root["name"]
                compile_facts["called from"] = [_place(line) for line in compiled["called_from"]]
                compile_facts["caller"] = compiled["trigger"].get("caller")
                facts_by_name |= {f"{compiled['id']} {name}": value for name, value in compile_facts.items()}
    return facts_by_name


def _place(line: dict[str, Any]) -> tuple[str, int, str]:
    """Return a line; torch prints the name of a function for what resumes it."""
    resumed = resumed_function(line["function"])
    return line["file"], line["line"], resumed[0] if resumed is not None else line["function"]


def _told(compiled: dict[str, Any]) -> dict[str, Any]:
    trigger, failure = compiled["trigger"], compiled["failure"]
    return {
        "trigger": trigger["kind"],
        "clauses": [(entry["entry"], entry["clauses"]) for entry in trigger.get("refused", ())],
        "breaks": [
            (graph_break["reason"], graph_break["code"], graph_break["where"], graph_break["hints"])
            for graph_break in compiled["breaks"]
        ],
        "failure": (failure["kind"], failure["reason"]) if failure else None,
        "caches": [
            (event["cache"], event["outcome"], event["key"])
            for event in compiled["caches"]
            if event["cache"] not in KERNEL_CACHES
        ],
        "shapes": [(shape["kind"], shape["expression"]) for shape in compiled["shapes"]],
        "side effects": [(effect["source"], effect["lines"]) for effect in compiled["side_effects"]],
        "seconds": compiled["seconds"],
        "artefacts": sorted(_stages(compiled)),
    }


def _stages(compiled: dict[str, Any]) -> Iterator[str]:
    last = compiled["attempts"] - 1
    for artefact in compiled["artefacts"]:
        stage = artefact["stage"]
        is_untold = stage in NOT_LIVE or stage.startswith(tuple(f"{cache}_cache_" for cache in KERNEL_CACHES))
        if not is_untold and not stage.endswith(("_as_written", "_BYTECODE")) and artefact["attempt"] == last:
            yield stage


def _agrees(name: str, live: Any, read: Any, callers: dict[str, set[str]]) -> bool:  # noqa: ANN401 - JSON
    """Return whether a trace tells what a capture does, as far as it can."""
    compile_id, _, fact = name.partition(" ")
    if fact == "caller":
        return live == read or read in callers.get(compile_id, ())
    return bool(live == read or (fact == "called from" and live[:-1] == read))


def _callers(session: Session) -> dict[str, set[str]]:
    """Return the compiles whose code calls a resume function, by the compile of that."""
    callers: dict[str, set[str]] = {}
    for function, compiled in session.compiles():
        names = {function.resume_name, *function.other_resume_names}
        callers[str(compiled.id)] = {str(caller.id) for _, caller in session.compiles() if names & set(caller.resumes)}
    return callers


def main() -> None:
    """Run the programs, and print what differs."""
    count, differences = 0, []
    for module in sys.argv[1:] or MODULES:
        for program in load(module)[:MOST]:
            count += 1
            differences += [f"{module}.{program.name}: {line}" for line in _differences(program)]
    print("A trace does not hold:")
    for what, why in UNTOLD.items():
        print(f"  {what}: {why}")
    print("\n".join(differences))
    print(f"{count} programs, {len(differences)} differences")
    sys.exit(bool(differences))


def _differences(program: Any) -> Iterator[str]:  # noqa: ANN401 - of a module that is loaded anew
    torch._dynamo.reset()
    with tempfile.TemporaryDirectory() as folder:
        live, read = Path(folder, "live"), Path(folder, "read")
        with contextlib.redirect_stdout(io.StringIO()), depyf.prepare_debug(live, keep_trace=True) as session:
            compiled = torch.compile(program.function, backend="aot_eager")
            for arguments in program.calls():
                with contextlib.suppress(Exception):
                    compiled(*arguments)
        for trace in sorted((live / "trace").glob("*")):
            with open(trace, "rb") as stream:
                dump_trace(stream, trace.name, read)
        if not (read / "index.json").exists():
            return
        yield from compared(live, read, session)


def compared(live: Path, read: Path, session: Session) -> Iterator[str]:
    """Yield the facts in which a trace, read into a dump, differs from the capture of the same run."""
    captured, other = (facts(json.loads((dump / "index.json").read_text())) for dump in (live, read))
    callers = _callers(session)
    for name in sorted(captured.keys() | other.keys()):
        if not _agrees(name, captured.get(name), other.get(name), callers):
            yield f"{name}: live {captured.get(name)!r}, from the trace {other.get(name)!r}"


if __name__ == "__main__":
    main()
