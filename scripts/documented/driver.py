"""Runs the steps of one page, in the folder that it is started in: a process of its own for each page.

It reads the steps as JSON from standard input and writes the output of each as JSON to the file that it is given.
"""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import subprocess
import sys
import traceback
import types
from pathlib import Path
from typing import Any

LIMIT = 400
"""Seconds that a command may take."""


def _run_python(text: str, name: str, module: types.ModuleType) -> tuple[str, bool]:
    """Run a block in the page's module; return what it printed, and whether it went well."""
    Path(name).write_text(text, encoding="utf-8")
    linecache.checkcache(name)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(text, str(Path(name).absolute()), "exec"), module.__dict__)
        except Exception:  # noqa: BLE001 - the page is told of it
            printed.write(traceback.format_exc())
            return printed.getvalue(), False
    return printed.getvalue(), True


def _run_command(text: str) -> tuple[str, bool]:
    done = subprocess.run(
        ["bash", "-c", text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT, check=False
    )
    # A command that ends with another status says so to its reader: the page shows what it prints.
    return done.stdout, done.returncode < 126


def main() -> None:
    """Run the steps."""
    steps: list[dict[str, Any]] = json.load(sys.stdin)
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.path.insert(0, "")
    results: list[tuple[str, bool]] = []
    for step in steps:
        match step["do"]:
            case "python":
                results.append(_run_python(step["text"], step["name"], module))
            case "console":
                results.append(_run_command(step["text"]))
            case "file":
                path = Path(step["name"])
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(step["text"], encoding="utf-8")
                results.append(("", True))
    Path(sys.argv[1]).write_text(json.dumps(results), encoding="utf-8")


if __name__ == "__main__":
    main()
