"""Pages, docstrings and comments keep the style of docs/style.md: short sentences, none of the words to avoid."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.documented.run import ROOT, pages

FIRST = ("README.md", "docs/getting-started.md", "docs/walkthrough.md", "docs/how-it-works.md")
"""What a newcomer reads first."""
MOST_WORDS = 30
AVOIDED = re.compile(
    r"\b(mend(ed|s)?|tells? of|that which|such that may|of one both|has it that|whoever|meets? (no|an?) entry"
    r"|what is \w+ is \w+|as it was)\b",
    re.IGNORECASE,
)
"""Words and riddles that docs/style.md names."""
RIDDLE = re.compile(
    r"\b((where|of which) (nothing|none|no one)|(is|are) (told|left of|there for)|what (stands|is left)|anew)\b"
    r"|^(What|Which|Say|Tell)\b",
    re.IGNORECASE,
)
"""Riddles that docstrings and comments have had, and the words with which no summary line begins."""
SOURCES = sorted((ROOT / "src").rglob("*.py"))

_EXAMPLE = re.compile(r"\S  |^ *>>> |^ *(before|after)\b.*:", re.MULTILINE | re.IGNORECASE)
_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_END = re.compile(r"(?<=[.?!:;])[\"')*]*\s+")


def prose(text: str) -> str:
    """Return a page without its code blocks, comments, quotations of code and targets of links."""
    text = re.sub(r"<!--.*?-->", "", _BLOCK.sub("\n\n", text), flags=re.DOTALL)
    return re.sub(r"`[^`\n]*`", "code", _LINK.sub(r"\1", text))


def sentences(text: str) -> list[str]:
    """Return the sentences of a page; an item of a list, a heading and a row of a table end one."""
    paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.|#+|\|)\s)", prose(text))
    return [piece.strip() for part in paragraphs for piece in _END.split(" ".join(part.split())) if piece.strip()]


def too_long(text: str) -> list[str]:
    """Return the sentences of more than `MOST_WORDS` words; tables are no sentences."""
    page_sentences = sentences(text)
    return [
        sentence for sentence in page_sentences if not sentence.startswith("|") and len(sentence.split()) > MOST_WORDS
    ]


@pytest.mark.parametrize("name", FIRST)
def test_no_sentence_is_too_long(name: str) -> None:
    assert too_long((ROOT / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", [*pages(), ROOT / "CONTRIBUTING.md"], ids=lambda page: page.stem)
def test_no_word_to_avoid(page: Path) -> None:
    if page in (ROOT / "docs" / "style.md", ROOT / "docs" / "measurements.md"):
        pytest.skip("one page names these words, the other holds words of the tools that print its numbers")
    assert [sentence for sentence in sentences(page.read_text(encoding="utf-8")) if AVOIDED.search(sentence)] == []


def docstrings(source: str) -> Iterator[str]:
    """Yield the texts that are statements: docstrings, and the texts below assignments."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield inspect.cleandoc(node.value.value)


def messages(source: str) -> Iterator[str]:
    """Yield the other texts of several words."""
    tree = ast.parse(source)
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements:
            if len(node.value.split()) > 3:
                yield node.value


def comments(source: str) -> Iterator[str]:
    """Yield the comments that have lines of their own; consecutive lines are one comment."""
    for block in re.findall(r"(?:^[ ]*#.*\n)+", source, re.MULTILINE):
        yield " ".join(line.strip(" #") for line in block.splitlines())


def without_examples(text: str) -> str:
    """Return a docstring without code, tables and the examples of passes."""
    return "\n\n".join(paragraph for paragraph in re.split(r"\n\s*\n", text) if not _EXAMPLE.search(paragraph))


@pytest.mark.parametrize("package", sorted({path.relative_to(ROOT / "src").parts[1] for path in SOURCES}))
def test_no_riddle_in_the_code(package: str) -> None:
    misused = []
    for path in SOURCES:
        if path.relative_to(ROOT / "src").parts[1] == package:
            source = path.read_text(encoding="utf-8")
            texts = [*map(without_examples, docstrings(source)), *comments(source)]
            misused += [(path.name, sentence) for text in texts for sentence in too_long(text)]
            texts += messages(source)
            misused += [
                (path.name, text) for text in texts if AVOIDED.search(prose(text)) or RIDDLE.search(prose(text))
            ]
    assert misused == []


def test_long_sentences_and_riddles_are_found() -> None:
    long = "This is " + "very " * MOST_WORDS + "long. This is not."
    assert len(too_long(f"{long}\n\n```\n{long}\n```\n")) == 1
    assert not too_long("one " * 20 + "\n\n" + "two " * 20)
    assert AVOIDED.search("Mend it, and see that it is mended") and AVOIDED.search("what is proven is run")
    assert not AVOIDED.search("recommended")
    assert RIDDLE.search("What is known.") and RIDDLE.search("a value of which nothing is known")
    assert not RIDDLE.search("Return what a name means.")
    source = 'X = 1\n"""What."""\n# Say: f(\n# x)\n'
    assert [*docstrings(source), *comments(source)] == ["What.", "Say: f( x)"]
    assert without_examples("Is.\n\nBefore: a = 1\nAfter:  b\n\nWas.") == "Is.\n\nWas."
