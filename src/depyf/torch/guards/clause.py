"""One condition of an entry: its text, with gaps for the values it looks at and the objects it compares with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from depyf.report.model import UserLine
from depyf.torch.guards.held import Held


class At(NamedTuple):
    """The value of a node of the tree."""

    node: int


Piece: TypeAlias = str | At | Held
Text: TypeAlias = tuple[Piece, ...]


@dataclass(slots=True, eq=False)
class Leaf:
    """A guard of torch's that looks at one value: torch's name of its kind, its words, and the guard itself.

    A model has thousands, and a frozen instance takes three times as long to make: nobody changes one.

    `check` is torch's own C++ object, which can be asked for its verdict on a value.
    """

    kind: str
    parts: tuple[str, ...]
    check: Callable[[object], bool] | None


@dataclass(slots=True)
class Clause:
    """A condition on the value of `node`. Nobody changes one, but for `let_go`.

    `text` is an expression with the verdict; `differences` an expression that gives a list of `Difference`, for kinds
    that look at several respects at once; otherwise `expected` says in words what must hold and `actual` is an
    expression for what is shown instead. `torch_text` are torch's own words.
    """

    kind: str
    node: int
    text: Text
    expected: str = ""
    actual: Text = ()
    differences: Text = ()
    line: UserLine | None = None
    torch_text: str = ""
    note: str = ""
    check: Callable[[object], bool] | None = None
    """Torch's own guard, for comparison while the guards are read."""
    pins: type | None = None
    """The exact type that the value has when this holds, while the guards are read."""
    flags: Mapping[str, object] | None = None
    """The flags of torch's global state that a guard on it looks at: those guards are shown as one clause."""
    calls_through: bool = False
    """Whether the text calls torch's own guard."""

    def let_go(self) -> None:
        """Forget what is known of the clause only while the guards are read."""
        self.check = self.pins = None
