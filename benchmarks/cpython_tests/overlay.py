"""A folder of modules that comes first on `sys.path`: the originals, or what depyf makes of their bytecode."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from depyf.api import decompile_pyc

COMPILE = """
import py_compile, sys
for source, compiled in zip(sys.argv[1::2], sys.argv[2::2]):
    py_compile.compile(source, compiled, doraise=True, optimize=0)
"""


def stdlib(python: str) -> Path:
    """Return the folder of an interpreter's standard library."""
    program = "import sysconfig; print(sysconfig.get_paths()['stdlib'])"
    return Path(subprocess.run([python, "-c", program], check=True, capture_output=True, text=True).stdout.strip())


def sources(library: Path, subject: str) -> list[Path]:
    """Return the files of a module or package, relative to the library."""
    package = library / subject
    if package.is_dir():
        return sorted(path.relative_to(library) for path in package.rglob("*.py"))
    return [Path(f"{subject}.py")]


def copy_originals(library: Path, files: Iterable[Path], folder: Path) -> None:
    """Lay the original sources into `folder`."""
    for file in files:
        place = folder / file
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(library / file, place)


def lay_decompiled(python: str, library: Path, files: Iterable[Path], folder: Path) -> dict[Path, str]:
    """Compile the originals with `python`, and lay what depyf makes of the `.pyc` alone into `folder`.

    Returns the files that do not decompile, with the reason; the original lies in their place.
    """
    wanted, failures = list(files), {}
    with tempfile.TemporaryDirectory() as scratch:
        compiled = {file: Path(scratch) / file.with_suffix(".pyc") for file in wanted}
        pairs = [str(path) for file in wanted for path in (library / file, compiled[file])]
        subprocess.run([python, "-W", "ignore", "-c", COMPILE, *pairs], check=True)
        for file in wanted:
            place = folder / file
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                place.write_text(decompile_pyc(compiled[file]), encoding="utf-8", errors="surrogatepass")
            except Exception as error:  # noqa: BLE001  # whatever it is, it is told, and the others are still run
                failures[file] = f"{type(error).__name__}: {error}"
                copy_originals(library, [file], folder)
    return failures
