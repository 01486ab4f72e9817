"""The catalogue of findings: the kind of a refusal or a graph break, with its sentence and its tested advice."""

from __future__ import annotations

from depyf.report.catalogue.breaks import BREAKS, kind_of_break
from depyf.report.catalogue.kind import Kind
from depyf.report.catalogue.others import OTHERS
from depyf.report.catalogue.recompiles import RECOMPILES
from depyf.report.catalogue.refusals import advice, kind_of_recompile

__all__ = ["KINDS", "Kind", "advice", "kind_of_break", "kind_of_recompile"]

KINDS: dict[str, Kind] = {each.name: each for each in (*RECOMPILES, *BREAKS, *OTHERS)}
"""All kinds by name. `python -m benchmarks.advice` runs for each a program that shows it, and one without."""
