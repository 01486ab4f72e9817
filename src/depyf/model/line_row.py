"""The rows of a line of the user's, to which most other rows refer."""

from __future__ import annotations

from functools import lru_cache

from depyf.model.codec import INTEGER, TEXT, Form, Record, Row, named, nullable, several
from depyf.model.user_line import UserLine
from depyf.model.user_source import short_path

FILE = Form(TEXT.schema, short_path)
"""The name of a file, which is shorter in the index."""

LINE_ROWS = Record(
    lru_cache(maxsize=4096)(UserLine),  # Cached, because the stacks of a run share most of their lines.
    Row("file", FILE, "filename"),
    Row("line", INTEGER),
    Row("function", TEXT),
    Row("text", TEXT),
)

LINE = nullable(named("line", LINE_ROWS.form, "A line of the user's."))
LINES = several(named("line", LINE_ROWS.form, "A line of the user's."))
