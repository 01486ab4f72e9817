"""The meaning of the names in AOTAutograd's generated wrappers, from the functions that run.

before: the text of a wrapper, `def _compiled_backward(_flat_args_, _ctx_, _prologue_, ...)`
after: torch's `CompiledFunction.backward` calls it and passes `CompiledFunction._bw_prologue_fn` as `_prologue_`, which
is `_backward_prologue`, a wrapper in another file
"""

from __future__ import annotations

import ast
import dis
import functools
import textwrap
import types
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace

from depyf.bytecode.host import codes_in_order
from depyf.bytecode.records import dataclass
from depyf.model.given_names import GivenName, Wrapper
from depyf.model.run import Artefact, Compile, Dialect
from depyf.model.user_source import code_source, short_path
from depyf.torch.capture.qualified import qualified_name
from depyf.torch.capture.reachable import OWN_PACKAGES, cell_values, held, reachable_functions

MOST_LOOKED_AT = 2_000
"""The most objects that are visited to find the wrappers that a value leads to."""

LONGEST_VALUE = 60
"""The most characters of a plain value that are shown."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of a wrapper in a function of torch's: its place, and the arguments as expressions."""

    caller: types.FunctionType
    line: int
    arguments: tuple[ast.expr, ...]


@dataclass(slots=True)
class _Found:
    """A running wrapper, the file of its text, and its calls."""

    function: types.FunctionType
    artefact: Artefact
    calls: list[_Call] = field(default_factory=list)


def note_wrappers(compiled: Compile, graphs: Iterable[object]) -> bool:
    """Record the callers and the arguments of each wrapper around `graphs`; return whether there is any."""
    texts = [artefact for artefact in compiled.artefacts if artefact.dialect is Dialect.PYTHON and artefact.file]
    if not texts:
        return False
    wrappers = _wrappers_and_calls(texts, graphs)
    with_words = [(running_wrapper, _wrapper(running_wrapper, wrappers)) for running_wrapper in wrappers.values()]
    for artefact in texts:
        in_file = [pair for pair in with_words if pair[0].artefact is artefact]
        artefact.wrappers = tuple(
            replace(wrapper, given=_given_by_wrappers(running_wrapper, with_words) + wrapper.given)
            for running_wrapper, wrapper in in_file
        )
    return bool(wrappers)


def _given_by_wrappers(running_wrapper: _Found, with_words: list[tuple[_Found, Wrapper]]) -> tuple[GivenName, ...]:
    """Return the arguments that another wrapper passes to one that torch's own functions do not call."""
    if running_wrapper.calls:
        return ()
    parameters = _parameters(running_wrapper)
    for other, wrapper in with_words:
        names = {
            given_name.name
            for given_name in wrapper.given
            if given_name.is_itself and _link(running_wrapper) in given_name.leads_to
        }
        for node in ast.walk(ast.parse(other.artefact.text)) if names else ():
            match node:
                case ast.Call(func=ast.Name(id=name), args=args) if name in names and len(args) == len(parameters):
                    pairs = zip(parameters, args, strict=True)
                    return tuple(GivenName(parameter, _of_caller(argument)) for parameter, argument in pairs)
    return ()


def _wrappers_and_calls(texts: list[Artefact], graphs: Iterable[object]) -> dict[int, _Found]:
    """Return the running wrappers, by their identity, in the order of their files."""
    written = {_key(code): (place, artefact) for place, artefact in enumerate(texts) for code in _codes(artefact.text)}
    wrappers: dict[int, _Found] = {}
    others: dict[int, types.FunctionType] = {}
    pending = deque(graphs)
    while pending:
        for function in reachable_functions(pending.popleft()):
            known = written.get(_key(function.__code__))
            if known is None:
                others[id(function)] = function
            elif id(function) not in wrappers:
                wrappers[id(function)] = _Found(function, known[1])
                pending.extend(value for value in _globals_read(function).values() if callable(value))
    for function in others.values():
        _note_calls(function, wrappers)
    places = {id(artefact): place for place, artefact in enumerate(texts)}
    return dict(sorted(wrappers.items(), key=lambda item: places[id(item[1].artefact)]))


def _codes(text: str) -> list[types.CodeType]:
    """Return the code of each top-level function of a text."""
    try:
        module = compile(text, "<wrapper>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return []
    return [constant for constant in module.co_consts if isinstance(constant, types.CodeType)]


def _key(code: types.CodeType) -> tuple[object, ...]:
    return code.co_name, code.co_code, code.co_names, code.co_varnames


def _globals_read(function: types.FunctionType) -> dict[str, object]:
    """Return the globals that a function and nested functions read, without builtins, and modules by their names."""
    names: dict[str, object] = {}
    for code in codes_in_order(function.__code__):
        for instruction in dis.get_instructions(code):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME") and instruction.argval in function.__globals__:
                names[instruction.argval] = function.__globals__[instruction.argval]
    is_plain = {name: isinstance(value, types.ModuleType) and value.__name__ == name for name, value in names.items()}
    return {name: value for name, value in names.items() if not is_plain[name]}


def _note_calls(function: types.FunctionType, wrappers: Mapping[int, _Found]) -> None:
    """Record the calls of wrappers in a function that has one in its closure, or in a class that holds one."""
    cells = cell_values(function)
    attributes = [var for value in cells.values() if _is_class(value) for var in vars(value).values()]
    held_here = [*cells.values(), *attributes]
    if not any(id(_plain(value)) in wrappers for value in held_here):
        return
    for called, line, arguments in _calls_in(function.__code__):
        wrapper = wrappers.get(id(_value(called, function, [])))
        if wrapper is not None:
            wrapper.calls.append(_Call(function, line, arguments))


def _is_class(value: object) -> bool:
    return isinstance(value, type) and value.__module__.startswith(OWN_PACKAGES)


def _plain(value: object) -> object:
    return value.__func__ if isinstance(value, staticmethod | classmethod) else value


@functools.lru_cache(maxsize=256)
def _calls_in(code: types.CodeType) -> tuple[tuple[ast.expr, int, tuple[ast.expr, ...]], ...]:
    """Return the calls of names and attributes in the source of a function: the callee, its line, and the arguments."""
    source, first = code_source(code)
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError:
        return ()
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and not node.keywords]
    return tuple((node.func, first + node.lineno - 1, tuple(node.args)) for node in calls)


_MISSING = object()


def _value(expression: ast.expr, function: types.FunctionType, owners: list[object]) -> object:
    """Return the value of a name or an attribute in a function, without running user code; record what held it."""
    attributes = []
    while isinstance(expression, ast.Attribute):
        attributes.append(expression.attr)
        expression = expression.value
    if not isinstance(expression, ast.Name) or expression.id in function.__code__.co_varnames:
        return _MISSING
    value = cell_values(function).get(expression.id, function.__globals__.get(expression.id, _MISSING))
    for attribute in reversed(attributes):
        if not _is_class(value) and not type(value).__module__.startswith(OWN_PACKAGES):
            return _MISSING
        owners.append(value)
        value = getattr(value, attribute, _MISSING)
    return value


def _wrapper(running_wrapper: _Found, all_found: Mapping[int, _Found]) -> Wrapper:
    code = running_wrapper.function.__code__
    parameters = _parameters(running_wrapper)
    call = next((candidate for candidate in running_wrapper.calls if len(candidate.arguments) == len(parameters)), None)
    given = []
    if call is not None:
        for name, argument in zip(parameters, call.arguments, strict=True):
            owners: list[object] = []
            value = _value(argument, call.caller, owners)
            if value is _MISSING:
                given.append(GivenName(name, _words_of_expression(argument, call.caller)))
            else:
                given.append(_given(name, value, owners, all_found))
    given += [_given(name, value, [], all_found) for name, value in _globals_read(running_wrapper.function).items()]
    places = [
        f"{_name_of(wrapper_call.caller)}, {_place(wrapper_call.caller.__code__, wrapper_call.line)}"
        for wrapper_call in running_wrapper.calls
    ]
    return Wrapper(code.co_name, " and ".join(dict.fromkeys(places)), tuple(given))


def _parameters(running_wrapper: _Found) -> tuple[str, ...]:
    code = running_wrapper.function.__code__
    return code.co_varnames[: code.co_argcount]


def _given(name: str, value: object, owners: list[object], wrappers: Mapping[int, _Found]) -> GivenName:
    from depyf.links.wrappers import BACKWARDS, FORWARDS

    part = "forward" if name in FORWARDS else "backward" if name in BACKWARDS else ""
    itself = wrappers.get(id(value))
    if itself is not None:
        return GivenName(name, _words(value), (_link(itself),), is_itself=True)
    leads_to = tuple(dict.fromkeys(map(_link, _led_to(value, owners, wrappers)))) if callable(value) else ()
    return GivenName(name, _words(value), leads_to, part)


def _link(running_wrapper: _Found) -> tuple[str, str]:
    return running_wrapper.function.__code__.co_name, running_wrapper.artefact.file


def _led_to(value: object, owners: list[object], wrappers: Mapping[int, _Found]) -> Iterator[_Found]:
    """Yield the nearest wrappers of a value: not through other wrappers, and not the wrappers that hold the value."""
    by_caller = {
        id(call.caller): running_wrapper for running_wrapper in wrappers.values() for call in running_wrapper.calls
    }
    seen = {id(owner) for owner in owners}
    kept: list[object] = []
    pending: deque[object] = deque([value])
    while pending and len(kept) < MOST_LOOKED_AT:
        current = pending.popleft()
        if id(current) in seen:
            continue
        seen.add(id(current))
        kept.append(current)  # Keep objects that the walk itself creates, so that their addresses are not reused.
        wrapper = wrappers.get(id(current)) or by_caller.get(id(current))
        if wrapper is not None:
            yield wrapper
        elif not isinstance(current, type) or not _is_held_by(current, wrappers):
            pending.extend(held(current))
        else:
            pending.extend(inner for inner in held(current) if id(_plain(inner)) not in wrappers)


def _is_held_by(owner: type, wrappers: Mapping[int, _Found]) -> bool:
    return any(id(_plain(var)) in wrappers for var in vars(owner).values())


def _words_of_expression(argument: ast.expr, caller: types.FunctionType) -> str:
    """Return a description of an argument that only the call knows: a function or variable of the caller."""
    text = ast.unparse(argument)
    for constant in caller.__code__.co_consts:
        if isinstance(constant, types.CodeType) and constant.co_name == text:
            return f"{_name_of(caller)}.{text}, {_place(constant, constant.co_firstlineno)}"
    return _of_caller(argument)


def _of_caller(argument: ast.expr) -> str:
    return f"{ast.unparse(argument)} in its caller"


def _words(value: object) -> str:
    """Return a description of an object, without its address."""
    if isinstance(value, types.ModuleType):
        return f"the module {value.__name__}"
    if value is None or type(value) in (bool, int, float, str):
        text = repr(value)
        return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."
    if type(value) in (tuple, list, dict, set):
        kinds = sorted({type(member).__qualname__ for member in value})  # type: ignore[attr-defined]
        return f"a {type(value).__name__} of {len(value)} {' or '.join(kinds) or 'items'}"  # type: ignore[arg-type]
    while isinstance(value, functools.partial):
        value = value.func
    plain = value.__func__ if isinstance(value, types.MethodType) else value
    if isinstance(plain, types.FunctionType):
        return f"{_name_of(plain)}, {_place(plain.__code__, plain.__code__.co_firstlineno)}"
    name = qualified_name(plain) if isinstance(plain, type | types.BuiltinFunctionType) else ""
    return name or f"an object of {qualified_name(type(plain))}"


def _name_of(function: types.FunctionType) -> str:
    # Use the name of the code, because torch gives some functions the name of their wrapped function.
    name: str = getattr(function.__code__, "co_qualname", function.__code__.co_name)
    return name.rpartition("<locals>.")[2]


def _place(code: types.CodeType, line: int) -> str:
    return f"{short_path(code.co_filename)}:{line}"
