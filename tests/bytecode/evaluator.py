"""Runs normalised instructions, as a check on what normalisation says they mean.

Slow, plain, and written from `depyf.bytecode.operations` alone: code of any version, read from a
`.pyc`, must do here what it does under its own interpreter.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import types
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from depyf.bytecode.code import (
    CO_ASYNC_GENERATOR,
    CO_COROUTINE,
    CO_GENERATOR,
    CO_OPTIMIZED,
    CO_VARARGS,
    CO_VARKEYWORDS,
    Code,
)
from depyf.bytecode.listing import Instruction
from depyf.bytecode.normalise import normalise
from tests.bytecode.value_operations import NULL, ValueOperations

GROUP: Any = getattr(builtins, "BaseExceptionGroup", None)

listing_of = functools.cache(normalise)


class Return(Exception):
    """Carries the value out of a frame."""


class Yielded:
    """A value that an asynchronous generator yields, as against what it passes on to the event loop."""

    def __init__(self, value: object) -> None:
        self.value = value


def run_module(code: Code, name: str = "evaluated") -> dict[str, Any]:
    """Run a module's code; return its names."""
    names: dict[str, Any] = {"__name__": name, "__builtins__": builtins}
    finish(Frame(code, names, names, {}, {}).run())
    return names


def finish(frame: Generator[Any, Any, Any]) -> Any:
    """Run a frame that does not yield."""
    try:
        next(frame)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("a frame that is no generator yields")


def bind(code: Code, args: tuple[Any, ...], kwargs: dict[str, Any], defaults: Any, kwdefaults: Any) -> dict[str, Any]:
    """Bind arguments to parameters as a call does."""
    kinds = inspect.Parameter
    parameters = []
    names = code.parameters
    positional = names[: code.argcount]
    for index, name in enumerate(positional):
        kind = kinds.POSITIONAL_ONLY if index < code.posonly_count else kinds.POSITIONAL_OR_KEYWORD
        behind = index - (len(positional) - len(defaults or ()))
        parameters.append((name, kind, defaults[behind] if defaults and behind >= 0 else kinds.empty))
    keyword = names[code.argcount : code.argcount + code.kwonly_count]
    rest = list(names[code.argcount + code.kwonly_count :])
    if code.flags & CO_VARARGS:
        parameters.append((rest.pop(0), kinds.VAR_POSITIONAL, kinds.empty))
    for name in keyword:
        parameters.append((name, kinds.KEYWORD_ONLY, (kwdefaults or {}).get(name, kinds.empty)))
    if code.flags & CO_VARKEYWORDS:
        parameters.append((rest.pop(0), kinds.VAR_KEYWORD, kinds.empty))
    real = {name.replace(".", "implicit"): name for name, _, _ in parameters}
    signature = inspect.Signature(
        [kinds(name.replace(".", "implicit"), kind, default=default) for name, kind, default in parameters]
    )
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return {real[name]: value for name, value in bound.arguments.items()}


def make_function(code: Code, names: dict[str, Any]) -> Any:
    """Return a function whose calls are evaluated; what MAKE_FUNCTION adds is set on `extras`."""
    extras: dict[int, Any] = {}

    def call(*args: Any, **kwargs: Any) -> Any:
        variables = bind(code, args, kwargs, extras.get(1), extras.get(2))
        frame = Frame(code, names, variables, variables, dict(zip(code.freevars, extras.get(8, ()), strict=True)))
        if code.flags & CO_ASYNC_GENERATOR:
            return AsyncGenerator(frame.run())
        if code.flags & CO_COROUTINE:
            return types.coroutine(frame.run)()
        return frame.run() if code.flags & CO_GENERATOR else finish(frame.run())

    call.__name__, call.__qualname__ = code.name, code.qualname
    call.extras, call.code, call.names = extras, code, names  # type: ignore[attr-defined]
    return call


class AsyncGenerator:
    """What calling an asynchronous generator function returns."""

    def __init__(self, frame: Generator[Any, Any, Any]) -> None:
        self.frame = frame

    def __aiter__(self) -> AsyncGenerator:
        return self

    @types.coroutine
    def __anext__(self) -> Generator[Any, Any, Any]:
        sent = None
        try:
            while True:
                value = self.frame.send(sent)
                if isinstance(value, Yielded):
                    return value.value
                sent = yield value
        except StopIteration:
            raise StopAsyncIteration from None


class Frame(ValueOperations):
    """One evaluation of a code object."""

    def __init__(
        self,
        code: Code,
        names: dict[str, Any],
        namespace: Any,
        variables: dict[str, Any],
        cells: dict[str, types.CellType],
    ) -> None:
        self.code = code
        self.listing = listing_of(code)
        self.globals = names
        self.namespace = namespace
        self.variables = dict(variables) if code.flags & CO_OPTIMIZED else {}
        self.first = next(iter(self.variables.values()), None)
        self.cells = dict(cells)
        for name in code.cellvars:
            self.cells[name] = self.new_cell(name)
        self.stack: list[Any] = []
        self.handled: BaseException | None = None
        self.next = 0

    def new_cell(self, name: str) -> types.CellType:
        """Move a variable's value, if it has one, into a new cell."""
        return types.CellType(self.variables.pop(name)) if name in self.variables else types.CellType()

    def run(self) -> Generator[Any, Any, Any]:
        """Run to the end; yield what the code yields."""
        while True:
            instruction = self.listing.instructions[self.next]
            self.next += 1
            try:
                if instruction.op in ("YIELD", "YIELD_FROM"):
                    yield from self.hand_over(instruction)
                else:
                    getattr(self, f"op_{instruction.op}")(instruction)
            except Return as result:
                assert self.handled is None, "an exception is still being handled at the end"
                assert not self.stack, "values are left on the stack"
                return result.args[0]
            except BaseException as error:  # noqa: BLE001 (the evaluated code has handlers for any)
                self.go_to_handler(instruction, error)

    def hand_over(self, instruction: Instruction) -> Generator[Any, Any, None]:
        """Yield a value, or all that an iterator yields."""
        if instruction.op == "YIELD":
            (value,) = self.pop(1)
            is_async = self.code.flags & CO_ASYNC_GENERATOR and instruction.arg is None
            self.stack.append((yield Yielded(value) if is_async else value))
        else:
            iterator, first = self.pop(2)
            assert first is None
            self.stack.append((yield from iterator))

    def go_to_handler(self, instruction: Instruction, error: BaseException) -> None:
        """Do what the listing says about an exception."""
        if instruction.handler < 0:
            raise error
        handler = self.listing.handlers[instruction.handler]
        assert len(self.stack) >= handler.depth
        del self.stack[handler.depth :]
        self.stack += [instruction.offset, error] if handler.lasti else [error]
        self.next = handler.target

    # Stack

    def op_NULL(self, i: Instruction) -> None:
        self.stack.append(NULL)

    def op_POP(self, i: Instruction) -> None:
        self.stack.pop()

    def op_COPY(self, i: Instruction) -> None:
        self.stack.append(self.stack[-i.arg])

    def op_SWAP(self, i: Instruction) -> None:
        self.stack[-1], self.stack[-i.arg] = self.stack[-i.arg], self.stack[-1]

    # Names

    def op_CONST(self, i: Instruction) -> None:
        self.stack.append(i.arg)

    def op_LOAD_FAST(self, i: Instruction) -> None:
        if i.arg not in self.variables:
            raise UnboundLocalError(i.arg)
        assert self.variables[i.arg] is not NULL
        self.stack.append(self.variables[i.arg])

    def op_LOAD_FAST_CLEAR(self, i: Instruction) -> None:
        held = self.cells if i.arg in self.cells else self.variables
        self.stack.append(held.pop(i.arg, NULL))

    def op_STORE_FAST(self, i: Instruction) -> None:
        value = self.stack.pop()
        held: dict[str, Any] = self.cells if isinstance(value, types.CellType) else self.variables
        if value is NULL:
            self.variables.pop(i.arg, None)
        else:
            held[i.arg] = value

    def op_DELETE_FAST(self, i: Instruction) -> None:
        if i.arg not in self.variables:
            raise UnboundLocalError(i.arg)
        del self.variables[i.arg]

    def op_UNGUARDED(self, i: Instruction) -> None:
        """Nothing: what it says is of a StopIteration that leaves the code."""

    def op_MAKE_CELL(self, i: Instruction) -> None:
        self.cells[i.arg] = self.new_cell(i.arg)

    def op_LOAD_CLOSURE(self, i: Instruction) -> None:
        self.stack.append(self.cells[i.arg])

    def op_LOAD_DEREF(self, i: Instruction) -> None:
        try:
            self.stack.append(self.cells[i.arg].cell_contents)
        except ValueError:
            raise (UnboundLocalError if i.arg in self.code.cellvars else NameError)(i.arg) from None

    def op_STORE_DEREF(self, i: Instruction) -> None:
        self.cells[i.arg].cell_contents = self.stack.pop()

    def op_DELETE_DEREF(self, i: Instruction) -> None:
        self.op_LOAD_DEREF(i)
        self.stack.pop()
        del self.cells[i.arg].cell_contents

    def op_LOAD_CLASSDEREF(self, i: Instruction) -> None:
        if i.arg in self.namespace:
            self.stack.append(self.namespace[i.arg])
        else:
            self.op_LOAD_DEREF(i)

    def op_LOAD_FROM_DICT_OR_DEREF(self, i: Instruction) -> None:
        (names,) = self.pop(1)
        self.stack.append(names[i.arg]) if i.arg in names else self.op_LOAD_DEREF(i)

    def op_LOAD_FROM_DICT_OR_GLOBALS(self, i: Instruction) -> None:
        (names,) = self.pop(1)
        self.stack.append(names[i.arg]) if i.arg in names else self.op_LOAD_GLOBAL(i)

    def op_LOAD_GLOBAL(self, i: Instruction) -> None:
        if i.arg in self.globals:
            self.stack.append(self.globals[i.arg])
        elif hasattr(builtins, i.arg):
            self.stack.append(getattr(builtins, i.arg))
        else:
            raise NameError(i.arg)

    def op_STORE_GLOBAL(self, i: Instruction) -> None:
        self.globals[i.arg] = self.stack.pop()

    def op_DELETE_GLOBAL(self, i: Instruction) -> None:
        del self.globals[i.arg]

    def op_LOAD_NAME(self, i: Instruction) -> None:
        if i.arg in self.namespace:
            self.stack.append(self.namespace[i.arg])
        else:
            self.op_LOAD_GLOBAL(i)

    def op_STORE_NAME(self, i: Instruction) -> None:
        self.namespace[i.arg] = self.stack.pop()

    def op_DELETE_NAME(self, i: Instruction) -> None:
        del self.namespace[i.arg]

    def op_LOAD_LOCALS(self, i: Instruction) -> None:
        self.stack.append(self.namespace)

    def op_LOAD_COMMON(self, i: Instruction) -> None:
        self.stack.append(getattr(builtins, i.arg))

    def op_SETUP_ANNOTATIONS(self, i: Instruction) -> None:
        self.namespace.setdefault("__annotations__", {})

    # Functions and calls

    def op_MAKE_FUNCTION(self, i: Instruction) -> None:
        function = make_function(self.stack.pop(), self.globals)
        for bit in (8, 4, 2, 1):
            if i.arg & bit:
                function.extras[bit] = self.stack.pop()
        self.stack.append(function)

    def op_SET_FUNCTION_ATTRIBUTE(self, i: Instruction) -> None:
        value, function = self.pop(2)
        function.extras[i.arg] = value
        self.stack.append(function)

    def callee(self, shape: str) -> Callable[..., Any]:
        """Take what is called off the stack."""
        if shape == "plain":
            return self.stack.pop()  # type: ignore[no-any-return]
        first, second = self.pop(2)
        if shape == "below":
            return second if first is NULL else lambda *args, **kwargs: first(second, *args, **kwargs)
        return first if second is NULL else lambda *args, **kwargs: first(second, *args, **kwargs)

    def call(self, shape: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Call, with `super()` and `__build_class__` knowing this frame."""
        assert NULL not in args
        function = self.callee(shape)
        if function is super and not args:
            args = (self.cells["__class__"].cell_contents, self.this())
        elif function is builtins.__build_class__:
            function = build_class
        self.stack.append(function(*args, **kwargs))

    def this(self) -> Any:
        """Return the first argument, from its cell if it has one."""
        name = self.code.varnames[0] if self.code.varnames else self.code.cellvars[0]
        return self.cells[name].cell_contents if name in self.cells else self.variables[name]

    def op_CALL(self, i: Instruction) -> None:
        count, shape = i.arg
        self.call(shape, self.pop(count), {})

    def op_CALL_KW(self, i: Instruction) -> None:
        count, shape = i.arg
        names = self.stack.pop()
        args = self.pop(count)
        positional = count - len(names)
        self.call(shape, args[:positional], dict(zip(names, args[positional:], strict=True)))

    def op_CALL_EX(self, i: Instruction) -> None:
        has_kwargs, shape = i.arg
        kwargs = self.stack.pop() if has_kwargs else {}
        self.call(shape, tuple(self.stack.pop()), kwargs)

    def op_LOAD_BUILD_CLASS(self, i: Instruction) -> None:
        self.stack.append(builtins.__build_class__)

    # Control

    def op_JUMP(self, i: Instruction) -> None:
        self.next = i.target

    def op_JUMP_IF_TRUE(self, i: Instruction) -> None:
        if self.stack.pop():
            self.next = i.target

    def op_JUMP_IF_FALSE(self, i: Instruction) -> None:
        if not self.stack.pop():
            self.next = i.target

    def op_RETURN(self, i: Instruction) -> None:
        raise Return(self.stack.pop())

    def op_RAISE(self, i: Instruction) -> None:
        values = self.pop(i.arg)
        error = values[0] if values else self.handled
        if error is None:
            raise RuntimeError("nothing to raise again")
        if i.arg == 2:
            raise error from values[1]
        raise error

    def op_RERAISE(self, i: Instruction) -> None:
        error = self.stack.pop()
        if i.arg:
            assert isinstance(self.stack[-i.arg], int)
        raise error

    def op_GET_ITER(self, i: Instruction) -> None:
        self.stack.append(iter(self.stack.pop()))

    op_GET_YIELD_FROM_ITER = op_GET_ITER

    def op_FOR_ITER(self, i: Instruction) -> None:
        try:
            self.stack.append(next(self.stack[-1]))
        except StopIteration:
            self.stack.pop()
            self.next = i.target

    def op_GET_AWAITABLE(self, i: Instruction) -> None:
        value = self.stack.pop()
        self.stack.append(value if isinstance(value, types.GeneratorType) else value.__await__())

    def op_GET_AITER(self, i: Instruction) -> None:
        self.stack.append(self.stack.pop().__aiter__())

    def op_GET_ANEXT(self, i: Instruction) -> None:
        value = self.stack[-1].__anext__()
        self.stack.append(value if isinstance(value, types.GeneratorType) else value.__await__())

    def op_END_ASYNC_FOR(self, i: Instruction) -> None:
        _, error = self.pop(2)
        if not isinstance(error, StopAsyncIteration):
            raise error

    # Exceptions

    def op_PUSH_EXC_INFO(self, i: Instruction) -> None:
        error = self.stack.pop()
        assert isinstance(error, BaseException)
        self.stack += [self.handled, error]
        self.handled = error

    def op_POP_EXCEPT(self, i: Instruction) -> None:
        self.handled = self.stack.pop()
        assert self.handled is None or isinstance(self.handled, BaseException)

    def op_CHECK_EXC_MATCH(self, i: Instruction) -> None:
        kind = self.stack.pop()
        self.stack.append(isinstance(self.stack[-1], kind))

    def op_MATCH_EXC(self, i: Instruction) -> None:
        error, kind = self.pop(2)
        self.stack.append(isinstance(error, kind))

    def op_CHECK_EG_MATCH(self, i: Instruction) -> None:
        error, kind = self.pop(2)
        if isinstance(error, GROUP):
            match, rest = error.split(kind)
        elif isinstance(error, kind):
            match, rest = GROUP("", [error]), None
        else:
            match, rest = None, error
        self.stack += [rest, match]

    def op_PREP_RERAISE_STAR(self, i: Instruction) -> None:
        _, errors = self.pop(2)
        left = [error for error in errors if error is not None]
        self.stack.append(GROUP("", left) if len(left) > 1 else left[0] if left else None)

    def op_ENTER_WITH(self, i: Instruction) -> None:
        manager = self.stack.pop()
        self.stack.append(manager.__exit__)
        self.stack.append(manager.__enter__())

    def op_ENTER_ASYNC_WITH(self, i: Instruction) -> None:
        manager = self.stack.pop()
        self.stack.append(manager.__aexit__)
        self.stack.append(manager.__aenter__())

    def op_WITH_EXCEPT_START(self, i: Instruction) -> None:
        error = self.stack[-1]
        assert error is self.handled
        self.stack.append(self.stack[-i.arg](type(error), error, error.__traceback__))


def build_class(function: Any, name: str, *bases: Any, **keywords: Any) -> Any:
    """Build a class of an evaluated body."""
    resolved = types.resolve_bases(bases)
    meta, namespace, keywords = types.prepare_class(name, resolved, keywords)
    cells = dict(zip(function.code.freevars, function.extras.get(8, ()), strict=True))
    frame = Frame(function.code, function.names, namespace, {}, cells)
    cell = finish(frame.run())
    cls = meta(name, resolved, namespace, **keywords)
    if isinstance(cell, types.CellType):
        cell.cell_contents = cls
    return cls
