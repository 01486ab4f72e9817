"""What cannot be shortened is written as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import interpreters

ROOT = Path(__file__).parents[2]
MATCHES = sorted((Path(__file__).parent / "sources").glob("since_3_11_matches*.txt"))
SINCE_MATCH = [version for version in interpreters.VERSIONS if version >= (3, 10)]
SCRIPT = """
import sys, types, warnings
sys.path.insert(0, sys.argv[1])
from depyf.api import decompile_code
from depyf.decompiler.function import source_of
from depyf.verify.level import Level

warnings.simplefilter("error")
for path in sys.argv[2:]:
    module = compile(open(path, encoding="utf-8").read(), path, "exec")
    for code in module.co_consts:
        if isinstance(code, types.CodeType) and code.co_flags & 2:
            made = decompile_code(code, simplify=True)
            assert made.level is not Level.UNPROVEN, (path, code.co_name, made.reason)
            source_of(code, simplify=True)
print("all are proven")
"""


@pytest.mark.parametrize("version", SINCE_MATCH, ids=interpreters.label)
def test_what_matches_patterns_is_proven_when_it_is_to_be_shortened(version: tuple[int, int]) -> None:
    python = interpreters.need(version)
    paths = [str(path) for path in MATCHES]
    classes = str(Path(__file__).parent / "sources" / "since_3_8_class_comprehensions.txt")
    assert interpreters.run(python, SCRIPT, str(ROOT / "src"), classes, *paths) == "all are proven\n"


EXTENDED = """
import sys
sys.path.insert(0, sys.argv[1])
from depyf.api import decompile_code
from depyf.verify.level import Level


def adds(thing):
    info = begin()
    thing.add(end, *info)


made = decompile_code(adds.__code__, simplify=True)
assert made.level is Level.EXACT, made.reason
print(made.source)
"""


def test_what_is_not_proven_when_it_is_shortened_is_written_as_it_is() -> None:
    python = interpreters.need((3, 11))
    output = interpreters.run(python, EXTENDED, str(ROOT / "src"))
    assert output.strip() == "def adds(thing):\n    info = begin()\n    thing.add(end, *info)"
