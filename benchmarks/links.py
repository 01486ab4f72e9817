"""Lines drawn at random from graphs and kernels: is each linked to the right lines of the user's?

    python -m benchmarks.links                       # runs the programs with Inductor first: half an hour
    python -m benchmarks.links --dumps FOLDER        # of dumps that were made before; without them: makes them there
    python -m benchmarks.links --lines 1000 --seed 1

The programs are those of the gallery and of `corpus.linked`. The judge shares no code with depyf, and is
`benchmarks.linked`:

- A line of a graph may be linked to what the comments of torch above the graph's nodes say, by a reading of its own.
- A call in Inductor's module has to be linked to the lines that Inductor's stacks and its comments name for it, and a
  buffer to those of the calls that name it.
- A statement of a C++ kernel is judged by the values that it gives while the module runs: they are those of a node,
  which has a place; or it serves the next statements of which that is so.

A link to a line that is not allowed is false. A line that has no link, where one is allowed, is missing.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bar import Bar, none_of, report
from benchmarks.linked.graph_text import Places, places_of_lines
from benchmarks.linked.judge import Module
from corpus.linked import PROGRAMS
from depyf.links.documents import Document, documents
from depyf.model.index_reader import Run, read_run

ROOT = Path(__file__).resolve().parents[1]
GALLERY = sorted(path.stem for path in (ROOT / "examples" / "gallery").glob("*.py"))
LIMIT = 900
OF_GRAPHS = 0.4
"""The part of the lines that is drawn from graphs; the others are of Inductor's modules."""


@dataclass(frozen=True)
class Drawn:
    """A line that was drawn, of a text of a run."""

    run: Run
    document: Document
    number: int

    @property
    def row(self) -> str:
        """The line."""
        return self.document.text.splitlines()[self.number - 1]

    @property
    def linked(self) -> Places:
        """The places that depyf links it to, by the paths that torch knows them by."""
        paths = {name: path for path, name in self.run.names.items()}
        return frozenset((paths.get(file, file), line) for file, line in self.document.links.of(self.number))


def collect(folder: Path, only: list[str]) -> list[Path]:
    """Run the programs that have no dump in a folder; return the dumps."""
    environment = {
        **os.environ,
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
        "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"),
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    }
    commands = {name: [f"examples/gallery/{name}.py", "inductor"] for name in GALLERY}
    commands |= {name: ["corpus/linked.py", name, "inductor"] for name in PROGRAMS}
    commands = {name: program for name, program in commands.items() if not only or name in only}
    for name, program in commands.items():
        if not (folder / name / "index.json").exists():
            command = [sys.executable, "-m", "depyf", "run", "--no-html", "-o", str(folder / name), *program]
            subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, timeout=LIMIT)
            print(f"  ran {name}", file=sys.stderr, flush=True)
    return [folder / name for name in commands]


def texts(directory: Path) -> Iterator[tuple[Run, Document]]:
    """Yield the graphs and Inductor's modules of a dump."""
    run = read_run(directory)
    for function, compiled in run.session.compiles():
        for text in documents(run, function, compiled):
            if text.file.endswith(".py") and ("_Graph." in text.file or "_GRAD." in text.file or text.is_kernels):
                yield run, text


def drawn(directories: list[Path], count: int, seed: int) -> list[Drawn]:
    """Return lines drawn at random: each program has the same chance, then each text, then each line with code."""
    source = random.Random(seed)
    of_graphs: dict[Path, list[tuple[Run, Document]]] = {}
    of_modules: dict[Path, list[tuple[Run, Document]]] = {}
    for folder in directories:
        for run, text in texts(folder):
            (of_modules if text.is_kernels else of_graphs).setdefault(folder, []).append((run, text))
    taken: set[tuple[str, int]] = set()
    lines: list[Drawn] = []
    while len(lines) < count:
        kind = of_graphs if len(lines) < count * OF_GRAPHS else of_modules
        directory = source.choice(list(kind))
        run, text = source.choice(kind[directory])
        numbers = [number for number, row in enumerate(text.text.splitlines(), start=1) if says_something(row)]
        number = source.choice(numbers)
        if (f"{directory}/{text.file}", number) not in taken:
            taken.add((f"{directory}/{text.file}", number))
            lines.append(Drawn(run, text, number))
    return lines


def says_something(row: str) -> bool:
    """Return whether a line is more than brackets, a comment or an import."""
    bare = row.strip(" (){}[];,\"'")
    return len(bare) > 3 and not bare.startswith(("#", "import ", "from ", "class ", "def ", "//"))


def allowed_of(lines: list[Drawn]) -> Iterator[tuple[Drawn, Places | None, str]]:
    """Yield for each line the places that it may be linked to, None where the judge cannot tell, and its kind."""
    by_text: dict[tuple[Path, str], list[Drawn]] = {}
    for line in lines:
        by_text.setdefault((line.run.directory, line.document.file), []).append(line)
    for (directory, file), lines_of_text in by_text.items():
        if lines_of_text[0].document.is_kernels:
            module = Module(directory, file)
            values = module.computed({line.number for line in lines_of_text})
            for line in lines_of_text:
                yield line, *module.allowed(line.number, values)
        else:
            places = places_of_lines((directory / file).read_text(encoding="utf-8"))
            for line in lines_of_text:
                yield line, places.get(line.number, frozenset()), "graph"


def main() -> None:
    """Print the bars."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dumps", type=Path)
    parser.add_argument("--lines", type=int, default=300)
    parser.add_argument("--only", nargs="*", default=[], help="names of programs")
    parser.add_argument("--seed", type=int, default=17)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.dumps or Path(temporary)).resolve()
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder / "cache")
        false, missing, unjudged = list[str](), list[str](), list[str]()
        causes, right = Counter[str](), 0
        for line, allowed, kind in allowed_of(drawn(collect(folder, options.only), options.lines, options.seed)):
            place = f"{line.run.directory.name}/{line.document.file}:{line.number} {line.row.strip()[:90]}"
            if allowed is None:
                unjudged.append(f"{kind}: {place}")
            elif not line.linked <= allowed:
                false.append(f"{kind}: {place}: {_short(line.linked - allowed)}, allowed {_short(allowed)}")
            elif allowed and not line.linked:
                missing.append(f"{kind}: {place}: {_short(allowed)}")
                causes[kind] += 1
            else:
                right += 1
    report(
        [
            none_of("lines with a false link", false, str(options.lines)),
            Bar("lines with the right links", f"{right} of {options.lines}", right > 0),
            Bar("lines with a missing link", f"{len(missing)} of {options.lines}", True, missing, str(dict(causes))),
            Bar("lines that are not judged", f"{len(unjudged)} of {options.lines}", True, unjudged),
        ]
    )


def _short(places: Places) -> str:
    return ", ".join(f"{Path(file).name}:{line}" for file, line in sorted(places))


if __name__ == "__main__":
    main()
