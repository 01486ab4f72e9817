"""The evaluator's operations on attributes, items, operators, displays, text, imports, and patterns."""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from depyf.bytecode.listing import Instruction

NULL = object()
UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "not": operator.not_}
COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "@": operator.matmul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
INPLACE = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "@": operator.imatmul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "**": operator.ipow,
    "<<": operator.ilshift,
    ">>": operator.irshift,
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
}
CONVERT: dict[str | None, Callable[[object], object]] = {"s": str, "r": repr, "a": ascii, None: lambda value: value}


class ValueOperations:
    """A stack, and what is done to values on it."""

    stack: list[Any]
    globals: dict[str, Any]

    def pop(self, count: int) -> list[Any]:
        """Take values off the stack, lowest first."""
        assert len(self.stack) >= count
        values = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return values

    # Attributes and items

    def op_LOAD_ATTR(self, i: Instruction) -> None:
        self.stack.append(getattr(self.stack.pop(), i.arg))

    def op_STORE_ATTR(self, i: Instruction) -> None:
        value, owner = self.pop(2)
        setattr(owner, i.arg, value)

    def op_DELETE_ATTR(self, i: Instruction) -> None:
        delattr(self.stack.pop(), i.arg)

    def push_method(self, is_method: Any, shape: str) -> None:
        """Push a bound method as two values where it is one."""
        if isinstance(is_method, types.MethodType):
            self.stack += [is_method.__func__, is_method.__self__]
        else:
            self.stack += [NULL, is_method] if shape == "below" else [is_method, NULL]

    def op_LOAD_METHOD(self, i: Instruction) -> None:
        name, shape = i.arg
        self.push_method(getattr(self.stack.pop(), name), shape)

    def op_LOAD_SUPER_ATTR(self, i: Instruction) -> None:
        kind, cls, owner = self.pop(3)
        self.stack.append(getattr(kind(cls, owner), i.arg[0]))

    def op_LOAD_SUPER_METHOD(self, i: Instruction) -> None:
        kind, cls, owner = self.pop(3)
        self.push_method(getattr(kind(cls, owner), i.arg[0]), i.arg[2])

    def op_LOAD_SUBSCR(self, i: Instruction) -> None:
        container, key = self.pop(2)
        self.stack.append(container[key])

    def op_STORE_SUBSCR(self, i: Instruction) -> None:
        value, container, key = self.pop(3)
        container[key] = value

    def op_DELETE_SUBSCR(self, i: Instruction) -> None:
        container, key = self.pop(2)
        del container[key]

    # Operators

    def op_UNARY(self, i: Instruction) -> None:
        self.stack.append(UNARY[i.arg](self.stack.pop()))

    def op_BINARY(self, i: Instruction) -> None:
        self.stack.append(BINARY[i.arg](*self.pop(2)))

    def op_INPLACE(self, i: Instruction) -> None:
        self.stack.append(INPLACE[i.arg](*self.pop(2)))

    def op_COMPARE(self, i: Instruction) -> None:
        self.stack.append(COMPARE[i.arg](*self.pop(2)))

    def op_IS(self, i: Instruction) -> None:
        left, right = self.pop(2)
        self.stack.append((left is right) != i.arg)

    def op_CONTAINS(self, i: Instruction) -> None:
        item, container = self.pop(2)
        self.stack.append((item in container) != i.arg)

    def op_TO_BOOL(self, i: Instruction) -> None:
        self.stack.append(bool(self.stack.pop()))

    # Displays

    def op_BUILD_TUPLE(self, i: Instruction) -> None:
        self.stack.append(tuple(self.pop(i.arg)))

    def op_BUILD_LIST(self, i: Instruction) -> None:
        self.stack.append(self.pop(i.arg))

    def op_BUILD_SET(self, i: Instruction) -> None:
        self.stack.append(set(self.pop(i.arg)))

    def op_BUILD_STRING(self, i: Instruction) -> None:
        self.stack.append("".join(self.pop(i.arg)))

    def op_BUILD_SLICE(self, i: Instruction) -> None:
        self.stack.append(slice(*self.pop(i.arg)))

    def op_BUILD_MAP(self, i: Instruction) -> None:
        items = self.pop(2 * i.arg)
        self.stack.append(dict(zip(items[::2], items[1::2], strict=True)))

    def op_BUILD_CONST_KEY_MAP(self, i: Instruction) -> None:
        *values, keys = self.pop(i.arg + 1)
        self.stack.append(dict(zip(keys, values, strict=True)))

    def op_BUILD_LIST_UNPACK(self, i: Instruction) -> None:
        self.stack.append([item for part in self.pop(i.arg) for item in part])

    def op_BUILD_TUPLE_UNPACK(self, i: Instruction) -> None:
        self.op_BUILD_LIST_UNPACK(i)
        self.stack.append(tuple(self.stack.pop()))

    op_BUILD_TUPLE_UNPACK_WITH_CALL = op_BUILD_TUPLE_UNPACK

    def op_BUILD_SET_UNPACK(self, i: Instruction) -> None:
        self.op_BUILD_LIST_UNPACK(i)
        self.stack.append(set(self.stack.pop()))

    def op_BUILD_MAP_UNPACK(self, i: Instruction) -> None:
        self.stack.append({key: value for part in self.pop(i.arg) for key, value in part.items()})

    op_BUILD_MAP_UNPACK_WITH_CALL = op_BUILD_MAP_UNPACK

    def op_LIST_APPEND(self, i: Instruction) -> None:
        value = self.stack.pop()
        self.stack[-i.arg].append(value)

    def op_LIST_EXTEND(self, i: Instruction) -> None:
        value = self.stack.pop()
        self.stack[-i.arg].extend(value)

    def op_SET_ADD(self, i: Instruction) -> None:
        value = self.stack.pop()
        self.stack[-i.arg].add(value)

    def op_SET_UPDATE(self, i: Instruction) -> None:
        value = self.stack.pop()
        self.stack[-i.arg].update(value)

    def op_DICT_UPDATE(self, i: Instruction) -> None:
        value = self.stack.pop()
        self.stack[-i.arg].update(value)

    op_DICT_MERGE = op_DICT_UPDATE

    def op_MAP_ADD(self, i: Instruction) -> None:
        key, value = self.pop(2)
        self.stack[-i.arg][key] = value

    def op_LIST_TO_TUPLE(self, i: Instruction) -> None:
        self.stack.append(tuple(self.stack.pop()))

    def op_UNPACK_SEQUENCE(self, i: Instruction) -> None:
        values = list(self.stack.pop())
        if len(values) != i.arg:
            raise ValueError("wrong number of values")
        self.stack += reversed(values)

    def op_UNPACK_EX(self, i: Instruction) -> None:
        before, after = i.arg
        values = list(self.stack.pop())
        if len(values) < before + after:
            raise ValueError("not enough values")
        end = len(values) - after
        self.stack += reversed([*values[:before], values[before:end], *values[end:]])

    # Formatting, imports

    def op_CONVERT(self, i: Instruction) -> None:
        self.stack.append(CONVERT[i.arg](self.stack.pop()))

    def op_FORMAT(self, i: Instruction) -> None:
        has_spec, conversion = i.arg
        spec = self.stack.pop() if has_spec else ""
        self.stack.append(format(CONVERT[conversion](self.stack.pop()), spec))

    def op_IMPORT_NAME(self, i: Instruction) -> None:
        level, names = self.pop(2)
        self.stack.append(__import__(i.arg, self.globals, None, names, level))

    def op_IMPORT_FROM(self, i: Instruction) -> None:
        self.stack.append(getattr(self.stack[-1], i.arg))

    # Pattern matching

    def op_GET_LEN(self, i: Instruction) -> None:
        self.stack.append(len(self.stack[-1]))

    def op_MATCH_MAPPING(self, i: Instruction) -> None:
        self.stack.append(isinstance(self.stack[-1], Mapping))

    def op_MATCH_SEQUENCE(self, i: Instruction) -> None:
        value = self.stack[-1]
        self.stack.append(isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray))

    def op_MATCH_KEYS(self, i: Instruction) -> None:
        subject, keys = self.stack[-2:]
        self.stack.append(tuple(subject[key] for key in keys) if all(key in subject for key in keys) else None)

    def op_MATCH_CLASS(self, i: Instruction) -> None:
        subject, kind, names = self.pop(3)
        if not isinstance(subject, kind):
            self.stack.append(None)
            return
        if i.arg and kind in (int, float, str, bytes, list, tuple, dict, set):
            self.stack.append((subject,))
            return
        wanted = (*getattr(kind, "__match_args__", ())[: i.arg], *names)
        has_all = all(hasattr(subject, name) for name in wanted)
        self.stack.append(tuple(getattr(subject, name) for name in wanted) if has_all else None)

    def op_COPY_DICT_WITHOUT_KEYS(self, i: Instruction) -> None:
        keys = self.stack.pop()
        self.stack.append({key: value for key, value in self.stack[-1].items() if key not in keys})
