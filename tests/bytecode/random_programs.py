"""Random functions of nested loops, `try` and `with` statements, and every way out of them."""

from __future__ import annotations

import random

HEAD = '''
class Manager:
    def __init__(self, log, name):
        self.log, self.name = log, name

    def __enter__(self):
        self.log.append(self.name)

    def __exit__(self, kind, value, traceback):
        self.log.append((self.name, kind and kind.__name__))
        return self.name % 3 == 0


def tick(state, name):
    state[0] = (state[0] * 1103515245 + 12345) % 2147483648
    state[1].append(name)
    if len(state[1]) > 60:
        raise MemoryError
    if state[0] % 5 == 0:
        raise [ValueError, KeyError, IndexError][state[0] // 7 % 3](name)
    return state[0] // 11 % 3


def run(function, seed):
    state = [seed, []]
    try:
        result = function(state)
    except Exception as error:
        result = (type(error).__name__, [repr(arg) for arg in error.args])
    return result, state[1]

'''


class Writer:
    """Writes one function."""

    def __init__(self, random_source: random.Random) -> None:
        self.random = random_source
        self.lines: list[str] = []
        self.number = 0

    def line(self, depth: int, text: str) -> None:
        """Add a line."""
        self.lines.append("    " * depth + text)

    def name(self) -> int:
        """Return a new number."""
        self.number += 1
        return self.number

    def block(self, depth: int, budget: int, *, loop: bool, last: bool = False) -> None:
        """Write some statements. `last`: a `finally` body, where 3.7 has no `continue`."""
        for _ in range(self.random.randint(1, 2)):
            self.statement(depth, budget, loop=loop, last=last)

    def statement(self, depth: int, budget: int, *, loop: bool, last: bool) -> None:
        """Write one statement, a nested one while the budget lasts."""
        kinds = ["tick", "leave"]
        if budget:
            kinds += ["if", "for", "while", "except", "finally", "both", "with", "with"]
        kind = self.random.choice(kinds)
        if kind == "tick":
            self.line(depth, f"x = tick(state, {self.name()})")
        elif kind == "leave":
            ways = ["return x", f"return {self.name()}", "raise KeyError(x)"]
            ways += ["break", "break"] if loop else []
            ways += ["continue", "continue"] if loop and not last else []
            self.line(depth, f"if tick(state, {self.name()}) == 1:")
            self.line(depth + 1, self.random.choice(ways))
        elif kind == "if":
            self.line(depth, f"if tick(state, {self.name()}):")
            self.block(depth + 1, budget - 1, loop=loop, last=last)
            if self.random.random() < 0.5:
                self.line(depth, "else:")
                self.block(depth + 1, budget - 1, loop=loop, last=last)
        elif kind in ("for", "while"):
            self.loop(depth, budget, kind, last=last)
        elif kind == "with":
            self.line(depth, f"with Manager(state[1], {self.name()}):")
            self.block(depth + 1, budget - 1, loop=loop, last=last)
        else:
            self.attempt(depth, budget, kind, loop=loop, last=last)

    def loop(self, depth: int, budget: int, kind: str, *, last: bool) -> None:
        """Write a loop."""
        head = f"for x in range({self.random.randint(1, 3)}):" if kind == "for" else "while tick(state, 0):"
        self.line(depth, head)
        self.block(depth + 1, budget - 1, loop=True)
        if self.random.random() < 0.4:
            self.line(depth, "else:")
            self.block(depth + 1, budget - 1, loop=False, last=last)

    def attempt(self, depth: int, budget: int, kind: str, *, loop: bool, last: bool) -> None:
        """Write a `try` statement."""
        self.line(depth, "try:")
        self.block(depth + 1, budget - 1, loop=loop, last=last)
        if kind != "finally":
            for caught in self.random.sample(["ValueError", "KeyError as e", "(IndexError, KeyError)"], 2):
                self.line(depth, f"except {caught}:")
                self.block(depth + 1, budget - 1, loop=loop, last=last)
                if self.random.random() < 0.3:
                    self.line(depth + 1, "raise")
        if kind != "except":
            self.line(depth, "finally:")
            self.block(depth + 1, budget - 1, loop=loop, last=True)


def module(seed: int, functions: int) -> str:
    """Return the source of a module whose `main()` runs some functions with several fates."""
    source = random.Random(seed)
    parts = [HEAD]
    for number in range(functions):
        writer = Writer(source)
        writer.line(0, f"def f{number}(state):")
        writer.line(1, "x = None")
        writer.block(1, 3, loop=False)
        parts.append("\n".join(writer.lines) + "\n\n\n")
    names = ", ".join(f"f{number}" for number in range(functions))
    parts.append(f"def main():\n    return [run(f, seed) for f in ({names}) for seed in range(8)]\n")
    return "".join(parts)
