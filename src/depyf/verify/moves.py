"""Operations that only move values: constants, variables, the order of the stack.

They are not observable. Each function executes one operation and advances, or returns False and changes nothing.
"""

from __future__ import annotations

import builtins

from depyf.verify.frame import Frame
from depyf.verify.terms import NotUnderstood, Null, Sort, Symbol, Term


def count_of(frame: Frame) -> int:
    """Return the numeric argument of an instruction."""
    arg = frame.item.arg
    if not isinstance(arg, int):
        raise NotUnderstood(f"{frame.item.op} without a number")
    return arg


def is_null(frame: Frame, term: Term) -> bool:
    """Return whether a term is or may be a null."""
    node = frame.terms.nodes[term]
    if isinstance(node, Symbol):
        return node.sort is Sort.MAYBE or (node.sort is Sort.LOST and node.detail is True)
    return isinstance(node, Null)


def pop(frame: Frame) -> bool:
    """Execute POP."""
    side = frame.side
    if not side.stack:
        raise NotUnderstood("the stack is empty")
    side.stack.pop()
    side.place += 1
    return True


def copy(frame: Frame) -> bool:
    """Execute COPY."""
    side = frame.side
    side.stack.append(frame.peek(count_of(frame)))
    side.place += 1
    return True


def swap(frame: Frame) -> bool:
    """Execute SWAP."""
    depth, side = count_of(frame), frame.side
    stack = side.stack
    if not 1 <= depth <= len(stack):
        raise NotUnderstood("the stack is not deep enough")
    stack[-1], stack[-depth] = stack[-depth], stack[-1]
    side.place += 1
    return True


def push_null(frame: Frame) -> bool:
    """Execute NULL."""
    frame.push(frame.terms.null)
    return frame.next()


def const(frame: Frame) -> bool:
    """Execute CONST."""
    side = frame.side
    side.stack.append(frame.terms.constant(frame.item.arg))
    side.place += 1
    return True


def load_common(frame: Frame) -> bool:
    """Execute LOAD_COMMON, which loads a builtin even if its name is rebound: that object as a constant."""
    name = str(frame.item.arg)
    known = getattr(builtins, name, None)
    frame.push(frame.terms.pure("common", (), name) if known is None else frame.terms.constant(known))
    return frame.next()


def load_closure(frame: Frame) -> bool:
    """Execute LOAD_CLOSURE."""
    frame.push(frame.terms.cell(str(frame.item.arg)))
    return frame.next()


def variable(frame: Frame) -> Term:
    """Return the value of the instruction's variable; a null if it is unbound."""
    value, state = frame.side.variables.get(str(frame.item.arg), frame.terms.null), frame.state
    return state.resolve(value) if state.bound else value


def load_fast(frame: Frame) -> bool:
    """Read a variable that is bound."""
    value, side = variable(frame), frame.side
    if is_null(frame, value):
        return False
    side.stack.append(value)
    side.place += 1
    return True


def store_fast(frame: Frame) -> bool:
    """Execute STORE_FAST; a null unbinds."""
    name, value = str(frame.item.arg), frame.pop()
    if value == frame.terms.null:
        frame.side.variables.pop(name, None)
    else:
        frame.side.variables[name] = value
    return frame.next()


def delete_fast(frame: Frame) -> bool:
    """Unbind a variable that is bound."""
    if is_null(frame, variable(frame)):
        return False
    del frame.side.variables[str(frame.item.arg)]
    return frame.next()


def load_fast_clear(frame: Frame) -> bool:
    """Execute LOAD_FAST_CLEAR."""
    frame.push(variable(frame))
    frame.side.variables.pop(str(frame.item.arg), None)
    return frame.next()


def jump(frame: Frame) -> bool:
    """Execute JUMP."""
    frame.side.place = frame.item.target
    return True


def give(frame: Frame, pops: int, *terms: Term) -> bool:
    """Replace the topmost values, which have been examined, by others and advance."""
    stack = frame.side.stack
    if pops:
        del stack[-pops:]
    stack.extend(terms)
    return frame.next()
