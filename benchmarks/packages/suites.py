"""Run the tests of real packages over their own modules and over what depyf makes of the modules' bytecode.

    python -m benchmarks.packages.suites FOLDER [--python 3.11 ...] [--only click]

The sources, with their tests, are downloaded into FOLDER with pip; each Python gets an environment there with what the
tests need. Every module of a package is replaced at once. A test is lost when it passes with the originals and not
with ours, twice. Prints a row for each package and Python; exits with 1 where a test is lost, or a module failed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.cpython_tests.overlay import lay_decompiled
from benchmarks.interpreters import find

LIMIT = 900.0
SHOWN = 5


@dataclass(frozen=True)
class Suite:
    """A package whose source release has its tests.

    pinned: name and version on PyPI. packages: what is replaced, beside `root`. needs: what its tests import.
    """

    pinned: str
    packages: tuple[str, ...]
    needs: tuple[str, ...] = ()
    root: str = "src"

    @property
    def name(self) -> str:
        """Return the name on PyPI."""
        return self.pinned.partition("==")[0]


SUITES = (
    Suite("attrs==26.1.0", ("attr", "attrs"), ("hypothesis", "cloudpickle")),
    Suite("click==8.5.1", ("click",)),
    Suite("jinja2==3.1.6", ("jinja2",), ("trio", "markupsafe")),
    Suite("packaging==26.3", ("packaging",), ("pretend", "tomli_w", "hypothesis")),
    Suite("more-itertools==11.2.1", ("more_itertools",), root="."),
)


def unpacked(suite: Suite, folder: Path) -> Path:
    """Return the folder of a package's source release; it is downloaded and unpacked if it is not there."""
    place = folder / "sources" / suite.pinned
    if not place.exists():
        with tempfile.TemporaryDirectory() as scratch:
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", f"--no-binary={suite.name}"]
            subprocess.run([*command, "-d", scratch, suite.pinned], check=True)
            (archive,) = Path(scratch).glob("*.tar.gz")
            with tarfile.open(archive) as archive_file:
                archive_file.extractall(scratch, filter="data")
            (inside,) = (path for path in Path(scratch).iterdir() if path.is_dir())
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(inside, place)
    return place


def environment(suite: Suite, python: str, version: str, folder: Path) -> Path:
    """Return the interpreter of an environment with the package and what its tests need."""
    place = folder / "environments" / f"{suite.name}-{version}"
    inside = place / "bin" / "python"
    if not inside.exists():
        subprocess.run([python, "-m", "venv", str(place)], check=True)
        command = [str(inside), "-m", "pip", "--disable-pip-version-check", "install", "-q"]
        subprocess.run([*command, suite.pinned, "pytest", *suite.needs], check=True)
    return inside


def laid(suite: Suite, source: Path, python: Path, folder: Path) -> tuple[int, dict[Path, str]]:
    """Lay the packages into `originals` and `ours`; return how many modules there are, and those that failed."""
    root = source / suite.root
    files = [path.relative_to(root) for name in suite.packages for path in sorted((root / name).rglob("*.py"))]
    for overlay in ("originals", "ours"):
        for name in suite.packages:
            shutil.copytree(root / name, folder / overlay / name)
    shutil.copytree(source / "tests", folder / "tests")
    for name in ("pyproject.toml", "conftest.py", "docs"):
        path = source / name
        if path.is_dir():
            shutil.copytree(path, folder / name)
        elif path.exists():
            shutil.copyfile(path, folder / name)
    return len(files), lay_decompiled(str(python), root, files, folder / "ours")


def passed(python: Path, folder: Path, overlay: str) -> set[str]:
    """Return the tests that pass with an overlay first on the path. Raises RuntimeError where none ran."""
    out = folder / f"{overlay}.xml"
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={out}", "tests"]
    variables = os.environ | {"PYTHONPATH": str(folder / overlay), "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LIMIT,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if not out.exists():
        raise RuntimeError(f"{overlay}: no tests ran: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    cases = ElementTree.parse(out).getroot().iter("testcase")
    return {f"{case.get('classname')}::{case.get('name')}" for case in cases if not len(case)}


def is_replaced(suite: Suite, python: Path, folder: Path) -> bool:
    """Return whether all packages are imported from ours."""
    text = f"import {', '.join(suite.packages)}; print({', '.join(f'{name}.__file__' for name in suite.packages)})"
    variables = os.environ | {"PYTHONPATH": str(folder / "ours")}
    done = subprocess.run([str(python), "-c", text], env=variables, capture_output=True, text=True, check=False)
    return done.stdout.count(str(folder / "ours")) == len(suite.packages)


def report(suite: Suite, version: str, folder: Path) -> bool:
    """Print the row of a package under a Python; return whether no test is lost, and no module failed."""
    major, minor = version.split(".")
    interpreter = find((int(major), int(minor)))
    if interpreter is None:
        print(f"{suite.pinned} on {version}: no such Python here")
        return False
    python = environment(suite, interpreter, version, folder)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch).resolve()
        count, failed = laid(suite, unpacked(suite, folder), python, work)
        control, ours = passed(python, work, "originals"), passed(python, work, "ours")
        lost = control - ours
        if lost:
            lost &= passed(python, work, "originals") - passed(python, work, "ours")
        replaced = is_replaced(suite, python, work)
    warning = "" if replaced else "; NOT REPLACED"
    print(
        f"{suite.pinned} on {version}: {count} modules, {len(failed)} failed; "
        f"{len(control)} tests pass with the originals, lost {len(lost)}{warning}",
        flush=True,
    )
    print("".join(f"    {file}: {reason}\n" for file, reason in failed.items()), end="")
    print("".join(f"    lost: {test}\n" for test in sorted(lost)[:SHOWN]), end="")
    return replaced and bool(control) and not lost and not failed


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where sources and environments are, or go")
    parser.add_argument("--python", action="append", default=[], help="such as 3.13; may be repeated")
    parser.add_argument("--only", choices=[suite.name for suite in SUITES])
    options = parser.parse_args()
    chosen = [suite for suite in SUITES if options.only in (None, suite.name)]
    folder = options.folder.resolve()
    kept = [report(suite, version, folder) for version in options.python or ["3.11", "3.13"] for suite in chosen]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
