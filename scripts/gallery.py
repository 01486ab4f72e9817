"""Builds the gallery: each program of examples/gallery is run under `depyf run`, and a page leads to their reports.

    python -m scripts.gallery [--out gallery] [--backend inductor] [NAME...]

Without a name: all of them. It ends with 1 if a program fails or leaves no report.
"""

from __future__ import annotations

import argparse
import ast
import html
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from depyf.model.index_reader import read_run
from depyf.views.html.process import Process

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "examples" / "gallery"

NAMES = {
    "toy": "Toy",
    "resnet": "ResNet",
    "vit": "ViT",
    "bert": "BERT",
    "gpt2": "GPT-2",
    "t5": "T5",
    "llama": "Llama",
    "mixture": "Mixture of experts",
    "training": "Training step",
    "everything_wrong": "Breaks and recompiles",
}
"""Of each program the name that a reader knows it by, in the order of the page."""

LIMIT = 600
"""Seconds that a program may take."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A program that was run: what it is, the folder of its dump, what was counted, and the seconds of the run."""

    name: str
    about: str
    folder: str
    counts: tuple[str, ...]
    seconds: float


def run(name: str, out: Path, backend: str) -> Exhibit:
    """Run a program under `depyf run`, which builds its report.

    Raises:
        RuntimeError: the program failed, or left no report.
    """
    folder = out / name
    command = [sys.executable, "-m", "depyf", "run", "-o", str(folder), f"examples/gallery/{name}.py", backend]
    # What Inductor takes from its cache comes without the passes that made it, and all of them are to be seen.
    fresh = {"TORCHINDUCTOR_FX_GRAPH_CACHE": "0", "TORCHINDUCTOR_AUTOGRAD_CACHE": "0", "HF_HUB_OFFLINE": "1"}
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    began = time.monotonic()
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **fresh, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    if done.returncode != 0 or not (folder / "report" / "index.html").is_file():
        raise RuntimeError(f"{name} failed:\n{done.stdout}{done.stderr}")
    return Exhibit(name, about(name), name, counts(folder), time.monotonic() - began)


def about(name: str) -> str:
    """Return the first line of a program's docstring."""
    docstring = ast.get_docstring(ast.parse((PROGRAMS / f"{name}.py").read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0]


def counts(folder: Path) -> tuple[str, ...]:
    """Return what a dump counts, as the report's first line does."""
    run_told = read_run(folder)
    addresses = {root.key: root.name for root in run_told.session.roots()}
    numbers = Process("p0", "program", run_told, addresses).counts
    return tuple(f"{count.number} {count.what}" for count in numbers if count.number != "0")


def page(exhibits: Iterable[Exhibit]) -> str:
    """Return the page that leads to the reports."""
    rows = "\n".join(_row(exhibit) for exhibit in exhibits)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>depyf: gallery</title>
<link rel="icon" href="data:,">
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }}
li {{ margin: 1em 0; }}
a {{ font-weight: 600; }}
small {{ opacity: .7; display: block; }}
</style>
</head>
<body>
<h1>Ten programs to learn from</h1>
<p>Random weights, few and small layers. Each leads to its report; its source is <code>examples/gallery</code>.</p>
<ol>
{rows}
</ol>
</body>
</html>
"""


def _row(exhibit: Exhibit) -> str:
    name, about_it, counts_in_words = (
        NAMES[exhibit.name],
        html.escape(exhibit.about),
        html.escape(", ".join(exhibit.counts)),
    )
    return (
        f'<li><a href="{exhibit.folder}/report/index.html">{name}</a>: {about_it}<small>{counts_in_words}</small></li>'
    )


def main() -> None:
    """Run the programs and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "gallery")
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in NAMES]
    if unknown:
        parser.error(f"there is no program {', '.join(unknown)}; there are {', '.join(NAMES)}")
    out = arguments.out.resolve()
    exhibits = []
    for name in arguments.names or NAMES:
        try:
            exhibit = run(name, out, arguments.backend)
        except RuntimeError as error:
            sys.exit(str(error))
        exhibits.append(exhibit)
        print(f"{name}: {', '.join(exhibit.counts)}; {exhibit.seconds:.0f} s", flush=True)
    (out / "index.html").write_text(page(exhibits), encoding="utf-8")
    print(f"{len(exhibits)} reports: {os.path.relpath(out / 'index.html')}")


if __name__ == "__main__":
    main()
