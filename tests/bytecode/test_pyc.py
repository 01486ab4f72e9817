"""`.pyc` files: what they hold, and what is refused."""

from __future__ import annotations

import importlib.util
import marshal
import struct
import types

import pytest

from depyf.bytecode.code import Code
from depyf.bytecode.pyc import load
from depyf.bytecode.reader import read
from depyf.bytecode.unmarshal import MAX_NESTING, Unmarshaller
from depyf.bytecode.versions.known import FACTS
from depyf.errors import DecompilationError
from tests import interpreters
from tests.bytecode.listings import compiled, inner

HEADER = importlib.util.MAGIC_NUMBER + bytes(12)
SOURCE = '''
class A:
    def f(self, a, b=2, *c, d, e=(1, 2), **g):
        x = lambda: (a, self)
        return [1.5, -0.0, 2j, 10**30, 1180591620717411303424, "\\u20ac", b"b", None, ..., (1, ("t",)), {3} > {a}, x]
'''


def contents(code: Code) -> list[object]:
    """Return all that a code object says, except where it came from."""
    return [
        [repr(const) for const in code.consts if not isinstance(const, Code)],
        *(getattr(code, name) for name in Code.__dataclass_fields__ if name not in ("consts", "origin")),
        *(contents(const) for const in code.consts if isinstance(const, Code)),
    ]


def unmarshal(data: bytes) -> object:
    """Return the object of some marshal data."""
    return Unmarshaller(data, (), "data").load()


def refused(data: bytes) -> str:
    """Return the reason why some marshal data is refused."""
    with pytest.raises(DecompilationError) as caught:
        unmarshal(data)
    assert caught.value.code == "data"
    return caught.value.reason


def test_file_of_this_python_is_its_live_code() -> None:
    module = compile(SOURCE, "file.py", "exec")
    assert contents(load(HEADER + marshal.dumps(module))) == contents(read(module))


@pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)
def test_fields(version: tuple[int, int]) -> None:
    code = inner(compiled(SOURCE, version), "f")
    assert code.version == version
    assert code.qualname == "A.f"
    assert (code.argcount, code.posonly_count, code.kwonly_count) == (3, 0, 2)
    assert code.parameters == ("self", "a", "b", "d", "e", "c", "g")
    assert code.cellvars in (("a", "self"), ("self", "a"))
    assert inner(code, "<lambda>").qualname == "A.f.<locals>.<lambda>"
    assert inner(code, "<lambda>").freevars == ("a", "self")
    shown = {repr(const) for const in code.consts}
    assert shown >= {"1.5", "-0.0", "2j", str(10**30), str(2**70), "'\u20ac'", "b'b'"}


def test_values() -> None:
    shared = (1, "a")
    values = [
        (None, True, False, ..., StopIteration),
        (0, -1, 2**31 - 1, -(2**31), 2**31, 2**400, -(2**15), 10**100),
        (1.0, float("inf"), 1e-300, 1j),
        ("", "a" * 300, "\ud800", "\u20ac", b"", b"x" * 300),
        ((), [1, [2]], {1, 2}, frozenset({"a"}), {"k": [1], 2: None}),
        (shared, shared, [shared]),
    ]
    for value in values:
        for version in (2, 4):
            assert repr(unmarshal(marshal.dumps(value, version))) == repr(value)
    assert repr(unmarshal(marshal.dumps((1.5, 2j), 0))) == "(1.5, 2j)"


def test_nan_and_shared_objects() -> None:
    first, second = unmarshal(marshal.dumps(([1],) * 2))  # type: ignore[misc]
    assert first is second
    assert str(unmarshal(marshal.dumps(float("nan")))) == "nan"


@pytest.mark.parametrize("cut", range(1, 120, 7))
def test_truncated_file_is_refused(cut: int) -> None:
    data = HEADER + marshal.dumps(compile(SOURCE, "file.py", "exec"))
    with pytest.raises(DecompilationError, match="bad marshal data at byte|header|magic"):
        load(data[: cut * len(data) // 120])


def test_other_files_are_refused() -> None:
    code = marshal.dumps(compile("", "f", "exec"))
    for data, reason in (
        (b"", "this is no .pyc file: the magic number is missing"),
        (b"PK\x03\x04" + code, "this is no .pyc file: the magic number is missing"),
        (struct.pack("<H", 336) + b"\r\n" + code, "a file of PyPy (magic number 336); CPython 3.7 to 3.15 can be read"),
        (
            struct.pack("<H", 3379) + b"\r\n" + code,
            "a file of another interpreter, an unreleased one perhaps (magic number 3379); "
            "CPython 3.7 to 3.15 can be read",
        ),
        (HEADER[:4] + b"\x04\0\0\0" + bytes(8) + code, "unknown flags 0x4 in the header"),
        (HEADER[:9], "the header ends after 9 of 16 bytes"),
        (HEADER + b"N", "the file contains NoneType instead of a code object"),
    ):
        with pytest.raises(DecompilationError) as caught:
            load(data, source="here")
        assert (caught.value.reason, caught.value.code) == (reason, "here")


def test_code_with_wrong_fields_is_refused() -> None:
    fields = FACTS[(3, 8)].fields
    assert len([name for name, is_number in fields if is_number]) == 7
    magic = struct.pack("<H", FACTS[(3, 8)].table.magic) + b"\r\n" + bytes(12)
    numbers, objects = bytes(24), b"N" * 8
    with pytest.raises(DecompilationError, match="a code object's name is NoneType, not str"):
        load(magic + b"c" + numbers + objects + bytes(4) + b"N")


def test_sizes_are_checked_before_anything_is_made() -> None:
    for kind in "([<>":
        assert "members are announced" in refused(kind.encode() + struct.pack("<i", 2**31 - 1))
        assert "members are announced" in refused(kind.encode() + struct.pack("<i", -1))
    for kind in "sutaA":
        assert "bytes are announced" in refused(kind.encode() + struct.pack("<i", 2**31 - 1))
    assert "bytes are announced" in refused(b"l" + struct.pack("<i", -(2**31)))


def test_nesting_is_limited() -> None:
    assert unmarshal(b")\x01" * MAX_NESTING + b"N") is not None
    assert refused(b")\x01" * (MAX_NESTING + 1) + b"N") == (
        f"bad marshal data at byte {2 * MAX_NESTING + 1}: objects nest more than {MAX_NESTING} deep"
    )


def test_shared_objects_cannot_unfold_without_limit() -> None:
    levels = b"N"
    data = b"(" + struct.pack("<i", 60) + b"\xa9\x01" + levels
    for level in range(59):
        data += b"\xa9\x02" + 2 * (b"r" + struct.pack("<i", level))
    assert "unfolds to more than" in refused(data)


def test_references_to_what_is_not_there_are_refused() -> None:
    assert "there is no object with number 0" in refused(b"r" + bytes(4))
    assert "there is no object with number 0" in refused(b"\xa9\x01r" + bytes(4))
    assert "there is no object with number -1" in refused(b"r" + b"\xff" * 4)


def test_other_damage_is_refused() -> None:
    assert "unknown type '?'" in refused(b"?")
    assert "a null is not an object" in refused(b"0")
    assert "a null is not an object" in refused(b")\x010")
    assert "unhashable" in refused(b"<\x01\0\0\0[\0\0\0\0")
    assert "an integer has a wrong digit" in refused(b"l\x01\0\0\0\xff\xff")
    assert "an integer has a wrong digit" in refused(b"l\x01\0\0\0\0\0")
    assert "could not convert string to float" in refused(b"f\x01x")
    assert "invalid start byte" in refused(b"u\x01\0\0\0\xff")


def test_reader_takes_code_objects_only() -> None:
    with pytest.raises(TypeError, match="a code object is needed, not function"):
        read(contents)  # type: ignore[arg-type]


def test_reader_converts_a_shared_code_object_once() -> None:
    code = compile("lambda: 0", "f", "eval")
    for _ in range(40):
        code = code.replace(co_consts=(code, code))
    view = read(code)
    assert view.consts[0] is view.consts[1]


def test_reader_takes_deep_nesting() -> None:
    code: types.CodeType = compile("0", "f", "eval")
    for _ in range(5000):
        code = code.replace(co_consts=(code,))
    depth, view = 0, read(code)
    while isinstance(view.consts[0], Code):
        depth, view = depth + 1, view.consts[0]
    assert depth == 5000
