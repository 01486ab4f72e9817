"""Read a pickle that holds only plain values: None, bool, int, float, str, bytes, list, tuple, and dict with str keys.

The recorder's dumps are such pickles. Nothing in a file is imported or called, because this machine has no operation
for that. Python's own reader is not used: a small file can make it allocate gigabytes (a memo index of 4 billion), or
take quadratic time (numbers or tuples as keys, all with one hash).
"""

from __future__ import annotations

import struct
from collections.abc import Callable

MOST_DIGITS = 40
"""The most characters of a number that is written as text, and the most bytes of a binary one."""
_BROKEN = (IndexError, KeyError, struct.error, UnicodeError, OverflowError, MemoryError)


class _Machine:
    """The state of the reader: the position in the bytes, the stack, the heights at its marks, and the memo."""

    __slots__ = ("data", "marks", "memo", "position", "stack")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0
        self.stack: list[object] = []
        self.marks: list[int] = []
        self.memo: dict[int, object] = {}

    def number(self, form: struct.Struct) -> int:
        """Return the next number, in a binary form."""
        value: int = form.unpack_from(self.data, self.position)[0]
        self.position += form.size
        return value

    def part(self, count: int) -> bytes:
        """Return the next bytes.

        Raises:
            ValueError: there are fewer.
        """
        end = self.position + count
        if end > len(self.data):
            raise ValueError("the pickle is truncated")
        part = self.data[self.position : end]
        self.position = end
        return part

    def line(self) -> bytes:
        """Return the bytes up to the end of the line.

        Raises:
            ValueError: there is no end.
        """
        end = self.data.index(b"\n", self.position)
        part = self.data[self.position : end]
        self.position = end + 1
        return part

    def digits(self) -> bytes:
        """Return a number that is written as text.

        Raises:
            ValueError: it is too long.
        """
        written = self.line()
        if len(written) > MOST_DIGITS:
            raise ValueError("a number is too long")
        return written

    def above_mark(self) -> list[object]:
        """Remove the values above the last mark, and return them."""
        height = self.marks.pop()
        values = self.stack[height:]
        del self.stack[height:]
        return values


_U1, _U2, _U4, _U8, _I4, _F8 = (struct.Struct(form) for form in ("<B", "<H", "<I", "<Q", "<i", ">d"))
Operation = Callable[[_Machine], object]


def plain_pickle(data: bytes) -> object:
    """Return the value of a pickle.

    Raises:
        ValueError: it is damaged, or has other values.
    """
    machine = _Machine(data)
    try:
        while (code := data[machine.position]) != _STOP:
            machine.position += 1
            operation = _OPERATIONS.get(code)
            if operation is None:
                raise ValueError(f"the operation {bytes([code])!r} is not allowed")
            operation(machine)
        return machine.stack[-1]
    except _BROKEN as error:
        raise ValueError(f"the pickle is damaged: {type(error).__name__}") from error


def _push(read: Callable[[_Machine], object]) -> Operation:
    """Return the operation that pushes a value."""
    return lambda machine: machine.stack.append(read(machine))


def _constant(value: object) -> Operation:
    return lambda machine: machine.stack.append(value)


def _skip(count: int) -> Operation:
    return lambda machine: machine.part(count)


def _text(form: struct.Struct) -> Operation:
    return _push(lambda machine: machine.part(machine.number(form)).decode("utf-8", "replace"))


def _raw(form: struct.Struct) -> Operation:
    return _push(lambda machine: machine.part(machine.number(form)))


def _long(form: struct.Struct) -> Operation:
    def read(machine: _Machine) -> int:
        count = machine.number(form)
        if count > MOST_DIGITS:
            raise ValueError("a number is too long")
        return int.from_bytes(machine.part(count), "little", signed=True)

    return _push(read)


def _int_line(machine: _Machine) -> object:
    written = machine.digits()
    return written == b"01" if written in (b"00", b"01") else int(written)


def _mark(machine: _Machine) -> None:
    machine.marks.append(len(machine.stack))


def _pop(machine: _Machine) -> None:
    if machine.marks and machine.marks[-1] == len(machine.stack):
        machine.marks.pop()
    else:
        machine.stack.pop()


def _append(machine: _Machine) -> None:
    value = machine.stack.pop()
    _list(machine).append(value)


def _appends(machine: _Machine) -> None:
    values = machine.above_mark()
    _list(machine).extend(values)


def _list(machine: _Machine) -> list[object]:
    target = machine.stack[-1]
    if not isinstance(target, list):
        raise ValueError("values are appended to another object than a list")
    return target


def _set(machine: _Machine) -> None:
    value, key = machine.stack.pop(), machine.stack.pop()
    _update(machine, [key, value])


def _update(machine: _Machine, values: list[object]) -> None:
    """Add keys and values to the dict on top of the stack."""
    target = machine.stack[-1]
    if not isinstance(target, dict) or len(values) % 2:
        raise ValueError("items are set in another object than a dict")
    for key in values[::2]:
        if type(key) is not str:
            raise ValueError("a key is no string")
    target.update(zip(values[::2], values[1::2], strict=True))


def _dict(machine: _Machine) -> None:
    values = machine.above_mark()
    machine.stack.append({})
    _update(machine, values)


def _tuple(count: int) -> Operation:
    def build(machine: _Machine) -> None:
        if len(machine.stack) < count:
            raise ValueError("a tuple has too few values")
        values = tuple(machine.stack[-count:])
        del machine.stack[-count:]
        machine.stack.append(values)

    return build


def _get(index: Callable[[_Machine], int]) -> Operation:
    return lambda machine: machine.stack.append(machine.memo[index(machine)])


def _put(index: Callable[[_Machine], int]) -> Operation:
    def keep(machine: _Machine) -> None:
        machine.memo[index(machine)] = machine.stack[-1]

    return keep


_STOP = ord(".")
_OPERATIONS: dict[int, Operation] = {
    code[0]: operation
    for code, operation in (
        (b"\x80", _skip(1)),
        (b"\x95", _skip(8)),
        (b"(", _mark),
        (b"0", _pop),
        (b"1", lambda machine: machine.above_mark()),
        (b"2", lambda machine: machine.stack.append(machine.stack[-1])),
        (b"N", _constant(None)),
        (b"\x88", _constant(True)),
        (b"\x89", _constant(False)),
        (b"I", _push(_int_line)),
        (b"J", _push(lambda machine: machine.number(_I4))),
        (b"K", _push(lambda machine: machine.number(_U1))),
        (b"M", _push(lambda machine: machine.number(_U2))),
        (b"L", _push(lambda machine: int(machine.digits().rstrip(b"L")))),
        (b"\x8a", _long(_U1)),
        (b"\x8b", _long(_I4)),
        (b"F", _push(lambda machine: float(machine.digits()))),
        (b"G", _push(lambda machine: machine.number(_F8))),
        (b"X", _text(_U4)),
        (b"\x8c", _text(_U1)),
        (b"\x8d", _text(_U8)),
        (b"B", _raw(_U4)),
        (b"C", _raw(_U1)),
        (b"\x8e", _raw(_U8)),
        (b"]", lambda machine: machine.stack.append([])),
        (b"l", _push(_Machine.above_mark)),
        (b"a", _append),
        (b"e", _appends),
        (b"}", lambda machine: machine.stack.append({})),
        (b"d", _dict),
        (b"s", _set),
        (b"u", lambda machine: _update(machine, machine.above_mark())),
        (b")", _constant(())),
        (b"t", _push(lambda machine: tuple(machine.above_mark()))),
        (b"\x85", _tuple(1)),
        (b"\x86", _tuple(2)),
        (b"\x87", _tuple(3)),
        (b"g", _get(lambda machine: int(machine.digits()))),
        (b"h", _get(lambda machine: machine.number(_U1))),
        (b"j", _get(lambda machine: machine.number(_U4))),
        (b"p", _put(lambda machine: int(machine.digits()))),
        (b"q", _put(lambda machine: machine.number(_U1))),
        (b"r", _put(lambda machine: machine.number(_U4))),
        (b"\x94", lambda machine: machine.memo.__setitem__(len(machine.memo), machine.stack[-1])),
    )
}
