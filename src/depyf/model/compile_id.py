"""torch's compile id, as data and as text."""

from __future__ import annotations

from depyf.bytecode.patterns import pattern
from depyf.bytecode.records import dataclass
from depyf.model.codec import Form, named

_ID = pattern(r"(?:!(\d+)/)?(g?\d+)/(\d+)(?:#(\d+))?$")


@dataclass(frozen=True, slots=True, order=True)
class CompileId:
    """torch's compile id: `frame`/`compile`, for example `0/1` for the second compile of the first frame.

    A negative frame is depyf's own: `g0/0` is the first graph that was compiled without a frame. `autograd` is the
    compiled-autograd part, or -1. After a reset of Dynamo, torch counts from 0 again. An id that torch uses for the
    second time is shown as `0/1#2`; `count` is the number of times.
    """

    frame: int
    compile: int
    autograd: int = -1
    count: int = 1

    def __str__(self) -> str:
        text = f"{self.frame_word}/{self.compile}" + (f"#{self.count}" if self.count > 1 else "")
        return text if self.autograd < 0 else f"!{self.autograd}/{text}"

    @property
    def frame_word(self) -> str:
        """Return the frame as text: its number, or the number of a graph without a frame."""
        return str(self.frame) if self.frame >= 0 else f"g{-1 - self.frame}"

    @property
    def of_torch(self) -> CompileId:
        """Return torch's own id, which another compile may have had before a reset."""
        return CompileId(self.frame, self.compile, self.autograd)


def compile_id(text: str) -> CompileId:
    """Return a compile id from its text.

    Raises:
        KeyError: the text is no compile id.
    """
    match = _ID.match(text)
    if match is None:
        raise KeyError(text)
    frame = -1 - int(match[2][1:]) if match[2].startswith("g") else int(match[2])
    return CompileId(frame, int(match[3]), int(match[1]) if match[1] else -1, int(match[4] or 1))


ID_TEXT = named(
    "id",
    Form({"type": "string", "pattern": r"^(!\d+/)?g?\d+/\d+(#\d+)?$"}),
    "torch's compile id: frame/compile, after the id of compiled autograd if there is one. `g0/0` is the first graph "
    "that was compiled without a frame. `#2` marks ids that torch uses for the second time, after a reset. Ids are "
    "unique in an index.",
)
"""An id that stays text in the model."""
ID = Form(ID_TEXT.schema, str, compile_id)
