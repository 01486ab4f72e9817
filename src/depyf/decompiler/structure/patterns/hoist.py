"""Move code after a `match` that only its last cases reach out of them.

Before: if <case 1>: goto 7                     After:  if <case 1>: goto 7
        else: if <case 2>: goto 9                       else: if <case 2>: goto 9
              else: c()                                       else: c()
              9: d()                                    9: d()
"""

from __future__ import annotations

import ast

from depyf.bytecode.code import CO_OPTIMIZED, Code
from depyf.decompiler.lift.nodes import Capture, MatchTest, Temp, literal
from depyf.decompiler.lift.references import referred
from depyf.decompiler.steps import step
from depyf.decompiler.structure.polarity import negated
from depyf.decompiler.structure.tree import If, Item, Jump, Label, children


def hoist_behind_cases(items: list[Item], code: Code) -> None:
    """Move the code after a case in the `else` of the previous case after both, in place."""
    can_return = bool(code.flags & CO_OPTIMIZED)
    cases: list[tuple[list[Item], If]] = []
    work = [items]
    while work:
        sequence = work.pop()
        for item in sequence:
            if isinstance(item, ast.stmt):
                continue
            if isinstance(item, If) and _takes_all(item.test):
                _take_rest(sequence, item)
            if isinstance(item, If) and is_case(item.test):
                cases.append((sequence, item))
                if _is_idle(sequence, item) and _asks_again(sequence, item):
                    _take_next(sequence, item)
                elif not can_return:
                    _part_idle(item)
            work += children(item)
    for sequence, outer in reversed(cases):
        moved = _behind_case(outer)
        if moved:
            step("{} items after a case move after the cases around it", len(moved))
            place = next(number for number, item in enumerate(sequence) if item is outer)
            sequence[place + 1 : place + 1] = moved


def _takes_all(test: ast.expr) -> bool:
    """Return whether a test is for a wildcard pattern, whose opposite has no arm."""
    pattern = test.pattern if isinstance(test, MatchTest) else None
    while isinstance(pattern, (Capture, ast.MatchAs, ast.MatchOr)):
        below = pattern.patterns[-1] if isinstance(pattern, ast.MatchOr) else pattern.pattern
        if below is None:
            return True
        pattern = below
    return False


def _take_rest(sequence: list[Item], case: If) -> None:
    """Move the common continuation of both arms of a wildcard case into its body."""
    if not all(isinstance(item, Jump) for item in (*case.body, *case.orelse)):
        return
    place = next(number for number, item in enumerate(sequence) if item is case)
    ways = [item for item in (*case.body, *case.orelse) if isinstance(item, Jump)]
    labels = _leading(sequence[place + 1 :])
    if ways and ways[0].label not in labels:
        step("both arms of a wildcard case lead to block {}", ways[0].label)
        case.body, case.orelse = [next((way for way in ways if way.body is not None), ways[0])], []
        return
    step("{} items after a wildcard case become its body", len(sequence) - place - 1)
    case.body, case.orelse = sequence[place + 1 :], []
    del sequence[place + 1 :]
    rest = _flat(case.body[len(labels) :])
    guard = rest[0] if rest and (len(rest) == 1 or isinstance(rest[1], Label)) else None
    if isinstance(guard, If) and _take_guard(case, guard):
        sequence += rest[1:]


def _rest(sequence: list[Item], case: If) -> tuple[list[int], list[Item]]:
    """Return the labels directly after a case, and the items after them."""
    place = next(number for number, item in enumerate(sequence) if item is case)
    rest = _flat(sequence[place + 1 :])
    labels = _leading(rest)
    return labels, _flat(rest[len(labels) :])


def _is_idle(sequence: list[Item], case: If) -> bool:
    """Return whether a case leads to the code directly after it, whether or not it matches."""
    labels, _ = _rest(sequence, case)
    ways = [*_flat(case.body), *_flat(case.orelse)]
    leads_on = bool(ways) and all(isinstance(way, Jump) and way.label in labels for way in ways)
    return leads_on and not _takes_all(case.test)


def _asks_again(sequence: list[Item], case: If) -> bool:
    """Return whether the code after a case begins with another case of the same subject, or its guard."""
    subject = _subject(case.test)
    _, behind = _rest(sequence, case)
    guard = behind[0] if behind else None
    arms = [_flat(guard.body), _flat(guard.orelse)] if isinstance(guard, If) else []
    return any(_leads_on(items, subject) for items in (behind, *arms))


def _part_idle(outer: If) -> None:
    """Turn an idle case in the `else` of another one into a case before the last, if no `return` skips the rest.

    In a function, the code after the idle case is after the `match`.
    """
    arm = _flat(outer.orelse)
    subject = _subject(outer.test)
    length = _captures(arm, subject)
    first = arm[length] if length < len(arm) else None
    if isinstance(first, If) and is_case(first.test) and _is_same(_subject(first.test), subject):
        if _is_idle(arm, first):
            _take_next(arm, first)
            outer.orelse = arm


def _take_next(sequence: list[Item], case: If) -> None:
    """Give a case that always continues with the next one a guard that is never true, and the next one as `else`."""
    step("a case that continues with the next one gets a false guard")
    place = next(number for number, item in enumerate(sequence) if item is case)
    rest, following = sequence, case
    while True:
        labels, rest = _rest(rest, following)
        following.test = ast.BoolOp(op=ast.And(), values=[following.test, literal(False)])
        following.body, following.orelse = [], [*map(Label, labels), *rest[:1]]
        first = rest[0] if rest else None
        if not isinstance(first, If) or not is_case(first.test):
            break
        if not _is_idle(rest, first) or not _asks_again(rest, first):
            break
        following = first
    end = next((number for number, item in enumerate(rest) if isinstance(item, Label)), len(rest))
    following.orelse += rest[1:end]
    sequence[place + 1 :] = rest[end:]


def _leading(items: list[Item]) -> list[int]:
    """Return the labels at the start of items."""
    labels: list[int] = []
    for item in items:
        if not isinstance(item, Label):
            break
        labels.append(item.label)
    return labels


def _take_guard(case: If, guard: If) -> bool:
    """Join a wildcard case with the test in it that leads to another case, if there is one."""
    subject = _subject(case.test)
    if _leads_on(_flat(guard.body), subject):
        guard.test, guard.body, guard.orelse = negated(guard.test), guard.orelse, guard.body
    if not _leads_on(_flat(guard.orelse), subject):
        return False
    step("a test after a wildcard case becomes its guard")
    case.test = ast.BoolOp(op=ast.And(), values=[case.test, guard.test])
    case.body, case.orelse = guard.body, guard.orelse
    return True


def _behind_case(outer: If) -> list[Item]:
    """Remove the code after the next case from the `else` of a case, and of guards between them; return it."""
    subject = _subject(outer.test)
    chain: list[tuple[If, bool, int]] = []
    holder, is_else = outer, True
    while True:
        arm = _arm(holder, is_else)
        length = _captures(arm, subject)
        first = arm[length] if length < len(arm) else None
        if not isinstance(first, If) or (len(arm) > length + 1 and not isinstance(arm[length + 1], Label)):
            return []
        chain.append((holder, is_else, length + 1))
        if is_case(first.test):
            break
        # A guard leads on to the next case; its own case's code is in the other arm.
        holder, is_else = first, _begins_with_test(_flat(first.orelse), subject)
    if not _is_same(_subject(first.test), subject):
        return []
    moved = [item for holder, is_else, length in reversed(chain) for item in _arm(holder, is_else)[length:]]
    for holder, is_else, length in chain if moved else ():
        if is_else:
            holder.orelse = _arm(holder, is_else)[:length]
        else:
            holder.body = _arm(holder, is_else)[:length]
    return moved


def _arm(holder: If, is_else: bool) -> list[Item]:
    return _flat(holder.orelse if is_else else holder.body)


def _captures(arm: list[Item], subject: ast.expr) -> int:
    """Return the number of statements at the start of an arm that bind the subject."""
    binds = (isinstance(item, ast.Assign) and _is_same(referred(item.value), subject) for item in arm)
    return next((place for place, is_one in enumerate(binds) if not is_one), len(arm))


def _begins_with_test(arm: list[Item], subject: ast.expr) -> bool:
    """Return whether an arm begins with a test, apart from captures."""
    place = _captures(arm, subject)
    return place < len(arm) and isinstance(arm[place], If)


def _leads_on(arm: list[Item], subject: ast.expr) -> bool:
    """Return whether an arm begins with another case."""
    place = _captures(arm, subject)
    case = arm[place] if place < len(arm) else None
    return place > 0 or (isinstance(case, If) and is_case(case.test) and _is_same(_subject(case.test), subject))


def is_case(test: ast.expr) -> bool:
    """Return whether a test looks like a case: a test of a pattern, or of a temporary against a value."""
    while isinstance(test, ast.BoolOp):
        test = test.values[0]
    if isinstance(test, MatchTest):
        return True
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(referred(test.left), Temp)


def _subject(test: ast.expr) -> ast.expr:
    """Return the subject of a case."""
    while isinstance(test, ast.BoolOp):
        test = test.values[0]
    if isinstance(test, MatchTest):
        return referred(test.subject)
    return referred(test.left if isinstance(test, ast.Compare) else test)


def _is_same(left: ast.expr, right: ast.expr) -> bool:
    return left is right or (isinstance(left, Temp) and isinstance(right, Temp) and left.temp == right.temp)


def _flat(items: list[Item]) -> list[Item]:
    """Replace filled jumps at the start of a sequence by their code."""
    while items and isinstance(items[0], Jump) and items[0].body is not None:
        items = [*items[0].body, *items[1:]]
    return items
