"""Select the functions that a context captures, by a pattern for their name or file."""

from __future__ import annotations

import fnmatch
import threading
import types

from depyf.model.names import resumed_function
from depyf.model.run import CompileId
from depyf.model.user_source import short_path
from depyf.torch.capture.weak_codes import WeakCodes


class Selection:
    """Remembers which compiles are left out. Every method may be called from any thread.

    Without a `pattern` none is left out.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._left_out: set[CompileId] = set()
        self._codes: WeakCodes[bool] = WeakCodes()
        self._lock = threading.Lock()

    def begins(self, compile_id: CompileId, code: types.CodeType | None) -> None:
        """Decide about a compile of `code`. A compile with unknown code is captured."""
        if not self.pattern:
            return
        with self._lock:
            if code is None or self.fits(code):
                self._left_out.discard(compile_id)
            else:
                self._left_out.add(compile_id)

    def leaves_out(self, compile_id: CompileId | None) -> bool:
        """Return whether a compile is left out."""
        return compile_id is not None and compile_id in self._left_out

    def leave_out_runs(self, code: types.CodeType) -> None:
        """Record code that torch made for a function that is left out."""
        self._codes[code] = True

    def leaves_out_run(self, code: types.CodeType) -> bool:
        """Return whether code was made for a function that is left out."""
        return self._codes.get(code) is not None

    def fits(self, code: types.CodeType) -> bool:
        """Return whether the pattern matches a function.

        For a resume function, the name of its function is tested.
        """
        return self.fits_names(code.co_name, code.co_filename, getattr(code, "co_qualname", ""))

    def fits_names(self, name: str, filename: str, qualified: str = "") -> bool:
        """Return whether the pattern matches a name, a qualified name, or a file.

        Args:
            name: the name of the function.
            filename: its file.
            qualified: its qualified name, if known.
        """
        if not self.pattern:
            return True
        resumed = resumed_function(name)
        names = (resumed[0] if resumed else name, qualified, filename, short_path(filename))
        return any(fnmatch.fnmatch(candidate, self.pattern) for candidate in names)
