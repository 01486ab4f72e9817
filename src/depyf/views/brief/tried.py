"""Read the `fix.json` of `depyf fix`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = "fix.json"


def tried_in(*directories: Path) -> list[Mapping[str, Any]]:
    """Return the edits that `depyf fix` tried, from the first of the directories that has its file, else nothing.

    Raises:
        OSError, ValueError: the file cannot be read, or is not one of `depyf fix`.
    """
    path = next((directory / FILE for directory in directories if (directory / FILE).is_file()), None)
    if path is None:
        return []
    content = json.loads(path.read_text(encoding="utf-8"))
    tried = content.get("tried") if isinstance(content, dict) else None
    if not isinstance(tried, list):
        raise ValueError(f"{path} is not written by `depyf fix`")
    return tried
