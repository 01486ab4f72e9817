"""The decompiled source in torch's own `bytecode` log, which `TORCH_LOGS="+bytecode"` prints."""

from __future__ import annotations

import threading
import types

from depyf.decompiler.api import decompile
from depyf.torch.adapters import seams

_lock = threading.Lock()
_handle: seams.RemovableHandle | None = None


def install() -> None:
    """Make torch's `bytecode` log show the source of each code object of Dynamo's. A second call has no effect."""
    global _handle
    with _lock:
        if _handle is None:
            _handle = seams.register_bytecode_hook(_log_source)


def uninstall() -> None:
    """Undo `install`; do nothing if it is not active."""
    global _handle
    with _lock:
        if _handle is not None:
            _handle.remove()
            _handle = None


def _log_source(code: types.CodeType, new_code: types.CodeType) -> None:
    log = seams.bytecode_log()
    if not log.isEnabledFor(seams.BYTECODE_LOG_LEVEL):
        return
    try:
        source = decompile(new_code)
    except Exception as error:  # noqa: BLE001 - runs inside of torch, where an error would end the user's program
        log.debug("depyf cannot show the source of %s: %s: %s", code.co_name, type(error).__name__, error)
        return
    log.debug("source of the modified bytecode, by depyf:\n%s", source)
