"""`index.json`: the content of `index.md`, for programs.

`schema` is the version of the schema. It increases when a key is removed or changes its meaning; keys may be added.
Files are relative to the directory, and times are in seconds. Everything except `seconds`, `compile_seconds`, `began`,
`metrics` and `caches` is the same for two runs of one program.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from typing import Any

from depyf.model.claims import own_process
from depyf.model.codec import OneLine
from depyf.model.finding import FINDING_ROWS, Finding
from depyf.model.parts import GuardLines
from depyf.model.run import COMPILE_ROWS, FUNCTION_ROWS, OTHER_ROWS, RESUME_ROWS, SESSION_ROWS, TRACE, Function, Session

SCHEMA = 2

_OWN = uuid.uuid4().hex
"""A random mark. No text of the program or of a log can contain it."""
_MARK = re.compile(rf'"{_OWN} (\d+)"')


def index_json(session: Session, findings: tuple[Finding, ...]) -> str:
    """Return the text of `index.json`, which holds the findings of the run."""
    return "".join(index_parts(session, findings))


def index_parts(session: Session, findings: tuple[Finding, ...]) -> Iterator[str]:
    """Yield the text of `index.json` piece by piece: for 10,000 compiles the data would take many times its 100 MB."""
    before = {
        "schema": SCHEMA,
        **SESSION_ROWS.write(session),
        "process": own_process(),
        "findings": [FINDING_ROWS.write(finding) for finding in findings],
    }
    after = {
        "order": [str(compiled.id) for _, compiled in session.compiles()],
        **OTHER_ROWS.write(session),
        TRACE.key: TRACE.form.write(session.trace),
    }
    yield _readable(before).removesuffix("\n}") + ',\n "functions": ['
    resumed: dict[str, list[Function]] = {}
    for function in session.functions.values():
        if function.is_resume:
            resumed.setdefault(function.root, []).append(function)
    for number, root in enumerate(session.roots()):
        whole = _function(root) | {"resume_functions": [_function(resume) for resume in resumed.get(root.key, ())]}
        yield ("," if number else "") + "\n  " + _readable(whole).replace("\n", "\n  ")
    yield ("\n ]," if session.roots() else "],") + _readable(after).removeprefix("{") + "\n"


def function_json(function: Function) -> dict[str, Any]:
    """Return the data of a function except for its compiles."""
    return (RESUME_ROWS if function.is_resume else FUNCTION_ROWS).write(function)


def _function(function: Function) -> dict[str, Any]:
    return function_json(function) | {"compiles": [COMPILE_ROWS.write(compiled) for compiled in function.compiles]}


def _readable(content: dict[str, Any]) -> str:
    """Return JSON with one key per line, and one guard per line. Python's encoder is slow when it indents.

    A value on one line is encoded separately and replaces its mark.
    """
    rows: list[OneLine | GuardLines] = []

    def mark(value: object) -> object:
        if isinstance(value, (OneLine, GuardLines)):
            rows.append(value)
            return f"{_OWN} {len(rows) - 1}"
        raise TypeError(f"{type(value).__name__} is not JSON")

    text = json.dumps(content, indent=1, default=mark)

    def unmarked(mark_match: re.Match[str]) -> str:
        row = rows[int(mark_match[1])]
        if isinstance(row, OneLine):
            return json.dumps(row.content)
        line = text[text.rfind("\n", 0, mark_match.start()) + 1 : mark_match.start()]
        margin = "\n" + " " * (len(line) - len(line.lstrip()))
        lines = f",{margin} ".join(json.dumps(guard) for guard in row.content)
        return f"[{margin} {lines}{margin}]" if lines else "[]"

    return _MARK.sub(unmarked, text) if rows else text
