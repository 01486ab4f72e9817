"""Data of the page that is loaded when it is looked at.

A page that was opened from disk may not fetch a file, but it may add a script: each chunk is a script that hands its
data over, compressed where it is long. In a page of a single file, the chunks are elements that nothing reads before
they are asked for.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from depyf.report.writer import write_whole

FOLDER = "data"
LEAST_PACKED = 2000
"""Characters of data from which on they are compressed."""
_LEVEL = 2
_SCRIPT = re.compile(r'depyf\.(?P<call>put|unpack)\("[^"]+",(?P<content>.*)\);\n', re.DOTALL)


@dataclass(slots=True)
class Chunks:
    """The chunks of a page by their names, as JSON; with a `directory`, each is written there and not kept.

    files, size: how many scripts were written, and their bytes.
    """

    directory: Path | None = None
    texts: dict[str, str] = field(default_factory=dict)
    files: int = 0
    size: int = 0

    def add(self, name: str, content: Mapping[str, object]) -> str:
        """Add a chunk and return its name.

        Raises:
            OSError: its file cannot be written.
        """
        text = as_json(content)
        if self.directory is None:
            self.texts[name] = text
        else:
            script = _script(name, text)
            write_whole(self.directory / FOLDER / f"{name}.js", script)
            self.files += 1
            self.size += len(script)
        return name


def _script(name: str, text: str) -> str:
    if len(text) < LEAST_PACKED:
        return f"depyf.put({json.dumps(name)},{text});\n"
    packed = base64.b64encode(zlib.compress(text.encode(), _LEVEL)).decode("ascii")
    return f'depyf.unpack({json.dumps(name)},"{packed}");\n'


def read_script(text: str) -> Any:  # noqa: ANN401 - JSON
    """Return the data that a script of a page hands over.

    Raises:
        ValueError: it is no script of a page's data.
    """
    found = _SCRIPT.fullmatch(text)
    if found is None:
        raise ValueError("this is no script of a page's data")
    content = json.loads(found["content"])
    return json.loads(zlib.decompress(base64.b64decode(content))) if found["call"] == "unpack" else content


def as_json(content: object) -> str:
    """Return JSON that can stand inside an element of a page: it has no `<` that could end the element."""
    return json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
