"""Forms that no source gives: the form that a pass takes, with a few changes, as the source of a case.

    def f(a): return a
    with changes
    graph.blocks[1].handler = 0
    stmts[0].test = copy(stmts[1].value)
    del stmts[2]

The source is decompiled until the pass comes; then each line is run as Python on what the pass takes: `graph`, `stmts`
and other fields of the work. `copy` copies, `code` makes statements of ours of a text.
"""

from __future__ import annotations

import ast
import contextlib
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace

from depyf.bytecode.code import Code
from depyf.decompiler.pipeline.table import BUILD, PASSES
from depyf.decompiler.pipeline.work import Pass, Stage, Work
from depyf.decompiler.show.check.graph import broken
from depyf.decompiler.show.check.passes import found
from depyf.decompiler.show.check.tree import broken_items, broken_statements
from depyf.decompiler.show.read_tree import read_tree
from depyf.decompiler.structure.labels import Unresolved
from depyf.decompiler.structure.loops import Irreducible
from depyf.decompiler.structure.unstructured import Unstructured
from depyf.errors import DecompilationError

MARK = "with changes\n"
CHANGED: dict[int, tuple[Code, str]] = {}
"""By identity of a code object, the changes to be made."""
ROWS = {row.name: row for row in PASSES}
REFUSALS = (DecompilationError, Unstructured, Unresolved, Irreducible)
FIELDS = (
    "graph", "recognised", "markers", "nest", "scope", "uses", "items", "stmts", "body", "listing", "names", "bodies",
)
OF_GRAPH = ("graph", "recognised", "markers", "nest", "scope", "uses")
UNCHANGED_FIELDS = frozenset({"ctx", "type_comment", "type_ignores", "end_lineno", "end_col_offset", "col_offset"})
DISPATCHES = ("dispatch", "dispatch-levels")


class NoForm(ValueError):
    """Changes that cannot be made, or that leave what is no form."""


class Done(BaseException):
    """The pass has run; the pipeline does not catch it."""


@dataclass
class Changed:
    """The form with its changes, before and after the pass."""

    before: str = ""
    after: str = ""
    ran: bool = False


def put_changes(code: Code, text: str) -> Code:
    """Return a copy of a code object that is decompiled with changes."""
    copied = copy.copy(code)
    CHANGED[id(copied)] = copied, text
    return copied


def changes_of(code: Code) -> str | None:
    """Return the changes to be made to a form of a code object, if there are some."""
    return CHANGED[id(code)][1] if id(code) in CHANGED else None


@contextlib.contextmanager
def in_place_of(row: Pass, run: Callable[[Work], None]) -> Iterator[None]:
    """Run with another function in the place of a pass."""
    original = row.run
    object.__setattr__(row, "run", run)
    try:
        yield
    finally:
        object.__setattr__(row, "run", original)


@contextlib.contextmanager
def changing(
    code: Code, name: str, text: str, form_after: Callable[[str, Work], str], begun: Callable[[], object] = int
) -> Iterator[Changed]:
    """Let the pass of that name run on a changed form of a code object; what is run inside ends with the pass.

    begun: called when the changes have been made.
    """
    row = ROWS[name]
    original, changed = row.run, Changed()

    def run(work: Work) -> None:
        apply(work, name, text)
        changed.before = form_after(before_name(name), work) if name != "lift" else ""
        begun()
        try:
            original(work)
        except REFUSALS as refusal:
            changed.after = f"refused: {type(refusal).__name__}: {str(refusal).partition(chr(10))[0]}\n"
        else:
            if any(found(name, work)):
                raise NoForm("what the pass gives does not hold")
            changed.after = form_after(name, work)
        changed.ran = True

    with in_place_of(row, ending(code, original, run)), contextlib.suppress(Done):
        yield changed


def ending(code: Code, original: Callable[[Work], None], run: Callable[[Work], None]) -> Callable[[Work], None]:
    """Return a pass that does something else to one code object, and then ends the pipeline."""

    def runs(work: Work) -> None:
        if work.code is not code:
            original(work)
            return
        try:
            run(work)
        except Exception as error:  # noqa: BLE001  it is told to who asks; no other way is tried
            raise Done(str(error)) from error
        raise Done

    return runs


def before_name(name: str) -> str:
    """Return a pass behind which the form is of the kind that a pass takes."""
    stage = ROWS[name].stage
    if name in DISPATCHES or stage in (Stage.LIFT, Stage.STRUCTURE):
        return "cut"
    if stage is Stage.ITEMS:
        return BUILD
    return "tidy" if stage is Stage.STATEMENTS else name


def fields_of(name: str, work: Work) -> dict[str, object]:
    """Return what a pass takes, by name."""
    stage = ROWS[name].stage
    if name == "lift":
        wanted: tuple[str, ...] = ("listing",)
    elif name in DISPATCHES or stage in (Stage.LIFT, Stage.STRUCTURE):
        wanted = OF_GRAPH
    elif stage is Stage.ITEMS:
        wanted = ("items",)
    elif stage is Stage.STATEMENTS:
        wanted = ("stmts", "listing")
    else:
        wanted = ("body", "bodies", "listing")
    return {field: getattr(work, field) for field in wanted if hasattr(work, field)}


def named(name: str, work: Work) -> dict[str, object]:
    """Return what a pass takes, as changes name it: bodies of code objects inside by number."""
    by_name = fields_of(name, work)
    return {**by_name, "bodies": [*work.bodies.values()]} if "bodies" in by_name else by_name


def apply(work: Work, name: str, text: str) -> None:
    """Make changes to what a pass takes. Raises NoForm for changes that cannot be made, or break what must hold."""
    if "listing." in text:
        instructions, handlers = map(copy.copy, work.listing.instructions), map(copy.copy, work.listing.handlers)
        places = [*work.listing.places]
        work.listing = replace(work.listing, instructions=[*instructions], handlers=[*handlers], places=places)
    space = {**named(name, work), "ast": ast, "copy": copied, "code": lambda text: read_tree(text, work.code)}
    try:
        exec(compile(text, "<changes>", "exec"), space)  # noqa: S102  what runs is a test's own
        holds = not any(_broken(name, work))
    except Exception as error:  # noqa: BLE001  changes made at random may be anything
        raise NoForm(text) from error
    if not holds:
        raise NoForm(text)


def copied(value: object) -> object:
    """Return a copy of a part of a form; a code object is its own copy."""
    if isinstance(value, list):
        return [copied(item) for item in value]
    if isinstance(value, Code) or not (isinstance(value, ast.AST) or is_dataclass(value)):
        return value
    clone = copy.copy(value)
    for name in names_of(value):
        setattr(clone, name, copied(getattr(value, name)))
    return clone


def names_of(part: object) -> list[str]:
    """Return the names of the fields of a node or a part of a graph."""
    if isinstance(part, ast.AST):
        return [name for name in vars(part) if name not in UNCHANGED_FIELDS]
    return [] if isinstance(part, (Code, type)) or not is_dataclass(part) else [field.name for field in fields(part)]


def _broken(name: str, work: Work) -> Iterator[object]:
    stage = ROWS[name].stage
    if name == "lift":
        return
    if name in DISPATCHES or stage in (Stage.LIFT, Stage.STRUCTURE):
        yield from broken(work.graph)
    elif stage is Stage.ITEMS:
        yield from broken_items(work.items, work.graph.end)
    else:
        body = work.stmts if stage is Stage.STATEMENTS else work.body.stmts
        yield from broken_statements(body, finished=False)
