"""Places where graphs end."""

from __future__ import annotations

from collections.abc import Iterator

from depyf.report.catalogue import kind_of_break
from depyf.report.findings.failures import Place, cost_of, ends_at, place
from depyf.report.findings.model import Finding
from depyf.report.model import Function, Session, UserLine
from depyf.report.naming import plain_name


def of_breaks(session: Session) -> Iterator[Finding]:
    """Yield a finding for each compile that came to a graph break; a break that ends a compile is worse."""
    ended: dict[Place, Function] = {}
    for function, compiled in session.compiles():
        ended.update(dict.fromkeys(ends_at(compiled), function))
    for function, compiled in session.compiles():
        for found in compiled.breaks:
            line = found.where or UserLine(function.filename, function.first_line, "", function.name)
            kind = kind_of_break(found)
            cause = kind.cause.format(text=" ".join(found.reason.split()).rstrip("."))
            fix = kind.fix or (found.hints[0] if found.hints else "")
            rest = ended.get((line.filename, line.line))
            ids = (str(compiled.id),)
            if rest is None:
                yield Finding(kind.name, "medium", place(line), cause, cost_of(compiled), fix, ids)
                continue
            name = plain_name(rest)
            eager = rest.eager_calls if function is rest or compiled.failure is not None else None
            cause = f"{cause}, and the rest of `{name}` runs eager"
            yield Finding(kind.name, "high", place(line), cause, cost_of(compiled, eager), fix, ids)
