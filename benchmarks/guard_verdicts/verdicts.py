"""The verdicts of torch's C++ guards and of ours, on the same calls."""

from __future__ import annotations

import contextlib
import inspect
import re
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch._dynamo.config

from corpus.guards.program import Change, Program
from depyf.model.guard_failure import Check, GuardFailure
from depyf.torch.adapters import seams
from depyf.torch.capture import live
from depyf.torch.guards.full_code import CompiledEntry, CompiledFunction, render_full_code
from depyf.torch.guards.render import guard_name
from depyf.torch.guards.tree import Tree
from depyf.torch.guards.verdicts import agreement
from depyf.torch.guards.verdicts.explain import explain

_DICT_ITEM = re.compile(r"dict_item\(([^()]*), ([^(),]*)\)")
_MARK = re.compile(r"\b_dynamo_\w+")
_VALUE = re.compile(r"[LG]\['\w+'\](?:\.\w+|\[[^\]]*\])*")


@dataclass(frozen=True)
class Verdict:
    """What torch and we say about one call and one entry; `None` stands for an exception out of torch's guards."""

    program: str
    change: str
    entry: str
    torch: bool | None
    ours: bool
    ours_without_locals: bool
    failures: tuple[GuardFailure, ...]
    torch_names: tuple[str, ...] = ()

    @property
    def names_what_torch_names(self) -> bool:
        """Return whether what torch says it stumbled over is among the reasons, by its words or by its value."""
        said = " ".join(self.torch_names).replace("_has_dynamo_dim_marking", "marked dimensions")
        said = said.replace("Duplicate tensor", "the same object")
        values = [value.replace("'", '"') for value in _VALUE.findall(said)]
        for failure in self.failures:
            same = any(part in failure.text or part in failure.actual for part in self.torch_names)
            source = _short(failure.source)
            there = any(source.startswith(value) or f"({value}" in source for value in values)
            # Torch's word for autocast's cache is autocast too.
            word = failure.source.removesuffix("_cache") if failure.check is Check.STATE else failure.check.value
            marks = _MARK.findall(failure.expected) if failure.check is Check.MARKS else []
            if same or there or any(name and name in said for name in (word, *marks)):
                return True
        return False

    @property
    def agree(self) -> bool:
        """Return whether the guard, the one read without the call's locals, and the explanation say what torch says."""
        expected = bool(self.torch)
        return expected == self.ours == self.ours_without_locals == (not self.failures)


def _short(source: str) -> str:
    """Return an expression as torch writes it: without the dicts in which attributes of a module are."""
    source = re.sub(r'\.__dict__\["(\w+)"\]', r".\1", source)
    before = ""
    while source != before:
        before, source = source, _DICT_ITEM.sub(r"\1[\2]", source)
    return source


@dataclass(frozen=True)
class Guarded:
    """One entry of a compiled program: torch's guards, ours, and ours as they are read after the call is over."""

    entry: str
    root: Any
    tree: Tree
    guard: Callable[..., bool]
    guard_without_locals: Callable[..., bool]
    text: str
    differs: str


def root_of(function: object) -> types.FunctionType:
    """Return the Python function whose frame is compiled."""
    return live.root_function(function)[0]


def frame_of(program: Program, arguments: tuple[Any, ...]) -> dict[str, Any]:
    """Return the locals with which the function is entered, free variables included."""
    function, owner = live.root_function(program.function)
    values = arguments if owner is None else (owner, *arguments)
    bound = inspect.signature(function, follow_wrapped=False).bind(*values)
    bound.apply_defaults()
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {**bound.arguments, **{name: cell.cell_contents for name, cell in cells}}


def executable(function: types.FunctionType, entry: str, tree: Tree) -> tuple[Callable[..., bool], str]:
    """Return the guard as the text of a full-code file makes it, and that text."""
    compiled = CompiledFunction(
        function.__name__, function.__code__, function.__code__.co_filename, 1, "", [CompiledEntry(entry, tree)]
    )
    full = render_full_code([compiled])
    suffix = guard_name(entry).removeprefix("guard_")
    names: dict[str, Any] = {name: held.get() for name, held in full.objects.items()}
    names |= {f"code_{suffix}": None, f"original_{full.functions[0]}": None}
    exec(compile(full.text, f"<{function.__name__}>", "exec"), names)
    return names[guard_name(entry)], full.text


def read(program: Program, arguments: tuple[Any, ...]) -> list[Guarded]:
    """Return the entries that torch has for a program that was called with `arguments`."""
    function = root_of(program.function)
    filename = function.__code__.co_filename
    guarded = []
    for entry in live.entries(function.__code__):
        id = live.compile_id(entry)
        tree, differs = agreement.read(seams.entry_guard_manager(entry), frame_of(program, arguments), filename)
        cold, _ = agreement.read(seams.entry_guard_manager(entry), None, filename)
        guard, text = executable(function, id, tree)
        cold_guard, _ = executable(function, id, cold)
        guarded.append(Guarded(id, seams.entry_guard_manager(entry).root, tree, guard, cold_guard, text, differs))
    return guarded


def ask(program: Program, guarded: Guarded, change: Change, arguments: tuple[Any, ...]) -> Verdict:
    """Ask torch's guards and ours about one call."""
    scope = root_of(program.function).__globals__
    with program.around(), change.around():
        given = arguments if change.arguments is None else change.arguments()
        L = frame_of(program, given)
        try:
            torch_says: bool | None = bool(guarded.root.check(dict(L)))
        except (RuntimeError, SystemError, TypeError):
            torch_says = None
        ours = guarded.guard(L, scope)
        cold = guarded.guard_without_locals(L, scope)
        refusals = tuple(explain(guarded.tree, L, scope))
        named = tuple(guarded.root.check_verbose(dict(L)).verbose_code_parts) if torch_says is False else ()
    return Verdict(program.name, change.name, guarded.entry, torch_says, ours, cold, refusals, named)


@contextlib.contextmanager
def configured(program: Program) -> Iterator[None]:
    """Compile under the program's configuration of Dynamo."""
    with torch._dynamo.config.patch(program.config), program.around():
        yield


class NotAsked(Exception):
    """This torch cannot be asked: it lacks what the program uses, or does not compile it."""


def compiled(program: Program) -> tuple[tuple[Any, ...], list[Guarded]]:
    """Compile a program; return the arguments of the call and the entries.

    Raises:
        NotAsked: this torch lacks what the program uses, or compiled nothing.
    """
    torch._dynamo.reset()
    try:
        with configured(program):
            arguments = program.arguments()
            torch.compile(program.function, **{"backend": "eager", **program.options})(*arguments)
            entries = read(program, arguments)
    except (AttributeError, KeyError, ImportError, torch._dynamo.exc.TorchDynamoException) as error:
        raise NotAsked(f"{program.name}: {str(error).splitlines()[0]}") from error
    if not entries:
        raise NotAsked(f"{program.name} is not compiled")
    return arguments, entries


def verdicts(program: Program) -> Iterator[tuple[Guarded, Verdict]]:
    """Compile a program and ask about the compiled call and every change of it; a change that needs more is left out.

    Raises:
        NotAsked: this torch lacks what the program uses, or compiled nothing.
    """
    arguments, entries = compiled(program)
    for guarded in entries:
        fresh = None if program.keeps else program.arguments
        for change in (Change("the same", fresh), *program.changes):
            yield guarded, ask(program, guarded, change, arguments)
