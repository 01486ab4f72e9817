"""What the launched program's processes have to know, handed on through an environment variable."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from depyf.report.variables import SUMMARY_VARIABLE

VARIABLE = "DEPYF_RUN"
BOOT = Path(__file__).with_name("boot")
PROCESS = "process_{}"
"""The folder of a process that the program started, counted from 1 in the order in which they first compiled."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a program is captured.

    directory: absolute path of the dump.
    launcher: process number of the launcher; its child is the program itself.
    backend: name of the backend that takes the place of what the program asks for, empty for the program's own.
    log_bytecode: as for `prepare_debug`.
    only: a pattern of shell style; frames of other functions are not captured. Empty for all.
    kernels: whether Inductor's modules are written.
    debug: whether compiled code runs in the files of the dump, with a pause before it first does.
    profile: whether it is measured what each line costs; `against_eager`, in some uncompiled steps, too.
    keep_trace: whether torch's own trace is left in the dump, too.
    stack_after: seconds from which on the Python stack of a compile is written, 0 for never.
    """

    directory: str
    launcher: int
    backend: str = ""
    log_bytecode: bool = False
    only: str = ""
    kernels: bool = True
    debug: bool = False
    profile: bool = False
    against_eager: bool = False
    keep_trace: bool = False
    stack_after: float = 0.0


PROVENANCE = "INDUCTOR_PROVENANCE"
"""Torch's own variable: whether Inductor says which nodes each kernel computes. The code has a comment more for it."""
NAMES_OF_NODES = "2"
"""Its value for the names alone, which costs less than whole histories of nodes."""


def environment(settings: Settings) -> dict[str, str]:
    """Return the environment for the program, whose processes leave the telling to the launcher."""
    path = os.environ.get("PYTHONPATH")
    return {
        PROVENANCE: NAMES_OF_NODES,
        **os.environ,
        SUMMARY_VARIABLE: "0",
        VARIABLE: json.dumps(asdict(settings)),
        "PYTHONPATH": os.pathsep.join([str(BOOT), *([path] if path else [])]),
    }


def own_settings() -> Settings | None:
    """Return the settings that this process was started with, or None where no launcher started it."""
    text = os.environ.get(VARIABLE)
    return Settings(**json.loads(text)) if text else None
