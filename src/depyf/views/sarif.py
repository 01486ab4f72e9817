"""Findings as SARIF 2.1.0, which editors and code hosts show at the line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from depyf.findings import Finding
from depyf.version import __version__

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {"high": "error", "medium": "warning", "low": "note"}
ROOT = "SRCROOT"
"""The base of paths: the directory in which the program ran."""


def sarif(runs: Iterable[tuple[str, Iterable[Finding]]]) -> str:
    """Return the text of a SARIF file: one run for each process, by its label, with a result for each finding."""
    content = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(label, list(findings)) for label, findings in runs]}
    return json.dumps(content, indent=1) + "\n"


def _run(label: str, findings: list[Finding]) -> dict[str, Any]:
    kinds = list(dict.fromkeys(finding.kind for finding in findings))
    return {
        "tool": {
            "driver": {
                "name": "depyf",
                "semanticVersion": __version__,
                "version": __version__,
                "rules": [
                    {"id": kind, "name": _title(kind), "shortDescription": {"text": _words(kind)}} for kind in kinds
                ],
            }
        },
        "automationDetails": {"id": f"depyf/{label}/"},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, kinds.index(finding.kind)) for finding in findings],
    }


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.kind,
        "ruleIndex": rule,
        "level": LEVELS[finding.severity],
        "message": {"text": f"{finding.cause}." + (f" Fix: {finding.fix}" if finding.fix else "")},
        "partialFingerprints": {"depyf/v1": fingerprint(finding)},
        "properties": {
            "compiles": list(finding.compiles),
            "compileSeconds": finding.cost.compile_seconds,
            "eagerCalls": finding.cost.eager_calls,
        },
    }
    if finding.where is not None and finding.where.file:
        result["locations"] = [_location(finding)]
    return result


def _location(finding: Finding) -> dict[str, Any]:
    where = finding.where
    assert where is not None
    artifact = {"uri": _uri(where.file)}
    if not where.file.startswith("/"):
        artifact["uriBaseId"] = ROOT
    physical: dict[str, Any] = {"artifactLocation": artifact}
    if where.line:
        physical["region"] = {"startLine": where.line}
    location: dict[str, Any] = {"physicalLocation": physical}
    if where.function:
        location["logicalLocations"] = [{"name": where.function, "kind": "function"}]
    return location


def _uri(file: str) -> str:
    from urllib.parse import quote

    path = quote(file.replace("\\", "/"), safe="/._-~")
    return f"file://{path}" if path.startswith("/") else path


def fingerprint(finding: Finding) -> str:
    """Return an identity of a finding that does not change when lines move, so that it is not reported as new."""
    where = finding.where
    identity = "\0".join((finding.kind, where.file if where else "", where.function if where else "", finding.cause))
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _title(kind: str) -> str:
    """Return a kind in the style of SARIF rules: `graph-break` is `GraphBreak`."""
    return "".join(part.capitalize() for part in kind.split("-"))


def _words(kind: str) -> str:
    return f"{kind.replace('-', ' ').capitalize()}."
