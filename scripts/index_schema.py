"""Write the schema of `index.json` from the rows of the model.

    python -m scripts.index_schema
"""

from __future__ import annotations

import json
from pathlib import Path

from depyf.model.codec import DEFINITIONS, FLAG, TEXT, Json, named, several
from depyf.model.compile_id import ID_TEXT
from depyf.model.finding import FINDING_ROWS
from depyf.model.index_json import SCHEMA
from depyf.model.run import FUNCTION, OTHER_ROWS, SESSION_ROWS, TRACE

FILE = Path(__file__).resolve().parents[1] / "docs" / "index.schema.json"


def schema() -> Json:
    """Return the JSON schema of an index."""
    finding = named("finding", FINDING_ROWS.form)
    head = {row.key: row.schema for row in SESSION_ROWS.rows if row.form is not FLAG}
    process = {"description": "The process that wrote it: its id, and its start time in system ticks, or 0."}
    ended = {row.key: row.schema for row in SESSION_ROWS.rows if row.form is FLAG}
    properties = {
        "schema": {"const": SCHEMA},
        **head,
        "process": TEXT.schema | process,
        **ended,
        "findings": several(finding).schema | {"description": "The findings: each cause once, worst first."},
        "functions": several(FUNCTION).schema | {"description": "In the order of their first compile."},
        "order": several(ID_TEXT).schema | {"description": "Every compile, in the order in which they began."},
        **{row.key: row.schema for row in (*OTHER_ROWS.rows, TRACE)},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"index.json of a depyf dump, version {SCHEMA}",
        "description": "Files of the dump are relative to its directory; other files to the working directory or to "
        "where packages are installed. Times are seconds.",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": list(properties),
        "$defs": dict(sorted(DEFINITIONS.items())),
    }


def text() -> str:
    """Return the text of the schema's file."""
    return json.dumps(schema(), indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
