"""Debuggers in ten Triton kernels, without a GPU: pdb and debugpy stop at the right block, with the right values.

    python -m benchmarks.kernel_stepping           # needs triton and debugpy

`depyf kernel DUMP NAME --pdb` runs each kernel alone. Both debuggers stop at a line that writes what a node gives, in
the first two programs of the grid, and show the program, the places that it writes to, and the values. Those are
compared with what the node gives eagerly at these places.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from click.testing import CliRunner
from torch import Tensor

from benchmarks import debugged
from benchmarks.bar import Bar, report
from benchmarks.debugged import Debugged, free_port, under_debugpy
from benchmarks.kernels import MODELS, run_model
from depyf.cli.commands import depyf
from depyf.links.documents import kernel_sources
from depyf.links.inductor.line import Launched
from depyf.model.index_reader import read_run

COUNT, PROGRAMS, TOLERANCE, SECONDS = 10, 2, 1e-3, 1800
MARK = "what is seen:"


@dataclass(frozen=True)
class Stop:
    """A line to stop at: where a kernel writes what a node gives."""

    directory: Path
    kernel: str
    row: str
    pointer: str

    @property
    def expression(self) -> str:
        """What is looked at: the program, the places, the values, and which of them count."""
        call: Any = ast.parse(self.row).body[0]
        place, value, mask = (
            ast.unparse(argument) for argument in [*call.value.args[:3], ast.Constant(value=None)][:3]
        )
        offset = place.removeprefix(f"{self.pointer} + ")
        parts = [f"tl.program_id(0), {offset}, {value}, {mask}"]
        seen = f"[getattr(getattr(each, 'handle', None), 'data', each) for each in ({parts[0]})]"
        return f"__import__('json').dumps([getattr(each, 'tolist', lambda: None)() for each in {seen}])"


def stops() -> Iterator[Stop]:
    """Yield a line of each kernel of some models."""
    folder = Path(tempfile.mkdtemp())
    for model, function in MODELS.items():
        run_model(function, folder / model)
        run = read_run(folder / model)
        for _, compiled in run.session.compiles():
            for source in kernel_sources(run, compiled):
                yield from (stop for launch in source.launched() if (stop := _stop(launch, folder / model)) is not None)


def _stop(launch: Launched, directory: Path) -> Stop | None:
    rows = launch.kernel.text.splitlines()
    if not all(launch.before.values()):
        return None
    for line in launch.lines:
        pointer = "".join(line.pointers[:1])
        if line.is_store and launch.after.get(pointer):
            return Stop(directory, launch.kernel.name, rows[line.statement.line - 1].strip(), pointer)
    return None


def right_values(path: Path, pointer: str) -> Tensor:
    """Return what the memory of a pointer holds after the kernel, from the nodes run eagerly."""
    scope = runpy.run_path(str(path))
    torch.manual_seed(0)
    given = scope["inputs"]()
    right = scope["eager"](given)[pointer]
    memory = torch.zeros_like(given[pointer])
    memory.copy_(right.reshape(memory.shape))
    return memory.as_strided((memory.untyped_storage().size() // memory.element_size(),), (1,), 0)


def is_right(seen: list[str], path: Path, stop: Stop) -> bool:
    """Return whether a debugger has shown the programs in their order, each with its values at its places."""
    right = right_values(path, stop.pointer)
    for program, text in enumerate(seen):
        identity, offset, value, mask = json.loads(text)
        values = torch.tensor(value, dtype=torch.float64)
        places, kept = torch.broadcast_tensors(
            torch.tensor(offset), torch.tensor(mask if mask is not None else True), values
        )[:2]
        wanted = right[places[kept]].double()
        stored = values.broadcast_to(kept.shape)[kept]
        is_first = torch.tensor(identity).flatten().tolist() == [program]
        if not is_first or not kept.any() or not torch.allclose(stored, wanted, TOLERANCE, TOLERANCE):
            return False
    return bool(seen)


def by_pdb(stop: Stop, path: Path) -> list[str]:
    """Return what pdb shows at each stop."""
    written = ["kernel", str(stop.directory), stop.kernel, "-o", str(path)]
    CliRunner().invoke(depyf, written, catch_exceptions=False)
    look = f"p print('{MARK}', {stop.expression})"
    script = ["clear 1", f"break {path}:{line_of(path, stop)}", *["continue", look] * PROGRAMS, "quit", "y", ""]
    command = [sys.executable, "-m", "depyf", *written, "--pdb"]
    ran = subprocess.run(command, input="\n".join(script), capture_output=True, text=True)
    return re.findall(rf"{MARK} (.*)", ran.stdout)


def by_debugpy(stop: Stop, path: Path, count: int) -> list[str]:
    """Return what an editor shows at each stop, in as many programs."""
    port = free_port()
    program = Debugged(*under_debugpy(port), str(path), port=port)
    try:
        program.set_breakpoints([(path, line_of(path, stop))])
        seen = []
        for _ in range(count):
            thread, frame = program.stopped()
            answer = program.client.ask("evaluate", expression=stop.expression, frameId=frame["id"], context="watch")
            seen.append(str(ast.literal_eval(answer["result"])))
            program.client.ask("continue", threadId=thread)
        return seen
    finally:
        program.end()


def line_of(path: Path, stop: Stop) -> int:
    """Return the line of the kernel's own file that a row of its text became."""
    rows = path.read_text(encoding="utf-8").splitlines()
    return next(number for number, row in enumerate(rows, start=1) if row.strip().startswith(stop.row))


def main() -> None:
    """Print the bars."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT)
    count = parser.parse_args().count
    wrong: dict[str, list[str]] = {"pdb": [], "debugpy": []}
    done = blocks = 0
    # On a machine with much to do a debugger may be slow.
    debugged.SECONDS = SECONDS
    with tempfile.TemporaryDirectory() as folder:
        for stop in stops():
            path = Path(folder) / f"{done}_{stop.kernel}.py"
            seen = by_pdb(stop, path)
            for name in wrong:
                seen = seen if name == "pdb" else by_debugpy(stop, path, len(seen))
                right = is_right(seen, path, stop)
                wrong[name] += [] if right else [f"{stop}: {seen}"]
                what = f"{name} {'stops' if right else 'DOES NOT STOP'} right in {len(seen)} blocks"
                print(f"  {done + 1}: {stop.kernel}: {what}", file=sys.stderr, flush=True)
            done, blocks = done + 1, blocks + len(seen)
            if done == count:
                break
    report(
        [
            Bar(
                f"kernels in which {name} stops at the right block with the right values",
                f"{done - len(problems)} of {done}",
                not problems and done >= COUNT,
                problems,
                f"{blocks} blocks",
            )
            for name, problems in wrong.items()
        ]
    )


if __name__ == "__main__":
    main()
