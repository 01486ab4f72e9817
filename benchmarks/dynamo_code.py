"""Every code object that Dynamo makes of our programs: is it replaced by proven source, and are the results the same?

Each program runs twice, in modules that are loaded anew: without depyf, and inside `prepare_debug`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import logging
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch.utils import _pytree

import depyf
from benchmarks.bar import Bar, none_of, report
from benchmarks.dump import lines_of_body
from benchmarks.remains import dead_lists, used_at_once
from corpus.dynamo_programs.program import Program
from depyf.model.run import Compile, Transformed

MODULES = ("breaks", "functions", "effects", "ambience")
BACKENDS = ("eager", "aot_eager")
PROGRAMS_AT_LEAST = 60
TOY_LINES = 6
SHARE = 5
"""Statements of a dump may be at most one for so many instructions of Dynamo's."""


def load(module: str) -> list[Program]:
    """Return the programs of a module that is executed anew: nothing of an earlier run is left in its globals."""
    name = f"corpus.dynamo_programs.{module}"
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.loader is not None
    executed = importlib.util.module_from_spec(spec)
    sys.modules[name] = executed
    spec.loader.exec_module(executed)
    programs: list[Program] = executed.program.all
    return programs


@dataclass
class Run:
    """What a program did, bit for bit, and the compiles that Dynamo made of it."""

    results: list[object]
    compiles: list[Compile] = field(default_factory=list)


def bits(value: object) -> list[object]:
    """Return `value` as a flat list that can be compared: the structure, and of tensors everything that can be seen."""
    leaves, structure = _pytree.tree_flatten(value)
    return [str(structure), *(_bits_of_one(leaf) for leaf in leaves)]


def _bits_of_one(leaf: object) -> object:
    if isinstance(leaf, torch.Tensor):
        raw = leaf.detach().contiguous().flatten().view(torch.uint8).tolist() if leaf.numel() else []
        return (str(leaf.dtype), tuple(leaf.shape), leaf.stride(), leaf.requires_grad, raw)
    return repr(leaf)


def nothing() -> None:
    """Prepare nothing."""


def run(program: Program, backend: str, prepare: Callable[[], None] = nothing) -> list[object]:
    """Compile a program, call it as it asks, and return everything that can be seen of it.

    prepare: is called once torch has forgotten what was before.
    """
    torch._dynamo.reset()
    prepare()
    compiled = torch.compile(program.function, backend=backend)
    results: list[object] = []
    for arguments in program.calls():
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                value = bits(compiled(*arguments))
            except Exception as error:  # noqa: BLE001 - an exception is a result like others
                value = [type(error).__name__, str(error)]
        results += [value, bits(list(arguments)), bits(program.effects()), printed.getvalue()]
        torch.set_grad_enabled(True)
    return results


@dataclass(frozen=True)
class Compared:
    """A program with a backend: its compiles under depyf, whether its results were the same, and depyf's errors."""

    name: str
    backend: str
    compiles: list[Compile]
    same: bool
    problems: list[str]
    directory: Path


def compared(module: str, backend: str, directory: Path, wanted: Sequence[str]) -> Iterator[Compared]:
    """Run every program of a module without depyf and with it."""
    without = load(module)
    expected = {program.name: run(program, backend) for program in without if not wanted or program.name in wanted}
    for program in load(module):
        if program.name not in expected:
            continue
        target = directory / f"{program.name}_{backend}"
        torch._dynamo.reset()
        with depyf.prepare_debug(target, log_bytecode=True) as session:
            results = run(program, backend)
        compiles = [compiled for _, compiled in session.compiles() if isinstance(compiled.transformed, Transformed)]
        problems = [f"{problem.where}: {problem.message}" for problem in session.problems]
        yield Compared(program.name, backend, compiles, results == expected[program.name], problems, target)


def statements(compiled: Compile) -> int:
    """Return the number of statements in the body of the source of a compile."""
    import ast

    assert isinstance(compiled.transformed, Transformed)
    tree = ast.parse(compiled.transformed.source)
    return sum(isinstance(node, ast.stmt) for node in ast.walk(tree)) - 1


@dataclass
class Total:
    """What all programs together gave."""

    programs: set[str] = field(default_factory=set)
    compiles: int = 0
    instructions: int = 0
    statements: int = 0
    unproven: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    toy_lines: int = 0
    lists: list[str] = field(default_factory=list)
    at_once: list[str] = field(default_factory=list)

    def add(self, comparison: Compared) -> None:
        """Count a program in."""
        self.programs.add(comparison.name)
        if not comparison.same:
            self.different.append(f"{comparison.name} with {comparison.backend}")
        self.problems += [f"{comparison.name} with {comparison.backend}: {problem}" for problem in comparison.problems]
        for compiled in comparison.compiles:
            self.compiles += 1
            transformed, what = (
                compiled.transformed,
                f"{comparison.name} with {comparison.backend}, {compiled.name} {compiled.id}",
            )
            assert isinstance(transformed, Transformed)
            what = f"{what}: {transformed.level.name}: {transformed.reason}"
            if not transformed.is_runnable:
                (self.unproven if transformed.level.name == "UNPROVEN" else self.kept).append(what)
            if transformed.source:
                self.instructions += transformed.instructions
                self.statements += statements(compiled)
                self.lists += [f"{what}: {name}" for name in dead_lists(transformed.source)]
                self.at_once += [f"{what}: {name}" for name in used_at_once(transformed.source)]
            if comparison.name == compiled.name == "toy" and transformed.source:
                text = (comparison.directory / transformed.file).read_text(encoding="utf-8")
                self.toy_lines = max(self.toy_lines, lines_of_body(text, "toy"))

    def bars(self) -> list[Bar]:
        """Return the bars of all programs."""
        share = self.instructions / max(self.statements, 1)
        code_objects = f"{self.compiles} code objects"
        return [
            Bar("programs", str(len(self.programs)), len(self.programs) >= PROGRAMS_AT_LEAST),
            none_of("programs with other results", self.different, f"{len(self.programs)} programs"),
            none_of("code objects whose source is not proven", self.unproven, code_objects),
            none_of("code objects proven but not replaced", self.kept, code_objects),
            none_of("errors inside depyf", self.problems, f"{len(self.programs)} programs"),
            Bar(
                "Dynamo's instructions for each statement",
                f"{share:.1f}",
                share >= SHARE,
                note=f"{self.instructions} for {self.statements}",
            ),
            none_of("lists that are only taken apart", self.lists, code_objects),
            none_of("names that the next statement uses, and nobody else", self.at_once, code_objects),
            Bar("lines of the toy example", str(self.toy_lines), 0 < self.toy_lines <= TOY_LINES),
        ]


def measure(backends: Sequence[str], wanted: Sequence[str], directory: Path) -> list[Bar]:
    """Run the programs with each backend."""
    total = Total()
    for backend in backends:
        for module in MODULES:
            for comparison in compared(module, backend, directory, wanted):
                total.add(comparison)
    print(f"torch {torch.__version__}, Python {sys.version.split()[0]}")
    return total.bars()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", help="only these")
    parser.add_argument("--backend", action="append", help="only with this one; may be given again")
    parser.add_argument("--keep", type=Path, help="write the dumps here")
    parser.add_argument("--nested", action="store_true", help="let graphs go on behind breaks in inlined calls")
    options = parser.parse_args()
    logging.getLogger("torch").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.keep or Path(temporary)
        if options.nested:
            torch._dynamo.config.nested_graph_breaks = True
        report(measure(options.backend or BACKENDS, options.programs, directory))


if __name__ == "__main__":
    main()
