"""Run a compiled function from the text of its `full_code_for_*.py`, in the process that compiled it.

replica = Replica(toy_example)
replica(a, b)                # the same values as the compiled function, by the same entry
print(replica.which(a, b))   # 0/1; 0/0 cannot serve it: size of L["a"]: expected (10,), got (8,)
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.model.guard_failure import GuardFailure
from depyf.model.names import RESUME_AT
from depyf.torch.capture import live
from depyf.torch.guards.full_code import CompiledEntry, CompiledFunction, FullCode, render_full_code
from depyf.torch.guards.render import entry_suffix, guard_name
from depyf.torch.guards.verdicts.explain import explain
from depyf.torch.replica.dispatch import Dispatch, Entry, Live, Served, parameters
from depyf.verify.candidate.placeholders import put_back_code

FILENAME = "<full code of {}>"


@dataclass(frozen=True, slots=True)
class Choice:
    """The entry that serves a call, and why the entries that torch checks before it do not.

    `entry` is torch's compile id, or None if every entry refuses. Then the function itself runs uncompiled, and torch
    would compile a new entry.
    """

    function: str
    entry: str | None
    failures: Mapping[str, Sequence[GuardFailure]]

    def __str__(self) -> str:
        lines = [f"{self.function}: {self.entry or 'no entry fits, torch would compile a new one'}"]
        for entry, failures in self.failures.items():
            lines += [f"  entry {entry} cannot serve it", *(f"    {failure}" for failure in failures)]
        return "\n".join(lines)


class Overlay(dict[str, Any]):
    """Globals for transformed code: the current globals of the user's module, with the replica's resume functions.

    An assignment to a global reaches the user's module when the code continues in a resume function, or ends.
    """

    def __init__(self, entry: CompiledEntry, scope: dict[str, Any], resumes: Mapping[int, Callable[..., Any]]) -> None:
        super().__init__(entry.placeholders)
        self["__builtins__"] = scope["__builtins__"]
        self["__name__"] = scope.get("__name__", "")
        self._own = set(self)
        self._called = entry.names
        self._scope = scope
        self._resumes = resumes

    def __missing__(self, name: str) -> Any:  # noqa: ANN401  a global may be anything
        value = self._scope[self._called.get(name, name)]
        if not name.startswith(RESUME_AT):
            return value
        # One resume function may have several names.
        return self._resumes.get(id(live.resume_code(value)), value)

    def give_back(self) -> None:
        """Write the globals that transformed code has assigned to the user's module."""
        for name in [name for name in self if name not in self._own]:
            self._scope[name] = self.pop(name)


class Replica:
    """A function that runs from the text of its full code.

    Args:
        compiled: a compiled function, method or module of this process.
        functions: the captured function and its resume functions; read from torch's cache by default.
        full_code: their text, if it exists already.

    Raises:
        TypeError: `compiled` is not a function, method or module.
        ValueError: it was never compiled.
    """

    def __init__(
        self,
        compiled: object,
        functions: Sequence[CompiledFunction] | None = None,
        full_code: FullCode | None = None,
    ) -> None:
        self.function, self.bound_to = live.root_function(compiled)
        self.functions = list(functions) if functions is not None else live.collect(self.function)
        if not any(function.entries for function in self.functions):
            raise ValueError(f"{self.function.__qualname__} has no compiled entries: call it first")
        self.full_code = full_code or render_full_code(self.functions)
        self.served: list[Served] = []
        self._scope = self.function.__globals__
        self._names: dict[str, Any] = {name: held.get() for name, held in self.full_code.objects.items()}
        self._resumes: dict[int, Callable[..., Any]] = {}
        self._running: list[Overlay] = []
        self._execute()

    @property
    def text(self) -> str:
        """The text that runs."""
        return self.full_code.text

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Call the function as defined by the text."""
        self.served.clear()
        return self._root(self._arguments(args, kwargs))

    def which(self, *args: object, **kwargs: object) -> Choice:
        """Return which entry of the root function serves this call, and why others do not. Nothing is run."""
        frame = self._root.frame(self._arguments(args, kwargs))
        chosen = self._root.choose(frame)
        root = self.functions[0]
        trees = {entry.compile_id: entry.guards for entry in root.entries}
        failures: dict[str, list[GuardFailure]] = {}
        for entry in self._root.ordered():
            if entry is chosen:
                break
            failures[entry.id] = explain(trees[entry.id], frame, self._scope)
        return Choice(self.full_code.functions[0], chosen.id if chosen else None, failures)

    def _arguments(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> dict[str, object]:
        """Return the values of the parameters, in the order of the frame's local variables."""
        if self.bound_to is not None:
            args = (self.bound_to, *args)
        bound = inspect.signature(self.function, follow_wrapped=False).bind(*args, **kwargs)
        bound.apply_defaults()
        return {name: bound.arguments[name] for name in parameters(self.function.__code__)}

    def _execute(self) -> None:
        """Run the text, and connect its definitions with the process."""
        name = self.full_code.functions[0]
        compiled = compile(self.text, FILENAME.format(name), "exec", dont_inherit=True)
        for function, called in zip(self.functions, self.full_code.functions, strict=True):
            self._names[f"original_{called}"] = None
            for entry in function.entries:
                self._names[f"code_{entry_suffix(entry.compile_id)}"] = None
        exec(compiled, self._names)
        pairs = list(zip(self.functions, self.full_code.functions, strict=True))
        for function, called in pairs[1:]:
            self._resumes[id(function.code)] = self._resume(function, called)
        cells = dict(zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=True))
        self._root = self._attach(*pairs[0], cells, self.function)
        self._names[f"{name}_entries"] = self._root

    def _resume(self, function: CompiledFunction, called: str) -> Callable[..., Any]:
        """Return the replica of a resume function, or a function that makes the replica from cells."""
        names = function.code.co_freevars
        scope = live.scope_of(function.code, self._scope)

        def with_cells(cells: tuple[types.CellType, ...]) -> Callable[..., Any]:
            original = types.FunctionType(function.code, scope, function.code.co_name, None, cells)
            table = self._attach(function, called, dict(zip(names, cells, strict=True)), original)
            return lambda *values: table(dict(zip(parameters(function.code), values, strict=True)))

        if names:
            return with_cells
        original = types.FunctionType(function.code, scope, function.code.co_name)
        self._names[f"{called}_entries"] = self._attach(function, called, {}, original)
        resume: Callable[..., Any] = self._names[called]
        return resume

    def _settle(self) -> None:
        """Write assigned globals to the user's module, because guards and resume functions read them."""
        for overlay in self._running:
            overlay.give_back()

    def _attach(
        self,
        function: CompiledFunction,
        called: str,
        cells: Mapping[str, types.CellType],
        original: types.FunctionType,
    ) -> Dispatch:
        table: Dispatch = self._names[f"{called}_entries"]
        live_entries = {live.compile_id(entry): entry for entry in live.entries(function.code)}
        entries = [
            Entry(
                entry.compile_id,
                self._names[guard_name(entry.compile_id)],
                self._code(entry, live_entries[entry.compile_id].code, cells, original),
            )
            for entry in function.entries
            if entry.compile_id in live_entries
        ]
        attached = Live(
            function.code, original.__globals__, cells, live.order(function.code), self.served, self._settle
        )
        return table.attached(attached, entries, original)

    def _code(
        self,
        entry: CompiledEntry,
        installed: types.CodeType,
        cells: Mapping[str, types.CellType],
        original: types.FunctionType,
    ) -> Callable[..., Any]:
        """Return the code of an entry as a function with the live cells. An entry without text runs torch's code."""
        scope = original.__globals__
        name = f"code_{entry_suffix(entry.compile_id)}"
        made_here = self._names[name]
        code = installed if made_here is None else put_back_code(made_here.__code__, entry.placeholders)
        overlay = Overlay(entry, scope, self._resumes)
        closure = tuple(cells[name] for name in code.co_freevars)
        function = types.FunctionType(code, overlay, name, original.__defaults__, closure)
        function.__kwdefaults__ = original.__kwdefaults__

        def run(*args: object, **kwargs: object) -> object:
            self._running.append(overlay)
            try:
                return function(*args, **kwargs)
            finally:
                self._running.pop().give_back()

        return run
