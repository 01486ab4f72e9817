"""Pack the files of a large dump that are seldom opened, at the end of a context."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Collection, Iterator
from pathlib import Path

from depyf.model.archive import ARCHIVE, archive_bytes, archived
from depyf.model.run import Artefact, Dialect, Session, Transformed
from depyf.model.user_source import is_installed
from depyf.model.writer import write_whole_bytes
from depyf.trace.stages import STAGE_OF_NAME

MOST_FILES = 80
"""A dump with at most this many files stays as it is, if it is not too large."""
MOST_BYTES = 2_000_000
"""A dump of at most this size stays as it is, if it has not too many files."""

SHARE = 4
"""A quarter of these limits, in files that are not yet in the archive, makes it grow."""

OPENED = frozenset(
    ("Captured_Graph", "Forward_graph", "Backward_graph", "AFTER_POST_GRAD", "Compiled_autograd_graph")
)
"""Of torch's stages, those that stay files: what Dynamo captured, what AOTAutograd made, what Inductor lowers."""
_OF_TORCH = frozenset(stage.word for stage in STAGE_OF_NAME.values())
LISTINGS = ("original_bytecode", "transformed_bytecode", "decompiled_and_compiled_back_bytecode")


def pack(session: Session, directory: Path, *, listings: bool) -> None:
    """Move the files that are seldom opened into the archive, if the dump is large; record them in the session.

    The archive is complete before the first file is removed.

    Args:
        session: the run of the dump.
        directory: the dump.
        listings: whether to pack the listings of bytecode too.

    Raises:
        OSError: the archive cannot be written; then all files are still there.
    """
    sizes = {name: (directory / name).stat().st_size for name in _files_of(session) if (directory / name).is_file()}
    seldom = [name for name in _seldom_opened(session, listings=listings) if name in sizes]
    if not session.packed:
        # An archive of an earlier program in this directory is out of date.
        (directory / ARCHIVE).unlink(missing_ok=True)
    is_large = _is_large(sizes.values(), 1)
    if session.packed:
        # The archive is written as a whole, so a program with many contexts adds to it now and then.
        is_large = _is_large([sizes[name] for name in seldom], SHARE)
    if not (seldom and is_large) or importlib.util.find_spec("lzma") is None:
        return
    before = archived(directory) if session.packed else {}
    texts = {name: (directory / name).read_text(encoding="utf-8", errors="replace") for name in seldom}
    write_whole_bytes(directory / ARCHIVE, [archive_bytes({**before, **texts})])
    session.packed.update(seldom)
    for name in seldom:
        (directory / name).unlink(missing_ok=True)
    for folder in {os.path.dirname(name) for name in seldom} - {""}:
        if not any((directory / folder).iterdir()):
            (directory / folder).rmdir()


def _is_large(sizes: Collection[int], share: int) -> bool:
    """Return whether files are too many or too large for a part of a dump."""
    return len(sizes) > MOST_FILES // share or sum(sizes) > MOST_BYTES // share


def _artefacts(session: Session) -> Iterator[Artefact]:
    yield from session.loose
    for _, compiled in session.compiles():
        yield from compiled.artefacts


def _files_of(session: Session) -> Iterator[str]:
    """Yield the names of the files of a run. Its indexes and the full code of each function are written later."""
    yield from (artefact.file for artefact in _artefacts(session) if artefact.file)
    yield from session.sources.values()
    for _, compiled in session.compiles():
        if isinstance(compiled.transformed, Transformed) and compiled.transformed.file:
            yield compiled.transformed.file
    yield from _listings(session)


def _listings(session: Session) -> Iterator[str]:
    for _, compiled in session.compiles():
        transformed = compiled.transformed
        if isinstance(transformed, Transformed) and transformed.file:
            yield from (f"{transformed.file.removesuffix('.py')}.{kind}" for kind in LISTINGS)


def _seldom_opened(session: Session, *, listings: bool) -> Iterator[str]:
    """Yield the names of the files to pack."""
    yield from (artefact.file for artefact in _artefacts(session) if artefact.file and not _is_opened(artefact))
    yield from (dumped for filename, dumped in session.sources.items() if is_installed(filename))
    if listings:
        yield from _listings(session)


def _is_opened(artefact: Artefact) -> bool:
    """Return whether an artefact stays a file. A graph of a client's, such as vLLM's "before split", always does."""
    match artefact.dialect:
        case Dialect.GRAPH:
            return artefact.stage in OPENED or artefact.stage not in _OF_TORCH
        case Dialect.KERNEL | Dialect.CPP:
            return True
        case _:
            return False
