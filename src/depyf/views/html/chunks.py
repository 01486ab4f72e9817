"""Data of the page that is loaded on demand.

A page from disk may not fetch a file, but it may add a script. Each chunk is a script that passes its data to the page,
compressed if it is long. In a single-file page, the chunks are inert elements until they are needed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.model.writer import write_whole

FOLDER = "data"
LEAST_PACKED = 2000
"""Data with at least this many characters is compressed."""
_LEVEL = 6
_SCRIPT = re.compile(r'depyf\.(?P<call>put|unpack)\("[^"]+",(?P<content>.*)\);\n', re.DOTALL)


@dataclass(slots=True)
class Chunks:
    """The chunks of a page by their names, as JSON. With a `directory`, each is written there and not kept.

    files, size: the number of written scripts and their bytes.
    names: the chunk of each long text, by the text's digest. Equal texts share a chunk.
    """

    directory: Path | None = None
    texts: dict[str, str] = field(default_factory=dict)
    files: int = 0
    size: int = 0
    names: dict[bytes, str] = field(default_factory=dict)

    def add_text(self, name: str, text: str) -> str:
        """Add a chunk with a text, unless there is one already; return its name.

        Raises:
            OSError: its file cannot be written.
        """
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        if digest not in self.names:
            self.names[digest] = self.add(name, {"text": text})
        return self.names[digest]

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
    """Return the data in a script of a page.

    Raises:
        ValueError: it is not a script of a page's data.
    """
    script = _SCRIPT.fullmatch(text)
    if script is None:
        raise ValueError("this is not a script with a page's data")
    content = json.loads(script["content"])
    return json.loads(zlib.decompress(base64.b64decode(content))) if script["call"] == "unpack" else content


def as_json(content: object) -> str:
    """Return JSON that can be embedded in an element of a page: it contains no `<` that could end the element."""
    return json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
