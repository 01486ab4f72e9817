"""Points of the walk: a raw instruction together with the stacks at that point."""

from __future__ import annotations

from dataclasses import field
from typing import NamedTuple

from depyf.bytecode.records import dataclass
from depyf.bytecode.walk.layout import Blocks, Layout


class Point(NamedTuple):
    """The identity of a node.

    raw: index of the raw instruction.
    role: '' for the instruction itself; 'enter', 'cleanup', 'swallow', 'break', 'out' for implicit actions of the
        interpreter there.
    """

    raw: int
    layout: Layout
    blocks: Blocks
    role: str = ""


class Emitted(NamedTuple):
    """A normalised operation of a node.

    target: where it jumps to.
    raw: the instruction that it belongs to (-1: that of the node).
    """

    op: str
    arg: object = None
    target: Node | None = None
    raw: int = -1


class Catch(NamedTuple):
    """The handler of a node: its target, the number of real values that stay, and whether the offset is pushed."""

    target: Node
    depth: int
    lasti: bool


@dataclass(slots=True, eq=False)
class Node:
    """The expansion of one point.

    emitted: its operations.
    following: where control goes after them, if it does.
    catch: where exceptions of its operations go.
    behind: the raw instruction after the loop that is opened here, or -1.
    beyond: where the compiler wrote code as if its last operation fell through.
    number: in order of discovery.
    """

    point: Point
    number: int
    emitted: list[Emitted] = field(default_factory=list)
    following: Node | None = None
    catch: Catch | None = None
    beyond: Node | None = None
    behind: int = -1
