"""Operations that are not observable: moves, constants, fresh containers, known decisions.

`SILENT` maps an operation to a function. It executes the operation and advances, or returns False and changes nothing.
In the latter case the operation is observable: see `events`.
"""

from __future__ import annotations

from collections.abc import Callable

from depyf.bytecode.code import Code
from depyf.verify import containers
from depyf.verify.arithmetic import compare, contains, operate
from depyf.verify.async_loops import check_exc_match, end_async_for, get_aiter, match_exc
from depyf.verify.callee import called_node
from depyf.verify.constants import function_name
from depyf.verify.frame import Frame, as_raised
from depyf.verify.known_calls import (
    call_exc_info,
    call_iter,
    call_slice,
    call_throw,
    call_untrace,
    is_iterator,
)
from depyf.verify.methods import call_method, load_attribute, load_method
from depyf.verify.moves import (
    const,
    copy,
    count_of,
    delete_fast,
    give,
    jump,
    load_closure,
    load_common,
    load_fast,
    load_fast_clear,
    pop,
    push_null,
    store_fast,
    swap,
)
from depyf.verify.snapshots import is_seen_list, take_all, tuple_now
from depyf.verify.state import EmptySet, FunctionOf, ListOf
from depyf.verify.terms import Constant, NotUnderstood, Pure, Term, TupleOf

Action = Callable[[Frame], bool]


def jump_if(frame: Frame) -> bool:
    """Follow a conditional jump on a value of known truth."""
    term = known_truth(frame)
    known = containers.truth(frame.state, term) if term is not None else None
    if known is None:
        return False
    frame.pop()
    frame.side.place = frame.item.target if known == (frame.item.op == "JUMP_IF_TRUE") else frame.side.place + 1
    return True


def known_truth(frame: Frame) -> Term | None:
    """Return the truth of the top as a term, if evaluating it runs no code."""
    term = frame.peek()
    if frame.terms.is_bool(term):
        return term
    known = containers.truth(frame.state, term)
    return None if known is None else frame.terms.constant(known)


def to_bool(frame: Frame) -> bool:
    """Execute TO_BOOL if the truth is known."""
    known = known_truth(frame)
    return known is not None and give(frame, 1, known)


def unary(frame: Frame) -> bool:
    """Execute `not` on a known truth, or arithmetic on a constant."""
    if frame.item.arg == "not":
        known = known_truth(frame)
        return known is not None and give(frame, 1, frame.terms.pure("not", (known,)))
    return computed(frame, 1)


def binary(frame: Frame) -> bool:
    """Evaluate an operator on two constants."""
    return computed(frame, 2)


def computed(frame: Frame, count: int) -> bool:
    """Evaluate an operator on constants."""
    nodes = [frame.node(term) for term in frame.top(count)]
    values = [node.value for node in nodes if isinstance(node, Constant)]
    if len(values) < count:
        return False
    op = str(frame.item.arg)
    answer = compare(op, *values) if frame.item.op == "COMPARE" else operate(op, *values)
    return answer is not None and give(frame, count, frame.terms.constant(answer))


def contains_op(frame: Frame) -> bool:
    """Look a constant up in a tuple of constants."""
    item, container = frame.top(2)
    node, members = frame.node(item), frame.node(container)
    if not isinstance(node, Constant) or not isinstance(members, TupleOf):
        return False
    inside = [frame.node(member) for member in members.items]
    values = [member.value for member in inside if isinstance(member, Constant)]
    if len(values) < len(inside):
        return False
    is_member = contains(node.value, values)
    if is_member is None:
        return False
    return give(frame, 2, frame.terms.constant(is_member != bool(frame.item.arg)))


def identity(frame: Frame) -> bool:
    """Execute IS, which runs no code."""
    answer = frame.terms.pure("is", frame.top(2))
    return give(frame, 2, frame.terms.pure("not", (answer,)) if frame.item.arg else answer)


def build_tuple(frame: Frame) -> bool:
    """Execute BUILD_TUPLE."""
    count = count_of(frame)
    return give(frame, count, frame.terms.tuple_of(frame.top(count)))


def build_list(frame: Frame) -> bool:
    """Execute BUILD_LIST."""
    count = count_of(frame)
    return give(frame, count, frame.state.make(ListOf(frame.top(count))))


def build_set(frame: Frame) -> bool:
    """Make an empty set, which hashes nothing."""
    return count_of(frame) == 0 and give(frame, 0, frame.state.make(EmptySet()))


def build_string(frame: Frame) -> bool:
    """Join strings."""
    parts = frame.top(count_of(frame))
    if not all(frame.terms.is_text(part) for part in parts):
        return False
    return give(frame, len(parts), frame.terms.pure("string", parts))


def build_slice(frame: Frame) -> bool:
    """Execute BUILD_SLICE."""
    bounds = (*frame.pop_many(count_of(frame)), frame.terms.constant(None))[:3]
    frame.push(frame.terms.pure("slice", bounds))
    return frame.next()


def build_map(frame: Frame) -> bool:
    """Make a dict whose keys are constants."""
    flat = frame.top(2 * count_of(frame))
    term = containers.build_dict(frame.state, list(zip(flat[::2], flat[1::2], strict=True)))
    return term is not None and give(frame, len(flat), term)


def build_const_key_map(frame: Frame) -> bool:
    """Make a dict from values and a constant tuple of keys."""
    *values, keys = frame.top(count_of(frame) + 1)
    node = frame.node(keys)
    if not isinstance(node, TupleOf) or len(node.items) != len(values):
        return False
    term = containers.build_dict(frame.state, list(zip(node.items, values, strict=True)))
    return term is not None and give(frame, len(values) + 1, term)


def list_append(frame: Frame) -> bool:
    """Append to a fresh list."""
    target = frame.peek(count_of(frame) + 1)
    return containers.append(frame.state, target, frame.peek()) and give(frame, 1)


def set_update(frame: Frame) -> bool:
    """Add the items of an empty tuple or list to a set. It adds nothing, and a source makes an empty set this way."""
    return frame.state.items(frame.peek()) == () and give(frame, 1)


def list_extend(frame: Frame) -> bool:
    """Extend a fresh list by known items, or any list by nothing."""
    if frame.state.items(frame.peek()) == ():
        return give(frame, 1)
    target = frame.peek(count_of(frame) + 1)
    return containers.extend(frame.state, target, frame.peek()) and give(frame, 1) or take_all(frame)


def map_add(frame: Frame) -> bool:
    """Add to a fresh dict."""
    name, value = frame.top(2)
    target = frame.peek(count_of(frame) + 2)
    return containers.store_item(frame.state, target, name, value) and give(frame, 2)


def dict_update(frame: Frame) -> bool:
    """Update a fresh dict by a fresh dict."""
    target = frame.peek(count_of(frame) + 1)
    only_new = frame.item.op == "DICT_MERGE"
    return containers.update(frame.state, target, frame.peek(), only_new=only_new) and give(frame, 1)


def list_to_tuple(frame: Frame) -> bool:
    """Make a tuple of a fresh list.

    Directly before a call that unpacks the items it has no effect: the call makes the same tuple of a list.
    """
    items = frame.state.items(frame.peek())
    if items is not None:
        return give(frame, 1, frame.terms.tuple_of(items))
    if is_seen_list(frame, frame.peek()):
        return give(frame, 1, tuple_now(frame, frame.peek()))
    after = frame.side.place + 1
    following = frame.listing.instructions[after] if after < len(frame.listing.instructions) else None
    if following is not None and following.op == "CALL_EX" and following.arg in ((False, "below"), (False, "above")):
        return frame.next()
    return False


def load_subscr(frame: Frame) -> bool:
    """Read a known item."""
    term = containers.load_item(frame.state, *frame.top(2))
    return term is not None and give(frame, 2, term)


def store_subscr(frame: Frame) -> bool:
    """Change a fresh container."""
    value, container, index = frame.top(3)
    return containers.store_item(frame.state, container, index, value) and give(frame, 3)


def delete_subscr(frame: Frame) -> bool:
    """Delete from a fresh container."""
    return containers.delete_item(frame.state, *frame.top(2)) and give(frame, 2)


def unpack_sequence(frame: Frame) -> bool:
    """Unpack a known sequence."""
    items = frame.state.items(frame.peek())
    if items is None or len(items) != frame.item.arg:
        return False
    return give(frame, 1, *reversed(items))


def unpack_ex(frame: Frame) -> bool:
    """Unpack a known sequence around a list of its middle."""
    items = frame.state.items(frame.peek())
    match frame.item.arg:
        case (int(before), int(after)) if items is not None and len(items) >= before + after:
            middle = frame.state.make(ListOf(items[before : len(items) - after]))
            tail = items[len(items) - after :]
            return give(frame, 1, *reversed(tail), middle, *reversed(items[:before]))
        case _:
            return False


def make_function(frame: Frame) -> bool:
    """Make a function. Its code is on top of the stack, below it the values of the flags, the lowest flag deepest."""
    flags = count_of(frame)
    given = [flag for flag in (1, 2, 4, 8) if flags & flag]
    *parts, code = frame.top(len(given) + 1)
    node = frame.node(code)
    if not isinstance(node, Constant) or not isinstance(node.value, Code):
        raise NotUnderstood("MAKE_FUNCTION of code that is not a constant")
    named = FunctionOf(code, dict(zip(given, parts, strict=True)), function_name(frame.listing, frame.item))
    function = frame.state.make(named)
    return give(frame, len(given) + 1, function)


def set_function_attribute(frame: Frame) -> bool:
    """Complete a fresh function."""
    value, function = frame.top(2)
    content = frame.state.get(function)
    if not isinstance(content, FunctionOf):
        raise NotUnderstood("SET_FUNCTION_ATTRIBUTE of an escaped function")
    frame.state.heap[function] = FunctionOf(content.code, {**content.parts, count_of(frame): value}, content.name)
    return give(frame, 2, function)


def load_attr(frame: Frame) -> bool:
    """Read the closure of a fresh function, with which a source accesses a cell, or a method of a fresh list."""
    content = frame.state.get(frame.peek())
    if frame.item.arg != "__closure__" or not isinstance(content, FunctionOf) or 8 not in content.parts:
        return load_attribute(frame)
    return give(frame, 1, content.parts[8])


def get_iter(frame: Frame) -> bool:
    """Take the iterator of an iterator, which is itself."""
    return is_iterator(frame, frame.peek()) and frame.next()


def call(frame: Frame) -> bool:
    """Execute a call with a known outcome."""
    node = called_node(frame)
    if not isinstance(node, Constant):
        return isinstance(node, Pure) and call_method(frame)
    return (
        call_exc_info(frame)
        or call_throw(frame)
        or call_untrace(frame)
        or call_slice(frame)
        or call_iter(frame)
    )


def push_exc_info(frame: Frame) -> bool:
    """Make an exception the one being handled."""
    exception = frame.pop()
    frame.side.stack += (frame.side.handling, exception)
    frame.side.handling = exception
    return frame.next()


def pop_except(frame: Frame) -> bool:
    """Restore the exception that was being handled before."""
    frame.side.handling = frame.pop()
    return frame.next()


def reraise(frame: Frame) -> bool:
    """Raise the exception on the stack again; its path to the handler is known."""
    frame.raise_known(frame.pop())
    return True


def raise_again(frame: Frame) -> bool:
    """Raise the exception being handled again if it was caught here."""
    handling = frame.state.resolve(frame.side.handling)
    if frame.item.arg != 0 or not frame.terms.is_caught(as_raised(frame, handling)):
        return False
    frame.raise_known(handling)
    return True


SILENT: dict[str, Action] = {
    "POP": pop,
    "COPY": copy,
    "SWAP": swap,
    "NULL": push_null,
    "CONST": const,
    "LOAD_COMMON": load_common,
    "LOAD_CLOSURE": load_closure,
    "LOAD_FAST": load_fast,
    "STORE_FAST": store_fast,
    "DELETE_FAST": delete_fast,
    "LOAD_FAST_CLEAR": load_fast_clear,
    "JUMP": jump,
    "JUMP_IF_TRUE": jump_if,
    "JUMP_IF_FALSE": jump_if,
    "TO_BOOL": to_bool,
    "UNARY": unary,
    "BINARY": binary,
    "INPLACE": binary,
    "COMPARE": binary,
    "CONTAINS": contains_op,
    "IS": identity,
    "BUILD_TUPLE": build_tuple,
    "BUILD_LIST": build_list,
    "BUILD_SET": build_set,
    "BUILD_STRING": build_string,
    "BUILD_SLICE": build_slice,
    "BUILD_MAP": build_map,
    "BUILD_CONST_KEY_MAP": build_const_key_map,
    "LIST_APPEND": list_append,
    "LIST_EXTEND": list_extend,
    "SET_UPDATE": set_update,
    "MAP_ADD": map_add,
    "DICT_UPDATE": dict_update,
    "DICT_MERGE": dict_update,
    "LIST_TO_TUPLE": list_to_tuple,
    "LOAD_SUBSCR": load_subscr,
    "STORE_SUBSCR": store_subscr,
    "DELETE_SUBSCR": delete_subscr,
    "UNPACK_SEQUENCE": unpack_sequence,
    "UNPACK_EX": unpack_ex,
    "MAKE_FUNCTION": make_function,
    "SET_FUNCTION_ATTRIBUTE": set_function_attribute,
    "LOAD_ATTR": load_attr,
    "LOAD_METHOD": load_method,
    "CALL": call,
    "GET_ITER": get_iter,
    "GET_AITER": get_aiter,
    "CHECK_EXC_MATCH": check_exc_match,
    "MATCH_EXC": match_exc,
    "END_ASYNC_FOR": end_async_for,
    "PUSH_EXC_INFO": push_exc_info,
    "POP_EXCEPT": pop_except,
    "RERAISE": reraise,
    "RAISE": raise_again,
}
