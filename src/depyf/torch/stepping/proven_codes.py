"""Code from a file, proven equivalent to Dynamo's code, for as long as torch keeps Dynamo's code.

The proof in the file's header covers what the code does. A replacement of running code must also release its values as
early. That is proven when `debug` asks for the code, so that plain compiles need not pay for it.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from depyf.bytecode.records import dataclass
from depyf.errors import DecompilationError
from depyf.torch.capture.weak_codes import WeakCodes
from depyf.verify.assumptions import Assumptions
from depyf.verify.level import Level


@dataclass(slots=True)
class FileCode:
    """A file with the source of Dynamo's code, and the data to compile it in this process.

    `placeholders`, `names` and `functions` are those of `recompile`. The code shares its constants with Dynamo's code,
    so that no object lives longer because of it.
    """

    path: Path
    function: str | None
    placeholders: Mapping[str, object]
    names: Mapping[str, str]
    functions: Mapping[str, str]
    assumptions: Assumptions
    made: types.CodeType | None = None
    reason: str = ""

    def code(self, of_dynamo: types.CodeType) -> types.CodeType | None:
        """Return the code of the file that may replace Dynamo's; None, with a reason, if it may not."""
        if self.made is None and not self.reason:
            try:
                self.reason = self._prove(of_dynamo)
            except (OSError, DecompilationError) as error:
                self.reason = str(error)
        return self.made

    def _prove(self, of_dynamo: types.CodeType) -> str:
        """Make the code and prove it; return why it may not run, or ''."""
        # A capture that finds its proofs on disk imports neither the decompiler nor the verifier.
        from depyf.bytecode.reader import read
        from depyf.torch.adapters.profiler_marks import without_marks
        from depyf.verify.candidate.recompile import recompile
        from depyf.verify.compare import verify

        text = self.path.read_text(encoding="utf-8")
        reason, original = "", read(without_marks(of_dynamo))
        for lets_go in (False, True):
            code = recompile(
                text,
                of_dynamo,
                filename=str(self.path),
                placeholders=self.placeholders,
                function=self.function,
                names=self.names,
                functions=self.functions,
                lets_go=lets_go,
            )
            verdict = verify(original, read(code), replace(self.assumptions, in_place=True))
            if verdict.level is not Level.UNPROVEN:
                self.made = code
                return ""
            reason = reason or verdict.reason
            if not verdict.outlives:
                break
        return reason


OF_FILE: WeakCodes[FileCode] = WeakCodes()
"""By Dynamo's code."""


def code_of_file(of_dynamo: types.CodeType) -> types.CodeType | None:
    """Return the code of a file that may replace Dynamo's code, or None."""
    file_code = OF_FILE.get(of_dynamo)
    return file_code.code(of_dynamo) if file_code is not None else None
