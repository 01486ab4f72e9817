"""README.md says what is so."""

from __future__ import annotations

import doctest
import re
import sys

import pytest

from scripts import readme_example

README = readme_example.README.read_text(encoding="utf-8")


def _on_the_readmes_versions() -> bool:
    import torch

    said = re.search(r"output on torch (\d+\.\d+) and Python (\d+\.\d+)", README)
    assert said, "README.md does not say which versions its example is from"
    here = (".".join(torch.__version__.split(".")[:2]), f"{sys.version_info[0]}.{sys.version_info[1]}")
    return said.groups() == here


def test_it_opens_with_two_commands_and_a_picture() -> None:
    blocks = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
    assert blocks[0][0] == "console"
    assert [line[0] for line in blocks[0][1].splitlines()] == ["$", "$"]
    assert blocks[1][0] == "text"
    assert "def toy_example(a, b):" in blocks[1][1]


def test_the_example_is_what_the_demo_prints() -> None:
    if not _on_the_readmes_versions():
        pytest.skip("the example is of another torch or Python")
    assert readme_example.difference(readme_example.example_in(README), readme_example.run_example()) == ""


def test_another_example_is_noticed() -> None:
    example = "0/0  toy_example  first call  EXACT\n"
    readme = f"<!-- example -->\n```text\n{example}```\n<!-- /example -->\n"
    assert readme_example.example_in(readme) == example
    assert readme_example.difference(example, example) == ""
    assert "+0/0" in readme_example.difference(example, "0/0  toy_example  first call  UNPROVEN\n")
    assert readme_example.example_in(readme_example.with_example(readme, "new\n")) == "new\n"


def test_its_session_of_python_is_right() -> None:
    block = next(text for text in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if text.startswith(">>>"))
    test = doctest.DocTestParser().get_doctest(block, {}, "README.md", None, None)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert [link for link in links if not (readme_example.ROOT / link).exists()] == []
