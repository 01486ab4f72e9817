"""The dump of a run of many frames, written without running it: each has a source, graphs, guards and a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.index_parts import artefact, broken, entry, function, index, transformed, write_dump

LINES = 12
"""Lines of each function; each becomes three nodes of every graph."""
IN_A_FILE = 20
"""Functions of each file."""
GUARDS = 40
KERNEL_LINES = 250


def write_many_frames(directory: Path, count: int) -> None:
    """Write the dump of `count` functions; every seventh broke, every fifth was compiled twice."""
    functions = []
    for number in range(count):
        ids = [f"{number}/0", *([f"{number}/1"] if number % 5 == 0 else [])]
        functions.append(_function(directory, number, ids))
    files = sorted({function_of_index["file"] for function_of_index in functions})
    sources = {
        f"source/{file}": "".join(_source(number) for number in range(count) if _file(number) == file) for file in files
    }
    skipped = [{"name": f"skipped_{n}", "file": "skipped.py", "reason": "no tensor", "times": n} for n in range(50)]
    write_dump(directory, index(functions, files, skipped=skipped), sources)


def _file(number: int) -> str:
    return f"layer_{number // IN_A_FILE}.py"


def _first_line(number: int) -> int:
    return (number % IN_A_FILE) * (LINES + 3) + 1


def _source(number: int) -> str:
    body = "".join(f"    x = torch.relu(x * {line} + self.weight_{line})\n" for line in range(LINES))
    return f"def block_{number}(self, x):\n{body}    return x\n\n"


def _line(number: int, offset: int) -> dict[str, Any]:
    return {
        "file": _file(number),
        "line": _first_line(number) + offset,
        "function": f"block_{number}",
        "text": "x = ...",
    }


def _function(directory: Path, number: int, ids: list[str]) -> dict[str, Any]:
    compiles = [_compile(directory, number, compile_id, attempt) for attempt, compile_id in enumerate(ids)]
    return function(f"block_{number}", _file(number), _first_line(number), compiles)


def _compile(directory: Path, number: int, compile_id: str, attempt: int) -> dict[str, Any]:
    graph = 2 * number + attempt
    refused = [{"entry": f"{number}/0", "clauses": ["size"], "explained": ['size of L["x"]: expected (8,), got (9,)']}]
    return entry(
        compile_id,
        trigger={"kind": "recompile", "refused": refused} if attempt else {"kind": "first call"},
        called_from=[_call("train.py", number // 100, "step"), _call("model.py", number // 10, "forward")],
        transformed=_transformed(directory, number, attempt, graph),
        graphs_called=[f"__compiled_fn_{graph}"],
        artefacts=_artefacts(directory, number, graph),
        guards=[_guard(number, place) for place in range(GUARDS)],
        guard_count=GUARDS,
        op_count=3 * LINES,
        hits=10,
        breaks=[broken(_line(number, LINES))] if number % 7 == 0 else [],
        began=2.0 * number + attempt,
        seconds={"total": 1.0, "backend": 0.7, "inductor": 0.5, "code generation": 0.3},
    )


def _call(file: str, number: int, function: str) -> dict[str, Any]:
    return {"file": file, "line": 10 + number, "function": function, "text": f"self.layers[{number}](x)"}


def _transformed(directory: Path, number: int, attempt: int, graph: int) -> dict[str, Any]:
    file = f"__transformed_code_{attempt}_for_block_{number}.py"
    _write(directory, file, f"def block_{number}(self, x):\n    return __compiled_fn_{graph}(x)[0]\n")
    return transformed(file, 40)


def _artefacts(directory: Path, number: int, graph: int) -> list[dict[str, Any]]:
    artefacts = []
    for stage in ("Captured_Graph", "Forward_graph", "AFTER_POST_GRAD"):
        file = f"__compiled_fn_{graph}.{stage}.0.py"
        _write(directory, file, _graph(number))
        artefacts.append(artefact(stage, "graph", file))
    kernel = f"__compiled_fn_{graph}.kernel_0.py"
    _write(directory, kernel, _kernel())
    return [*artefacts, artefact("kernel", "kernel", kernel)]


def _guard(number: int, which: int) -> dict[str, Any]:
    source = f'L["x{which}"]'
    return {
        "kind": "TENSOR_MATCH",
        "source": source,
        "clause": f"tensor({source}, size=(8,))",
        "where": _line(number, 1),
    }


def _graph(number: int) -> str:
    rows = ["class GraphModule(torch.nn.Module):", '    def forward(self, L_x_: "f32[8, 1024][1024, 1]cpu"):']
    for offset in range(1, LINES + 1):
        place = f"/home/me/{_file(number)}:{_first_line(number) + offset}"
        rows.append(f"        # File: {place} in block_{number}, code: x = torch.relu(x * {offset})")
        for name in ("mul", "add", "relu"):
            rows.append(f'        {name}_{offset}: "f32[8, 1024][1024, 1]cpu" = torch.ops.aten.{name}.default(L_x_)')
        rows.append("")
    return "\n".join([*rows, "        return (relu_1,)", ""])


def _kernel() -> str:
    rows = ["cpp_fused_relu_0 = async_compile.cpp_pybinding(['float*'], r'''"]
    rows += [
        f"    auto tmp{n} = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>({n}));"
        for n in range(KERNEL_LINES)
    ]
    return "\n".join([*rows, "''')", ""])


def _write(directory: Path, name: str, text: str) -> None:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
