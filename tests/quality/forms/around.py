"""What one pass of the decompiler makes of a piece of code, as text."""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterator
from dataclasses import dataclass, field

from depyf.bytecode.code import Code
from depyf.bytecode.reader import read
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.emit.statements import write
from depyf.decompiler.lift.simplify import Known
from depyf.decompiler.passes.conditions import simplifies
from depyf.decompiler.passes.definitions import define
from depyf.decompiler.passes.module import module_body
from depyf.decompiler.pipeline.run import decompile
from depyf.decompiler.pipeline.table import ALONE, BUILD, PASSES, SCOPES
from depyf.decompiler.pipeline.work import Stage, Work
from depyf.decompiler.show.check.passes import Checks
from depyf.decompiler.show.forms import MAKES_ITEMS, STAGE_OF, text_after
from depyf.decompiler.show.graph import name as value
from depyf.decompiler.show.graph import values
from depyf.decompiler.steps import Stopped, recording
from tests.quality.forms.changes import NoForm, changes_of, changing
from tests.quality.forms.operations import listings_for

ROWS = {row.name: row for row in PASSES}
SOURCE = "source"
"""In place of the name of a pass: the text that all passes together give."""
ENDS = frozenset(row.name for row in ALONE.passes)
MADE_ANEW = frozenset({"lift", BUILD, SCOPES, "dispatch-levels"})
"""Passes that give another form than they take: what they give is shown, and not the difference."""
FORCED = {SCOPES: frozenset({BUILD}), "dispatch-levels": frozenset({BUILD, SCOPES})}
KNOWN = Known({"graph": ("first", "second")})
UNCHANGED = "unchanged"
CO_NEWLOCALS = 0x2


@dataclass
class Around:
    """Records each code object before and after one pass; `before` costs the text after every pass."""

    name: str
    with_before: bool
    found: list[tuple[str, str]] = field(default_factory=list)
    last: dict[int, str] = field(default_factory=dict)

    def begin(self, work: Work) -> None:
        """Hear that a code object is begun."""

    def attempt(self, work: Work, why: str) -> None:
        """Hear that a code object is begun again."""
        self.last.pop(id(work), None)

    def step(self, message: str) -> None:
        """Pass over a step."""

    def after(self, name: str, work: Work) -> None:
        """Record the form if that was the pass."""
        if name == self.name:
            self.found.append((self.last.get(id(work), ""), form_after(name, work)))
            if name in ENDS:
                raise Stopped
        elif self.with_before:
            self.last[id(work)] = form_after(name, work)


def form_after(name: str, work: Work) -> str:
    """Return the form that a pass has left as text; of a graph, also what passes know of its blocks and values."""
    text = text_after(name, work)
    if STAGE_OF[name] in (Stage.LIFT, Stage.STRUCTURE) and name != MAKES_ITEMS:
        text += "".join(f"{note}\n" for note in notes(work))
    return text


def notes(work: Work) -> Iterator[str]:
    """Yield what is known beside the blocks: what lies on their stacks, how they nest, what may raise, and so on."""
    graph = work.graph
    for block in graph.live():
        facts = [f"stack {values(block.stack)}"] if block.stack else []
        nest = getattr(work, "nest", {}).get(block.index)
        facts += [f"in {nest}"] if nest else []
        scope = getattr(work, "scope", {}).get(block.index)
        facts += [f"scope {scope}"] if scope else []
        facts += ["marker"] if block.index in getattr(work, "markers", ()) else []
        facts += ["end"] if block.index == graph.end else []
        if facts:
            yield f"of block {block.index}: {', '.join(facts)}"
    if graph.unsure:
        yield f"may raise: {values(sorted(graph.unsure))}"
    waiting = [f"{value(temp)} over {values(below)}" for temp, below in sorted(graph.waiting.items()) if below]
    if waiting:
        yield f"tests: {', '.join(waiting)}"
    if graph.hints:
        yield f"names: {', '.join(f'{value(temp)} {hint}' for temp, hint in sorted(graph.hints.items()))}"


def code_of(source: str) -> Code:
    """Return the code of the only function or class that a source defines, else of the module."""
    module = compile(source, "<form>", "exec", dont_inherit=True)
    return piece_of(read(module), source)


def piece_of(module: Code, source: str) -> Code:
    """Return the code of the only definition in a module, else of the module."""
    inner = [const for const in module.consts if isinstance(const, Code)]
    is_one = not any(line[:1].strip() for line in source.splitlines()[1:])
    return inner[0] if inner and is_one and source.startswith(("def ", "class ", "async def ")) else module


def forms(code: Code, name: str, *, with_before: bool = True) -> list[tuple[str, str]]:
    """Return each code object, inner ones first, before and after a pass that ran on it.

    Raises DecompilationError where there is no source, and NoForm for changes to a form that leave none.
    """
    changes = changes_of(code)
    if changes is not None:
        return changed_forms(code, name, changes)
    if name == SOURCE:
        body, names = decompile(code, listings=listings_for(code))
        stmts = [define(body, names)[0]] if code.flags & CO_NEWLOCALS else module_body(body, names.objects)
        return [("", write(stmts, Grammar.of(code)))]
    recorder = Around(name, with_before and name not in MADE_ANEW)
    with recording(recorder):
        decompile_until(code, name)
    return recorder.found


def changed_forms(code: Code, name: str, changes: str) -> list[tuple[str, str]]:
    """Return a changed form before and after a pass. Raises NoForm where the pass is not run on it, or breaks it."""
    with recording(Checks()), changing(code, name, changes, form_after) as changed:
        decompile_until(code, name)
    if not changed.ran:
        raise NoForm(changes)
    return [(changed.before, changed.after)]


def decompile_until(code: Code, name: str) -> None:
    """Decompile so that a pass comes."""
    known = KNOWN if ROWS[name].applies is simplifies else None
    decompile(code, known=known, without=FORCED.get(name, frozenset()), listings=listings_for(code))


def shown(code: Code, name: str) -> str:
    """Return what a pass gives, or how it changes what it takes: lines with `-` and `+`, and `unchanged`."""
    parts = []
    for before, after in forms(code, name):
        if name in MADE_ANEW or name == SOURCE:
            parts.append(after)
        elif before == after:
            parts.append(f"{UNCHANGED}\n")
        else:
            parts.append(difference(before, after))
    return "\n".join(parts)


def difference(before: str, after: str) -> str:
    """Return the lines that go (`-`) and come (`+`), each with two lines around it."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))[2:]
    return "".join(f"{'...' if line.startswith('@@') else line}\n".replace(" \n", "\n") for line in lines)


def live_code(function: object) -> Code:
    """Return the code of a live function.

    Raises TypeError for anything else.
    """
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"{function!r} is no function")
    return read(function.__code__)
