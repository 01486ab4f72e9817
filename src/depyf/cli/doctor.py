"""`depyf doctor`: versions, unavailable features with reasons, and whether a small compile is captured."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterable

import click

from depyf.bytecode.versions.known import FACTS, running
from depyf.cli.exit_codes import EXIT_FAILED
from depyf.cli.installation import Lack, lacks_of_compiling, other_modules, other_packages
from depyf.verify.candidate.interpreters import find_interpreter
from depyf.version import __version__

OPTIONAL = ("click", "rich", "torch", "numpy", "jinja2", "pygments", "debugpy", "mcp")
GET_TORCH = "`pip install torch setuptools numpy`"


@click.command("doctor", short_help="Check this installation; say how to get what is missing.")
def doctor() -> None:
    """Print the versions in use and what depyf cannot do with them, then check that depyf captures a small function.

    Each missing part comes with the command that gets it: a C++ compiler, the headers of Python, packages that torch
    needs. Another package that provides the module depyf is reported too. The exit code is 1 if something is missing,
    or if something fails that should work with this torch.
    """
    click.echo(f"depyf {__version__}, {running()}, {sys.platform}")
    click.echo("packages: " + ", ".join(f"{name} {_version(name)}" for name in OPTIONAL))
    versions = [".".join(map(str, version)) for version in sorted(FACTS) if find_interpreter(version) is not None]
    click.echo(f"Python versions whose code can be proven here: {', '.join(versions) or 'only this one'}")
    for folder in other_modules():
        click.echo(f"another module depyf is in {folder}; this one comes first on sys.path")
    lacks = list(other_packages())
    faults: list[str] = []
    if importlib.util.find_spec("torch") is None:
        click.echo(f"torch is not installed: only the decompiler works. To get it: {GET_TORCH}")
    else:
        lacks += lacks_of_compiling()
        faults = _faults_with_torch()
    _tell(lacks, faults)
    if lacks or faults:
        sys.exit(EXIT_FAILED)


def _faults_with_torch() -> list[str]:
    """Compile a small function, print what this torch offers, and return what went wrong."""
    try:
        from depyf.torch.capture.checkup import check_up

        checkup = check_up()
    except Exception as error:  # noqa: BLE001 - whatever torch raises here is what the user asked for
        first = str(error).strip().partition("\n")[0]
        return [
            f"torch {_version('torch')} cannot compile a small function with {running()}: "
            f"{type(error).__name__}: {first}. depyf needs torch 2.2 or newer, and a torch that supports this Python"
        ]
    if checkup.warning:
        click.echo(checkup.warning)
    offers = "does not offer:" if checkup.unavailable else "offers everything that depyf uses"
    click.echo(f"torch {checkup.torch_version} {offers}")
    for what, reason in checkup.unavailable.items():
        click.echo(f"  {what}: {reason}")
    if not checkup.faults:
        click.echo("a function with two graphs was captured and proven, and its guards agree with torch's")
    return checkup.faults


def _tell(lacks: Iterable[Lack], faults: Iterable[str]) -> None:
    """Print what is missing and how to get it, then what is wrong."""
    for lack in lacks:
        click.echo(f"problem: {lack.what}", err=True)
        click.echo(f"  to fix it: {lack.fix}", err=True)
    for fault in faults:
        click.echo(f"wrong: {fault}", err=True)


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
