"""Do our programs cover the shapes of code that Dynamo writes? Each shape, and how many code objects have it.

Looked at is the code that Dynamo made of each program, and the code that it made it of, where that is a resume function
and so of its own making. A shape that no program has on this release is named: some came with one release, or went.
Names that are no identifiers stand in no code that any release at hand makes of them; the decompiler's tests have some.
"""

from __future__ import annotations

import logging
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch._dynamo.convert_frame import register_bytecode_hook

from benchmarks.bar import none_of, report
from benchmarks.dynamo_code import MODULES, load, run
from depyf.bytecode.code import Code
from depyf.bytecode.depths import stack_depths
from depyf.bytecode.listing import Instruction, Listing
from depyf.bytecode.normalise import normalise
from depyf.bytecode.operations import OPERATIONS
from depyf.bytecode.reader import read

BRANCHES = ("JUMP_IF_TRUE", "JUMP_IF_FALSE")
LITERALS = (int, float, complex, str, bytes, tuple, frozenset, bool, type(None), type(Ellipsis), slice)
RESUMES = "torch_dynamo_resume_in"
EXAMPLES = 3


@dataclass(frozen=True)
class Seen:
    """A code object that Dynamo made; is_source: of which it made another."""

    code: types.CodeType
    program: str
    is_source: bool

    @cached_property
    def listing(self) -> Listing:
        """Its operations."""
        return normalise(read(self.code))

    @cached_property
    def items(self) -> list[Instruction]:
        """Its operations, in order."""
        return self.listing.instructions

    @cached_property
    def depths(self) -> list[int]:
        """How many values are on the stack before each; -1 where control never gets."""
        return stack_depths(self.listing)

    def has(self, op: str, above: int = 0) -> bool:
        """Return whether an operation is there, with an argument above a number."""
        arguments = [item.arg for item in self.items if item.op == op]
        return any(isinstance(arg, int) and arg > above for arg in arguments) if above else bool(arguments)

    def pending(self) -> list[list[int]]:
        """Return before each operation the places of those that made what is on the stack, in the order of the code."""
        stacks: list[list[int]] = []
        at: dict[int, list[int]] = {}
        stack: list[int] = []
        for place, item in enumerate(self.items):
            stack = at.get(place, stack if place == 0 or OPERATIONS[self.items[place - 1].op].falls else [])
            stack = stack[: max(self.depths[place], 0)] + [-1] * (max(self.depths[place], 0) - len(stack))
            stacks.append(stack)
            stack = self.after(stack, place, item)
            if item.target >= 0:
                at.setdefault(item.target, stack)
        return stacks

    def after(self, stack: list[int], place: int, item: Instruction) -> list[int]:
        """Return what is on the stack after an operation."""
        if item.op == "SWAP" and isinstance(item.arg, int) and len(stack) >= item.arg:
            stack = stack.copy()
            stack[-1], stack[-item.arg] = stack[-item.arg], stack[-1]
            return stack
        pops, pushes = OPERATIONS[item.op].effect(item.arg)
        kept = stack[: len(stack) - pops] if pops else stack
        if item.op == "COPY" and isinstance(item.arg, int) and len(stack) >= item.arg:
            return [*stack, stack[-item.arg]]
        return [*kept, *[place] * pushes]

    @cached_property
    def nulls(self) -> list[list[int]]:
        """Before each operation the nulls on the stack, as places in it."""
        return [
            [depth for depth, origin in enumerate(stack) if origin >= 0 and self.items[origin].op == "NULL"]
            for stack in self.pending()
        ]

    def names(self, *beginnings: str) -> bool:
        """Return whether a name or variable begins so."""
        every = (*self.code.co_names, *self.code.co_varnames, *self.code.co_cellvars, *self.code.co_freevars)
        return any(name.startswith(beginnings) for name in every)


def changes_a_list_on_the_stack(seen: Seen) -> bool:
    """Return whether a list changes of which the stack holds another reference."""
    return seen.has("BUILD_LIST") and seen.has("COPY") and (seen.has("STORE_SUBSCR") or seen.has("DELETE_SUBSCR"))


def branches_over_values(seen: Seen) -> bool:
    """Return whether values wait on the stack over a branch."""
    return any(item.op in BRANCHES and depth > 1 for item, depth in zip(seen.items, seen.depths))


def branches_over_a_call(seen: Seen) -> bool:
    """Return whether a call that has been prepared waits over a branch."""
    return any(item.op in BRANCHES and nulls for item, nulls in zip(seen.items, seen.nulls))


def prepares_two_calls(seen: Seen) -> bool:
    """Return whether a second call is prepared before the first is done."""
    return any(len(nulls) > 1 for nulls in seen.nulls)


def moves_a_null(seen: Seen) -> bool:
    """Return whether a null is swapped to its place."""
    return any(
        item.op == "SWAP" and isinstance(item.arg, int) and not {depth - 1, depth - item.arg}.isdisjoint(nulls)
        for item, depth, nulls in zip(seen.items, seen.depths, seen.nulls)
    )


def holds_cells(seen: Seen) -> bool:
    """Return whether a cell is put into a container."""
    return any(
        item.op == "LOAD_CLOSURE" and following.op in ("BUILD_TUPLE", "BUILD_LIST")
        for item, following in zip(seen.items, seen.items[1:])
    )


def sets_a_cell_among_values(seen: Seen) -> bool:
    """Return whether a cell is written while other values wait."""
    return any(item.op == "STORE_DEREF" and depth > 1 for item, depth in zip(seen.items, seen.depths))


def has_a_shorter_handler(seen: Seen) -> bool:
    """Return whether a handler keeps less than is on the stack where it protects."""
    return any(
        item.handler >= 0 and depth > seen.listing.handlers[item.handler].depth
        for item, depth in zip(seen.items, seen.depths)
    )


def enters_a_loop_in_the_middle(seen: Seen) -> bool:
    """Return whether a loop is jumped into behind its head."""
    back = [(item.target, place) for place, item in enumerate(seen.items) if 0 <= item.target <= place]
    return any(
        low < item.target <= high and not low <= place <= high
        for low, high in back
        for place, item in enumerate(seen.items)
        if item.target >= 0 and seen.depths[place] >= 0
    )


def leaves_values_below(seen: Seen) -> bool:
    """Return whether values are left on the stack at a return, or dropped right before it."""
    return any(
        item.op == "RETURN" and (depth > 1 or place > 1 and seen.items[place - 1].op == "POP")
        for place, (item, depth) in enumerate(zip(seen.items, seen.depths))
    )


def holds(*kinds: type) -> Callable[[Seen], bool]:
    """Return what tells whether there is a constant of some types."""
    return lambda seen: any(isinstance(const, kinds) for const in seen.code.co_consts)


def holds_code_as_a_value(seen: Seen) -> bool:
    """Return whether a code object is loaded for anything but a function made of it right there."""
    return any(
        item.op == "CONST" and isinstance(item.arg, Code) and following.op != "MAKE_FUNCTION"
        for item, following in zip(seen.items, seen.items[1:])
    )


def named(*beginnings: str) -> Callable[[Seen], bool]:
    """Return what tells whether a name begins so."""
    return lambda seen: seen.names(*beginnings)


def is_resumed(test: Callable[[Seen], bool]) -> Callable[[Seen], bool]:
    """Return a test of resume functions as Dynamo made them, before it compiled them."""
    return lambda seen: seen.is_source and seen.code.co_name.startswith(RESUMES) and test(seen)


SHAPES: dict[str, Callable[[Seen], bool]] = {
    "a list changes while it is on the stack twice": changes_a_list_on_the_stack,
    "a list is extended below the top": lambda seen: seen.has("LIST_EXTEND", 1),
    "a call takes its arguments from a list": lambda seen: seen.has("CALL_EX"),
    "values wait over a branch": branches_over_values,
    "a prepared call waits over a branch": branches_over_a_call,
    "a second call is prepared before the first is done": prepares_two_calls,
    "a null is swapped to its place": moves_a_null,
    "items of a container are set": lambda seen: seen.has("STORE_SUBSCR"),
    "a global is set": lambda seen: seen.has("STORE_GLOBAL"),
    "an attribute is set": lambda seen: seen.has("STORE_ATTR"),
    "a cell is put into a container": holds_cells,
    "a cell is written while values wait": sets_a_cell_among_values,
    "free variables": lambda seen: bool(seen.code.co_freevars),
    "a code object is a value": holds_code_as_a_value,
    "a dict is a constant": holds(dict),
    "another object without a literal is a constant": lambda seen: any(
        not isinstance(const, (*LITERALS, types.CodeType, dict)) for const in seen.code.co_consts
    ),
    "names of graphs": named("__compiled_fn"),
    "names of resume functions": named("__resume_at"),
    "names of modules": named("__import_"),
    "names of builtins' dict": named("__builtins_dict__"),
    "names of context managers": named("___context_manager"),
    "names of what was on the stack": named("___stack"),
    "names of frames": named("__nested_resume_fns"),
    "a handler keeps less than is on the stack": has_a_shorter_handler,
    "a handler raises again": lambda seen: not seen.is_source and seen.has("RERAISE"),
    "a resume function enters a `with` again": is_resumed(lambda seen: seen.has("ENTER_WITH")),
    "a resume function enters a loop in the middle": is_resumed(enters_a_loop_in_the_middle),
    "a resume function has code that is never reached": is_resumed(lambda seen: -1 in seen.depths),
    "a resume function takes frames": is_resumed(named("__nested_frame_values")),
    "variables are unbound after their use": lambda seen: not seen.is_source and seen.has("DELETE_FAST"),
    "the results of a graph are unpacked": lambda seen: not seen.is_source and seen.has("UNPACK_SEQUENCE"),
    "the results of a graph are read one by one": lambda seen: seen.has("LOAD_SUBSCR"),
    "a slice of a list": lambda seen: seen.has("BUILD_SLICE"),
    "values are left below what is returned": leaves_values_below,
    "a resume function inside a function": lambda seen: f"<locals>.{RESUMES}" in read(seen.code).qualname,
}


def measure() -> list[Seen]:
    """Compile every program, and return the code objects of Dynamo's."""
    code_objects: list[Seen] = []
    program = ""

    def note(code: types.CodeType, new_code: types.CodeType) -> None:
        code_objects.append(Seen(new_code, program, is_source=False))
        if code.co_name.startswith(RESUMES):
            code_objects.append(Seen(code, program, is_source=True))

    handle = register_bytecode_hook(note)
    try:
        for module in MODULES:
            for program_of_module in load(module):
                program = program_of_module.name
                run(program_of_module, "eager")
    finally:
        handle.remove()
    return code_objects


def main() -> None:
    """Print the table."""
    logging.getLogger("torch").setLevel(logging.ERROR)
    seen = measure()
    print(f"torch {torch.__version__}, Python {sys.version.split()[0]}, {len(seen)} code objects")
    missing = []
    for name, test in SHAPES.items():
        programs = [code_object.program for code_object in seen if test(code_object)]
        examples = ", ".join(list(dict.fromkeys(programs))[:EXAMPLES])
        print(f"{len(programs):5}  {name}: {examples}")
        if not programs:
            missing.append(name)
    report([none_of("shapes that no program has on this release", missing, f"{len(SHAPES)}")])


if __name__ == "__main__":
    main()
