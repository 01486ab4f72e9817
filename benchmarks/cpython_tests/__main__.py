"""Run CPython's own tests against decompiled modules: `python -m benchmarks.cpython_tests PYTHON [subject ...]`.

Every module of every subject is replaced at once, so that they also work with each other; the control is the same run
over copies of the originals, laid in the same way. Printed is a table; a test is lost when it passes with the
originals and not with ours, twice. Exit code 1 when any is.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.cpython_tests import overlay
from benchmarks.cpython_tests.runs import Pair, pair
from benchmarks.cpython_tests.subjects import SUBJECTS, Subject

SHOWN = 5
"""How many lost tests of a module are named without `--details`."""


def main(arguments: list[str]) -> int:
    """Lay both overlays, run the tests, print the table."""
    parser = argparse.ArgumentParser(prog="cpython_tests", description=__doc__.splitlines()[0])
    parser.add_argument("python", help="the interpreter whose library and tests they are")
    parser.add_argument("subjects", nargs="*", help="only these")
    parser.add_argument("--keep", type=Path, help="leave the overlays in this folder")
    parser.add_argument("--limit", type=float, default=900, help="seconds a test module may take")
    parser.add_argument("--details", action="store_true", help="print the traceback of each lost test")
    options = parser.parse_args(arguments)
    chosen = [subject for subject in SUBJECTS if not options.subjects or subject.name in options.subjects]
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        library = overlay.stdlib(options.python)
        files = [file for subject in chosen for file in overlay.sources(library, subject.name)]
        overlay.copy_originals(library, files, folder / "originals")
        failures = overlay.lay_decompiled(options.python, library, files, folder / "ours")
        for file, reason in failures.items():
            print(f"{file}: {reason}")
        print("| subject | passed with the originals | also with ours | modules from ours |\n|---|---|---|---|")
        lost = sum([report(subject, folder, library, options) for subject in chosen])
    print(f"\n{len(files)} files replaced, {len(failures)} not decompiled; tests lost: {lost}")
    return 1 if lost or failures else 0


def report(subject: Subject, folder: Path, library: Path, options: argparse.Namespace) -> int:
    """Run the tests of a subject, print its row, and return how many were lost."""
    pairs = [
        pair(options.python, folder / "originals", folder / "ours", module, options.limit)
        for module in subject.tests
        if (library / "test" / f"{module}.py").exists() or (library / "test" / module).is_dir()
    ]
    passed = sum(len(pair_of_runs.control.passed) for pair_of_runs in pairs)
    kept = sum(len(pair_of_runs.control.passed & pair_of_runs.ours.passed) for pair_of_runs in pairs)
    replaced = max((pair_of_runs.ours.replaced for pair_of_runs in pairs), default=0)
    print(f"| {subject.name} | {passed} | {kept} | {replaced} |", flush=True)
    for pair_of_runs in pairs:
        details(pair_of_runs, options.details)
    return passed - kept


def details(pair_of_runs: Pair, wanted: bool) -> None:
    """Print what was lost, and runs that came to no end."""
    for run, name in ((pair_of_runs.control, "originals"), (pair_of_runs.ours, "ours")):
        if "" in run.details:
            print(f"    {pair_of_runs.module}, {name}: {run.details['']}")
    lost = list(pair_of_runs.lost.items())
    for test, why in lost if wanted else lost[:SHOWN]:
        print(f"    lost: {test}: {why.rstrip() if wanted else why.rstrip().rpartition(chr(10))[2][:200]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
