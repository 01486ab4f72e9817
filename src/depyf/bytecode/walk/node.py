"""Points of the walk: a raw instruction together with what stands on the stacks there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from depyf.bytecode.walk.layout import Blocks, Layout


class Point(NamedTuple):
    """Identifies a node.

    raw: index of the raw instruction.
    role: '' for the instruction itself; 'enter', 'cleanup', 'swallow', 'break', 'out' for what the
        interpreter does there on its own.
    """

    raw: int
    layout: Layout
    blocks: Blocks
    role: str = ""


class Emitted(NamedTuple):
    """A normalised operation of a node; `target` is where it jumps to, `raw` the instruction that it is for (-1: of
    the node)."""

    op: str
    arg: object = None
    target: Node | None = None
    raw: int = -1


class Catch(NamedTuple):
    """The handler of a node: where, how many real values stay, whether the offset is pushed."""

    target: Node
    depth: int
    lasti: bool


@dataclass(slots=True, eq=False)
class Node:
    """What one point becomes.

    emitted: its operations.
    following: where control goes behind them, if it does.
    catch: where exceptions of its operations go.
    behind: the raw instruction behind the loop that is opened here, or -1.
    beyond: where the compiler wrote code as if its last operation went on.
    number: in order of discovery.
    """

    point: Point
    number: int
    emitted: list[Emitted] = field(default_factory=list)
    following: Node | None = None
    catch: Catch | None = None
    beyond: Node | None = None
    behind: int = -1
