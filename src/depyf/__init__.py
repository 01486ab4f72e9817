"""depyf opens the black box of `torch.compile`.

import depyf

print(depyf.decompile(function))

with depyf.prepare_debug("directory"):
    ...                                 # run compiled code; depyf writes what the compiler made to the directory
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from depyf.version import __version__

if TYPE_CHECKING:
    from depyf.decompiler.api import (
        Decompiler,
        decompile,
        decompile_code,
        decompile_module,
        decompile_module_pyc,
        decompile_pyc,
    )
    from depyf.errors import DecompilationError
    from depyf.findings.contract.contract import CompileContractError
    from depyf.model.finding import Finding
    from depyf.model.guard_failure import GuardFailure
    from depyf.model.index_reader import read_run
    from depyf.model.run import (
        Artefact,
        Compile,
        FailedEntry,
        Function,
        GraphBreak,
        Guard,
        GuardSet,
        Recompile,
        Session,
        Transformed,
    )
    from depyf.torch.alarms.event import CompileEvent
    from depyf.torch.alarms.watch import watch
    from depyf.torch.bits.first import first_difference
    from depyf.torch.capture.bytecode_log import install, uninstall
    from depyf.torch.capture.expect import expect
    from depyf.torch.capture.prepare import prepare_debug
    from depyf.torch.numerics.trace import trace_numerics
    from depyf.torch.profile.context import profile
    from depyf.torch.replica.replica import Replica
    from depyf.torch.stepping.debug import debug
    from depyf.verify.level import Level, Verdict
    from depyf.views.comparison import changes
    from depyf.views.html.build import build_report

__all__ = [
    "Artefact",
    "Compile",
    "CompileContractError",
    "CompileEvent",
    "DecompilationError",
    "Decompiler",
    "FailedEntry",
    "Finding",
    "Function",
    "GraphBreak",
    "Guard",
    "GuardFailure",
    "GuardSet",
    "Level",
    "Recompile",
    "Replica",
    "Session",
    "Transformed",
    "Verdict",
    "__version__",
    "build_report",
    "changes",
    "debug",
    "decompile",
    "decompile_code",
    "decompile_module",
    "decompile_module_pyc",
    "decompile_pyc",
    "expect",
    "first_difference",
    "install",
    "prepare_debug",
    "profile",
    "read_run",
    "trace_numerics",
    "uninstall",
    "watch",
]

# `depyf.explain` and `depyf.optimization` are imported by their old names and live in `depyf/compat`.
__path__.append(str(Path(__file__).parent / "compat"))

# The module of each public name. A module is imported when its name is first used: importing torch takes seconds, and
# the decompiler does not need it.
_HOMES = {
    "Artefact": "depyf.model.run",
    "build_report": "depyf.views.html.build",
    "changes": "depyf.views.comparison",
    "Compile": "depyf.model.run",
    "CompileContractError": "depyf.findings.contract.contract",
    "CompileEvent": "depyf.torch.alarms.event",
    "debug": "depyf.torch.stepping.debug",
    "DecompilationError": "depyf.errors",
    "decompile": "depyf.decompiler.api",
    "decompile_code": "depyf.decompiler.api",
    "decompile_module": "depyf.decompiler.api",
    "decompile_module_pyc": "depyf.decompiler.api",
    "decompile_pyc": "depyf.decompiler.api",
    "Decompiler": "depyf.decompiler.api",
    "expect": "depyf.torch.capture.expect",
    "FailedEntry": "depyf.model.run",
    "first_difference": "depyf.torch.bits.first",
    "Finding": "depyf.model.finding",
    "Function": "depyf.model.run",
    "GraphBreak": "depyf.model.run",
    "Guard": "depyf.model.run",
    "GuardFailure": "depyf.model.guard_failure",
    "GuardSet": "depyf.model.run",
    "install": "depyf.torch.capture.bytecode_log",
    "Level": "depyf.verify.level",
    "load_ipython_extension": "depyf.notebook",
    "prepare_debug": "depyf.torch.capture.prepare",
    "profile": "depyf.torch.profile.context",
    "read_run": "depyf.model.index_reader",
    "Recompile": "depyf.model.run",
    "Replica": "depyf.torch.replica.replica",
    "Session": "depyf.model.run",
    "trace_numerics": "depyf.torch.numerics.trace",
    "Transformed": "depyf.model.run",
    "uninstall": "depyf.torch.capture.bytecode_log",
    "Verdict": "depyf.verify.level",
    "watch": "depyf.torch.alarms.watch",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'depyf' has no attribute {name!r}")
    try:
        module = importlib.import_module(_HOMES[name])
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(f"depyf.{name} needs torch, which is missing: pip install torch setuptools numpy") from error
    value: object = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
