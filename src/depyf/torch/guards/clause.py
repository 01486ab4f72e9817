"""One condition of an entry: its text, with gaps for the checked values and the objects that they are compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from depyf.bytecode.records import dataclass
from depyf.model.guard_failure import Check
from depyf.model.user_line import UserLine
from depyf.torch.guards.held import Held


class At(NamedTuple):
    """The value of a node of the tree."""

    node: int


Piece: TypeAlias = str | At | Held
Text: TypeAlias = tuple[Piece, ...]


@dataclass(slots=True, eq=False)
class Leaf:
    """A guard of torch's on one value: torch's name of its kind, its text, and the guard itself.

    It is never changed. It is not frozen, because a model has thousands and a frozen instance takes three times as long
    to create. `check` is torch's own C++ object, which gives its verdict for a value.
    """

    kind: str
    parts: tuple[str, ...]
    check: Callable[[object], bool] | None


@dataclass(slots=True)
class Clause:
    """A condition on the value of `node`. Only `let_go` changes it.

    `text` is an expression with the verdict. For kinds that check several respects at once, `differences` is an
    expression for a list of `Difference`. Otherwise `expected` is what must hold, and `actual` is an expression for the
    value to show. `about` says what the guard checks, and `item` of which key, member or attribute. `torch_text` is
    torch's own text.
    """

    kind: str
    node: int
    text: Text
    expected: str = ""
    about: Check = Check.VALUE
    item: str = ""
    actual: Text = ()
    differences: Text = ()
    line: UserLine | None = None
    torch_text: str = ""
    note: str = ""
    check: Callable[[object], bool] | None = None
    """torch's own guard, for comparison while the guards are read."""
    pins: type | None = None
    """The exact type of the value if this holds, while the guards are read."""
    flags: Mapping[str, object] | None = None
    """The flags of torch's global state that a guard checks. Guards on it are shown as one clause."""
    calls_through: bool = False
    """Whether the text calls torch's own guard."""

    def let_go(self) -> None:
        """Drop the data that is needed only while the guards are read."""
        self.check = self.pins = None
