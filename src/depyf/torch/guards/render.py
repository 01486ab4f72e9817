"""Render the guards of one entry as a function.

@guard
def guard_0_0(L, G):
    return (
        global_state(default_dtype=torch.float32, grad_mode=True, num_threads=2)
        and tensor(L["a"], torch.Tensor, torch.float32, "cpu", size=(10,), stride=(1,), requires_grad=False)  # :5
        and G["torch"].abs is torch_abs  # :5 x = a / (torch.abs(a) + 1)
    )
"""

from __future__ import annotations

import builtins
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from depyf.model.user_line import UserLine
from depyf.torch.guards.clause import At, Clause, Text
from depyf.torch.guards.expression import fill
from depyf.torch.guards.held import Held, identifier
from depyf.torch.guards.names import Names
from depyf.torch.guards.tree import Node, Rendered, Tree
from depyf.torch.replica import runtime

_LONG = 28
"""An expression of this length that is used again gets its own name."""
_COMMENT = 90
IMPORTS = tuple(sorted(name for name in runtime.__all__ if not name.endswith("_differences")))
"""The functions that a file of guards may use. No other name in it may equal one of these."""


def entry_suffix(compile_id: str) -> str:
    """Return the suffix of an entry's names: `0_1` for `0/1`."""
    return re.sub(r"\W+", "_", compile_id).strip("_")


def guard_name(compile_id: str) -> str:
    """Return the name of the guard of an entry: `guard_0_1` for `0/1`."""
    return f"guard_{entry_suffix(compile_id)}"


def render(tree: Tree, compile_id: str, names: Names, filename: str = "", *, bare: bool = False) -> list[str]:
    """Return the lines of the function that decides whether an entry serves a call.

    Args:
        tree: the guards, folded and without torch's own checks.
        compile_id: torch's id of the entry, for example `0/1`.
        names: the names of the file; the objects that the guards compare with are added.
        filename: the user's file, whose lines are shown as `:5`.
        bare: leave out the comments, for a text that is only executed.
    """
    clauses = [*tree.clauses, *_beyond(tree)]
    said = f'    """Entry {compile_id} serves a call if all of this holds."""'
    head = ["@guard", f"def {guard_name(compile_id)}(L, G):", said]
    if not clauses:
        return [*head, "    return True"]
    texts = _fitting(tree.rendered, names)
    if texts is None:
        expressions = Expressions(tree.nodes, clauses, names)
        texts = tuple(map(expressions.clause, clauses))
        if not tree.beyond and tree.rendered is None:
            tree.rendered = Rendered(texts, expressions.held, frozenset(expressions.locals))
    comments = [""] * len(clauses) if bare else _comments(clauses, filename)
    lines = [f"        and {text}{comment}" for text, comment in zip(texts, comments, strict=True)]
    lines[0] = lines[0].replace("and ", "", 1)
    return [*head, "    return (", *lines, "    )"]


def _fitting(rendered: Rendered | None, names: Names) -> tuple[str, ...] | None:
    """Return the texts of clauses that were rendered before, if every name in them is right or free in a file."""
    # Request names in the order of rendering, so that the names in a text that does not fit stay correct.
    if rendered is None or [names.of(held) for held in rendered.held.values()] != list(rendered.held):
        return None
    hidden = rendered.own & (names.taken | names.bound.keys())
    return None if hidden else rendered.clauses


def _beyond(tree: Tree) -> list[Clause]:
    """Return the clause that calls all of torch's own guards, if some of them cannot be reached."""
    if not tree.beyond:
        return []
    held = Held("torch_guards", tree.check, weak=False)
    note = f"all of torch's own guards: there is no known expression for {', '.join(sorted(set(tree.beyond)))}"
    return [Clause("TORCH_GUARDS", 0, (held, "(L)"), expected="torch's own verdict", note=note, calls_through=True)]


def _comments(clauses: Sequence[Clause], filename: str) -> Iterator[str]:
    """Yield the comment beside each clause: the user's line that needs it, in full if it is a new one."""
    known: dict[tuple[int, bool, str], str] = {}  # Guards of one line share one `UserLine`.
    shown: UserLine | None = None
    for clause in clauses:
        line = clause.line
        key = id(line), line is shown or line == shown, clause.note
        comment = known.get(key)
        if comment is None:
            comment = known[key] = _comment(clause, filename, is_shown=key[1])
        yield comment
        shown = line or shown


def _comment(clause: Clause, filename: str, *, is_shown: bool) -> str:
    words = []
    if clause.line is not None:
        line = clause.line
        file = "" if line.filename == filename else re.split(r"[/\\]", line.filename)[-1]
        words.append(f"{file}:{line.line}")
        if line.text and not is_shown:
            words.append(line.text if len(line.text) <= _COMMENT else line.text[: _COMMENT - 3] + "...")
    if clause.note:
        words.append(f"({clause.note})")
    return f"  # {' '.join(' '.join(words).split())}" if words else ""


def _parent(step: Text) -> int | None:
    """Return the node that a step starts from."""
    for piece in step:
        if type(piece) is At:
            return piece.node
    return None


def _always(text: str) -> Callable[[int], str]:
    return lambda node: text


class Expressions:
    """The texts of the nodes in one function. A long expression that is used again gets a name at its first use."""

    def __init__(self, nodes: Sequence[Node], clauses: Sequence[Clause], names: Names) -> None:
        self.nodes = nodes
        self.names = names
        self.parents = [_parent(node.step) for node in nodes]
        self.bound: dict[int, str] = {}
        self.same: dict[int, str] = {}
        self.uses = self._uses(clauses)
        # First the names of objects, so that no local variable hides one.
        texts = (*(clause.text for clause in clauses), *(nodes[node].step for node in self.uses))
        self.held = {names.of(piece): piece for text in texts for piece in text if type(piece) is Held}
        self.locals: set[str] = set()

    def _uses(self, clauses: Sequence[Clause]) -> Counter[int]:
        """Count how often each node is written: in clauses, and in the steps to other nodes."""
        uses = Counter([piece.node for clause in clauses for piece in clause.text if type(piece) is At])
        pending = list(uses)
        while pending:
            for piece in self.nodes[pending.pop()].step:
                if type(piece) is At:
                    uses[piece.node] += 1
                    if uses[piece.node] == 1:
                        pending.append(piece.node)
        return uses

    def clause(self, clause: Clause) -> str:
        """Return the text of a clause."""
        return self.text(clause.text)

    def text(self, text: Text) -> str:
        """Return `text` with its gaps filled."""
        self.identities(text)
        parts = []
        for index, piece in enumerate(text):
            if isinstance(piece, str):
                parts.append(piece)
            elif isinstance(piece, Held):
                parts.append(self.names.of(piece))
            elif piece.node in self.bound:
                parts.append(self.bound[piece.node])
            else:
                part = self.node(piece.node)
                named = piece.node in self.bound and part.startswith(f"({self.bound[piece.node]} := ")
                parts.append(part[1:-1] if named and self.is_alone(text, index) else part)
        return "".join(parts)

    def is_alone(self, text: Text, index: int) -> bool:
        """Return whether a piece is the only argument of a call, or the first of several."""
        before, after = text[index - 1] if index else "", text[index + 1] if index + 1 < len(text) else ""
        return str(before).endswith("(") and str(after).startswith((")", ","))

    def identities(self, text: Text) -> None:
        """Record that after a clause `x is module` the name of the module also stands for `x`."""
        if len(text) == 3 and text[1] == " is ":
            match text:
                case (At(node=node), _, Held() as held) if node not in self.bound and self.uses[node] > 1:
                    self.same[node] = self.names.of(held)

    def node(self, node: int) -> str:
        """Return the expression for a node, and name it if it is used again."""
        path = [node]
        while path[-1] not in self.bound and (parent := self.parents[path[-1]]) is not None:
            path.append(parent)
        expression = self.bound.get(path[-1], "")
        for step in reversed(path):
            if step in self.bound:
                continue
            expression = fill(self.nodes[step].step, _always(expression), self.names.of)
            if step in self.same and len(expression) > _LONG:
                self.bound[step] = self.same[step]
            elif self.uses[step] > 1 and len(expression) > _LONG:
                self.bound[step] = self._local(step)
                expression = f"({self.bound[step]} := {expression})"
        return expression

    def _local(self, node: int) -> str:
        """Return a name for a node: the last word of torch's source for it, for example `weight`."""
        words = re.findall(r"[A-Za-z]\w*|\d+", self.nodes[node].source)
        number = len(words) > 1 and words[-1].isdigit()
        last = re.sub("__+", "_", identifier("_".join(words[-2:]) if number else words[-1] if words else "value"))
        taken, bound = self.names.taken, self.names.bound
        candidate, count = last, 1
        while candidate in self.locals or candidate in taken or candidate in bound or hasattr(builtins, candidate):
            count += 1
            candidate = f"{last}_{count}"
        self.locals.add(candidate)
        return candidate
