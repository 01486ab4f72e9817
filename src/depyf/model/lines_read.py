"""The lines that Dynamo read in a compile, as plain data."""

from __future__ import annotations

from depyf.bytecode.records import dataclass
from depyf.model.codec import INTEGER, TEXT, Record, Row, several
from depyf.model.line_row import FILE


@dataclass(frozen=True, slots=True)
class LinesRead:
    """A function that Dynamo read in a compile, itself or inlined, with the numbers of its lines that do something.

    in_graphs: the lines whose operations, or those of their callees, are in the captured graphs.
    read: all lines that Dynamo reached. torch's own functions are left out.
    deciding: the variables, attributes and items on which the function's branches and loops depend, as written there.
        Only recompiles have them.
    """

    name: str
    filename: str
    first_line: int
    lines: tuple[int, ...]
    in_graphs: tuple[int, ...]
    read: tuple[int, ...]
    deciding: tuple[str, ...] = ()


LINES_READ_ROWS = Record(
    LinesRead,
    Row("function", TEXT, "name"),
    Row("file", FILE, "filename"),
    Row("line", INTEGER, "first_line"),
    Row("lines", several(INTEGER)),
    Row("in_graphs", several(INTEGER)),
    Row("read", several(INTEGER)),
    Row(
        "deciding",
        several(TEXT),
        about="The values on which the function's branches and loops depend. Only recompiles have them.",
        default=(),
        is_left_out=True,
    ),
)
