"""Find the graph nodes that each line of a kernel's body computes.

before: `tmp3 = tmp1 * tmp2`, where `tmp1` is the value of node `exp` and `tmp2` is loaded from input `arg1_1`, and a
graph with `mul = torch.ops.aten.mul.Tensor(exp, arg1_1)`
after: the line computes `mul`
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from depyf.report.kernels.body import Body
from depyf.report.kernels.evaluate import graph_terms, is_cast, is_part, is_view, parts_read
from depyf.report.kernels.graph import Graph, Node
from depyf.report.kernels.module import Buffer, Kernel, Launch, Module, Value
from depyf.report.kernels.statements import Statement, parameters, statements
from depyf.report.kernels.terms import Terms
from depyf.report.links.origins import NOWHERE, Origins, joined
from depyf.report.syntax import names_in

_ABBREVIATED = {
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "float64": "f64",
    "bool": "b8",
    "uint8": "u8",
    "int64": "i64",
    "int32": "i32",
    "int16": "i16",
    "int8": "i8",
}
"""The dtype abbreviations in the text of a graph."""


_SAME_ORDER = frozenset(("view", "_unsafe_view", "reshape", "unsqueeze", "squeeze", "alias", "detach"))
"""The views that keep the order of elements in memory."""


@dataclass(frozen=True, slots=True)
class Line:
    """A statement of a kernel in one launch.

    `computes` are the nodes whose results it gives. `serves` are the nodes that need its value, if it gives no result
    or only a part of one. `parts` are the nodes of whose results it gives a part. `maybe` are other nodes before those
    in `serves`, to which it may belong instead. `step` is the node for which its value is an intermediate step.
    `is_known` is whether its value is such a step or the value of a node. `numbers` are the constants among its
    operands.
    """

    statement: Statement
    term: int | None
    computes: tuple[str, ...] = ()
    serves: tuple[str, ...] = ()
    maybe: tuple[str, ...] = ()
    step: str = ""
    is_known: bool = False
    parts: tuple[str, ...] = ()
    numbers: frozenset[float] = frozenset()

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes to which it belongs."""
        return self.computes or self.serves

    @property
    def targets(self) -> tuple[str, ...]:
        """The variables that it assigns."""
        return self.statement.targets

    @property
    def is_store(self) -> bool:
        """Whether it writes to memory."""
        return self.statement.place is not None

    @property
    def pointers(self) -> list[str]:
        """The pointers that a store writes through."""
        return _pointers(self.statement.place) if self.statement.place is not None else []

    @property
    def names(self) -> list[str]:
        """The variables that its value depends on."""
        return self.statement.names

    @property
    def operations(self) -> frozenset[str]:
        """The names of its operations in a graph."""
        return self.statement.operations

    @property
    def computes_something(self) -> bool:
        """Whether it does more than load, convert, reshape, store, or add to an accumulator."""
        takes_values = any(each.startswith("tmp") for each in self.names)
        own = self.statement
        return not self.is_store and takes_values and own.computes and not own.accumulates


@dataclass(slots=True)
class Launched:
    """A launch, its lines, and the nodes whose results its pointers hold, before and after it, by parameter.

    aliases: other names that a kernel gives its parameters.
    terms: the terms of the graph's nodes except numbers.
    """

    launch: Launch
    kernel: Kernel
    nodes: tuple[str, ...]
    lines: list[Line] = field(default_factory=list)
    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    terms: Mapping[str, int] = field(default_factory=dict)


def launched(module: Module, graph: Graph, computed: Mapping[str, tuple[str, ...]]) -> list[Launched]:
    """Return each launch of a kernel with the nodes of its lines.

    computed: the nodes that each launch computes, by its handle, as Inductor records them.
    """
    return _Module(module, graph, computed).all()


def origins_of_lines(found: Iterable[Launched], nodes: Mapping[str, Origins]) -> dict[int, Origins]:
    """Return the origins of the statements in a module's kernels; () for a statement that belongs to no known node.

    nodes: the places of the graph's nodes by name. A line of a kernel that is launched more than once has the origins
        of all launches.
    """
    lines: dict[int, Origins] = {}
    for each in found:
        for line in each.lines:
            number = each.kernel.first + line.statement.line - 1
            own = joined(nodes.get(name, NOWHERE) for name in line.nodes)
            is_doubted = any(nodes.get(name, NOWHERE) != own for name in line.maybe)
            lines[number] = joined((lines.get(number, NOWHERE), NOWHERE if is_doubted else own))
    return lines


class _Module:
    """Follows the contents of a module's buffers from launch to launch."""

    def __init__(self, module: Module, graph: Graph, computed: Mapping[str, tuple[str, ...]]) -> None:
        self._module, self._graph, self._computed = module, graph, computed
        self._terms = Terms()
        self._of_node, self._steps = graph_terms(graph, self._terms)
        self._values = {name: term for name, term in self._of_node.items() if not self._terms.is_number(term)}
        self._named: dict[int, list[str]] = {}
        for name, term in self._of_node.items():
            self._named.setdefault(term, []).append(name)
        self._places = {name: place for place, name in enumerate(graph.nodes)}
        self._users: dict[str, set[str]] = {name: {""} if name in graph.returned else set() for name in graph.nodes}
        for node in graph.nodes.values():
            for name in node.uses:
                self._users.setdefault(name, set()).add(node.name)
        self._parts_read = parts_read(graph)
        self._in_parts = frozenset(name for name in graph.nodes if self._is_used_in_parts(name))
        inputs = (each for each in graph.nodes.values() if not each.operation)
        self._held: dict[str, int] = {each.name: self._of_node[each.name] for each in inputs}
        self._called: set[str] = set()
        self._whole: dict[str, str] = {}
        self._written: dict[str, dict[str, int]] = {}

    def _is_used_in_parts(self, name: str) -> bool:
        """Return whether no node needs the whole value of a node, so that a kernel computes parts of it."""
        users = [self._graph.nodes.get(each) for each in self._users[name]]
        return bool(users) and all(each is not None and is_part(each) for each in users)

    def all(self) -> list[Launched]:
        found = []
        for launch in self._module.launches:
            kernel = self._module.kernels.get(launch.kernel)
            if kernel is not None:
                found.append(self._follow(launch, kernel))
            elif not launch.kernel:
                self._rename(launch)
            elif launch.out:
                self._library(launch)
        for name, node in zip(self._module.returned, self._graph.outputs):
            self._return(name, node, found)
        return found

    def _return(self, buffer: str, name: str, found: list[Launched]) -> None:
        """Record that the last launch that writes to a buffer must write the value that the graph returns there.

        The launch may seem to compute another node: `x < y` where the graph has `x > y`, and both exist.
        """
        node = self._graph.nodes.get(name)
        while node is not None and node.operation in _SAME_ORDER:
            node = self._graph.nodes.get(node.uses[0])
        for each in reversed(found):
            names, launch = parameters(each.kernel), each.launch
            given = zip(names, launch.arguments, launch.values)
            held = [(own, value) for own, text, value in given if _buffer_name(text, value) == buffer]
            held = [(own, value) for own, value in held if own in each.after]
            if not held or node is None:
                continue
            parameter, value = held[0]
            is_whole = isinstance(value, Buffer) and math.prod(value.size) == node.count
            if is_whole and not is_view(node):
                each.after[parameter] = node.name
            return

    def _rename(self, launch: Launch) -> None:
        self._whole[launch.out] = launch.arguments[0]
        if launch.arguments[0] in self._held:
            self._held[launch.out] = self._held[launch.arguments[0]]

    def _gather(self, part: str) -> None:
        """Record the content of a buffer after one of its parts was written: `cat`, when all its inputs are there."""
        whole = self._whole.get(part, "")
        if not whole or part not in self._held:
            return
        self._written.setdefault(whole, {})[part] = self._held[part]
        there = set(self._written[whole].values())
        cats = (each for each in self._graph.nodes.values() if each.operation == "cat")
        same = [each for each in cats if {self._of_node.get(name) for name in each.uses} == there]
        if len(same) == 1:
            self._held[whole] = self._of_node[same[0].name]

    def _library(self, launch: Launch) -> None:
        """Record the result of a library's kernel: the node with its name and the same operands."""
        operation = launch.kernel.removesuffix(".default").rpartition(".")[2]
        told = self._computed.get(launch.handle, ())
        buffers = [_buffer_name(text, value) for text, value in zip(launch.arguments, launch.values)]
        given = {self._held[each] for each in buffers if each in self._held}
        named = [each for each in self._graph.nodes.values() if each.operation == operation]
        named = [each for each in named if not told or each.name in told]
        same = [each for each in named if {self._of_node[name] for name in each.uses if name in self._of_node} == given]
        if same or len(named) == 1:
            self._held[launch.out] = self._of_node[(same or named)[0].name]

    def _follow(self, launch: Launch, kernel: Kernel) -> Launched:
        told = self._computed.get(launch.handle)
        inside = self._with_parts(told) if told is not None else frozenset(self._graph.nodes)
        made = Launched(launch, kernel, tuple(sorted(inside, key=self._places.__getitem__)) if told is not None else ())
        names = parameters(kernel)
        held = dict(zip(names, launch.values))
        buffers = {name: _buffer_name(text, held[name]) for name, text in zip(names, launch.arguments)}
        contents = {name: self._held[each] for name, each in buffers.items() if each in self._held}
        made.before = {name: self._one_of(term, held[name], None) for name, term in contents.items()}
        body = Body(self._terms, dict(contents))
        followed = [(each, body.follow(each)) for each in statements(kernel)]
        computes = [self._names(term, each, inside) for each, term in followed]
        left = inside - {name for names in computes for name in names}
        likely = self._likely(followed, computes, made.before, left)
        doubts = {
            index: found
            for index, ((statement, term), own) in enumerate(zip(followed, computes))
            if not own and index not in likely and (found := self._may_compute(statement, term, left))
        }
        lines = _linked(followed, body.aliases, computes, self._in_parts, likely, doubts, self._before)
        lines = [self._as_step(each) for each in lines]
        made.aliases, made.terms = body.aliases, self._values
        made.lines = list(filter(_is_told, lines))
        places = (name for each, _ in followed if each.place is not None for name in names_in(each.place))
        stored = {body.aliases.get(name, name) for name in places}
        for name, each in buffers.items():
            if each and name in stored and name in body.contents:
                self._held[each] = body.contents[name]
                made.after[name] = self._one_of(body.contents[name], held[name], inside)
        self._settle(made, {name: each for name, each in buffers.items() if name in stored})
        for name in stored & buffers.keys():
            self._gather(buffers[name])
        return self._program_s_own(made, buffers) if kernel.is_own else made

    def _program_s_own(self, made: Launched, buffers: Mapping[str, str]) -> Launched:
        """Return a launch of a kernel that the program brought. All of its lines belong to the node that calls it.

        before: `triton_kernel_wrapper_mutation(..., kwargs = {'x_ptr': arg0_1, 'out_ptr': empty})`
        """
        calls = [each for each in self._graph.nodes.values() if each.operation.startswith("triton_kernel_wrapper")]
        given = {each.name: _keywords(each) for each in calls}
        same = [name for name in given if given[name] and given[name].keys() <= {*parameters(made.kernel)}]
        node = next((name for name in same if name not in self._called), "")
        self._called.add(node)
        for name, held in given.get(node, {}).items():
            if buffers.get(name) and held in self._of_node:
                self._held[buffers[name]] = self._of_node[held]
        served = (node,) if node else ()
        made.lines = [Line(each, None, (), served) for each in statements(made.kernel)]
        made.after = {}
        return made

    def _as_step(self, line: Line) -> Line:
        """Return a line with the node for which it is an intermediate step, if there is one."""
        node = self._steps.get(line.term, "") if line.term is not None else ""
        is_known = bool(node) or line.term in self._named
        serves = line.serves if line.nodes or not node else (node,)
        numbers = self._terms.numbers_in(line.term) if line.term is not None else frozenset()
        return replace(line, serves=serves, step="" if line.computes else node, is_known=is_known, numbers=numbers)

    def _with_parts(self, names: tuple[str, ...]) -> frozenset[str]:
        """Return nodes and those that select one of their several results. Inductor lists only some of them."""
        known = [each for each in names if each in self._graph.nodes]
        users = (self._graph.nodes.get(each) for name in known for each in self._users[name])
        items = (each.name for each in users if each is not None and each.operation == "getitem")
        return frozenset((*known, *items))

    def _likely(
        self,
        followed: list[tuple[Statement, int | None]],
        computes: list[tuple[str, ...]],
        before: Mapping[str, str],
        left: frozenset[str],
    ) -> dict[int, str]:
        """Return the nodes of statements with an unknown value: the only one left with that operation on an operand.

        before: `tmp12 = tmp5 * tmp11`, where `tmp5` is random, `tmp11` is `exp`, and only `mul_1` of
            the nodes that use `exp` multiplies
        """
        holds, found = {name: {node} for name, node in before.items() if node}, dict[int, str]()
        for index, ((statement, _), own) in enumerate(zip(followed, computes)):
            operands = {node for name in statement.names for node in holds.get(name, ())}
            computing = statement.computes and not statement.accumulates
            if own:
                given = set(own)
            elif computing:
                given = self._taker(operands & {*self._users}, left, statement.operations)
            else:
                given = set() if statement.accumulates else operands
            stores = statement.place is not None and not own
            likely = given if computing and not own else operands & set(found.values()) if stores else set()
            if len(likely) == 1:
                found[index] = next(iter(likely))
            holds.update(dict.fromkeys(statement.targets, given))
        return found

    def _taker(self, operands: set[str], left: frozenset[str], operations: frozenset[str]) -> set[str]:
        """Return the only node left that applies one of some operations to an operand; {} if there are several."""
        takers = {user for node in operands for user in self._takers(node)} & left
        same = {each for each in takers if self._graph.nodes[each].operation in operations}
        return same if len(same) == 1 else set()

    def _may_compute(self, statement: Statement, term: int | None, left: frozenset[str]) -> set[str]:
        """Return the nodes left that a statement may compute, by its operations and, if known, its numbers."""
        if statement.place is not None or not statement.computes or statement.accumulates:
            return set()
        operations = statement.operations
        numbers = self._terms.numbers_in(term) if term is not None else None
        found = (self._graph.nodes[each] for each in left)
        return {each.name for each in found if each.operation in operations and numbers in (None, each.numbers)}

    def _before(self, wanted: Iterable[str], among: Collection[str]) -> set[str]:
        """Return those of some nodes that other nodes need, looking through views."""
        found, seen, pending = set[str](), set[str](), list(wanted)
        while pending:
            node = self._graph.nodes.get(pending.pop())
            for name in node.uses if node is not None else ():
                if name not in seen and name in self._graph.nodes:
                    seen.add(name)
                    pending.append(name)
                    found |= {name} & {*among}
        return found

    def _takers(self, name: str) -> set[str]:
        """Return the users of a node or of a view of it."""
        found, pending = set[str](), [name]
        while pending:
            for user in self._users.get(pending.pop(), ()):
                if user in found or not user:
                    continue
                found.add(user)
                if is_view(self._graph.nodes[user]):
                    pending.append(user)
        return found

    def _settle(self, made: Launched, stored: Mapping[str, str]) -> None:
        """Assign the one node that is left to a result that is not understood."""
        open_ones = [name for name in stored if not made.after.get(name)]
        taken, inside = set(made.after.values()), set(made.nodes)
        left = [each for each in made.nodes if each not in taken and not self._users[each] <= inside]
        if len(open_ones) == len(left) == 1:
            self._held[stored[open_ones[0]]] = self._of_node[left[0]]
            made.after[open_ones[0]] = left[0]

    def _one_of(self, term: int, value: Value, inside: frozenset[str] | None) -> str:
        """Return the node that a buffer holds: of several with the same value, the first with the buffer's layout.

        Nodes that are computed from different parts of a tensor have the same term but different values, so none is
        returned.
        """
        nodes = [self._graph.nodes[each] for each in self._named.get(term, ()) if inside is None or each in inside]
        if isinstance(value, Buffer):
            count, dtype = math.prod(value.size), _ABBREVIATED.get(value.dtype, "")
            nodes = [each for each in nodes if each.dtype == dtype or not dtype] or nodes
            nodes = [each for each in nodes if each.count == count] or nodes
        nodes = [each for each in nodes if not is_view(each) or is_cast(each)] or nodes
        return nodes[0].name if len({self._parts_read[each.name] for each in nodes}) == 1 else ""

    def _names(self, term: int | None, statement: Statement, inside: frozenset[str]) -> tuple[str, ...]:
        if term is None or self._terms.is_number(term):
            return ()
        own = [each for each in self._named.get(term, ()) if each in inside]
        if statement.place is None and statement.accumulates:
            return ()
        at_index = any(_INDEX.match(each) for each in statement.names)
        is_lookup = at_index and self._terms.made[term][0] == "indexed"
        if statement.place is None and not statement.computes and not is_lookup:
            return tuple(each for each in own if is_cast(self._graph.nodes[each]))
        return tuple(each for each in own if not is_view(self._graph.nodes[each]))


def _keywords(call: Node) -> dict[str, str]:
    """Return the nodes that are arguments of a kernel of the program's, by parameter."""
    told = next((value for name, value in call.keywords if name == "kwargs"), None)
    pairs = zip(told.keys, told.values) if isinstance(told, ast.Dict) else ()
    return {
        str(name.value): node.id
        for name, node in pairs
        if isinstance(name, ast.Constant) and isinstance(node, ast.Name)
    }


def _linked(
    followed: list[tuple[Statement, int | None]],
    aliases: Mapping[str, str],
    computes: list[tuple[str, ...]],
    in_parts: frozenset[str],
    likely: Mapping[int, str],
    doubts: Mapping[int, set[str]],
    before: Callable[[Iterable[str], Collection[str]], set[str]],
) -> list[Line]:
    """Return the lines. A line that gives no whole result serves its `likely` node, or the nodes that need its value.

    doubts: nodes that a statement may compute instead, if they come `before` the nodes that need its value.
    """
    needed: dict[str, dict[str, None]] = {}
    doubted: dict[str, set[str]] = {}
    lines: list[Line] = []
    for index, ((statement, term), own) in reversed(list(enumerate(zip(followed, computes)))):
        served: dict[str, None] = dict.fromkeys((likely[index],)) if index in likely else {}
        stored = _pointers(statement.place) if statement.place is not None else statement.targets
        maybe = set[str]()
        for name in (aliases.get(each, each) for each in stored):
            served.update(needed.get(name, {}) if index not in likely else {})
            maybe |= doubted.get(name, set()) if index not in likely and not own else set()
            if not name.startswith(("_tmp", "tmp_acc")) and statement.place is None:
                needed.pop(name, None)
                doubted.pop(name, None)
        maybe |= before(served, doubts[index]) if index in doubts else set()
        nodes = own or tuple(served)
        for name in statement.names:
            needed.setdefault(aliases.get(name, name), {}).update(dict.fromkeys(nodes))
            doubted.setdefault(aliases.get(name, name), set()).update(maybe)
        whole = tuple(each for each in own if each not in in_parts)
        serves, parts = ((), ()) if whole else (own or tuple(served), own)
        lines.append(Line(statement, term, whole, serves, tuple(sorted(maybe)), parts=parts))
    return _with_accumulators(lines[::-1])


def _with_accumulators(lines: list[Line]) -> list[Line]:
    """Return lines so that all lines with one accumulator serve the node that it gathers, if there is only one."""
    of_line = [{each[0] for name in _all_names(line) if (each := _ACCUMULATOR.match(name))} for line in lines]
    gathered: dict[str, set[str]] = {}
    for line, names in zip(lines, of_line):
        for name in names:
            gathered.setdefault(name, set()).update(line.computes)
    found = []
    for line, names in zip(lines, of_line):
        nodes = {node for name in names for node in gathered[name]}
        is_whole = not line.computes and len(names) == len(nodes) == 1
        found.append(replace(line, serves=tuple(nodes)) if is_whole else line)
    return found


def _all_names(line: Line) -> list[str]:
    place = line.statement.place
    return [*line.targets, *line.names, *(names_in(place) if place is not None else ())]


def _pointers(place: ast.expr) -> list[str]:
    return [name for name in names_in(place) if "ptr" in name or name.startswith("local_buffer")]


_ACCUMULATOR = re.compile(r"tmp_acc\d+")
_INDEX = re.compile(r"tmp\d+$")
"""An index variable. A load at it reads a table."""


def _is_told(line: Line) -> bool:
    """Return whether a line gives or writes a value of the graph, as far as can be seen."""
    return line.is_store or line.term is not None or _is_value(line.statement)


def _is_value(statement: Statement) -> bool:
    return any(name.startswith(("tmp", "_tmp")) for name in statement.targets)


def _buffer_name(text: str, value: object) -> str:
    """Return the name of the buffer that an argument is, or is a view of."""
    if text.isidentifier():
        return text if value is None or isinstance(value, Buffer) else ""
    return value.name if isinstance(value, Buffer) else ""
