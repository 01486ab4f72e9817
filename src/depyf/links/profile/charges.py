"""Charge each event to the lines of a kernel, the guards of a function, a graph break, and so on."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from depyf.bytecode.records import dataclass
from depyf.links.origins import Origin, Origins
from depyf.links.profile.programs import Programs
from depyf.links.profile.tree import Node, Span, all_nodes

KERNEL, BACKWARD, EAGER, BREAK = "kernel", "backward", "eager", "break"
GUARDS, DYNAMO, WRAPPER, LAUNCH, OPTIMIZER = "guards", "dynamo", "wrapper", "launch", "optimizer"
COPY, ALLOCATION, WAITING, PYTHON, REST = "copy", "allocation", "waiting", "python", "rest"

WORDS = {
    KERNEL: "kernels of compiled graphs",
    BACKWARD: "backward, by the forward line",
    EAGER: "operations outside compiled code",
    BREAK: "gaps of graph breaks",
    GUARDS: "guards and cache lookup",
    DYNAMO: "code that Dynamo wrote",
    WRAPPER: "wrappers around kernels",
    LAUNCH: "launches of kernels while the device is idle",
    OPTIMIZER: "optimizer",
    COPY: "copies outside compiled code",
    ALLOCATION: "allocation outside compiled code",
    WAITING: "waiting for the device",
    PYTHON: "Python between torch's operations",
    REST: "not explained",
}
"""Every bucket, with its description."""

_REGION = re.compile(r"^Torch-Compiled Region: (\S+)")
_LOOKUP = re.compile(r"^(?:Torch)?Dynamo Cache Lookup|^TorchDynamo Cache Lookup")
_MODULE = re.compile(r"^## Call CompiledFxGraph|^Inductor Standalone|^CUDA ?Graph")
_KERNEL_NAME = re.compile(r"^(?:graph_\d+_)?(?:cpp|triton)_")
_GLUE = re.compile(r"^(?:AOTDispatcher |CompiledFunction|autograd::engine::evaluate_function: CompiledFunction)")
_PREGRAPH = re.compile(r"^Pregraph bytecode")
_OPTIMIZER = re.compile(r"^Optimizer\.(?:step|zero_grad)#")
_BACKWARD = re.compile(r"^autograd::engine::evaluate_function: |Backward\d*$")
_COPIES = re.compile(r"^aten::(?:copy_|to|_to_copy|contiguous|clone)$|^Memcpy")
_ALLOCATIONS = re.compile(r"^aten::(?:empty\w*|new_empty\w*|resize_|zeros|zeros_like)$|^Memset")
_WAITS = re.compile(r"^cu(?:da|)(?:Device|Stream|Event)Synchronize|^aten::_local_scalar_dense")
_RUNTIME = re.compile(r"^cu(?:da)?[A-Z]|^hip[A-Z]")


@dataclass(frozen=True, slots=True)
class Charge:
    """The target of a charge for a stretch of time.

    lines: the user's lines that need the work: one, or the set of one kernel.
    function: the function whose guards, wrapper or code ran.
    name: the kernel or operation; `file` and `row` are the place of its call in the dump.
    """

    kind: str
    lines: Origins = frozenset()
    function: str = ""
    compile: str = ""
    name: str = ""
    file: str = ""
    row: int = 0


_INHERITED = frozenset((KERNEL, BACKWARD, EAGER, OPTIMIZER, COPY, ALLOCATION))
"""Kinds whose charge also covers all nested events."""


class Charges:
    """The charges of all events of one thread.

    lines: the user's lines that run eager operations, if known.
    forwards: charges by autograd's number of the forward operation.
    launched_by: the numbers of the events that launched work on a device. On the host, such a kernel is a launch.
    """

    def __init__(
        self,
        programs: Programs,
        roots: list[Node],
        lines: Mapping[Node, Origin] | None = None,
        forwards: dict[int, Charge] | None = None,
        launched_by: Collection[int] = (),
    ) -> None:
        self._programs = programs
        self._lines = lines or {}
        self._forwards: dict[int, Charge] = {} if forwards is None else forwards
        self._of: dict[Node, Charge] = {}
        self._launching: set[Node] = set()
        self._regions = sorted((node for node in all_nodes(roots) if _REGION.match(node.event.name)), key=_begin)
        for node in all_nodes(roots):
            if node not in self._of:
                above = self._of.get(node.parent) if node.parent is not None else None
                self._of[node] = self._charge(node, above, self._lines.get(node))
            if node.event.sequence >= 0 and self._of[node].kind in (EAGER, COPY) and self._of[node].lines:
                self._forwards.setdefault(node.event.sequence, self._of[node])
            if node.event.number in launched_by and not node.event.launched_by and self._of[node].file:
                self._launching.update(other for other in (node, *node.ancestors()) if self._of[other].file)

    def of(self, node: Node) -> Charge:
        """Return the charge of an event."""
        return self._of[node]

    def by_number(self) -> dict[int, Charge]:
        """Return the charges by the numbers of their events, by which the device's events refer to them."""
        # A call of the device's runtime has a number of another kind, and is launched by an operation.
        launching = (node for node in self._of if node.event.number and not node.event.launched_by)
        return {node.event.number: self._of[node] for node in launching}

    def of_span(self, span: Span) -> Charge:
        """Return the charge of a stretch of time."""
        if span.node is None:
            return Charge(PYTHON)
        region = _REGION.match(span.node.event.name)
        if region is None:
            return self._on_host(span.node)
        gap = self._gap(span, region[1])
        return self._of[span.node] if gap is None else Charge(BREAK, frozenset((gap,)), name="graph break")

    def _on_host(self, node: Node) -> Charge:
        """Return the charge of the host's time in an event, which is a launch if its kernel runs on a device."""
        charge = self._of[node]
        if not charge.file or self._launching.isdisjoint((node, *node.ancestors())):
            return charge
        return replace(charge, kind=LAUNCH, name="launch", file="", row=0)

    def _gap(self, span: Span, compile_id: str) -> Origin | None:
        """Return the line of the graph break to which a stretch of Dynamo's code belongs, or None."""
        assert span.node is not None
        children = span.node.children
        before = [child for child in children if child.event.end <= span.start and not _is_glue(child)]
        if not before and (line := self._programs.break_before(compile_id)) is not None:
            return line
        for child in children:
            if child.event.start < span.start:
                continue
            region = _REGION.match(child.event.name)
            if region is not None:
                return self._programs.break_before(region[1])
            if _MODULE.match(child.event.name) or (child in self._of and self._of[child].kind == KERNEL):
                return None
        return None

    def _charge(self, node: Node, above: Charge | None, line: Origin | None) -> Charge:
        name = node.event.name
        if above is not None and above.kind in _INHERITED:
            return above
        inside = above.compile if above is not None else ""
        if (region := _REGION.match(name)) is not None:
            self._operations_of_graph(node, region[1])
            return self._own(DYNAMO, region[1], "Dynamo's code")
        if _LOOKUP.match(name):
            return self._lookup(node)
        if _MODULE.match(name):
            return self._module(node, inside)
        if _PREGRAPH.match(name):
            return self._own(DYNAMO, inside, "Dynamo's code")
        if _GLUE.match(name):
            if name.startswith("CompiledFunction"):
                self._operations_of_graph(node, inside, is_backward="Backward" in name)
            return self._own(WRAPPER, inside, "AOTAutograd's wrapper")
        if _OPTIMIZER.match(name):
            return Charge(OPTIMIZER, name=name)
        return self._eager(node, above, line)

    def _own(self, kind: str, compile_id: str, name: str) -> Charge:
        return Charge(kind, function=self._programs.function_name(compile_id), compile=compile_id, name=name)

    def _lookup(self, node: Node) -> Charge:
        """Charge a lookup to the function whose code begins right after it, or to none if Dynamo skips the frame.

        Its line is that of the `def`, or of the graph break before a resume function. The last lookup of a step belongs
        to the first call of the next step, which is also the first call of this step.
        """
        after = next((region for region in self._regions if region.event.start >= node.event.end), None)
        if after is None and node.parent is None and self._regions:
            after = self._regions[0]
        region = _REGION.match(after.event.name) if after is not None and after.parent is node.parent else None
        compile_id = region[1] if region is not None else ""
        head = self._programs.heads.get(compile_id)
        lines = frozenset((head,)) if head is not None else frozenset()
        return replace(self._own(GUARDS, compile_id, "guards"), lines=lines)

    def _module(self, node: Node, compile_id: str) -> Charge:
        is_backward = any("Backward" in ancestor.event.name for ancestor in node.ancestors())
        names = [child.event.name for child in node.children]
        text = self._programs.text(compile_id, names, is_module=True, is_backward=is_backward)
        calls = text.matched(names) if text is not None else [None] * len(names)
        kind = BACKWARD if is_backward else KERNEL
        compile_of_text = compile_id or (text.compile if text is not None else "")
        charge = self._own(WRAPPER, compile_of_text, "Inductor's wrapper")
        for child, call in zip(node.children, calls, strict=True):
            if call is not None and text is not None:
                self._of[child] = replace(
                    charge, kind=kind, lines=call.origins, name=child.event.name, file=text.file, row=call.line
                )
            elif not _RUNTIME.match(child.event.name):
                self._of[child] = replace(charge, kind=REST, name=child.event.name)
        return charge

    def _operations_of_graph(self, node: Node, compile_id: str, *, is_backward: bool = False) -> None:
        """Charge the operations of a graph that no compiler lowered. They run one by one, in the order of the graph.

        Before 2.7 they may belong to Inductor's module, whose own call is no event. Then the text that explains more of
        them counts. Such a module names no nodes, so the lines are those of the graph if it has the operation, too.
        """
        ran = [child for child in node.children if is_operation(child) or _KERNEL_NAME.match(child.event.name)]
        names = [child.event.name for child in ran]
        known = [
            self._programs.text(compile_id, names, is_module=is_module, is_backward=is_backward)
            for is_module in (False, True)
            if names
        ]
        matched = [(text, text.matched(names)) for text in known if text is not None]
        # If two texts explain equally many, the graph comes first.
        matched.sort(key=lambda pair: -sum(call is not None for call in pair[1]))
        for text, calls in matched:
            charge = self._own(BACKWARD if is_backward else KERNEL, text.compile, "")
            for child, call in zip(ran, calls, strict=True):
                if call is None:
                    continue
                if child not in self._of:
                    charged = replace(charge, name=child.event.name, file=text.file, row=call.line)
                    self._of[child] = replace(charged, lines=call.origins)
                elif not self._of[child].lines:
                    self._of[child] = replace(self._of[child], lines=call.origins)

    def _eager(self, node: Node, above: Charge | None, line: Origin | None) -> Charge:
        name = node.event.name
        if _WAITS.match(name):
            return Charge(WAITING, name=name)
        if above is not None and above.kind == WRAPPER or _RUNTIME.match(name):
            return replace(above, name=name) if above is not None else Charge(REST, name=name)
        if _BACKWARD.search(name) and "::" in name or name.endswith("Backward"):
            known = self._forwards.get(node.event.sequence)
            return Charge(BACKWARD, known.lines if known is not None else frozenset(), name=name)
        lines = frozenset((line,)) if line is not None else frozenset()
        if above is not None and above.kind == DYNAMO and not lines:
            lines = self._break_around(node)
        kind = COPY if _COPIES.match(name) else ALLOCATION if _ALLOCATIONS.match(name) else EAGER
        return Charge(kind, lines, name=name)

    def _break_around(self, node: Node) -> Origins:
        """Return the line of the graph break to which an operation in Dynamo's code belongs."""
        region = _REGION.match(node.parent.event.name) if node.parent is not None else None
        if region is None:
            return frozenset()
        gap = self._gap(Span(node.event.start, node.event.end, node.parent), region[1])
        return frozenset((gap,)) if gap is not None else frozenset()


def is_operation(node: Node) -> bool:
    """Return whether an event is a top-level operation, not called by compiled code or another operation."""
    name = node.event.name
    inside = any(
        _is_operation_name(ancestor.event.name) or _MODULE.match(ancestor.event.name) for ancestor in node.ancestors()
    )
    return _is_operation_name(name) and not inside


def _is_operation_name(name: str) -> bool:
    return "::" in name and not name.startswith(("autograd::", "torch::autograd::"))


def _is_glue(node: Node) -> bool:
    name = node.event.name
    return bool(_LOOKUP.match(name) or _PREGRAPH.match(name) or name.startswith("AOTDispatcher"))


def _begin(node: Node) -> int:
    return node.event.start


def operations(roots: Iterable[Node]) -> list[Node]:
    """Return the top-level operations, in order."""
    return [node for node in all_nodes(roots) if is_operation(node)]
