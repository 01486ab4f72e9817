"""Whether the values of a guard failure reach the page as they were: random values that look like sentences.

    python -m benchmarks.guard_failures [--values 10000] [--real 300] [--seed 0]

Each of `--values` pairs goes through the model: as a guard failure into the index and back, as a sentence of schema 1,
and as torch's own text of a guard. Each of `--real` pairs goes through a real recompile, as an item of a dict with a
random key, beside a tensor of another dtype. The pair and the key are looked for in the index, on the page and in the
finding. The command prints the number of wrong values; it ends with code 1 if there are any.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import depyf
from benchmarks.bar import Bar, none_of, report
from depyf.findings import findings
from depyf.model.guard_failure import ABSENT, PRESENT, Check, GuardFailure
from depyf.model.index_json import index_json
from depyf.model.index_reader import session_of
from depyf.model.run import Compile, CompileId, FailedEntry, Function, Recompile, Session
from depyf.model.schema_1 import failure_of_sentence
from depyf.model.torch_text import guard_failure, without_comment
from depyf.model.user_line import UserLine

PIECES = (
    "'", '"', "\\", ", ", "; ", ": expected ", ", got ", "expected", "got", "  (", ")", "  # ", "\n", "\t", "[", "]",
    "{", "}", "fast", "slow", "ä", "漢", "0", " ", "`", "%s", "{actual}", "L['x']", " of ", "size of ",
    " at 0x7f0012345678", " at ADDRESS",
)  # fmt: skip
"""What random strings are made of: the words of sentences, and what Python quotes."""


def values(seed: int) -> Iterator[object]:
    """Yield random constants: mostly strings, and numbers, tuples, None and bytes."""
    chosen = random.Random(seed)
    while True:
        kind = chosen.random()
        if kind < 0.7:
            yield "".join(chosen.choices(PIECES, k=chosen.randint(0, 6)))
        elif kind < 0.8:
            yield chosen.choice((chosen.randint(-(10**9), 10**9), chosen.random() * 10 ** chosen.randint(-9, 9)))
        elif kind < 0.9:
            yield ("".join(chosen.choices(PIECES, k=2)), chosen.randint(0, 99))
        else:
            yield chosen.choice((None, True, False, b"got '", -0.0))


def through_the_model(count: int, seed: int) -> list[Bar]:
    """Send pairs of values through the index, through schema 1 and through torch's text."""
    wrong: dict[str, list[str]] = {"index": [], "schema 1": [], "torch's text": []}
    source = values(seed)
    for number in range(count):
        expected, actual, key = next(source), next(source), next(source)
        failure = GuardFailure(
            f"L[{str(key)!r}]", Check.VALUE, repr(expected), repr(actual), UserLine("t.py", 3, f"f({key!r})", "f")
        )
        if _read_back(failure) != failure:
            wrong["index"].append(repr((number, failure)))
        sentence = f"{failure.words}  (:3 f(x))"
        older = failure_of_sentence(sentence)
        if (older.source, older.expected, older.actual) != (failure.source, failure.expected, failure.actual):
            wrong["schema 1"].append(sentence)
        wrong["torch's text"] += _by_torchs_text(expected, key)
    return [none_of(f"values that are wrong after {name}", texts, f"{count}") for name, texts in wrong.items()]


def _by_torchs_text(expected: object, key: object) -> Iterator[str]:
    """Yield torch's texts for a value and a key from which other values are read."""
    text = f"L['s'] == {expected!r}"
    code, comment = without_comment(f"{text}  # if s:  # t.py:3 in f")
    read = guard_failure(code)
    if (code, read.expected) != (text, repr(expected)) or not comment.startswith("if s:"):
        yield text
    for negated, wanted in (("", PRESENT), ("not ", ABSENT)):
        read = guard_failure(f"{negated}___dict_contains({key!r}, L['d'])")
        if (read.check, read.item, read.expected, read.source) != (Check.KEY, repr(key), wanted, "L['d']"):
            yield f"{negated}{key!r}"


def _read_back(failure: GuardFailure) -> GuardFailure:
    entry = FailedEntry("0/0", ("clause",), (failure,), is_complete=True)
    compiled = Compile(CompileId(0, 1), "f", "t.py", 1, trigger=Recompile((entry,)), order=1)
    first = Compile(CompileId(0, 0), "f", "t.py", 1)
    run = Session("2.13.0", "3.11", functions={"0": Function("0", "f", "t.py", 1, "", "0", compiles=[first, compiled])})
    again = session_of(json.loads(index_json(run, ())))
    trigger = again.functions["0"].compiles[1].trigger
    assert isinstance(trigger, Recompile)
    return trigger.entries[0].failures[0]


def through_torch(count: int, seed: int) -> list[Bar]:
    """Recompile a function for pairs of strings, and look for both and for their key in all that is written."""
    wrong: list[str] = []
    source = (value for value in values(seed) if isinstance(value, str) and len(repr(value)) < 100)
    for _ in range(count):
        before, after, key = next(source), next(source), next(source)
        if before != after:
            places = ", ".join(_recompiled(before, after, key))
            wrong += [f"{places}: {key!r} {before!r} {after!r}"] if places else []
    return [none_of("strings that are wrong after a real recompile", wrong, f"{count}")]


def _recompiled(before: str, after: str, key: str) -> Iterator[str]:
    """Yield where the values of a recompile are not as they were, for an item of a dict beside another dtype."""
    import torch

    torch._dynamo.reset()
    with tempfile.TemporaryDirectory() as folder:
        with depyf.prepare_debug(folder) as session:
            compiled = torch.compile(_chosen, backend="eager")
            compiled(torch.ones(2), {key: before}, key)
            compiled(torch.ones(2, dtype=torch.float64), {key: after}, key)
        page = (Path(folder) / "index.md").read_text(encoding="utf-8")
        index = json.loads((Path(folder) / "index.json").read_text(encoding="utf-8"))
    trigger = next(iter(session.functions.values())).compiles[1].trigger
    assert isinstance(trigger, Recompile)
    read = {failure.check: failure for failure in trigger.entries[0].failures}
    (finding,) = findings(session)
    sentence = f"was {after!r}, not {before!r}"
    failures = index["functions"][0]["compiles"][1]["trigger"]["entries"][0]["failures"]
    checks = {
        "guard failure": (read[Check.VALUE].expected, read[Check.VALUE].actual) == (repr(before), repr(after)),
        "key": _key(read[Check.VALUE].subject) == key,
        "index.json": [repr(before), repr(after)] in [[part["expected"], part["actual"]] for part in failures],
        "finding": f"; at once the string `{read[Check.VALUE].subject}` (an item of a container) {sentence}"
        in finding.cause,
        "difference": [difference.cause.endswith(sentence) for difference in finding.also] == [True],
        "index.md": page.count(sentence) >= 2,
    }
    yield from (name for name, is_right in checks.items() if not is_right)


def _key(subject: str) -> object:
    """Return the key in the expression of an item."""
    tree = ast.parse(subject, mode="eval").body
    return ast.literal_eval(tree.slice) if isinstance(tree, ast.Subscript) else None


def _chosen(x: object, modes: dict[str, str], key: str) -> object:
    mode = modes[key]
    return x * len(mode) if mode.startswith("f") else x + len(mode)  # type: ignore[operator]


def main(arguments: list[str]) -> None:
    """Measure, print the bars, and exit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--values", type=int, default=10_000)
    parser.add_argument("--real", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    report([*through_the_model(options.values, options.seed), *through_torch(options.real, options.seed)])


if __name__ == "__main__":
    main(sys.argv[1:])
