"""The page of several processes: the compiles of each, and their differences; for ranks it is `index.md`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from depyf.bytecode.records import dataclass
from depyf.model.claims import FOLDER
from depyf.model.counts import breaks_of
from depyf.model.run import Recompile, Session
from depyf.model.writer import INDEX, write_whole
from depyf.views.facts import Facts, differences, facts

PROCESSES = "processes.md"
"""The name of the page in a directory that several processes write to."""

_RANK = re.compile(r"rank_(\d+)$")
_PROCESS = re.compile(FOLDER.format(r"(\d+)") + "$")
_MOST_TRIES = 100


@dataclass(frozen=True, slots=True)
class Words:
    """The words for one and for several processes of a page."""

    one: str
    several: str


@dataclass(frozen=True, slots=True)
class Member:
    """A process of the page: the folder of its index, relative to the page's, and its run."""

    folder: str
    session: Session


def page_of_processes(directory: Path, shared: Path) -> str:
    """Return the relative path from `directory`, where this process writes, to the page about all in `shared`.

    "" if this process is alone.
    """
    if directory != shared:
        return f"../{PROCESSES}"
    return PROCESSES if _folders(shared, _PROCESS) else ""


def write_rank_index(directory: Path) -> None:
    """Write the page about all ranks that have written below `directory` so far, if there are any.

    Raises:
        OSError: a file cannot be read or written.
    """
    _write(directory / "index.md", lambda: _page(_folders(directory, _RANK), Words("rank", "ranks")))


def write_process_index(directory: Path) -> None:
    """Write the page about all processes that have written into `directory` so far, if there are several.

    Raises:
        OSError: a file cannot be read or written.
    """

    def page() -> str:
        members = _folders(directory, _PROCESS)
        if members and (directory / INDEX).exists():
            members = {1: _member("", directory), **members}
        return _page(members, Words("process", "processes"))

    _write(directory / PROCESSES, page)


def _write(path: Path, page: Callable[[], str]) -> None:
    """Write a page that other processes write too, until it is still current after the write.

    Each process writes its own index first, so the process that writes last has read all of them.
    """
    for _ in range(_MOST_TRIES):
        text = page()
        if not text:
            return
        write_whole(path, text)
        if page() == text:
            return


def _page(members: dict[int, Member], words: Words) -> str:
    if not members:
        return ""
    lines = [f"# What torch.compile made, by {words.one}", "", *_table(members, words), ""]
    lines += [f"## Where {words.several} differ", ""]
    apart = list(_differences({str(number): facts(member.session) for number, member in members.items()}, words))
    same = f"Nowhere: the same functions, graphs, breaks and recompiles on {len(members)} {words.several}."
    return "\n".join([*lines, *(apart or [same])]) + "\n"


def _folders(directory: Path, pattern: re.Pattern[str]) -> dict[int, Member]:
    members = {}
    for path in directory.glob(f"*/{INDEX}"):
        match = pattern.match(path.parent.name)
        if match is not None:
            members[int(match[1])] = _member(f"{path.parent.name}/", path.parent)
    return dict(sorted(members.items()))


def _member(folder: str, directory: Path) -> Member:
    """Return what a process wrote; most programs have one process, and it does not read its own index."""
    from depyf.model.index_reader import read_session

    return Member(folder, read_session(directory))


def _table(members: dict[int, Member], words: Words) -> Iterator[str]:
    yield f"| {words.one} | compiles | functions | graph breaks | recompiles | given up | problems |"
    yield f"|{'---|' * 7}"
    for number, member in members.items():
        compiles = [compiled for _, compiled in member.session.compiles()]
        cells = [
            f"[{number}]({member.folder}index.md)",
            str(len(compiles)),
            str(len(member.session.roots())),
            breaks_of(compiles).number,
            str(sum(isinstance(compiled.trigger, Recompile) for compiled in compiles)),
            str(sum(compiled.failure is not None for compiled in compiles)),
            str(len(member.session.problems)),
        ]
        yield "| " + " | ".join(cells) + " |"


def _differences(facts_by_label: dict[str, Facts], words: Words) -> Iterator[str]:
    for name, values in differences(facts_by_label):
        yield f"- {name}"
        for value, labels in values.items():
            label = words.one if len(labels) == 1 else words.several
            yield f"  - {label} {', '.join(labels)}: {' '.join(value.split())}"
