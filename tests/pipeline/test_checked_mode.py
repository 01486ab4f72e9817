"""With DEPYF_CHECK=1 every pass is checked, and the pass that breaks a form is named."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import depyf
from depyf.decompiler.pipeline import work
from depyf.decompiler.pipeline.table import PASSES

broken = next(one for one in PASSES if one.name == "thread")
def breaking(given, run=broken.run):
    run(given)
    given.graph.blocks[0].exit.edges()[0].args.append(10_000)
object.__setattr__(broken, "run", breaking)
def f(a):
    while a:
        a = a.next
    return a
try:
    depyf.decompile(f)
except depyf.DecompilationError as error:
    print(str(error).splitlines()[0])
"""


def _said(check: str) -> str:
    environment = {**os.environ, "DEPYF_CHECK": check}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    return done.stdout


def test_the_pass_that_breaks_a_form_is_named() -> None:
    assert "Broken: after thread, in f (" in _said("1")


def test_nothing_is_checked_unless_it_is_asked_for() -> None:
    assert "Broken" not in _said("")
