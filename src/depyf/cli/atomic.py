"""Write files whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def part_of(path: Path) -> Path:
    """Return the temporary path of a file that is being written."""
    return path.with_name(f".{path.name}.part")


def write_whole(path: Path, text: str) -> None:
    """Write a file under a temporary name, then rename it.

    Raises OSError, and leaves no file behind.
    """
    part = part_of(path)
    try:
        part.write_text(text, encoding="utf-8", errors="surrogatepass", newline="\n")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
