"""Find the graph nodes that each line of a kernel's body computes.

before: `tmp3 = tmp1 * tmp2`, where `tmp1` is the value of node `exp` and `tmp2` is loaded from input `arg1_1`, and a
graph with `mul = torch.ops.aten.mul.Tensor(exp, arg1_1)`
after: the line computes `mul`
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from depyf.links.inductor.body import Body
from depyf.links.inductor.buffers import SCATTERS, Buffers, buffer_name, result_of
from depyf.links.inductor.evaluate import graph_terms, is_cast, is_part, is_view, parts_read
from depyf.links.inductor.graph import Graph, Node
from depyf.links.inductor.line import Launched, Line
from depyf.links.inductor.module import Buffer, Kernel, Launch, Module, Value
from depyf.links.inductor.serving import linked
from depyf.links.inductor.statements import Statement, parameters, statements
from depyf.links.inductor.terms import Terms
from depyf.links.origins import NOWHERE, Origins, joined
from depyf.model.syntax import names_in

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


def launched(module: Module, graph: Graph, computed: Mapping[str, tuple[str, ...]]) -> list[Launched]:
    """Return each launch of a kernel with the nodes of its lines.

    Args:
        module: Inductor's module.
        graph: the lowered graph.
        computed: the nodes that each launch computes, by its handle, as Inductor records them.
    """
    return _Module(module, graph, computed).all()


def library_results(module: Module, graph: Graph, computed: Mapping[str, tuple[str, ...]]) -> dict[int, str]:
    """Return the node whose result each call of a library's kernel gives, by the position among all launches.

    Args:
        module: Inductor's module.
        graph: the lowered graph.
        computed: the nodes that each launch computes, by its handle.
    """
    followed = _Module(module, graph, computed)
    followed.all()
    return followed.libraries


def origins_of_lines(launches: Iterable[Launched], nodes: Mapping[str, Origins]) -> dict[int, Origins]:
    """Return the origins of the statements in a module's kernels; () for a statement that belongs to no known node.

    nodes: the places of the graph's nodes by name. A line of a kernel that is launched more than once has the origins
        of all launches.
    """
    lines: dict[int, Origins] = {}
    for launch in launches:
        for line in launch.lines:
            number = launch.kernel.first + line.statement.line - 1
            origins = joined(nodes.get(name, NOWHERE) for name in line.nodes)
            is_doubted = any(nodes.get(name, NOWHERE) != origins for name in line.maybe)
            lines[number] = joined((lines.get(number, NOWHERE), NOWHERE if is_doubted else origins))
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
        self._buffers = Buffers(graph, self._of_node, self._users)
        launches = [launch.kernel for launch in module.launches]
        self._once = frozenset(name for name in module.kernels if launches.count(name) == 1)
        self._called: set[str] = set()
        self.libraries: dict[int, str] = {}
        """The node whose result each call of a library's kernel gives, by the position among all launches."""

    def _is_used_in_parts(self, name: str) -> bool:
        """Return whether no node needs the whole value of a node, so that a kernel computes parts of it."""
        users = [self._graph.nodes.get(user) for user in self._users[name]]
        return bool(users) and all(user is not None and is_part(user) for user in users)

    def all(self) -> list[Launched]:
        launches = []
        for index, launch in enumerate(self._module.launches):
            kernel = self._module.kernels.get(launch.kernel)
            if kernel is not None:
                launches.append(self._follow(launch, kernel))
            elif not launch.kernel:
                self._buffers.rename(launch)
            else:
                self._buffers.library(launch, self._computed.get(launch.handle, ()))
                self.libraries[index] = self._buffers.nodes.get(result_of(launch), "")
        for name, node in zip(self._module.returned, self._graph.outputs):
            self._return(name, node, launches)
        return launches

    def _return(self, buffer: str, name: str, launches: list[Launched]) -> None:
        """Record that the last launch that writes to a buffer must write the value that the graph returns there.

        The launch may seem to compute another node: `x < y` where the graph has `x > y`, and both exist.
        """
        node = self._graph.nodes.get(name)
        while node is not None and node.operation in _SAME_ORDER:
            node = self._graph.nodes.get(node.uses[0])
        for launched_kernel in reversed(launches):
            names, launch = parameters(launched_kernel.kernel), launched_kernel.launch
            given = zip(names, launch.arguments, launch.values)
            held = [(parameter, value) for parameter, text, value in given if buffer_name(text, value) == buffer]
            held = [(parameter, value) for parameter, value in held if parameter in launched_kernel.after]
            if not held or node is None:
                continue
            parameter, value = held[0]
            is_whole = isinstance(value, Buffer) and math.prod(value.size) == node.count
            if is_whole and not is_view(node):
                launched_kernel.after[parameter] = node.name
            return

    def _follow(self, launch: Launch, kernel: Kernel) -> Launched:
        # The comment above a kernel describes only the kernel's first launch.
        fragment = kernel.computes if kernel.name in self._once and kernel.computes else None
        listed = self._computed.get(launch.handle) or fragment
        inside = self._with_parts(listed) if listed is not None else frozenset(self._graph.nodes)
        launched_kernel = Launched(
            launch, kernel, tuple(sorted(inside, key=self._places.__getitem__)) if listed is not None else ()
        )
        names = parameters(kernel)
        held = dict(zip(names, launch.values))
        buffers = {name: buffer_name(text, held[name]) for name, text in zip(names, launch.arguments)}
        contents = {
            name: self._buffers.terms[buffer] for name, buffer in buffers.items() if buffer in self._buffers.terms
        }
        launched_kernel.before = {
            name: self._held_by(buffers[name], term, held[name]) for name, term in contents.items()
        }
        body = Body(self._terms, dict(contents))
        followed = [(statement, body.follow(statement)) for statement in statements(kernel)]
        launched_kernel.lines = self._lines(followed, body.aliases, launched_kernel.before, inside)
        launched_kernel.aliases, launched_kernel.terms, launched_kernel.reads = (
            body.aliases,
            self._values,
            _reads(followed, body.aliases, names),
        )
        self._store(
            launched_kernel, body, [statement for statement, _ in followed if statement.place is not None], inside
        )
        return self._program_s_own(launched_kernel, buffers) if kernel.is_own else launched_kernel

    def _lines(
        self,
        followed: list[tuple[Statement, int | None]],
        aliases: Mapping[str, str],
        before: Mapping[str, str],
        inside: frozenset[str],
    ) -> list[Line]:
        computes = [self._names(term, statement, inside) for statement, term in followed]
        left = inside - {name for names in computes for name in names}
        likely = self._likely(followed, computes, before, left)
        doubts = {
            index: doubted
            for index, ((statement, term), names) in enumerate(zip(followed, computes))
            if not names and index not in likely and (doubted := self._may_compute(statement, term, left))
        }
        lines = linked(followed, aliases, computes, self._in_parts, likely, doubts, self._before)
        if len(inside) == 1:
            # All lines of a launch that computes one node belong to this node.
            lines = [line if line.nodes else replace(line, serves=tuple(inside)) for line in lines]
        return list(filter(_is_told, (self._as_step(line) for line in lines)))

    def _store(self, launched_kernel: Launched, body: Body, stores: list[Statement], inside: frozenset[str]) -> None:
        """Record the content of the buffers that a launch writes."""
        stored = {body.aliases.get(name, name) for name in _places(stores)}
        given = zip(parameters(launched_kernel.kernel), launched_kernel.launch.arguments, launched_kernel.launch.values)
        buffers = {name: (buffer_name(text, value), value) for name, text, value in given if name in stored}
        is_scattered = _places(store for store in stores if store.is_scattered)
        written_nodes = self._told(launched_kernel.kernel, scatters=bool(is_scattered))
        # Inductor lists a buffer instead of a node for a change in place and for an intermediate step of a node.
        is_said = bool(written_nodes) and len(written_nodes) == len(launched_kernel.kernel.returns)
        written = frozenset(written_nodes) if is_said else inside
        for name, (buffer, value) in buffers.items():
            if buffer and name in body.contents:
                self._buffers.terms[buffer] = body.contents[name]
                launched_kernel.after[name] = self._one_of(body.contents[name], value, written)
        open_ones = {name: buffer for name, (buffer, _) in buffers.items() if not launched_kernel.after.get(name)}
        self._settle_all(
            launched_kernel, open_ones, is_scattered, written_nodes if launched_kernel.kernel.returns else None
        )
        for name, (buffer, _) in buffers.items():
            self._buffers.nodes.pop(buffer, None)
            if is_said and launched_kernel.after.get(name):
                self._buffers.hold(buffer, launched_kernel.after[name])
            self._buffers.gather(buffer)

    def _told(self, kernel: Kernel, *, scatters: bool) -> list[str]:
        """Return the nodes that the only launch of a kernel writes, as the comment above the kernel says.

        The comment above a kernel that only fills the target of a scatter names the scatter, too.
        """
        nodes = self._graph.nodes if kernel.name in self._once else {}
        named = [name for name in kernel.returns if name in nodes]
        return [name for name in named if scatters or not nodes[name].operation.startswith(SCATTERS)]

    def _settle_all(
        self,
        launched_kernel: Launched,
        open_ones: Mapping[str, str],
        is_scattered: Collection[str],
        written: Collection[str] | None,
    ) -> None:
        """Assign the remaining nodes to results that are not understood.

        A buffer in `is_scattered` gets a node that scatters.
        written: the nodes that the launch writes according to Inductor, or None if Inductor does not say.
        """
        scattering = [node for node in launched_kernel.nodes if self._graph.nodes[node].operation.startswith(SCATTERS)]
        inside = {*launched_kernel.nodes}
        left = [name for name in launched_kernel.nodes if not is_view(self._graph.nodes[name])]
        left = [name for name in left if (name in written if written is not None else not self._users[name] <= inside)]
        self._settle(
            launched_kernel, {name: buffer for name, buffer in open_ones.items() if name in is_scattered}, scattering
        )
        self._settle(
            launched_kernel, {name: buffer for name, buffer in open_ones.items() if name not in is_scattered}, left
        )

    def _program_s_own(self, launched_kernel: Launched, buffers: Mapping[str, str]) -> Launched:
        """Return a launch of a kernel that the program brought. All of its lines belong to the node that calls it.

        before: `triton_kernel_wrapper_mutation(..., kwargs = {'x_ptr': arg0_1, 'out_ptr': empty})`
        """
        calls = [node for node in self._graph.nodes.values() if node.operation.startswith("triton_kernel_wrapper")]
        given = {call.name: _keywords(call) for call in calls}
        same = [name for name in given if given[name] and given[name].keys() <= {*parameters(launched_kernel.kernel)}]
        node = next((name for name in same if name not in self._called), "")
        self._called.add(node)
        for name, held in given.get(node, {}).items():
            if buffers.get(name) and held in self._of_node:
                self._buffers.hold(buffers[name], held)
        served = (node,) if node else ()
        launched_kernel.lines = [Line(statement, None, (), served) for statement in statements(launched_kernel.kernel)]
        launched_kernel.after = {}
        return launched_kernel

    def _as_step(self, line: Line) -> Line:
        """Return a line with the node for which it is an intermediate step, if there is one."""
        node = self._steps.get(line.term, "") if line.term is not None else ""
        is_known = bool(node) or line.term in self._named
        serves = line.serves if line.nodes or not node else (node,)
        numbers = self._terms.numbers_in(line.term) if line.term is not None else frozenset()
        return replace(line, serves=serves, step="" if line.computes else node, is_known=is_known, numbers=numbers)

    def _with_parts(self, names: tuple[str, ...]) -> frozenset[str]:
        """Return nodes, and the nodes that select one of their several results. Inductor lists only some of them."""
        known = [name for name in names if name in self._graph.nodes]
        users = (self._graph.nodes.get(user) for name in known for user in self._users[name])
        items = (user.name for user in users if user is not None and user.operation == "getitem")
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
        holds, likely_nodes = {name: {node} for name, node in before.items() if node}, dict[int, str]()
        for index, ((statement, _), nodes) in enumerate(zip(followed, computes)):
            operands = {node for name in statement.names for node in holds.get(name, ())}
            computing = statement.computes and not statement.accumulates
            if nodes:
                given = set(nodes)
            elif computing:
                given = self._taker(operands & {*self._users}, left, statement.operations)
            else:
                given = set() if statement.accumulates else operands
            stores = statement.place is not None and not nodes
            likely = given if computing and not nodes else operands & set(likely_nodes.values()) if stores else set()
            if len(likely) == 1:
                likely_nodes[index] = next(iter(likely))
            holds.update(dict.fromkeys(statement.targets, given))
        return likely_nodes

    def _taker(self, operands: set[str], left: frozenset[str], operations: frozenset[str]) -> set[str]:
        """Return the only node left that applies one of some operations to an operand; {} if there are several."""
        takers = {user for node in operands for user in self._takers(node)} & left
        same = {taker for taker in takers if self._graph.nodes[taker].operation in operations}
        return same if len(same) == 1 else set()

    def _may_compute(self, statement: Statement, term: int | None, left: frozenset[str]) -> set[str]:
        """Return the nodes left that a statement may compute, by its operations and, if known, its numbers."""
        if statement.place is not None or not statement.computes or statement.accumulates:
            return set()
        operations = statement.operations
        numbers = self._terms.numbers_in(term) if term is not None else None
        candidates = (self._graph.nodes[name] for name in left)
        return {node.name for node in candidates if node.operation in operations and numbers in (None, node.numbers)}

    def _before(self, wanted: Iterable[str], among: Collection[str]) -> set[str]:
        """Return the nodes among some that other nodes need, looking through views."""
        needed, seen, pending = set[str](), set[str](), list(wanted)
        while pending:
            node = self._graph.nodes.get(pending.pop())
            for name in node.uses if node is not None else ():
                if name not in seen and name in self._graph.nodes:
                    seen.add(name)
                    pending.append(name)
                    needed |= {name} & {*among}
        return needed

    def _takers(self, name: str) -> set[str]:
        """Return the nodes that use a node, directly or through views."""
        takers, pending = set[str](), [name]
        while pending:
            for user in self._users.get(pending.pop(), ()):
                if user in takers or not user:
                    continue
                takers.add(user)
                if is_view(self._graph.nodes[user]):
                    pending.append(user)
        return takers

    def _held_by(self, buffer: str, term: int, value: Value) -> str:
        """Return the node that a buffer holds before a launch, or ""."""
        node = self._buffers.nodes.get(buffer, "")
        return node if node and self._of_node[node] == term else self._one_of(term, value, None)

    def _settle(self, launched_kernel: Launched, open_ones: Mapping[str, str], nodes: Iterable[str]) -> None:
        """Assign the only remaining node to a result that is not understood."""
        taken = set(launched_kernel.after.values())
        left = [node for node in nodes if node not in taken]
        if len(open_ones) == len(left) == 1:
            (name,) = open_ones
            self._buffers.hold(open_ones[name], left[0])
            launched_kernel.after[name] = left[0]

    def _one_of(self, term: int, value: Value, inside: frozenset[str] | None) -> str:
        """Return the node that a buffer holds: of several with the same value, the first with the buffer's layout.

        Nodes that are computed from different parts of a tensor have the same term but different values, so none is
        returned.
        """
        nodes = [self._graph.nodes[name] for name in self._named.get(term, ()) if inside is None or name in inside]
        if isinstance(value, Buffer):
            count, dtype = math.prod(value.size), _ABBREVIATED.get(value.dtype, "")
            nodes = [node for node in nodes if node.dtype == dtype or not dtype] or nodes
            same = [node for node in nodes if node.count == count]
            nodes = same or [node for node in nodes if node.sizes is None]
        nodes = [node for node in nodes if not is_view(node) or is_cast(node)] or nodes
        return nodes[0].name if len({self._parts_read[node.name] for node in nodes}) == 1 else ""

    def _names(self, term: int | None, statement: Statement, inside: frozenset[str]) -> tuple[str, ...]:
        if term is None or self._terms.is_number(term):
            return ()
        nodes = [name for name in self._named.get(term, ()) if name in inside]
        if statement.place is None and statement.accumulates:
            return ()
        at_index = any(_INDEX.match(name) for name in statement.names)
        is_lookup = at_index and self._terms.made[term][0] == "indexed"
        if statement.place is None and not statement.computes and not is_lookup:
            return tuple(name for name in nodes if is_cast(self._graph.nodes[name]))
        return tuple(name for name in nodes if not is_view(self._graph.nodes[name]))


def _places(stores: Iterable[Statement]) -> set[str]:
    """Return the names in the places of stores."""
    return {name for store in stores for name in names_in(store.place or store.value)}


def _reads(
    followed: Iterable[tuple[Statement, int | None]], aliases: Mapping[str, str], names: Collection[str]
) -> frozenset[str]:
    """Return the parameters whose memory a kernel reads before it writes there.

    A scatter reads its target: elements that it does not write keep their value.
    """
    read_first, written = set[str](), set[str]()
    for statement, _ in followed:
        place = {aliases.get(name, name) for name in names_in(statement.place or statement.value)}
        read = {aliases.get(name, name) for name in statement.names} | (place if statement.is_scattered else set())
        read_first |= read - written
        written |= place if statement.place is not None else set()
    return frozenset(read_first & {*names})


def _keywords(call: Node) -> dict[str, str]:
    """Return the nodes that are arguments of a kernel of the program's, by parameter."""
    keyword = next((value for name, value in call.keywords if name == "kwargs"), None)
    pairs = zip(keyword.keys, keyword.values) if isinstance(keyword, ast.Dict) else ()
    return {
        str(name.value): node.id
        for name, node in pairs
        if isinstance(name, ast.Constant) and isinstance(node, ast.Name)
    }


_INDEX = re.compile(r"tmp\d+$")
"""An index variable. A load at it reads a table."""


def _is_told(line: Line) -> bool:
    """Return whether a line gives or writes a value of the graph, as far as can be seen."""
    return line.is_store or line.term is not None or _is_value(line.statement)


def _is_value(statement: Statement) -> bool:
    return any(name.startswith(("tmp", "_tmp")) for name in statement.targets)
