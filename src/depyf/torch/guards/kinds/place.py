"""The place of a guard, and what is known about its value while the guards are read."""

from __future__ import annotations

from collections.abc import Mapping

from depyf.bytecode.records import dataclass
from depyf.model.guard_failure import Check
from depyf.model.user_line import UserLine
from depyf.torch.guards.clause import At, Clause, Leaf, Piece, Text
from depyf.torch.guards.verdicts.difference import ABSENT, brief
from depyf.torch.guards.words import user_line


@dataclass(slots=True, eq=False)
class Place:
    """A node of the tree: `value` is its value at capture or `ABSENT`, `guarded` its type as torch remembers it.

    scope: the names in torch's own expressions.
    is_root: whether the node stands for the whole frame.
    """

    node: int
    source: str
    value: object
    guarded: type | None
    filename: str
    scope: Mapping[str, object]
    is_root: bool
    at: At
    """The gap for the value."""

    @property
    def cls(self) -> type | None:
        """The type of the value at capture, or None if it is unknown."""
        return self.guarded if self.value is ABSENT else type(self.value)

    def no_node(self, node: int) -> object:
        """Raise for a gap in a text that must have none.

        Raises:
            KeyError: always.
        """
        raise KeyError(node)

    def line(self, leaf: Leaf) -> UserLine | None:
        """Return the user's line that needs the guard."""
        return user_line(leaf.parts[0], self.filename) if leaf.parts else None

    def clause(
        self,
        leaf: Leaf,
        *text: Piece,
        expected: object = "",
        about: Check = Check.VALUE,
        item: str = "",
        actual: Text = (),
        differences: Text = (),
        pins: type | None = None,
        flags: Mapping[str, object] | None = None,
    ) -> list[Clause]:
        """Return the single clause for the check of `leaf`.

        Args:
            leaf: torch's guard.
            text: the pieces of the Python expression.
            expected: the value that passes, or its text.
            about: the property that the guard checks.
            item: the key, the attribute or the mark that it checks.
            actual: the expression for the value to compare with `expected`.
            differences: the expression that lists all differences.
            pins: the exact type that the value has if the guard holds.
            flags: the flags of torch's state that it checks.
        """
        return [
            Clause(
                leaf.kind,
                self.node,
                text,
                expected=expected if isinstance(expected, str) else brief(expected),
                about=about,
                item=item,
                actual=actual or (self.at,),
                line=self.line(leaf),
                torch_text=" and ".join(leaf.parts),
                differences=differences,
                check=leaf.check,
                pins=pins,
                flags=flags,
            )
        ]
