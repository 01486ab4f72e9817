"""Data of the page that is loaded when it is looked at.

A page that was opened from disk may not fetch a file, but it may add a script: each chunk is a script that hands its
data over. In a page of a single file, the chunks are elements that nothing reads before they are asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from depyf.report.writer import write_whole

FOLDER = "data"


@dataclass(slots=True)
class Chunks:
    """The chunks of a page by their names, as JSON."""

    texts: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, content: Mapping[str, object]) -> str:
        """Add a chunk and return its name."""
        self.texts[name] = as_json(content)
        return name

    def write(self, directory: Path) -> None:
        """Write each chunk as a script.

        Raises:
            OSError: a file cannot be written.
        """
        for name, text in self.texts.items():
            write_whole(directory / FOLDER / f"{name}.js", f"depyf.put({json.dumps(name)},{text});\n")


def as_json(content: object) -> str:
    """Return JSON that can stand inside an element of a page: it has no `<` that could end the element."""
    return json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
