"""How lines of code are counted."""

from __future__ import annotations

from benchmarks.package_lines import code_lines, package

SOURCE = '''"""A docstring.

Of two lines.
"""

# A comment.
import os


def name(
    path: str,
) -> str:
    """A docstring of one line."""
    return os.path.basename(path)  # A comment behind code.


TEXT = """a

b"""
'''


def test_blank_lines_comments_and_docstrings_do_not_count() -> None:
    assert code_lines(SOURCE) == 8


def test_the_parts_of_the_decompiler_stand_alone() -> None:
    paths = ("src/depyf/decompiler/structure/regions/with_.py", "src/depyf/views/html/page.py", "src/depyf/api.py")
    assert [package(path) for path in paths] == ["decompiler/structure", "views", "."]
