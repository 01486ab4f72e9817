"""Programs that were decompiled wrongly, or not proven, once: shrunk, and written down by hand.

Each block is what lies on its stack, its operations, its exit, and the handler that protects it.
"""

from __future__ import annotations

from tests.quality.fuzz.lower import running
from tests.quality.fuzz.program import Block, Exit, Op, Program, Region


def op(name: str, arg: object = None) -> Op:
    return Op(name, arg)


def load(name: str = "a") -> Op:
    return Op("LOAD_FAST", name)


def block(entry: str, ops: list[Op], exit_: Exit, region: int = -1, *, fuel: bool = False) -> Block:
    return Block(tuple(entry.split()), ops, exit_, region, fuel)


def to(*targets: int, kind: str = "goto") -> Exit:
    return Exit(kind, targets)


def branch(*targets: int) -> Exit:
    return Exit("true", targets)


def region(target: int, kept: str = "", *, lasti: bool = False) -> Region:
    return Region(target, tuple(kept.split()), lasti)


RETURN = Exit("return")
CALL_G = [op("LOAD_GLOBAL", "g"), op("LOAD_ATTR", "n")]
PUSH = op("PUSH_EXC_INFO")


def leave(*kinds: str) -> list[Op]:
    return [op("POP_EXCEPT" if kind == "p" else "POP") for kind in kinds]


PROGRAMS: dict[str, tuple[list[Block], list[Region]]] = {
    # a phi takes the old value of another that an expression has just set
    "values that change places": (
        [
            block("", [load(), load("b")], to(1)),
            block("v v", [*CALL_G, op("POP"), op("SWAP", 2), op("STORE_FAST", "x"), load()], branch(2, 3), fuel=True),
            block("v", [load()], to(1)),
            block("v", [load("x")], to(1)),
        ],
        [],
    ),
    # an item of a list stays on the stack above it: the list cannot hold it before it is there
    "an item that is used again": (
        [
            block("", [op("BUILD_LIST", 0), op("CONST", 0), op("COPY", 1), op("LIST_APPEND", 2), load()], branch(1, 1)),
            block("L v", [op("BUILD_LIST", 2)], RETURN),
        ],
        [],
    ),
    # each way has a return of its own, and one of them returns what was tested
    "a test that is returned": (
        [
            block("", [load()], to(1, 2, kind="false_or_pop")),
            block("o", [], RETURN),
            block("", [load("b")], RETURN),
        ],
        [],
    ),
    # the test of `a and b` runs code: nothing passes it
    "a conditional value that waits": (
        [
            block("", [op("LOAD_GLOBAL", "g"), op("GET_ITER"), load(), load()], branch(1, 2)),
            block("i o", [load("b")], to(3)),
            block("i o", [load("a")], to(3)),
            block("i o v", [op("BUILD_MAP", 0), *CALL_G], branch(4, 4)),
            block("i o v D", [op("BUILD_TUPLE", 4)], RETURN),
        ],
        [],
    ),
    # a test whose ways lead to one place is a test all the same
    "a value that is tested and kept": (
        [
            block("", [*CALL_G, op("COPY", 1)], branch(1, 1)),
            block("v", [], RETURN),
        ],
        [],
    ),
    # what is used before a statement, and behind it, has a name from before it
    "a value that is used twice": (
        [
            block(
                "",
                [load(), op("COPY", 1), op("STORE_GLOBAL", "s"), load("b")],
                branch(1, 2),
            ),
            block("v", [load("c"), op("BUILD_TUPLE", 2)], RETURN),
            block("v", [], RETURN),
        ],
        [],
    ),
    # where paths meet, two variables hold one list, or two lists
    "lists that are one on one path": (
        [
            block("", [op("BUILD_LIST", 0), load()], branch(1, 2)),
            block("L", [*CALL_G, op("POP"), op("FORMAT", (False, "r"))], RETURN),
            block("L", [load()], branch(1, 3)),
            block("L", [], RETURN, 0),
            block("e", [PUSH, op("POP"), op("POP_EXCEPT"), op("BUILD_LIST", 0)], to(1)),
        ],
        [region(4)],
    ),
    "a module that is tested and taken from": (
        [
            block(
                "",
                [op("IMPORT_NAME", ("one", ("n",))), op("IMPORT_FROM", "n"), op("STORE_FAST", "x")],
                branch(1, 1),
            ),
            block("", [load("x")], RETURN),
        ],
        [],
    ),
    "a package beside a function of its name": (
        [
            block(
                "",
                [op("MAKE_FUNCTION", (8, 1)), op("IMPORT_NAME", ("one.two", None))],
                branch(1, 2),
            ),
            block("f", [], RETURN),
            block("f", [op("BUILD_LIST", 1)], RETURN),
        ],
        [],
    ),
    # the name of a function is seen, where its code does not say it too
    "a function that is shown": (
        [block("", [op("MAKE_FUNCTION", (0, 0)), op("FORMAT", (False, "r"))], RETURN)],
        [],
    ),
    "a format of a constant": ([block("", [op("CONST", 1), op("FORMAT", (False, "s"))], RETURN)], []),
    "regions that cross": (
        [
            block("", CALL_G, branch(1, 2), 0),
            block("", CALL_G, branch(2, 3), 1, fuel=True),
            block("", CALL_G, branch(1, 3), 0),
            block("", [load()], RETURN),
            block("e", [PUSH], to(6)),
            block("e", [PUSH], to(7)),
            block("p e", CALL_G, to(9), 2),
            block("p e", CALL_G, to(10), 2),
            block("p e", [op("RESTORE", 2)], Exit("reraise")),
            block("p e v", leave("v", "v", "p"), to(1)),
            block("p e v", leave("v", "v", "p"), to(2)),
        ],
        [region(4), region(5), region(8, "p")],
    ),
    "a handler that is entered by a jump": (
        [
            block("", CALL_G, branch(1, 2), 0),
            block("", CALL_G, RETURN, 1),
            block("", [load()], RETURN),
            block("e", [], to(4)),
            block("e", [PUSH, *leave("v", "p"), *CALL_G], RETURN),
        ],
        [region(4), region(3)],
    ),
    "handlers that protect each other": (
        [
            block("", CALL_G, RETURN, 0),
            block("e", [PUSH], to(3)),
            block("e", [PUSH], to(4)),
            block("p e", CALL_G, to(5), 2, fuel=True),
            block("p e", CALL_G, to(5), 3, fuel=True),
            block("p e v", leave("v", "v", "p"), to(6)),
            block("", [load()], RETURN),
            block("p e", [op("RESTORE", 2)], Exit("reraise"), 1),
            block("p e", [op("RESTORE", 2)], Exit("reraise"), 0),
        ],
        [region(1), region(2), region(7, "p"), region(8, "p")],
    ),
    # the value for the next round is chosen where that of this round is still used
    "a value that is taken apart and chosen anew": (
        [
            block("", [load()], to(1)),
            block("o", [op("UNPACK_SEQUENCE", 2), load(), op("GET_ITER"), load("z")], branch(2, 3), fuel=True),
            block("v v i", [*leave("v", "v", "v"), load()], to(1)),
            block("v v i", [*leave("v", "v", "v"), load()], to(1)),
        ],
        [],
    ),
    # the iterator is on the stack before the region begins: the loop of it has its head behind that
    "a loop that a region enters behind its head": (
        [
            block("", [load(), op("GET_ITER"), load()], branch(1, 1)),
            block("i", [op("COPY", 1), *CALL_G, op("POP")], to(1, 2, kind="for"), 0, fuel=True),
            block("i i v", [op("POP"), op("POP")], to(1), 0),
            block("v e", [PUSH], to(4)),
            block("v p e", leave("v", "p", "v") + [load(), op("GET_ITER")], to(1)),
        ],
        [region(3, "v")],
    ),
    # what the head of the loop passes on is assigned between two blocks: there the same is handled as in both
    "a loop in a handler that is entered by two ways": (
        [
            block("", CALL_G, RETURN, 0),
            block("e", [PUSH], to(2)),
            block("p e", [load(), op("GET_ITER")], to(5, 3, kind="for"), 1, fuel=True),
            block("p e i v", [*leave("v", "v"), *CALL_G, op("GET_ITER"), load(), load()], branch(3, 4), 1, fuel=True),
            block("p e i v", [*leave("v", "v", "v", "p"), load()], RETURN),
            block("p e", [*leave("v", "p"), load("b")], RETURN),
            block("p l e", [op("RESTORE", 3)], Exit("reraise")),
        ],
        [region(1), region(6, "p", lasti=True)],
    ),
    # the last value of what is stored in another order than it was made goes to a third variable too
    "a value of a parallel assignment that is stored twice": (
        [
            block("", [load(), op("CONST", "k"), op("COPY", 1)], to(1)),
            block("v t t", [], RETURN, 0),
            block("e", [PUSH], to(3)),
            block("p e", [*leave("v", "p"), load()], RETURN),
        ],
        [region(2)],
    ),
    "what was handled is handled again": (
        [
            block("", CALL_G, RETURN, 0),
            block("e", [PUSH], to(2)),
            block("p e", CALL_G, to(4), 1),
            block("p e e", [PUSH], to(6)),
            block("p e v", leave("v", "v", "p"), to(5)),
            block("", [load()], RETURN),
            block("p e p e", CALL_G, to(7), 2),
            block("p e p e v", leave("v", "v", "p"), to(8)),
            block("p e", CALL_G, to(4), 3),
            block("p e p e", [op("RESTORE", 2)], Exit("reraise"), 3),
            block("p e", [op("RESTORE", 2)], Exit("reraise")),
        ],
        [region(1), region(3, "p e"), region(9, "p e p"), region(10, "p")],
    ),
}


def program(name: str) -> Program:
    """Return one of the programs for the running interpreter."""
    blocks, regions = PROGRAMS[name]
    return Program(running(), blocks, regions, list(range(len(blocks))))
