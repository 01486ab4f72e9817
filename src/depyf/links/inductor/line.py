"""A line of a kernel in one launch, and the launch."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.links.inductor.module import Kernel, Launch
from depyf.links.inductor.statements import Statement
from depyf.model.syntax import names_in


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
        return pointers_in(self.statement.place) if self.statement.place is not None else []

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
        takes_values = any(name.startswith("tmp") for name in self.names)
        statement = self.statement
        return not self.is_store and takes_values and statement.computes and not statement.accumulates


@dataclass(slots=True)
class Launched:
    """A launch, its lines, and the nodes whose results its pointers hold, before and after it, by parameter.

    aliases: other names that a kernel gives its parameters.
    terms: the terms of the graph's nodes except numbers.
    reads: the parameters whose memory the kernel reads before it writes there.
    """

    launch: Launch
    kernel: Kernel
    nodes: tuple[str, ...]
    lines: list[Line] = field(default_factory=list)
    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    terms: Mapping[str, int] = field(default_factory=dict)
    reads: frozenset[str] = frozenset()


def pointers_in(place: ast.expr) -> list[str]:
    """Return the pointers in the place of a store."""
    return [name for name in names_in(place) if "ptr" in name or name.startswith("local_buffer")]
