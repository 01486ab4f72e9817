"""What the lines of Inductor's C++ kernels compute, seen by running the module with its example inputs.

Each statement of a kernel that is asked for writes down its values while the module runs. The graph that the module was
made from runs too, node by node, in eager mode. A line computes a node if all of its values are among the node's.

    python -m benchmarks.linked.values MODULE GRAPH OUT KERNEL=NODE,NODE...   # in a process of its own: it may crash
"""

from __future__ import annotations

import ast
import math
import os
import re
import runpy
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

PRELUDE = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
struct DepyfRecord { double value; long line; };
static FILE* depyf_file() { static FILE* file = fopen(getenv("LINKED_VALUES"), "ab"); return file; }
static long depyf_counts[1 << 16];
static long depyf_launch = -1;
inline void depyf_begin() { depyf_launch++; memset(depyf_counts, 0, sizeof depyf_counts); }
template <typename T> inline void depyf_scalar(long line, T value) {
    if (depyf_counts[line & 0xffff]++ >= 300) return;
    DepyfRecord record{static_cast<double>(value), line + (depyf_launch << 32)};
    fwrite(&record, sizeof record, 1, depyf_file());
}
template <typename T> inline void depyf_note(long line, long lanes, const at::vec::Vectorized<T>& value) {
    T all[at::vec::Vectorized<T>::size()];
    value.store(all);
    for (long i = 0; i < at::vec::Vectorized<T>::size() && i < lanes; i++) depyf_scalar(line, all[i]);
}
template <typename T, int N> inline void depyf_note(long line, long lanes, const at::vec::VectorizedN<T, N>& value) {
    T all[at::vec::VectorizedN<T, N>::size()];
    value.store(all);
    for (long i = 0; i < at::vec::VectorizedN<T, N>::size() && i < lanes; i++) depyf_scalar(line, all[i]);
}
template <typename T, int N> inline void depyf_note(long line, long lanes, const at::vec::VecMask<T, N>& value) {
    bool all[at::vec::VecMask<T, N>::size()];
    for (int i = 0; i < at::vec::VecMask<T, N>::size(); i++) all[i] = value.is_masked(i);
    for (long i = 0; i < at::vec::VecMask<T, N>::size() && i < lanes; i++) depyf_scalar(line, all[i]);
}
template <typename T> inline std::enable_if_t<std::is_arithmetic_v<T>> depyf_note(long line, long, T value) {
    depyf_scalar(line, value);
}
inline void depyf_note(long, long, ...) {}
inline float depyf_drawn(...) { return 0.375f; }
"""
_INCLUDE = re.compile(r"^#include <torch/csrc/inductor/cpp_prefix\.h>$", re.MULTILINE)
_SETS = re.compile(r"^\s*auto (tmp\d+) = (?:.*);$")
_STORES = re.compile(r"^\s*(tmp\d+)\.store\(")
_WRITES = re.compile(r"^\s*\w*ptr\d+\[.*\] = (.*);$")
_TAIL = re.compile(
    r"if\(C10_(?:UN)?LIKELY\(\w+ >= static_cast<int64_t>\((\d+)L?\) && \w+ < static_cast<int64_t>\((\d+)L?\)"
)
"""The range of a loop that a block is for: the lanes of a vector past its end hold nothing."""
_ITEM = re.compile(r"(?m)^ *(\w+)(?:: [^=\n]*)? = (\w+)\[\d+\];?")
_RANDOM = re.compile(r"\b(?:randn|normalized_rand)_cpu\(")
DRAWN = 0.375
"""Stands for each random number, in the kernels and in the graph."""
WHOLE = 1 << 20
TOLERANCE = 2e-5


def instrumented(text: str, kernels: list[str]) -> str:
    """Return the text of a module whose `kernels` note the values of their lines, by the line of the module.

    A kernel that is launched several times computes other nodes each time: its values are noted by launch.
    """
    rows = text.splitlines()
    inside = ""
    depth, ranges, begun = 0, list[tuple[int, int]](), False
    for index, row in enumerate(rows):
        begins = re.match(r"(\w+) = async_compile\.cpp", row)
        if begins:
            inside, depth, ranges = begins[1], 0, []
        if row.startswith("'''"):
            inside = ""
        if inside not in kernels:
            continue
        tail = _TAIL.search(row)
        if tail:
            ranges.append((int(tail[2]) - int(tail[1]), depth))
        depth += row.count("{") - row.count("}")
        while ranges and "}" in row and depth <= ranges[-1][1]:
            ranges.pop()
        lanes = min((count for count, _ in ranges), default=WHOLE)
        begun = begun or row.startswith('extern "C"')
        if begun and row == "{":
            rows[index], begun = "{ depyf_begin();", False
        noted = _SETS.match(row) or _STORES.match(row) or _WRITES.match(row)
        if noted:
            rows[index] = f"{row} depyf_note({index + 1}, {lanes}, {noted[1]});"
    changed = "\n".join(rows)
    parts = re.split(r"(?m)^(?=\w+ = async_compile\.cpp)", changed)
    # All kernels draw the same, those too whose lines are not noted.
    parts = [_RANDOM.sub("depyf_drawn(", part) for part in parts]
    return "".join(
        _INCLUDE.sub(lambda match: match[0] + PRELUDE, part) if "depyf_" in part else part for part in parts
    )


def _inputs(scope: dict[str, Any]) -> list[Any]:
    """Return example inputs: small numbers, which saturate nothing, and indices that every table has."""
    torch.manual_seed(0)
    inputs = scope["get_args"]()
    numbers = [tensor for tensor in inputs if isinstance(tensor, torch.Tensor) and tensor.is_floating_point()]
    tables = [tensor.shape[0] for tensor in numbers if tensor.dim() == 2]
    for tensor in inputs:
        if isinstance(tensor, torch.Tensor) and tensor.dtype in (torch.int64, torch.int32):
            tensor.random_(0, min(4, *tables) if tables else 4)
        elif isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
            tensor.mul_(0.3)
    return list(inputs)


def nodes_of(graph: str, inputs: list[Any]) -> dict[str, list[float]]:
    """Return the values of each node of a graph, run in eager mode; what cannot be run has none."""
    tree = ast.parse(graph.replace("torch.ops.prims.inductor_random.default(", "drawn("))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "forward"]
    # Graphs inside of the graph are printed behind it, further to the right.
    function = min(reversed(functions), key=lambda function: function.col_offset)
    scope: dict[str, Any] = {"torch": torch, "device": torch.device, "inf": math.inf, "nan": math.nan}
    names = [argument.arg for argument in function.args.args if argument.arg != "self"]
    scope.update(zip(names, inputs, strict=False), drawn=lambda sizes, *_: torch.full(sizes, DRAWN))
    values = {name: _numbers(scope[name]) for name in names if name in scope}
    for statement in function.body:
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if not isinstance(target, ast.Name) or isinstance(statement.value, ast.Constant):
            continue
        code = compile(ast.Expression(statement.value), "<node>", "eval")
        try:
            value = eval(code, scope)
        except Exception:  # noqa: BLE001, S112 - a node that cannot be run, or that needs one, is judged by nothing
            continue
        scope[target.id] = value
        values[target.id] = _numbers(value)
    return {name: values for name, values in values.items() if values}


def _numbers(value: object) -> list[float]:
    if isinstance(value, torch.Tensor) and not value.is_complex():
        return sorted({float(number) for number in value.detach().double().flatten().tolist()})
    return [float(value)] if isinstance(value, (int, float)) else []


def is_among(values: torch.Tensor, sorted_nodes: torch.Tensor) -> bool:
    """Return whether all values are among those of a node, but for rounding."""
    values = values[~values.isnan()]
    if not len(values):
        return False
    place = torch.searchsorted(sorted_nodes, values).clamp(max=len(sorted_nodes) - 1)
    before = (place - 1).clamp(min=0)
    apart = torch.minimum((sorted_nodes[place] - values).abs(), (sorted_nodes[before] - values).abs())
    is_equal = (sorted_nodes[place] == values) | (sorted_nodes[before] == values)
    return bool((is_equal | (apart <= TOLERANCE * (1 + values.abs()))).all())


def kernel_at(rows: list[str], number: int) -> str:
    """Return the kernel in whose text a line is."""
    matches = (re.match(r"(\w+) = async_compile\.", rows[index]) for index in range(number - 1, -1, -1))
    return next(match[1] for match in matches if match)


def computed(module: Path, graph: Path, kernels: dict[str, list[str]]) -> dict[int, list[str]]:
    """Return for each line that was noted those of its kernel's nodes that have its values."""
    original = module.read_text(encoding="utf-8")
    text = instrumented(original, list(kernels))
    with tempfile.TemporaryDirectory() as folder:
        path, values = Path(folder) / "module.py", Path(folder) / "values"
        path.write_text(text, encoding="utf-8")
        values.touch()
        os.environ["LINKED_VALUES"] = str(values)
        scope = runpy.run_path(str(path))
        inputs = _inputs(scope)
        nodes = nodes_of(graph.read_text(encoding="utf-8"), [_copied(tensor) for tensor in inputs])
        scope["call"]([_copied(tensor) for tensor in inputs])
        # The kernels' files are open until the process ends: all is written when they are flushed.
        import ctypes

        ctypes.CDLL(None).fflush(None)
        raw = values.read_bytes()
    by_launch: dict[tuple[int, int], list[float]] = {}
    for value, place in struct.iter_unpack("dq", raw[: len(raw) // 16 * 16]):
        by_launch.setdefault((place & 0xFFFFFFFF, place >> 32), []).append(value)
    known = {name: torch.tensor(values_of_node, dtype=torch.float64) for name, values_of_node in nodes.items()}
    wholes = dict(_ITEM.findall(graph.read_text(encoding="utf-8")))
    rows, names_by_line = original.splitlines(), dict[int, set[str]]()
    for (line, _), launch_values in by_launch.items():
        values_of_line = torch.tensor(launch_values, dtype=torch.float64)
        # One of several results of a node is not among what Inductor says that a kernel computes: the node is.
        inside = {*kernels[kernel_at(rows, line)]}
        among = (inside | {name for name, whole in wholes.items() if whole in inside}) & {*known}
        if not values_of_line.isnan().all():
            names_by_line.setdefault(line, set()).update(
                name for name in among if is_among(values_of_line, known[name])
            )
    return {line: sorted(names) for line, names in names_by_line.items()}


def _copied(value: object) -> object:
    return value.clone() if isinstance(value, torch.Tensor) else value


def main() -> None:
    """Write down what the lines of some kernels compute, as JSON."""
    import json

    module, graph, out, *pairs = sys.argv[1:]
    kernels = {name: nodes.split(",") for name, _, nodes in (pair.partition("=") for pair in pairs)}
    nodes_by_line = computed(Path(module), Path(graph), kernels)
    Path(out).write_text(json.dumps({str(line): names for line, names in nodes_by_line.items()}), encoding="utf-8")


if __name__ == "__main__":
    main()
