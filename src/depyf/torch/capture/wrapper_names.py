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
    texts = [each for each in compiled.artefacts if each.dialect is Dialect.PYTHON and each.file]
    if not texts:
        return False
    found = _wrappers_and_calls(texts, graphs)
    made = [(each, _wrapper(each, found)) for each in found.values()]
    for artefact in texts:
        own = [pair for pair in made if pair[0].artefact is artefact]
        artefact.wrappers = tuple(
            replace(wrapper, given=_given_by_wrappers(each, made) + wrapper.given) for each, wrapper in own
        )
    return bool(found)


def _given_by_wrappers(found: _Found, made: list[tuple[_Found, Wrapper]]) -> tuple[GivenName, ...]:
    """Return the arguments that another wrapper passes to one that torch's own functions do not call."""
    if found.calls:
        return ()
    parameters = _parameters(found)
    for other, wrapper in made:
        names = {each.name for each in wrapper.given if each.is_itself and _link(found) in each.leads_to}
        for node in ast.walk(ast.parse(other.artefact.text)) if names else ():
            match node:
                case ast.Call(func=ast.Name(id=name), args=args) if name in names and len(args) == len(parameters):
                    pairs = zip(parameters, args, strict=True)
                    return tuple(GivenName(each, _of_caller(argument)) for each, argument in pairs)
    return ()


def _wrappers_and_calls(texts: list[Artefact], graphs: Iterable[object]) -> dict[int, _Found]:
    """Return the running wrappers, by their identity, in the order of their files."""
    written = {_key(code): (place, each) for place, each in enumerate(texts) for code in _codes(each.text)}
    found: dict[int, _Found] = {}
    others: dict[int, types.FunctionType] = {}
    pending = deque(graphs)
    while pending:
        for function in reachable_functions(pending.popleft()):
            known = written.get(_key(function.__code__))
            if known is None:
                others[id(function)] = function
            elif id(function) not in found:
                found[id(function)] = _Found(function, known[1])
                pending.extend(value for value in _globals_read(function).values() if callable(value))
    for function in others.values():
        _note_calls(function, found)
    places = {id(each): place for place, each in enumerate(texts)}
    return dict(sorted(found.items(), key=lambda item: places[id(item[1].artefact)]))


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


def _note_calls(function: types.FunctionType, found: Mapping[int, _Found]) -> None:
    """Record the calls of wrappers in a function that has one in its closure, or in a class that holds one."""
    cells = cell_values(function)
    attributes = [var for value in cells.values() if _is_class(value) for var in vars(value).values()]
    held_here = [*cells.values(), *attributes]
    if not any(id(_plain(each)) in found for each in held_here):
        return
    for called, line, arguments in _calls_in(function.__code__):
        wrapper = found.get(id(_value(called, function, [])))
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


def _wrapper(found: _Found, all_found: Mapping[int, _Found]) -> Wrapper:
    code = found.function.__code__
    parameters = _parameters(found)
    call = next((each for each in found.calls if len(each.arguments) == len(parameters)), None)
    given = []
    if call is not None:
        for name, argument in zip(parameters, call.arguments, strict=True):
            owners: list[object] = []
            value = _value(argument, call.caller, owners)
            if value is _MISSING:
                given.append(GivenName(name, _words_of_expression(argument, call.caller)))
            else:
                given.append(_given(name, value, owners, all_found))
    given += [_given(name, value, [], all_found) for name, value in _globals_read(found.function).items()]
    places = [f"{_name_of(each.caller)}, {_place(each.caller.__code__, each.line)}" for each in found.calls]
    return Wrapper(code.co_name, " and ".join(dict.fromkeys(places)), tuple(given))


def _parameters(found: _Found) -> tuple[str, ...]:
    code = found.function.__code__
    return code.co_varnames[: code.co_argcount]


def _given(name: str, value: object, owners: list[object], found: Mapping[int, _Found]) -> GivenName:
    from depyf.links.wrappers import BACKWARDS, FORWARDS

    part = "forward" if name in FORWARDS else "backward" if name in BACKWARDS else ""
    itself = found.get(id(value))
    if itself is not None:
        return GivenName(name, _words(value), (_link(itself),), is_itself=True)
    leads_to = tuple(dict.fromkeys(map(_link, _led_to(value, owners, found)))) if callable(value) else ()
    return GivenName(name, _words(value), leads_to, part)


def _link(found: _Found) -> tuple[str, str]:
    return found.function.__code__.co_name, found.artefact.file


def _led_to(value: object, owners: list[object], found: Mapping[int, _Found]) -> Iterator[_Found]:
    """Yield the nearest wrappers of a value: not through other wrappers, and not the wrappers that hold the value."""
    by_caller = {id(call.caller): each for each in found.values() for call in each.calls}
    seen = {id(owner) for owner in owners}
    kept: list[object] = []
    pending: deque[object] = deque([value])
    while pending and len(kept) < MOST_LOOKED_AT:
        current = pending.popleft()
        if id(current) in seen:
            continue
        seen.add(id(current))
        kept.append(current)  # Keep objects that the walk itself creates, so that their addresses are not reused.
        wrapper = found.get(id(current)) or by_caller.get(id(current))
        if wrapper is not None:
            yield wrapper
        elif not isinstance(current, type) or not _is_held_by(current, found):
            pending.extend(held(current))
        else:
            pending.extend(each for each in held(current) if id(_plain(each)) not in found)


def _is_held_by(owner: type, found: Mapping[int, _Found]) -> bool:
    return any(id(_plain(var)) in found for var in vars(owner).values())


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
        kinds = sorted({type(each).__qualname__ for each in value})  # type: ignore[attr-defined]
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
