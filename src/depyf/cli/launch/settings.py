"""The settings of the launched program's processes, passed in an environment variable."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.model.variables import SUMMARY_VARIABLE

VARIABLE = "DEPYF_RUN"
BOOT = Path(__file__).with_name("boot")
PROCESS = "process_{}"
"""The folder of a process that the program started, counted from 1 in the order of their first compiles."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a capture.

    directory: the absolute path of the dump.
    launcher: the process id of the launcher; its child is the program itself.
    backend: the backend to use instead of the program's; empty for the program's own.
    log_bytecode: as for `prepare_debug`.
    listings: whether to write the listings for the report; a large dump keeps them in its archive.
    all_files: as for `prepare_debug`.
    bits: whether to record hashes of what each kernel writes. bits_of: the launch whose values are kept; "" for none.
    changed: the settings with which bits are recorded: options of Inductor, `threads`, `mode`, or variables.
    only: a shell pattern; frames of other functions are not captured. Empty for all.
    kernels: whether to write Inductor's modules.
    debug: whether to run compiled code in the files of the dump, with a pause before its first run.
    profile: whether to measure what each line costs; with `against_eager`, also in some uncompiled steps.
    keep_trace: whether to keep torch's own trace in the dump.
    compile_times: whether to measure what each line costs in each stage of the compiler.
    stack_after: seconds after which the Python stack of a compile is written; 0 for never.
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
    compile_times: bool = False
    stack_after: float = 0.0
    listings: bool = False
    all_files: bool = False
    bits: bool = False
    bits_of: str = ""
    changed: dict[str, Any] = field(default_factory=dict)


PROVENANCE = "INDUCTOR_PROVENANCE"
"""torch's variable for whether Inductor says which nodes each kernel computes. It adds a comment to the code."""
NAMES_OF_NODES = "2"
"""The value for names only, which costs less than the full histories of nodes."""


def environment(settings: Settings) -> dict[str, str]:
    """Return the environment for the program. Its processes leave the summary to the launcher."""
    path = os.environ.get("PYTHONPATH")
    return {
        PROVENANCE: NAMES_OF_NODES,
        **os.environ,
        **{name: str(value) for name, value in settings.changed.items() if name.isupper()},
        SUMMARY_VARIABLE: "0",
        VARIABLE: json.dumps(asdict(settings)),
        "PYTHONPATH": os.pathsep.join([str(BOOT), *([path] if path else [])]),
    }


def own_settings() -> Settings | None:
    """Return the settings that this process was started with, or None if no launcher started it."""
    text = os.environ.get(VARIABLE)
    return Settings(**json.loads(text)) if text else None
