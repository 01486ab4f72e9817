"""The catalogue of findings: the kind of a refusal or a graph break, with its sentence and its tested advice."""

from __future__ import annotations

from depyf.findings.catalogue.breaks import BREAKS, kind_of_break
from depyf.findings.catalogue.classify import kind_of_recompile
from depyf.findings.catalogue.kind import Kind
from depyf.findings.catalogue.others import OTHERS
from depyf.findings.catalogue.recompiles import RECOMPILES
from depyf.findings.catalogue.sentences import advice

__all__ = ["KINDS", "Kind", "advice", "kind_of_break", "kind_of_recompile"]

KINDS: dict[str, Kind] = {kind.name: kind for kind in (*RECOMPILES, *BREAKS, *OTHERS)}
"""All kinds by name. `python -m benchmarks.advice` runs for each a program that shows it, and one without."""
