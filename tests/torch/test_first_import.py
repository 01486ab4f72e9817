"""What the first `prepare_debug` of a process loads: to listen, and no more."""

from __future__ import annotations

import json
import subprocess
import sys

PROGRAM = """
import sys, torch, torch._dynamo
before = set(sys.modules)
import depyf
with_it = depyf.prepare_debug
import json
print(json.dumps(sorted(set(sys.modules) - before)))
"""
ONLY_AT_THE_END = (
    "depyf.bytecode.reader",
    "depyf.decompiler.function",
    "depyf.verify.compare",
    "depyf.findings",
    "depyf.views.html",
    "depyf.torch.dump.views",
    "depyf.torch.stepping.debug",
    "jinja2",
    "networkx",
    "pygments",
    "rich",
)
MOST = 153


def test_listening_needs_neither_the_decompiler_nor_the_report() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True, check=True)
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert [name for name in ONLY_AT_THE_END if name in loaded] == []
    assert "depyf.torch.capture.prepare" in loaded
    assert len([name for name in loaded if name.startswith("depyf")]) <= MOST
