"""`depyf doctor`: versions, unavailable features with reasons, and whether a small compile is captured."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys

import click

from depyf.bytecode.versions.known import FACTS, running
from depyf.cli.exit_codes import EXIT_FAILED
from depyf.verify.candidate.interpreters import find_interpreter
from depyf.version import __version__

OPTIONAL = ("click", "rich", "torch", "numpy", "jinja2", "pygments", "debugpy")


@click.command("doctor")
def doctor() -> None:
    """Print the versions in use and what depyf cannot do with them, then check that depyf captures a small function.

    The exit code is 1 if something fails that should work with this torch.
    """
    click.echo(f"depyf {__version__}, {running()}, {sys.platform}")
    click.echo("packages: " + ", ".join(f"{name} {_version(name)}" for name in OPTIONAL))
    found = [".".join(map(str, version)) for version in sorted(FACTS) if find_interpreter(version) is not None]
    click.echo(f"Python versions whose code can be proven here: {', '.join(found) or 'only this one'}")
    if importlib.util.find_spec("torch") is None:
        click.echo("torch is not installed: only the decompiler works")
        return
    from depyf.torch.capture.checkup import check_up

    checkup = check_up()
    if checkup.warning:
        click.echo(checkup.warning)
    offers = "does not offer:" if checkup.unavailable else "offers everything that depyf uses"
    click.echo(f"torch {checkup.torch_version} {offers}")
    for what, reason in checkup.unavailable.items():
        click.echo(f"  {what}: {reason}")
    for fault in checkup.faults:
        click.echo(f"wrong: {fault}", err=True)
    if checkup.faults:
        sys.exit(EXIT_FAILED)
    click.echo("a function with two graphs was captured and proven, and its guards agree with torch's")


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
