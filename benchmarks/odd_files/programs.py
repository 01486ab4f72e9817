"""The programs in the odd files, compiled by each Python of this machine."""

from __future__ import annotations

import importlib.util
import json
import marshal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

HEADER = 16
PROGRAMS: Mapping[str, str] = {
    "functions": '''"""Text."""
import os


def walk(top, *rest, key=None):
    """Say more."""
    for name in sorted(os.listdir(top), key=key):
        if name.startswith(".") or name in rest:
            continue
        try:
            yield name, os.stat(name).st_size
        except OSError as error:
            print(f"{name}: {error!r}")
        finally:
            top = name
''',
    "classes": """class Base:
    kind = "base"

    def __init__(self, value=0):
        self.value = value

    @property
    def double(self):
        return self.value * 2


class Sub(Base, metaclass=type):

    def __init__(self):
        super().__init__(1)
        self.items = {k: [v for v in range(k) if v % 2] for k in range(3)}
""",
    "loops": """def first(rows, wanted):
    count = 0
    while True:
        for row in rows:
            if row == wanted:
                break
            count += 1
        else:
            return None
        if count > 10 and not wanted:
            return count
        with open(wanted) as file, open(row) as other:
            rows = [file.read(), *other]
""",
    "constants": """LIMITS = (1, -2.5, 3j, "text", b"bytes", None, True, ...)
NAMES = {"a": 1, "b": (2, 3)}
total = sum(LIMITS[:2]) if NAMES else 0
pick = lambda x, y=1: x or y
""",
}
COMPILE = """
import importlib.util, json, marshal, sys
codes = {name: compile(text, name + ".py", "exec") for name, text in json.load(sys.stdin).items()}
dumps = {name: marshal.dumps(code).hex() for name, code in codes.items()}
print(json.dumps([importlib.util.MAGIC_NUMBER.hex(), dumps]))
"""


@dataclass(frozen=True)
class Compiled:
    """The marshalled code of a module, and the header of a `.pyc` for it."""

    version: tuple[int, int]
    header: bytes
    marshalled: bytes

    @property
    def pyc(self) -> bytes:
        """The whole file."""
        return self.header + self.marshalled


def compiled_by(python: str, version: tuple[int, int]) -> dict[str, Compiled]:
    """Return the programs as an interpreter compiles them."""
    done = subprocess.run(
        [python, "-c", COMPILE], input=json.dumps(PROGRAMS), capture_output=True, text=True, check=True
    )
    magic, codes = json.loads(done.stdout)
    header = bytes.fromhex(magic) + bytes(HEADER - 4)
    return {name: Compiled(version, header, bytes.fromhex(code)) for name, code in codes.items()}


def compiled_here(source: str) -> Compiled:
    """Return a source as the running Python compiles it."""
    header = importlib.util.MAGIC_NUMBER + bytes(HEADER - 4)
    return Compiled(sys.version_info[:2], header, marshal.dumps(compile(source, "m.py", "exec")))
