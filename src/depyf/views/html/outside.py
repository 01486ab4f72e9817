"""The page of artefacts outside any compiled frame: an export, AOTInductor, a direct call of `compile_fx`."""

from __future__ import annotations

from collections.abc import Iterable

from depyf.model.index_reader import Run
from depyf.model.run import Artefact, Compile, CompileId, Function, Unavailable
from depyf.views.html.chunks import Chunks
from depyf.views.html.function_data import shown_entries

NAME = "outside any compile"
WHY = "torch wrote these texts outside any compiled frame, as torch.export and AOTInductor do"
UNTOLD = "no code of Dynamo runs here"
FIRST = ("exported_program", "BEFORE_PRE_GRAD", "AFTER_PRE_GRAD", "Joint_graph", "Forward_graph")
"""Stages that a graph has once. A second one belongs to another graph."""


def outside_data(run: Run, chunks: Chunks, name: str) -> str:
    """Add the chunks of the page; return the name of the first, which names the others.

    Args:
        run: the run, with its artefacts outside any compile.
        chunks: the data files of the report.
        name: the address of the page.
    """
    function = Function("", NAME, "", 0, "", "")
    family = [
        (
            function,
            Compile(CompileId(0, number), NAME, "", 0, transformed=Unavailable(UNTOLD), artefacts=part, order=number),
        )
        for number, part in enumerate(_graphs(run.session.loose))
    ]
    content = shown_entries(run, function, family, chunks, name)
    for number, entry in enumerate(content["entries"], start=1):
        entry |= {"id": str(number), "why": WHY, "kind": "Outside"}
    return chunks.add(name, content)


def _graphs(artefacts: Iterable[Artefact]) -> list[list[Artefact]]:
    """Return artefacts grouped by graph. torch writes those of one graph after another."""
    parts: list[list[Artefact]] = [[]]
    for artefact in artefacts:
        if not artefact.file:
            continue
        if artefact.stage in FIRST and any(before.stage == artefact.stage for before in parts[-1]):
            parts.append([])
        parts[-1].append(artefact)
    return [part for part in parts if part]
