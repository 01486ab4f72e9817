"""Find what an installation lacks, each with the command that gets it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

from depyf.bytecode.records import dataclass
from depyf.version import __version__

PACKAGE = "depyf"
OWN = Path(__file__).resolve().parent.parent
"""The folder of this package."""
WITHOUT = 'the backend "aot_eager" works without it'


@dataclass(frozen=True, slots=True)
class Lack:
    """Something that is missing or in the way: a sentence, and how to get or remove it."""

    what: str
    fix: str


def lacks_of_compiling() -> Iterator[Lack]:
    """Yield what torch's default backend needs and this environment does not have."""
    command = shlex.split(os.environ.get("CXX", "")) or _usual_compilers()
    if shutil.which(command[0]) is None:
        yield Lack(f"no C++ compiler: there is no {command[0]} on PATH, and torch's default backend needs one", _GET)
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        yield Lack("no headers of Python: Inductor's C++ code includes Python.h", _HEADERS)
    for name, why in NEEDED.items():
        if importlib.util.find_spec(name) is None:
            yield Lack(f"no {name}: {why}", f"{os.path.basename(sys.executable)} -m pip install {name}")


NEEDED = {
    "setuptools": "Inductor imports it when it builds C++ code",
    "numpy": "torch imports it and does not install it on every platform",
}
"""The packages that torch imports without declaring them, each with the reason."""

_GET = f"`apt install g++`, `dnf install gcc-c++`, `conda install gxx`, on macOS `xcode-select --install`; {WITHOUT}"
_HEADERS = f"`apt install python3-dev`, `dnf install python3-devel`, or a Python from conda or uv; {WITHOUT}"


def _usual_compilers() -> list[str]:
    """Return the compiler that torch calls if CXX is not set."""
    return [{"darwin": "clang++", "win32": "cl"}.get(sys.platform, "g++")]


def other_packages(path: Iterable[str] | None = None) -> Iterator[Lack]:
    """Yield each other package that provides the module `depyf`: one of them hides the other.

    path: the folders to search; `sys.path` by default.
    """
    folders = [*sys.path] if path is None else [*path]
    for distribution in importlib.metadata.distributions(path=folders):
        name = distribution.metadata["Name"] or ""
        if name.lower() == PACKAGE and distribution.version == __version__:
            continue
        if name.lower() == PACKAGE or _provides(distribution):
            what = f"another package provides the module depyf: {name} {distribution.version}"
            yield Lack(what, f"`pip uninstall {name}`, then install this one again")


def other_modules(path: Iterable[str] | None = None) -> list[str]:
    """Return the folders of other modules `depyf` that an import would find if this one were not there.

    path: the folders to search; `sys.path` by default.
    """
    roots = (Path(entry or ".").resolve() / PACKAGE for entry in (sys.path if path is None else path))
    return [str(root) for root in dict.fromkeys(roots) if (root / "__init__.py").is_file() and root.resolve() != OWN]


def _provides(distribution: importlib.metadata.Distribution) -> bool:
    """Return whether a distribution installs the module `depyf`."""
    names = (distribution.read_text("top_level.txt") or "").split()
    files = distribution.files or () if not names else ()
    return PACKAGE in names or any(file.parts[:2] == (PACKAGE, "__init__.py") for file in files)
