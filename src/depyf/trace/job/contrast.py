"""The first lines in which the texts of two ranks differ, from their dumps."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path

from depyf.model.index_reader import Run, read_run
from depyf.model.run import Artefact
from depyf.trace.job.scan import TEXTS, without_rank
from depyf.trace.stages import STAGE_OF_NAME

MOST_LINES = 4000
"""The most lines of a text that are compared, because the comparison is quadratic in the worst case."""
_WIDTH = 120
_SPACES = re.compile(r"\s+")

STAGES = {
    kind: tuple(STAGE_OF_NAME[name].word if name in STAGE_OF_NAME else name for name in TEXTS if TEXTS[name] == kind)
    for kind in dict.fromkeys(TEXTS.values())
}
"""The stages of the artefacts that hold the text, by the kind of a fact."""


def first_difference(rank_dump: Path, norm: Path, compile_id: str, kind: str) -> str:
    """Return in words how a rank's text differs from that of the others, or "" if their dumps do not show it.

    Args:
        rank_dump: the dump of the rank.
        norm: the dump of a rank of the largest group.
        compile_id: the compile in which they differ.
        kind: the kind of fact in which they differ, which decides the texts to compare.
    """
    if kind not in STAGES or not (rank_dump.is_dir() and norm.is_dir()):
        return ""
    texts = [_lines(read_run(dump), compile_id, kind) for dump in (rank_dump, norm)]
    for mine, theirs in zip(*texts, strict=False):
        if mine != theirs:
            return _words(mine, theirs)
    return ""


def _lines(run: Run, compile_id: str, kind: str) -> list[list[str]]:
    artefacts: list[Artefact] = []
    for _, compiled in run.session.compiles():
        if str(compiled.id) == compile_id:
            artefacts += [
                artefact for artefact in compiled.artefacts if artefact.stage in STAGES[kind] and artefact.file
            ]
    return [_comparable(run.text(artefact.file)) for artefact in artefacts]


def _comparable(text: str) -> list[str]:
    lines = (_SPACES.sub(" ", without_rank(line)).strip() for line in text.splitlines()[:MOST_LINES])
    return [line for line in lines if line and not line.startswith("#")]


def _words(mine: list[str], theirs: list[str]) -> str:
    for tag, begin, end, first, last in difflib.SequenceMatcher(None, theirs, mine, autojunk=False).get_opcodes():
        if tag != "equal":
            ours, others = (" ".join(lines[:2]).replace("`", "'") for lines in (mine[first:last], theirs[begin:end]))
            same = len(os.path.commonprefix([ours, others]))
            return f"`{_around(ours, same)}`; others: `{_around(others, same)}`"
    return ""


def _around(text: str, place: int) -> str:
    """Return the part of a text around a position."""
    begin = max(0, place - _WIDTH // 2)
    part = text[begin : begin + _WIDTH]
    return f"{'...' if begin else ''}{part}{'...' if begin + _WIDTH < len(text) else ''}" if text else "nothing"
