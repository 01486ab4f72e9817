"""The user's lines that each line of one of Inductor's modules may be linked to.

From Inductor's own words beside the module: its stacks for each call, the comments in it, and the places in the graphs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.linked.graph_text import NOWHERE, Places, graphs_inside, places_of_names

_HANDLE = re.compile(r"# \[Provenance debug handles\] (\S+):(\d+)$")
_NAMED = re.compile(r"# Topologically Sorted Source Nodes: \[(.*?)\]")
_FRAME = re.compile(r'File "(.*?)", line (\d+)')
_DEFINES = re.compile(r"^(\w+) = async_compile\.")
_STATEMENT = re.compile(r"^\s*auto (tmp\d+) = |^\s*(tmp\d+)\.store\(|^\s*\w*ptr\d+\[.*\] = ")
_SETS = re.compile(r"^\s*(?:auto |\w+ )?(\w+)(?:\[.*\])? [-+*|&]?= ")
_STORES = re.compile(r"^\s*tmp\d+\.store\((\w+)")
_CHECK = re.compile(r"^\s*(?:AOTI_)?TORCH_CHECK\(")
"""Says whether an index is in a table, and computes nothing."""
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
_WORDS = frozenset(
    ("reinterpret_tensor", "torch", "device", "dtype", "float32", "float64", "int64", "bool", "del", "return")
)
_BUFFERS = re.compile(r"^(?:buf|arg|primals|tangents|s\d|reinterpret)|_\d+$")
_TAKEN = re.compile(r"^\s+(.+?),? = args$")


class Module:
    """One of Inductor's modules in a dump, with what lies beside it."""

    def __init__(self, directory: Path, file: str) -> None:
        self._directory, self._file = directory, file
        self.rows = (directory / file).read_text(encoding="utf-8").splitlines()
        stem, number = file.removesuffix(".py").rsplit(".kernel_", 1)
        self._graph = directory / f"{stem}.AFTER_POST_GRAD.{number}.py"
        graph = self._graph.read_text(encoding="utf-8") if self._graph.exists() else ""
        self._post, self._graphs = places_of_names(graph), graphs_inside(graph)
        captured = sorted(directory.glob(f"{stem}.Captured_Graph.*.py"))
        self._captured = [places_of_names(path.read_text(encoding="utf-8")) for path in captured]
        other = directory / "other"
        self._stacks = _read(other / f"{stem}.inductor_provenance_tracking_kernel_stack_traces.{number}.json")
        mapping = _read(other / f"{stem}.inductor_provenance_tracking_node_mappings.{number}.json")
        self._nodes: Mapping[str, list[str]] = mapping.get("cppCodeToPost", {})
        self.calls = dict(self._all_calls())
        taken = [match[1] for row in self.rows if (match := _TAKEN.match(row))]
        # A backward takes what the forward has kept, by the names of the forward's nodes: `relu`, `view`.
        self._inputs = {name.strip() for names in taken for name in names.split(",")}

    def _all_calls(self) -> Iterator[tuple[int, tuple[str, Places]]]:
        """Yield the lines of each call that Inductor has a word for, with the kernel and the places."""
        for index, row in enumerate(self.rows):
            handle = _HANDLE.search(row)
            if not handle:
                continue
            record = self._stacks.get(f"{handle[1]}:{handle[2]}", [])
            stacks: list[str] = record.get("stack_traces", []) if isinstance(record, dict) else record
            places = {_innermost(stack) for stack in stacks if _FRAME.search(stack)}
            places |= {place for name in self._named(index) for place in name}
            inside = self._graphs & set(self._nodes.get(f"{handle[1]}:{handle[2]}", ()))
            places |= {place for name in inside for place in self._post[name]}
            begin = next(number for number in range(index + 1, len(self.rows)) if "(" in self.rows[number])
            end, depth = begin, 0
            while True:
                depth += self.rows[end].count("(") - self.rows[end].count(")")
                if depth <= 0:
                    break
                end += 1
            for number in range(begin, end + 1):
                yield number + 1, (handle[1], frozenset(places))

    def _named(self, index: int) -> Iterator[Places]:
        """Yield the places of the nodes that the comment above a handle names: of the graph that was captured."""
        named = _NAMED.search(self.rows[index - 1])
        for name in named[1].split(", ") if named else ():
            for graph in self._captured:
                yield graph.get(name, NOWHERE)

    def _kernel_at(self, number: int) -> str:
        """Return the kernel in whose text a line is, empty if none."""
        for index in range(number - 1, -1, -1):
            defines = _DEFINES.match(self.rows[index])
            if defines:
                return defines[1]
            if index < number - 1 and self.rows[index].startswith(("'''", "def ", "class ")):
                return ""
        return ""

    def computed(self, numbers: set[int]) -> dict[int, list[str]]:
        """Return what the statements of the kernels around some lines compute, by running them."""
        kernels = {self._kernel_at(number) for number in numbers if _STATEMENT.match(self.rows[number - 1])} - {""}
        if not kernels or not self._graph.exists():
            return {}
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out.json"
            command = [sys.executable, "-m", "benchmarks.linked.values", str(self._directory / self._file)]
            kernels_with_nodes = [f"{kernel}={','.join(self._nodes_of(kernel))}" for kernel in sorted(kernels)]
            done = subprocess.run(
                [*command, str(self._graph), str(out), *kernels_with_nodes], check=False, capture_output=True, text=True
            )
            if not out.exists():
                print(f"  {self._directory.name}/{self._file}: {done.stderr[-300:]}", file=sys.stderr, flush=True)
            return {int(line): names for line, names in _read(out).items()}

    def allowed(self, number: int, values: Mapping[int, list[str]]) -> tuple[Places | None, str]:
        """Return the places that a line may be linked to, None where that cannot be said, and what kind it is."""
        row = self.rows[number - 1]
        if number in self.calls:
            return self.calls[number][1], "call"
        kernel = self._kernel_at(number)
        if kernel:
            whole = self._of_kernel(kernel)
            if _STATEMENT.match(row) and self._nodes:
                return self._of_statement(number, kernel, values, whole), "statement"
            return whole, "kernel"
        words = _NAME.findall(row)
        names = [word for word in words if word in self._inputs or (_BUFFERS.search(word) and word not in _WORDS)]
        inside = any("def call(" in line or "def partition_" in line for line in self.rows[:number])
        if inside and names and "def " not in row:
            return self._of_names(set(names)), "buffer"
        return NOWHERE, "around"

    def _nodes_of(self, kernel: str) -> list[str]:
        """Return the nodes that a kernel computes, in all of its calls, as Inductor says."""
        names_of_nodes = (names for handle, names in self._nodes.items() if handle.rpartition(":")[0] == kernel)
        return sorted({name for names in names_of_nodes for name in names})

    def _of_kernel(self, kernel: str) -> Places:
        return NOWHERE.union(*(places for name, places in self.calls.values() if name == kernel))

    def _of_names(self, names: set[str]) -> Places:
        """Return the places of the calls that name some buffers, or what is another name of one of them."""
        grown = True
        while grown:
            grown = False
            for row in self.rows:
                renamed = re.match(r"^\s+(\w+) = (?:reinterpret_tensor\()?(\w+)\b(?!\()", row)
                if renamed and (renamed[1] in names) != (renamed[2] in names) and "args" not in renamed[2]:
                    names |= {renamed[1], renamed[2]}
                    grown = True
        return NOWHERE.union(
            *(places for line, (_, places) in self.calls.items() if names & set(_NAME.findall(self.rows[line - 1])))
        )

    def _of_statement(
        self, number: int, kernel: str, values: Mapping[int, list[str]], whole: Places
    ) -> Places | None:
        """Return the places of what a statement computes, or of the next statements that it serves."""
        end = next(index for index in range(number, len(self.rows)) if self.rows[index].startswith("'''"))

        def nodes(line: int) -> set[str]:
            return set(values.get(line, ()))

        computed_nodes: set[str] = nodes(number)
        unknown = number not in values
        pending, seen = [number], {number}
        while pending:
            line = pending.pop()
            if line != number and nodes(line):
                computed_nodes |= nodes(line)
                continue
            unknown = unknown or line not in values
            for use in self._uses(line, end):
                if use not in seen:
                    seen.add(use)
                    pending.append(use)
        places = NOWHERE.union(*(self._post.get(name, NOWHERE) for name in computed_nodes))
        return whole if unknown else places

    def _uses(self, line: int, end: int) -> Iterator[int]:
        """Yield the lines that use what a line sets, up to where it is set anew."""
        row = self.rows[line - 1]
        sets = _SETS.match(row) or _STORES.match(row)
        if not sets:
            return
        for number in range(line + 1, end + 1):
            other = self.rows[number - 1]
            if _CHECK.match(other):
                continue
            if re.search(rf"\b{sets[1]}\b", other.partition(" = ")[2] or other):
                yield number
            if re.match(rf"^\s*auto {sets[1]} = ", other):
                return


def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return content


def _innermost(stack: str) -> tuple[str, int]:
    file, line = _FRAME.findall(stack)[-1]
    return file, int(line)
