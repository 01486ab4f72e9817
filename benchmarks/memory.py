"""Memory of decompiling a whole standard library in one process.

    python -m benchmarks.memory [--python PATH]      by default Python 3.11, else this one

Every module is compiled, written as a `.pyc`, and decompiled, one after the other; without a proof, and in a second
process with one. What is printed is the most memory that the process has held.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

from benchmarks.bar import Bar, report
from benchmarks.interpreters import find
from benchmarks.peers import ROOT

MOST = 500
"""Megabytes."""
PROGRAM = """
import json, marshal, resource, sys, time
from importlib.util import MAGIC_NUMBER
sys.path[:0] = [sys.argv[1] + "/src", sys.argv[1] + "/benchmarks/roundtrip"]
import library as corpus
from depyf.decompiler import api
from depyf.errors import DecompilationError
began, modules, failed, exact = time.process_time(), 0, 0, 0
for path in corpus.py_files(corpus.stdlib_dir()):
    code = corpus.compile_file(path)
    if code is None:
        continue
    data = MAGIC_NUMBER + bytes(12) + marshal.dumps(code)
    del code
    modules += 1
    try:
        if sys.argv[2] == "proven":
            exact += api.decompile_module_pyc(data).level.name == "EXACT"
        else:
            api.decompile_pyc(data)
    except DecompilationError:
        failed += 1
size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
print(json.dumps([size, modules, failed, exact, time.process_time() - began]))
"""


def measure(python: str) -> list[Bar]:
    """Decompile the standard library of an interpreter, without proof and with."""
    bars = []
    for kind in ("plain", "proven"):
        done = subprocess.run([python, "-c", PROGRAM, str(ROOT), kind], check=True, capture_output=True, text=True)
        size, modules, failed, exact, seconds = json.loads(done.stdout)
        proven = f", {exact} exact" if kind == "proven" else ""
        what = f"{kind}: memory of the whole standard library in one process"
        note = f"{modules} modules, {failed} failed{proven}, {seconds:.0f} s"
        bars.append(Bar(what, f"{size:.0f} MB", size < MOST, note=note))
    return bars


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=find((3, 11)) or sys.executable, help="the interpreter")
    report(measure(parser.parse_args().python))
