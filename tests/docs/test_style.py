"""The pages that a newcomer reads keep the style of docs/style.md: short sentences, none of the words to avoid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.documented.run import ROOT, pages

FIRST = ("README.md", "docs/getting-started.md", "docs/walkthrough.md", "docs/how-it-works.md")
"""What a newcomer reads first."""
MOST_WORDS = 30
AVOIDED = re.compile(
    r"\b(mend(ed|s)?|tells? of|that which|such that may|of one both|has it that|whoever|meets? (no|an?) entry"
    r"|what is \w+ is \w+|as it was)\b",
    re.IGNORECASE,
)
"""Words and riddles that docs/style.md names."""

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
    found = sentences(text)
    return [each for each in found if not each.startswith("|") and len(each.split()) > MOST_WORDS]


@pytest.mark.parametrize("name", FIRST)
def test_no_sentence_is_too_long(name: str) -> None:
    assert too_long((ROOT / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", [*pages(), ROOT / "CONTRIBUTING.md"], ids=lambda page: page.stem)
def test_no_word_to_avoid(page: Path) -> None:
    if page in (ROOT / "docs" / "style.md", ROOT / "docs" / "measurements.md"):
        pytest.skip("one page names these words, the other holds words of the tools that print its numbers")
    assert [each for each in sentences(page.read_text(encoding="utf-8")) if AVOIDED.search(each)] == []


def test_long_sentences_and_riddles_are_found() -> None:
    long = "This is " + "very " * MOST_WORDS + "long. This is not."
    assert len(too_long(f"{long}\n\n```\n{long}\n```\n")) == 1
    assert not too_long("one " * 20 + "\n\n" + "two " * 20)
    assert AVOIDED.search("Mend it, and see that it is mended") and AVOIDED.search("what is proven is run")
    assert not AVOIDED.search("recommended")
