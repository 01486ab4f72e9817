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
    from depyf.decompiler.api import Decompiler, decompile, decompile_pyc
    from depyf.errors import DecompilationError
    from depyf.findings.contract.contract import CompileContractError
    from depyf.torch.capture.bytecode_log import install, uninstall
    from depyf.torch.capture.expect import expect
    from depyf.torch.capture.prepare import prepare_debug
    from depyf.torch.numerics.trace import trace_numerics
    from depyf.torch.profile.context import profile
    from depyf.torch.stepping.debug import debug

__all__ = [
    "CompileContractError",
    "DecompilationError",
    "Decompiler",
    "__version__",
    "debug",
    "decompile",
    "decompile_pyc",
    "expect",
    "install",
    "prepare_debug",
    "profile",
    "trace_numerics",
    "uninstall",
]

# `depyf.explain` and `depyf.optimization` are imported by their old names and live in `depyf/compat`.
__path__.append(str(Path(__file__).parent / "compat"))

# The module of each public name. A module is imported when its name is first used: importing torch takes seconds, and
# the decompiler does not need it.
_HOMES = {
    "CompileContractError": "depyf.findings.contract.contract",
    "decompile": "depyf.decompiler.api",
    "decompile_pyc": "depyf.decompiler.api",
    "DecompilationError": "depyf.errors",
    "Decompiler": "depyf.decompiler.api",
    "debug": "depyf.torch.stepping.debug",
    "expect": "depyf.torch.capture.expect",
    "install": "depyf.torch.capture.bytecode_log",
    "load_ipython_extension": "depyf.notebook",
    "prepare_debug": "depyf.torch.capture.prepare",
    "profile": "depyf.torch.profile.context",
    "trace_numerics": "depyf.torch.numerics.trace",
    "uninstall": "depyf.torch.capture.bytecode_log",
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
    found: object = getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
