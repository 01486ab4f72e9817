"""`.vscode/launch.json` in a dump: run the program again under a debugger that stops in the files of the dump.

The debugger follows `depyf run` into the program (`subProcess`). The program waits in the editor's terminal when the
user can set breakpoints (`--debug`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from depyf.model.writer import write_whole


def write_launch_json(directory: Path, target: str, arguments: Sequence[str], *, is_module: bool, cwd: Path) -> Path:
    """Write a VS Code configuration that runs the program as `depyf run` did; return its path.

    Args:
        directory: the directory of the run, in which the file is written.
        target: the path of the script, or the name of the module.
        arguments: the program's arguments.
        is_module: whether `target` is a module.
        cwd: the working directory of the program.

    Raises:
        OSError: the file cannot be written.
    """
    program = {"module": target} if is_module else {"program": str((cwd / target).resolve())}
    configuration = {
        "name": "depyf: run again and stop in the files of this folder",
        "type": "debugpy",
        "request": "launch",
        "module": "depyf",
        "args": ["run", "--debug", "-o", str(directory), *(["-m"] if is_module else []), *program.values(), *arguments],
        "cwd": str(cwd),
        "console": "integratedTerminal",
        "subProcess": True,
        "justMyCode": False,
    }
    path = directory / ".vscode" / "launch.json"
    write_whole(path, json.dumps({"version": "0.2.0", "configurations": [configuration]}, indent=2) + "\n")
    return path
