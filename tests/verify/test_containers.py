"""Fresh containers: what the verifier computes of them is what Python does."""

from __future__ import annotations

import ast
import random

import pytest

from depyf.bytecode.reader import read
from depyf.verify.compare import verify
from depyf.verify.level import Level
from tests.verify.assemble import code_of, view


class Writer:
    """Writes straight-line programs on lists, tuples and dicts of constants and of the parameters `a` and `b`."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def value(self) -> str:
        return self.chance.choice(["a", "b", "1", "'t'", "x", "y", "(a, 2)", "[b]", "[*x, 3]", "(*y, a)"])

    def index(self) -> str:
        return self.chance.choice(["0", "1", "-1", "2", "-2"])

    def part(self) -> str:
        return self.chance.choice([":", "1:", ":1", "-1:", "0:0", "1:1", ":-1", "0:2", "::2", "::-1"])

    def statement(self) -> str:
        """Return a statement that may raise, but runs no other code."""
        variable = self.chance.choice("xy")
        return self.chance.choice(
            [
                f"{variable} = [{self.value()}, {self.value()}]",
                f"{variable}[{self.index()}] = {self.value()}",
                f"{variable}[{self.part().partition('::')[0] or ':'}] = [{self.value()}, {self.value()}]",
                f"{variable}[1:1] = (b, {self.value()})",
                f"del {variable}[{self.index()}]",
                f"{variable}.append({self.value()})",
                f"{variable}.extend({self.chance.choice(['x', 'y', '(a, b)'])})",
                f"m = {variable}.append; {variable} = [b]; m({self.value()}); m({variable})",
                f"del {variable}[{self.part()}]",
                f"{variable} = {self.chance.choice('xy')}[{self.part()}]",
                f"{variable} = [*x, *y]",
                f"p, *q = {variable}; {variable} = [q, p]",
                f"*q, p = {variable}; {variable} = [p, *q]",
                f"d = {{'k': {self.value()}, 'l': {self.value()}}}; d['k'] = {self.value()}; {variable} = [d['l'], d]",
                f"d = {{'k': a, **{{'l': b, 'k': {self.value()}}}}}; del d['l']; {variable} = [d['k'], d]",
            ]
        )

    def text(self) -> str:
        """Return a function that returns what its lists hold in the end."""
        lines = ["def f(a, b):", " x = [a, b, 1]", " y = [b, 't']"]
        lines += [f" {self.statement()}" for _ in range(self.chance.randint(2, 7))]
        return "\n".join([*lines, " return x, y"])


def spelled(value: object, names: dict[int, str]) -> str:
    """Return an expression for a value; `names` holds the parameters by identity."""
    if id(value) in names:
        return names[id(value)]
    if isinstance(value, list):
        return f"[{', '.join(spelled(item, names) for item in value)}]"
    if isinstance(value, tuple):
        return f"({''.join(f'{spelled(item, names)}, ' for item in value)})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {spelled(item, names)}' for key, item in value.items())}}}"
    return repr(value)


def aliased(value: object) -> bool:
    """Return whether a list or dict occurs twice in a value, so that no expression spells it."""
    seen: set[int] = set()
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, (list, dict)):
            if id(item) in seen:
                return True
            seen.add(id(item))
        pending.extend(item.values() if isinstance(item, dict) else item if isinstance(item, (list, tuple)) else ())
    return False


def changed(text: str, chance: random.Random) -> str | None:
    """Return an expression with two items of a row exchanged, or None where it has none that differ."""
    tree = ast.parse(text, mode="eval")
    rows = [node.elts for node in ast.walk(tree) if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) > 1]
    rows = [row for row in rows if ast.dump(row[0]) != ast.dump(row[-1])]
    if not rows:
        return None
    row = chance.choice(rows)
    row[0], row[-1] = row[-1], row[0]
    return ast.unparse(tree)


@pytest.mark.parametrize("block", range(4))
def test_lists_are_computed_as_python_does(block: int) -> None:
    right = wrong = 0
    for seed in range(100 * block, 100 * block + 100):
        text = Writer(seed).text()
        a, b = object(), object()
        namespace: dict[str, object] = {}
        exec(text, namespace)
        function = namespace["f"]
        assert callable(function)
        try:
            result = function(a, b)
        except (IndexError, ValueError):
            continue
        if aliased(result):
            continue
        value = spelled(result, {id(a): "a", id(b): "b"})
        verdict = verify(view(text), view(f"def f(a, b): return {value}"))
        assert verdict.level >= Level.EQUIVALENT, f"{verdict}\n{text}\n{value}"
        right += 1
        other = changed(value, random.Random(seed))
        if other is not None:
            assert verify(view(text), view(f"def f(a, b): return {other}")).level is Level.UNPROVEN, f"{text}\n{other}"
            wrong += 1
    assert right > 20 and wrong > 20


RAISES = {
    "an index": "x[2]",
    "an assignment": "x[2] = a",
    "a deletion": "del x[-3]",
    "too few": "p, q, r = x",
    "too many": "p, = x",
    "a key": "{'k': a}['l']",
    "a deleted key": "d = {'k': a}; del d['l']",
}


@pytest.mark.parametrize("what", RAISES)
def test_what_raises_is_not_computed_away(what: str) -> None:
    text = f"def f(a, b):\n x = [a, b]\n {RAISES[what]}\n return 1"
    assert verify(view(text), view("def f(a, b):\n x = [a, b]\n return 1")).level is Level.UNPROVEN
    assert verify(view(text), view(text.replace("x", "y"))).level >= Level.EQUIVALENT


def test_a_key_is_the_same_by_equality_and_the_first_one_stays() -> None:
    text = "def f(a, b):\n x = {1: a}\n x[True] = b\n return x"
    assert verify(view(text), view("def f(a, b): return {1: b}")).level is Level.EQUIVALENT
    assert verify(view(text), view("def f(a, b): return {True: b}")).level is Level.UNPROVEN
    namespace: dict[str, object] = {}
    exec(text, namespace)
    function = namespace["f"]
    assert callable(function)
    assert repr(function(0, 2)) == "{1: 2}"


def test_the_order_of_keys_counts() -> None:
    assert code_of("def f(a, b): return 1").co_argcount == 2
    text = "def f(a, b): return {'k': a, 'l': b}"
    assert verify(view(text), view("def f(a, b):\n x = {'k': a}\n x['l'] = b\n return x")).level is Level.EQUIVALENT
    assert verify(view(text), view("def f(a, b):\n x = {'l': b}\n x['k'] = a\n return x")).level is Level.UNPROVEN


@pytest.mark.parametrize(("bounds", "same"), [(slice(1, None, None), True), (slice(2, None, None), False)])
def test_a_slice_of_constants_is_a_constant(bounds: slice, same: bool) -> None:
    code = code_of("def f(a): return a['k']")
    code = code.replace(co_consts=tuple(bounds if const == "k" else const for const in code.co_consts))
    built = code_of("def f(a): return a[1:None:None]")
    assert (verify(read(code), read(built)).level is not Level.UNPROVEN) == same
