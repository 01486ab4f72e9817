"""The steps of a compile that torch's timeline does not have: which line, node or kernel the compiler works on.

Each is seen where torch calls a method for it, which is replaced while times are measured. A method that this torch
does not have is left out; its time stays with the step around it.
"""

from __future__ import annotations

import functools
import gc
import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any, TypeAlias

from depyf.model.compile_times import COLLECTOR, IMPORTS, OWN
from depyf.torch.adapters.module_paths import module_of
from depyf.torch.adapters.unseen import left_alone
from depyf.trace.ledger import Ledger, Node

Method: TypeAlias = Callable[..., Any]
FAILED = "places"
"""Why no places are known after an error in depyf, among what is unavailable."""
_PLACE = "_depyf_place"
"""The attribute that keeps a place: that of the call on an interpreter, that of a kernel on its future result."""


class Threads(threading.local):
    """The ledger of each thread."""

    ledger: Ledger | None = None


class Steps:
    """Reports the steps of compiles to the ledger of the thread that compiles."""

    def __init__(self, threads: Threads, stacks: Callable[[str], Iterable[tuple[str, int, str]]]) -> None:
        """Begin to watch.

        Args:
            threads: holds the ledger of each thread.
            stacks: reads the text of a node's stack, outermost frame first.
        """
        self.codes: dict[types.CodeType, None] = {}
        self.traced: dict[types.CodeType, int] = {}
        self.unavailable: dict[str, str] = {}
        self._threads = threads
        self._stacks = stacks
        self._undo = ExitStack()
        self._of_stack: dict[tuple[int, str, str], Node] = {}
        self._of_kernel: dict[str, Node] = {}
        self._awaits_inductor = True
        self._watch_dynamo()
        self._watch_graphs()
        collections = _Collections(self._running)
        gc.callbacks.append(collections)
        self._undo.callback(gc.callbacks.remove, collections)
        finder = _Finder(threads)
        sys.meta_path.insert(0, finder)
        self._undo.callback(sys.meta_path.remove, finder)

    def end(self) -> None:
        """Restore torch's methods."""
        self._undo.close()

    def _running(self) -> Ledger | None:
        """Return the ledger of this thread while it compiles."""
        ledger = self._threads.ledger
        return ledger if ledger is not None and ledger.steps and FAILED not in self.unavailable else None

    def _found(self, find: Callable[..., Node | None], *args: Any) -> Node | None:
        """Return a place. After an error in depyf no more places are looked for."""
        try:
            return find(*args)
        except Exception as error:  # noqa: BLE001 - torch calls this in the user's program
            self.unavailable[FAILED] = f"{type(error).__name__}: {error}"
            return None

    def _replace(self, owner: Any, name: str, make: Callable[[Method], Method]) -> bool:
        before = vars(owner).get(name) if owner is not None else None
        if before is None or not callable(before):
            return False
        replacement = functools.wraps(before)(left_alone(make(before)))
        setattr(owner, name, replacement)

        def restore() -> None:
            if vars(owner).get(name) is replacement:
                setattr(owner, name, before)

        self._undo.callback(restore)
        return True

    def _within(self, owner: Any, name: str, place: Callable[..., Node | None]) -> bool:
        """Make each call of a method a step at the place that `place` returns for its arguments, if it returns one."""

        def make(before: Method) -> Method:
            def call(*args: Any, **kwargs: Any) -> Any:
                ledger = self._running()
                place_of_call = self._found(place, ledger, *args) if ledger is not None else None
                if ledger is None or place_of_call is None:
                    return before(*args, **kwargs)
                depth = ledger.enter(place=place_of_call)
                try:
                    return before(*args, **kwargs)
                finally:
                    ledger.leave(depth)

            return call

        return self._replace(owner, name, make)

    def _watch_dynamo(self) -> None:
        from torch._dynamo import symbolic_convert

        interpreter = getattr(symbolic_convert, "InstructionTranslatorBase", None)
        inlined = getattr(symbolic_convert, "InliningInstructionTranslator", None)

        def begins_line(before: Method) -> Method:
            def starts_line(translator: Any, line: int, *args: Any, **kwargs: Any) -> Any:
                ledger = self._running()
                if ledger is not None:
                    ledger.move(self._found(self._at_line, ledger, translator, line) or ledger.root)
                return before(translator, line, *args, **kwargs)

            return starts_line

        if not self._replace(interpreter, "starts_line", begins_line):
            self.unavailable["lines that are traced"] = "this torch does not provide the lines that Dynamo reads"
        # A call keeps its place: when it has ended, time belongs to the caller's line again.
        if not self._within(inlined, "inline_call_", lambda ledger, *_: ledger.steps[-1].place):
            self._within(inlined, "inline_call", lambda ledger, *_: ledger.steps[-1].place)

    def _at_line(self, ledger: Ledger, translator: Any, line: int) -> Node:
        """Return the place of a line that Dynamo begins to interpret."""
        caller, spot = self._begun(ledger, translator)
        return caller.below((spot[0], line, *spot[1:]))

    def _begun(self, ledger: Ledger, translator: Any) -> tuple[Node, tuple[str, str, str, str]]:
        """Return the place that called a function which Dynamo interprets, and the parts of its spots but the line."""
        kept: tuple[Node, tuple[str, str, str, str]] | None = translator.__dict__.get(_PLACE)
        if kept is None:
            code = translator.f_code
            is_inlined = getattr(translator, "parent", None) is not None
            self.codes[code] = None
            self.traced[code] = self.traced.get(code, 0) + 1
            module = module_of(getattr(translator, "nn_module_stack", None))
            caller = ledger.steps[-1].place if is_inlined else ledger.root
            kept = translator.__dict__[_PLACE] = caller, (code.co_filename, code.co_name, *module)
        return kept

    def _watch_graphs(self) -> None:
        from torch import fx
        from torch.fx import traceback

        self._within(fx.Interpreter, "run_node", self._of_node)

        def follows(before: Method) -> Method:
            def set_stack_trace(stack: Any, *args: Any, **kwargs: Any) -> Any:
                ledger = self._running()
                if ledger is not None and isinstance(stack, list) and stack and isinstance(stack[-1], str):
                    place = self._found(self._of_text, ledger, "".join(stack), ("", ""))
                    ledger.move(place or ledger.root)
                return before(stack, *args, **kwargs)

            return set_stack_trace

        # The backward pass of a joint graph is no node of a graph yet; autograd names the forward's stack.
        self._replace(traceback, "set_stack_trace", follows)

    def watch_inductor(self) -> None:
        """Watch Inductor, once it is imported."""
        scheduler: Any = sys.modules.get("torch._inductor.scheduler")
        if not self._awaits_inductor or not hasattr(scheduler, "BaseScheduling"):
            return
        self._awaits_inductor = False
        codecache = sys.modules.get("torch._inductor.codecache")
        wrapper = _owner("codegen.wrapper", "PythonWrapperCodegen") or _owner("codegen.wrapper", "WrapperCodeGen")
        compiler = _owner("async_compile", "AsyncCompile") or _owner("codecache", "AsyncCompile")
        probing = _owner("cpu_vec_isa", "VecISA") or _owner("codecache", "VecISA")
        self._within(_owner("graph", "GraphLowering"), "run_node", self._of_node)
        self._within(scheduler.Scheduler, "flush", lambda ledger, *_: ledger.root)
        # The header and the probe are made for the first kernel and serve all others.
        self._within(codecache, "_precompile_header", lambda ledger, *_: ledger.root)
        self._within(probing, "check_build", lambda ledger, *_: ledger.root)
        self._replace(scheduler.Scheduler, "enter_context", self._moving)
        self._replace(wrapper, "define_kernel", self._naming)
        for method in ("cpp_pybinding", "cpp", "triton", "cutlass", "cuda", "xpu", "rocm", "halide", "pallas"):
            self._replace(compiler, method, self._compiling)
        for subclass in _subclasses(scheduler.BaseScheduling):
            self._within(subclass, "define_kernel", self._of_kernel_nodes)
        for subclass in _subclasses(_owner("codecache", "CodeCacheFuture")):
            self._within(subclass, "result", lambda ledger, future, *_: getattr(future, _PLACE, None))

    def _moving(self, before: Method) -> Method:
        """Move to the lines of each node of the scheduler when its code begins to be generated."""

        def enter_context(scheduler: Any, node: Any, *args: Any, **kwargs: Any) -> Any:
            ledger = self._running()
            if ledger is not None:
                ledger.move(self._found(self._of_scheduled, ledger, (node,)) or ledger.root)
            return before(scheduler, node, *args, **kwargs)

        return enter_context

    def _of_kernel_nodes(self, ledger: Ledger, _: object, text: object, nodes: Any = (), *more: object) -> Node | None:
        return self._of_scheduled(ledger, nodes if isinstance(nodes, (list, tuple)) else (nodes,))

    def _of_scheduled(self, ledger: Ledger, nodes: Iterable[Any]) -> Node | None:
        """Return the place of nodes of the scheduler."""
        return self._of_nodes(ledger, _origins(nodes))

    def _naming(self, before: Method) -> Method:
        """Record the place of each kernel's text, by which its compiler is recognised later."""

        def define_kernel(wrapper: Any, name: str, body: str, *args: Any, **kwargs: Any) -> Any:
            """Note the place of a kernel that Inductor defines, and define it.

            Args:
                wrapper: Inductor's writer of the module.
                name: the name of the kernel.
                body: the text of the kernel.
            """
            ledger = self._running()
            if ledger is not None and isinstance(body, str):
                self._of_kernel[_quoted(body)] = ledger.steps[-1].place
            return before(wrapper, name, body, *args, **kwargs)

        return define_kernel

    def _compiling(self, before: Method) -> Method:
        """Make the compile of a kernel a step at the place of the kernel, as well as waiting for its result."""

        def compile_kernel(owner: Any, *args: Any, **kwargs: Any) -> Any:
            ledger = self._running()
            texts = (arg for arg in (*args, *kwargs.values()) if isinstance(arg, str))
            place = next((self._of_kernel[text.strip()] for text in texts if text.strip() in self._of_kernel), None)
            if ledger is None or place is None:
                return before(owner, *args, **kwargs)
            depth = ledger.enter(place=place)
            try:
                future = before(owner, *args, **kwargs)
            finally:
                ledger.leave(depth)
            if hasattr(future, "result") and hasattr(future, "__dict__"):
                future.__dict__[_PLACE] = place
            return future

        return compile_kernel

    def _of_node(self, ledger: Ledger, _: object, node: Any, *more: object) -> Node | None:
        return self._of_nodes(ledger, (node,))

    def _of_nodes(self, ledger: Ledger, nodes: Iterable[Any]) -> Node | None:
        """Return the place of nodes of a graph: their line, or the lines of the innermost function around them all."""
        places = []
        for node in nodes:
            meta: dict[str, Any] = getattr(node, "meta", {})
            text = meta.get("stack_trace")
            if isinstance(text, str):
                places.append(self._of_text(ledger, text, module_of(meta.get("nn_module_stack"))))
        return _common(places) if places else None

    def _of_text(self, ledger: Ledger, text: str, module: tuple[str, str]) -> Node:
        key = id(ledger), text, module[0]
        node = self._of_stack.get(key)
        if node is None:
            node, frames = ledger.root, list(self._stacks(text))
            for index, (file, line, function) in enumerate(frames):
                node = node.below((file, line, function, *(module if index == len(frames) - 1 else ("", ""))))
            self._of_stack[key] = node
        return node


class _Collections:
    """Makes each garbage collection a step."""

    def __init__(self, running: Callable[[], Ledger | None]) -> None:
        self._running = running
        self._depth: int | None = None

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        ledger = self._running()
        if ledger is None:
            self._depth = None
        elif phase == "start":
            self._depth = ledger.enter(COLLECTOR)
        elif self._depth is not None:
            ledger.leave(self._depth)


def _origins(nodes: Iterable[Any]) -> Iterator[Any]:
    """Yield the graph's nodes that nodes of the scheduler compute."""
    for node in nodes:
        for get_node in node.get_nodes() if hasattr(node, "get_nodes") else (node,):
            ir_node: Any = getattr(get_node, "node", None)
            yield from (
                ir_node.get_origins() if hasattr(ir_node, "get_origins") else getattr(ir_node, "origins", None) or ()
            )


def _common(node_places: list[Node]) -> Node:
    """Return the only place, or the lines of several places in the innermost function that contains them all."""
    places = list(dict.fromkeys(node_places))
    if len(places) == 1:
        return places[0]
    chains = [_chain(place) for place in places]
    depth = 0
    while all(len(chain) > depth for chain in chains) and len({chain[depth] for chain in chains}) == 1:
        depth += 1
    around = chains[0][max(depth, 1) - 1]  # at least the root of the tree
    spots = [chain[depth].spot for chain in chains if len(chain) > depth]
    functions = {(spot[0], spot[2]) for spot in spots if spot is not None}
    if len(functions) != 1 or len(spots) < len(chains):
        return around
    lines = {line for spot in spots if spot is not None for line in _lines(spot[1])}
    (file, function), module = functions.pop(), {spot[3:] for spot in spots if spot is not None}
    return around.below((file, tuple(sorted(lines)), function, *(module.pop() if len(module) == 1 else ("", ""))))


def _lines(lines: int | tuple[int, ...]) -> tuple[int, ...]:
    return (lines,) if isinstance(lines, int) else lines


def _chain(node: Node | None) -> list[Node]:
    """Return a place and its callers, the root first."""
    nodes: list[Node] = []
    while node is not None:
        nodes.append(node)
        node = node.caller
    return nodes[::-1]


def _quoted(body: str) -> str:
    """Return the text between triple quotes: a kernel in the statement that compiles it."""
    return (body.split("'''", 2)[1] if body.count("'''") >= 2 else body).strip()


def _owner(module: str, name: str) -> Any:
    """Return a class of Inductor's, or None if this torch does not have it there."""
    return getattr(sys.modules.get(f"torch._inductor.{module}"), name, None)


def _subclasses(owner: type | None) -> list[type]:
    classes: list[type] = [owner] if owner is not None else []
    for owner_class in classes:
        below: list[type] = owner_class.__subclasses__()
        classes.extend(subclass for subclass in below if subclass not in classes)
    return classes


class _Timed(Loader):
    """Executes a module as its own loader does, as a step of a compile."""

    def __init__(self, loader: Loader, threads: Threads) -> None:
        self._loader = loader
        self._threads = threads

    def create_module(self, spec: ModuleSpec) -> types.ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        ledger = self._threads.ledger
        if ledger is None or not ledger.steps:
            self._loader.exec_module(module)
            return
        depth = ledger.enter(IMPORTS)
        try:
            self._loader.exec_module(module)
        finally:
            ledger.leave(depth)


class _Finder(MetaPathFinder):
    """Finds modules as the other finders do, and times their execution while this thread compiles."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads

    def find_spec(self, name: str, path: Any = None, target: types.ModuleType | None = None) -> ModuleSpec | None:
        """Return the specification of a module whose execution is timed; None outside compiles.

        Args:
            name: the name of the module.
            path: the path of its package, as the import system passes it.
            target: the module to reload, as the import system passes it.
        """
        ledger = self._threads.ledger
        if ledger is None or not ledger.steps or ledger.steps[-1].stage in (IMPORTS, OWN):
            return None
        others = sys.meta_path[sys.meta_path.index(self) + 1 :]
        finders = (finder.find_spec for finder in others if hasattr(finder, "find_spec"))
        spec = next((found_spec for find in finders if (found_spec := find(name, path, target)) is not None), None)
        loader = getattr(spec, "loader", None)
        if spec is not None and isinstance(loader, Loader) and hasattr(loader, "exec_module"):
            spec.loader = _Timed(loader, self._threads)
        return spec
