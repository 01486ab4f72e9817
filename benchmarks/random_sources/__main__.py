"""Decompile and prove random sources, under a Python of one's choice.

    python -m benchmarks.random_sources matches|pysource|hypothesmith [--python 3.13 ...] [--count 1000] [--seed 0]

`matches` makes nested functions of `match` by itself (`corpus/random_matches.py`). The others need the packages
`pysource-codegen` and `hypothesmith` in the Python that runs this; what they make for a newer grammar is only compiled
by a Python that knows it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator

import hypothesis

from benchmarks.interpreters import find
from benchmarks.packages.__main__ import judge, report
from corpus.random_matches import Matches

Sources = Iterator[tuple[int, str]]
"""Sources with their numbers."""


def matches(seed: int, count: int) -> Sources:
    """Yield functions of nested matches."""
    for number in range(seed, seed + count):
        yield number, Matches(number).function()


def pysource(seed: int, count: int) -> Sources:
    """Yield modules of pysource-codegen, but for the trees that `ast.unparse` of this Python has no text for."""
    generator = importlib.import_module("pysource_codegen")
    for number in range(seed, seed + count):
        try:
            yield number, generator.generate(number, node_limit=400, depth_limit=8)
        except ValueError as error:
            print(f"pysource-{number} has no text: {error}")


def hypothesmith(seed: int, count: int) -> Sources:
    """Yield modules of hypothesmith, by its grammar of concrete syntax trees."""
    hypothesmith_ = importlib.import_module("hypothesmith")
    sources: list[str] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count, deadline=None, database=None, phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(hypothesmith_.from_node())
    def take(source: str) -> None:
        sources.append(source)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        take()
    yield from enumerate(sources[:count], seed)


KINDS: dict[str, Callable[[int, int], Sources]] = {
    "matches": matches,
    "pysource": pysource,
    "hypothesmith": hypothesmith,
}


def main() -> int:
    """Measure the Pythons that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--python", action="append", default=[], help="such as 3.14; may be repeated")
    parser.add_argument("--count", type=int, default=1000, help="so many sources")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--save", help="a file to write the sources to, one a line as `- name JSON`")
    arguments = parser.parse_args()
    sources = KINDS[arguments.kind](arguments.seed, arguments.count)
    lines = [f"- {arguments.kind}-{number} {json.dumps(text)}" for number, text in sources]
    if arguments.save:
        with open(arguments.save, "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    came_back = True
    for version in arguments.python or ["3.11", "3.12", "3.13", "3.14"]:
        major, minor = version.split(".")
        python = find((int(major), int(minor)))
        if python is None:
            print(f"{version}: no such Python here")
            continue
        came_back &= report(f"{arguments.kind} {version}", judge(python, lines, arguments.jobs))
    return 0 if came_back else 1


if __name__ == "__main__":
    sys.exit(main())
