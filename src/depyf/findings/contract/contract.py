"""The limits of a run's compiles, and the error that reports a violation."""

from __future__ import annotations

from collections.abc import Iterable

from depyf.bytecode.records import dataclass
from depyf.findings import Finding, findings
from depyf.findings.contract.facts import Fact, facts, is_allowed
from depyf.model.run import Session
from depyf.model.user_line import UserLine

ASPECTS = ("graphs", "breaks", "recompiles", "eager_calls", "cache_misses")
"""The aspects that a contract counts. The number of graphs must match; the other numbers are limits."""

WORDS = {
    "graphs": ("graph", "graphs"),
    "breaks": ("graph break", "graph breaks"),
    "recompiles": ("recompile", "recompiles"),
    "eager_calls": ("frame left to run eager", "frames left to run eager"),
    "cache_misses": ("cache miss", "cache misses"),
}
MOST_SHOWN = 12
"""The most facts shown for each aspect."""


@dataclass(frozen=True, slots=True)
class Contract:
    """The limits of a run's compiles. None means no limit.

    graphs: the exact number of graphs.
    breaks: the most places where a graph ends.
    recompiles: the most compiles that are made because every entry refused a call.
    eager_calls: the most frames that Dynamo was asked to compile and left to Python.
    cache_misses: the most compiles that a cache of torch's did not have.
    allow: names of modules or packages, or patterns, whose code the contract ignores.
    """

    graphs: int | None = None
    breaks: int | None = None
    recompiles: int | None = None
    eager_calls: int | None = None
    cache_misses: int | None = None
    allow: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for aspect in ASPECTS:
            value = getattr(self, aspect)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
                raise TypeError(f"{aspect} is a count, not {value!r}")


@dataclass(frozen=True, slots=True)
class Violation:
    """An aspect in which a run violates its contract: the limit, the number, and each fact."""

    aspect: str
    allowed: int
    found: tuple[Fact, ...]

    @property
    def head(self) -> str:
        """Return the violation in one line."""
        count, (singular, several) = len(self.found), WORDS[self.aspect]
        most = "" if self.aspect == "graphs" else "at most " if self.allowed else ""
        return f"{count} {singular if count == 1 else several}, the contract says {most}{self.allowed}"


def violations(session: Session, contract: Contract) -> list[Violation]:
    """Return the aspects in which a session violates a contract."""
    known = facts(session, contract.allow)
    violated = []
    for aspect in ASPECTS:
        limit = getattr(contract, aspect)
        matching = tuple(fact for fact in known if fact.aspect == aspect)
        if limit is not None and (len(matching) != limit if aspect == "graphs" else len(matching) > limit):
            violated.append(Violation(aspect, limit, matching))
    return violated


class CompileContractError(AssertionError):
    """A program compiled differently than its contract allows.

    violations: the limits of the contract, and the compiles.
    findings: the findings of `depyf.findings`, worst first.
    """

    def __init__(self, violated: Iterable[Violation], reported: Iterable[Finding] = ()) -> None:
        self.violations = tuple(violated)
        self.findings = tuple(reported)
        super().__init__(self._text())

    def _text(self) -> str:
        lines = []
        for violation in self.violations:
            lines.append(violation.head)
            for fact in violation.found[:MOST_SHOWN]:
                lines.append(f"  {fact.place}: {fact.text}" if fact.place else f"  {fact.text}")
                lines += [f"    {detail}" for detail in fact.details if detail not in fact.text]
            if len(violation.found) > MOST_SHOWN:
                lines.append(f"  and {len(violation.found) - MOST_SHOWN} more")
            if not violation.found:
                lines.append("  nothing was compiled")
        lines_of_findings = [finding.line for finding in self.findings]
        if lines_of_findings:
            lines += ["findings, worst first:", *(f"  {line}" for line in lines_of_findings[:MOST_SHOWN])]
        return "\n".join(lines)


def check(session: Session, contract: Contract) -> None:
    """Raise CompileContractError if a session violates a contract."""
    violated = violations(session, contract)
    if violated:
        raise CompileContractError(violated, _of_others_code(findings(session), contract.allow))


def _of_others_code(reported: Iterable[Finding], allow: tuple[str, ...]) -> list[Finding]:
    """Return the findings outside the code that the contract ignores."""
    lines = (
        (finding, UserLine(finding.where.file, finding.where.line) if finding.where else None) for finding in reported
    )
    return [finding for finding, line in lines if not is_allowed(line, allow)]
