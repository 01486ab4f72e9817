"""Kernels with one operation changed: whether the line that was changed is found, and the node that it stood for.

    python -m benchmarks.kernel_mutations DUMP...    # dumps of Inductor, of Triton or of C++

Each mutation is one of the text of a kernel: another operator or function in one line that is linked to a node. The
line is found where the first line that is there for no node is the changed one; the node, where the line computed it.
"""

from __future__ import annotations

import dataclasses
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bar import Bar, report
from depyf.report.documents import KernelSource, kernel_sources
from depyf.report.index_reader import read_run
from depyf.report.kernels.graph import Graph, read_graph
from depyf.report.kernels.lines import Launched
from depyf.report.kernels.suspects import suspect

SEED, COUNT, ENOUGH = 20, 60, 57

CHANGES = [
    (r"(?<=[\w)]) \+ (?=tmp)", " - "),
    (r"(?<=[\w)]) - (?=tmp)", " + "),
    (r"(?<=[\w)]) \* (?=tmp)", " + "),
    (r"(?<=[\w)]) / (?=tmp)", " * "),
    (r"\.exp\(", ".exp2("),
    (r"\.(erf|rsqrt|log|tanh)\(", ".sin("),
    (r"\bmax2\(", "min2("),
    (r"\btl\.sum\(", "triton_helpers.max2("),
    (r"::maximum\(", "::minimum("),
    (r"triton_helpers\.maximum\(", "triton_helpers.minimum("),
    (r" > (?=tmp)", " < "),
    (r" == (?=tmp)", " != "),
]


def sites(source: KernelSource) -> Iterator[tuple[str, int, str, Launched]]:
    """Yield each change: the kernel, the line of its text, the changed row, and the launch before it."""
    for found in source.launched():
        rows = found.kernel.text.splitlines()
        for line in found.lines:
            row = rows[line.statement.line - 1]
            for old, new in CHANGES if line.computes and line.statement.place is None else ():
                changed = re.sub(old, new, row, count=1)
                if changed != row and "_tmp" not in row and "tmp_acc" not in row:
                    yield found.kernel.name, line.statement.line, changed, found


def located(source: KernelSource, graph: Graph, site: tuple[str, int, str, Launched]) -> tuple[bool, bool, str]:
    """Return whether the changed line is found, whether its node is, and what was found instead."""
    name, number, changed, before = site
    rows = before.kernel.text.splitlines()
    rows[number - 1] = changed
    text = source.text.replace(before.kernel.text, "\n".join(rows))
    after = dataclasses.replace(source, text=text)
    found = next(each for each in after.launched() if each.kernel.name == name)
    got = suspect(found, graph)
    nodes = next(each.computes for each in before.lines if each.statement.line == number)
    told = f"{name}: {changed.strip()}: found {rows[got.line.statement.line - 1].strip() if got else 'nothing'}"
    if got is None:
        return False, False, told
    return got.line.statement.line == number, got.node in nodes, f"{told} for {got.node}, was {nodes}"


def main() -> None:
    """Print the bars."""
    found: dict[str, list[tuple[KernelSource, tuple[str, int, str, Launched]]]] = {"triton": [], "cpp": []}
    for argument in sys.argv[1:]:
        run = read_run(Path(argument))
        for _, compiled in run.session.compiles():
            for source in kernel_sources(run, compiled):
                for site in sites(source):
                    found[site[3].kernel.language].append((source, site))
    bars = []
    for language, all_sites in found.items():
        chosen = random.Random(SEED).sample(all_sites, min(COUNT, len(all_sites)))
        results = [
            located(source, read_graph(source.graph.text if source.graph is not None else ""), site)
            for source, site in chosen
        ]
        wrong = [told for line, node, told in results if not (line and node)]
        lines, nodes = sum(line for line, _, _ in results), sum(node for _, node, _ in results)
        number = f"{lines} and {nodes} of {len(chosen)} (from {len(all_sites)} places)"
        is_met = min(lines, nodes) >= ENOUGH
        bars.append(Bar(f"changed {language} kernels: the line found, the node found", number, is_met, wrong))
    report(bars)


if __name__ == "__main__":
    main()
