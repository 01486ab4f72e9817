"""A sentence about a guard failure is made once, last: nothing in the package takes one apart."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import depyf

SOURCE = Path(depyf.__file__).parent
READS_SCHEMA_1 = SOURCE / "model" / "schema_1.py"
WORDS = (": expected", ", got ", "{actual", "{expected", "{subject", "{value", "{change", " was compiled again")
"""Words of our sentences and of their templates, in the form that a regular expression has without its escapes."""
SENTENCES = {"cause", "sentence", "words", "note", "fix"}
"""The attributes that hold a sentence."""
OF_FINDINGS = ("model", "findings", "views", "torch/guards", "torch/capture")
"""Where no sentence is cut. `trace/job/reporting.py` completes the sentence of a divergence of ranks."""
CUTS = {"partition", "rpartition", "split", "rsplit", "splitlines", "removeprefix", "removesuffix"}


def _calls() -> Iterator[tuple[Path, ast.Call]]:
    for path in sorted(SOURCE.rglob("*.py")):
        if path != READS_SCHEMA_1:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            yield from ((path, node) for node in ast.walk(tree) if isinstance(node, ast.Call))


def _is_of_re(function: ast.expr) -> bool:
    if isinstance(function, ast.Name):
        return function.id == "pattern"
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "re"


def test_no_regular_expression_knows_our_sentences() -> None:
    patterns = [
        (path.name, call.lineno, text.value)
        for path, call in _calls()
        if _is_of_re(call.func)
        for text in ast.walk(call)
        if isinstance(text, ast.Constant) and isinstance(text.value, str)
    ]
    assert len(patterns) > 50
    assert [pattern for pattern in patterns if any(words in pattern[2].replace("\\", "") for words in WORDS)] == []


def test_no_sentence_is_cut() -> None:
    cut = [
        (path.name, call.lineno)
        for path, call in _calls()
        if path.relative_to(SOURCE).as_posix().startswith(OF_FINDINGS)
        if isinstance(call.func, ast.Attribute) and call.func.attr in CUTS
        if isinstance(call.func.value, ast.Attribute) and call.func.value.attr in SENTENCES
    ]
    assert cut == []
