"""Random functions of nested `match` statements."""

from __future__ import annotations

import random
import re

ATOMS = ("0", "-1", "'a'", "b'b'", "None", "True", "1.5", "2j")
NAMES = ("E.A", "E.B", "m.n.o")
CLASSES = ("A", "B", "int", "m.C", "str")
SUBJECTS = ("a", "b", "f(a)", "a.p", "(a, b)", "[a, *b]", "a[0]", "a if b else c")
GUARDS = ("a", "not b", "a and c", "g(a) > b")
DEEP = 3
TAKES_ALL = re.compile(r"\| (_|v\d+)\)$")
"""Alternatives of which the last takes whatever there is."""


class Matches:
    """Makes one function; names are captured in the order of a counter, so that each pattern has each once."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.captured = 0
        self.room = 24

    def function(self) -> str:
        """Return the source of the function."""
        lines = ["def f(a, b, c):", *self.statements(1, 1)]
        return "\n".join(lines) + "\n"

    def name(self) -> str:
        """Return a name to capture."""
        self.captured += 1
        return f"v{self.captured}"

    def pattern(self, depth: int, *, captures: bool = True) -> str:
        """Return a pattern that may fail, or not."""
        kinds = ["atom", "atom", "name", "capture", "wild"]
        if depth < DEEP:
            kinds += ["sequence", "sequence", "class", "class", "mapping", "or", "as"]
        kind = self.random.choice(kinds)
        if kind == "atom":
            return self.random.choice(ATOMS)
        if kind == "name":
            return self.random.choice(NAMES)
        if kind == "wild" or (kind in ("capture", "as") and not captures):
            return "_"
        if kind == "capture":
            return self.name()
        return getattr(self, kind)(depth + 1, captures)

    def refutable(self, depth: int, *, captures: bool = True) -> str:
        """Return a pattern that is neither a capture nor a wildcard."""
        while True:
            before = self.captured
            pattern = self.pattern(depth, captures=captures)
            if pattern != "_" and not pattern.isidentifier() and not TAKES_ALL.search(pattern):
                return pattern
            if pattern in ("None", "True"):
                return pattern
            self.captured = before

    def sequence(self, depth: int, captures: bool) -> str:
        """Return a sequence pattern, perhaps with a star."""
        parts = [self.pattern(depth, captures=captures) for _ in range(self.random.randrange(4))]
        if self.random.random() < 0.4:
            star = self.name() if captures and self.random.random() < 0.5 else "_"
            parts.insert(self.random.randrange(len(parts) + 1), f"*{star}")
        if self.random.random() < 0.3:
            return "(" + "".join(f"{part}, " for part in parts) + ")"
        return f"[{', '.join(parts)}]"

    def mapping(self, depth: int, captures: bool) -> str:
        """Return a mapping pattern, perhaps with a rest."""
        keys = self.random.sample(["'k'", "1", "E.K", "None"], self.random.randrange(4))
        parts = [f"{key}: {self.pattern(depth, captures=captures)}" for key in keys]
        if captures and self.random.random() < 0.3:
            parts.append(f"**{self.name()}")
        return "{" + ", ".join(parts) + "}"

    def _class(self, depth: int, captures: bool) -> str:
        parts = [self.pattern(depth, captures=captures) for _ in range(self.random.randrange(3))]
        keys = self.random.sample("xyz", self.random.randrange(3))
        parts += [f"{key}={self.pattern(depth, captures=captures)}" for key in keys]
        return f"{self.random.choice(CLASSES)}({', '.join(parts)})"

    def _or(self, depth: int, captures: bool) -> str:
        count = self.random.randrange(2, 4)
        if captures and self.random.random() < 0.4:
            return self.alternatives_that_capture(depth, count)
        parts = [self.refutable(depth, captures=False) for _ in range(count)]
        if self.random.random() < 0.2:
            parts.append("_")
        return "(" + " | ".join(parts) + ")"

    def alternatives_that_capture(self, depth: int, count: int) -> str:
        """Return alternatives that bind the same names, in any order."""
        names = [self.name() for _ in range(self.random.randrange(1, 3))]
        parts = []
        for _ in range(count):
            order = self.random.sample(names, len(names))
            inner = [name if self.random.random() < 0.6 else f"{self.refutable(depth, captures=False)} as {name}"
                     for name in order]
            inner.insert(self.random.randrange(len(inner) + 1), self.refutable(depth, captures=False))
            if self.random.random() < 0.5:
                parts.append(f"[{', '.join(inner)}]")
            else:
                attributes = ", ".join(f"{key}={subpattern}" for key, subpattern in zip("xyz", inner))
                parts.append(f"{self.random.choice(CLASSES)}({attributes})")
        if len(names) == 1 and self.random.random() < 0.2:
            parts.append(names[0])
        return "(" + " | ".join(parts) + ")"

    def _as(self, depth: int, captures: bool) -> str:
        return f"({self.refutable(depth, captures=captures)} as {self.name()})"

    def statements(self, indent: int, depth: int) -> list[str]:
        """Return some statements."""
        lines: list[str] = []
        for _ in range(self.random.randrange(1, 3)):
            lines += self.statement(indent, depth)
        return lines

    def statement(self, indent: int, depth: int) -> list[str]:
        """Return one statement."""
        pad = " " * 4 * indent
        self.room -= 1
        simple = ["g(a)", "return b", "pass", "a = h(b)", "return", "raise b"]
        if self.room < 0 or depth > DEEP or self.random.random() < 0.35:
            last = f"g(v{self.random.randrange(1, self.captured + 1)})" if self.captured else "g()"
            return [pad + self.random.choice([*simple, last])]
        kind = self.random.choice(["match", "match", "match", "if", "for", "while", "try", "with"])
        if kind == "match":
            return self.match(indent, depth)
        head = {"if": "if a:", "for": "for b in a:", "while": "while b:", "try": "try:", "with": "with a:"}[kind]
        body = self.statements(indent + 1, depth + 1)
        if kind in ("for", "while") and self.random.random() < 0.5:
            body.append(pad + "    " + self.random.choice(["break", "continue"]))
        lines = [pad + head, *body]
        if kind == "try":
            lines += [f"{pad}except E:", *self.statements(indent + 1, depth + 1)]
        elif kind == "if" and self.random.random() < 0.4:
            lines += [f"{pad}else:", *self.statements(indent + 1, depth + 1)]
        return lines

    def match(self, indent: int, depth: int) -> list[str]:
        """Return a `match` statement; only its last case may be irrefutable."""
        pad = " " * 4 * indent
        lines = [f"{pad}match {self.random.choice(SUBJECTS)}:"]
        count = self.random.randrange(1, 5)
        for number in range(count):
            guard = f" if {self.random.choice(GUARDS)}" if self.random.random() < 0.25 else ""
            is_last = number == count - 1
            pattern = self.pattern(0) if is_last or guard else self.refutable(0)
            lines += [f"{pad}    case {pattern}{guard}:", *self.statements(indent + 2, depth + 1)]
        return lines


setattr(Matches, "class", Matches._class)
setattr(Matches, "or", Matches._or)
setattr(Matches, "as", Matches._as)
