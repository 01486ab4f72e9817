"""The `.pyc` files that are damaged: one small module, compiled by each version of CPython, committed.

    python -m tests.quality.bad_input.seeds PYTHON ...      # writes the files of these interpreters again
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "bad_input" / "seeds"
COMPILE = """
import importlib.util, marshal, sys
with open(sys.argv[1], encoding="utf-8") as file:
    code = compile(file.read(), "seed.py", "exec")
name = "seed-%d.%d.pyc" % sys.version_info[:2]
with open(sys.argv[2] + "/" + name, "wb") as file:
    file.write(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
"""


def seeds() -> list[bytes]:
    """Return the committed files, by version."""
    return [path.read_bytes() for path in sorted(FOLDER.glob("*.pyc"))]


def main() -> None:
    """Write the files of the interpreters that are named."""
    for python in sys.argv[1:]:
        subprocess.run([python, "-c", COMPILE, str(FOLDER / "source.txt"), str(FOLDER)], check=True)


if __name__ == "__main__":
    main()
