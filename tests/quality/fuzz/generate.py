"""Random programs: random graphs of blocks, random operations, and whatever conversions their edges need."""

from __future__ import annotations

import random
from dataclasses import replace

from depyf.bytecode.versions.facts import Facts
from depyf.bytecode.versions.known import FACTS
from tests.quality.fuzz.effects import FIXED, apply, leave
from tests.quality.fuzz.fuel import put_fuel
from tests.quality.fuzz.groups import Groups
from tests.quality.fuzz.lowering import CELLS, VARIABLES
from tests.quality.fuzz.program import ASYNC_GENERATOR, Block, Exit, Kinds, Op, Program, Region, fits, is_value
from tests.quality.fuzz.propose import Proposals, drop
from tests.quality.fuzz.stack import Invalid
from tests.quality.fuzz.wide import MODES, Wide

PLAIN, CALM, WIDE, GROUPS = "plain", "calm", "wide", "groups"
PROFILES = (PLAIN, CALM, WIDE, GROUPS)
"""What programs are made of: all but what has a profile of its own; the same without protected regions; managers and
what waits for others too; and handlers that part groups of exceptions, where the version has any."""


def generate(version: tuple[int, int], seed: int, *, profile: str = PLAIN) -> Program:
    """Return the program of a seed."""
    chance = random.Random(seed)
    while True:
        try:
            return _Generator(version, chance, profile).program
        except Stuck:
            continue


class Stuck(Exception):
    """A block that nothing can follow on."""


class _Generator:
    """Writes one program, block by block: a block is described when it is first gone to, and filled later."""

    def __init__(self, version: tuple[int, int], chance: random.Random, profile: str) -> None:
        self.chance = chance
        facts = FACTS[version]
        self.opcodes = frozenset(facts.table.opcodes.values())
        self.proposals = Proposals(chance, facts)
        self.exceptions = profile != CALM
        self.wanted = chance.choice((2, 3, 4, 6, 8, 12, 16))
        self.locality = chance.choice((0.0, 0.3, 0.8))
        self.generator = chance.random() < 0.15
        self.program = Program(version, [Block(())], [], [], self.generator, chance.getrandbits(30))
        self.wide = self.widened(facts) if profile in (WIDE, GROUPS) else None
        self.groups = None
        if profile == GROUPS and "CHECK_EG_MATCH" in self.opcodes:
            self.groups = Groups(chance, self.program, self.clean_up, self.may_protect)
        self.todo = [0]
        while self.todo:
            self.fill(self.todo.pop(chance.randrange(len(self.todo))))
        if chance.random() < 0.15:
            self.add_unreachable()
        self.put_in_order()
        put_fuel(self.program)

    def widened(self, facts: Facts) -> Wide:
        """Choose what kind of code the program is, and return what makes up what the wide profile has more of."""
        self.generator = self.program.generator = self.chance.random() < 0.7
        self.program.mode = self.chance.choice(MODES)
        return Wide(self.chance, facts, self.program)

    # Blocks

    def fill(self, index: int) -> None:
        """Write the operations and the exit of a block."""
        block = self.program.blocks[index]
        kinds = block.entry
        for _ in range(self.chance.choice((0, 1, 2, 3, 5, 8))):
            kinds = self.add(block, kinds)
        for _ in range(200):
            count = len(block.ops)
            if self.finish(block, kinds):
                return
            del block.ops[count:]
            kinds = self.add(block, kinds)
        raise Stuck

    def add(self, block: Block, kinds: Kinds) -> Kinds:
        """Add an operation that may stand here, if one is found."""
        for _ in range(20):
            done = self.attempt(block, kinds, self.proposed(kinds))
            if done is not None:
                return done
        return kinds

    def proposed(self, kinds: Kinds) -> list[Op]:
        """Return operations to try."""
        if self.groups is not None and kinds and kinds[-1] in "er" and self.chance.random() < 0.1:
            return [self.groups.kind(), Op("CHECK_EG_MATCH")]
        if self.wide is not None and self.chance.random() < 0.2:
            return self.wide.next(kinds, self.proposals.observed())
        return self.proposals.next(kinds, generator=self.generator)

    def attempt(self, block: Block, kinds: Kinds, ops: list[Op]) -> Kinds | None:
        """Add operations, all or none, and return what is on the stack then."""
        for op in ops:
            try:
                kinds = apply(self.program, block.region, kinds, op.name, op.arg)
            except Invalid:
                return None
        if len(kinds) > 9:
            return None
        block.ops.extend(ops)
        return kinds

    def put_in_order(self) -> None:
        """Choose how blocks follow one another."""
        rest = list(range(1, len(self.program.blocks)))
        if self.chance.random() < 0.5:
            self.chance.shuffle(rest)
        self.program.order = [0, *rest]

    def add_unreachable(self) -> None:
        """Add blocks that nothing leads to."""
        count = len(self.program.blocks)
        self.program.blocks.append(Block(self.chance.choice(((), ("v",), ("o", "v")))))
        self.wanted = count
        self.todo = [count]
        while self.todo:
            self.fill(self.todo.pop())

    # Exits

    def finish(self, block: Block, kinds: Kinds) -> bool:
        """End a block in a random way, if that may stand here."""
        if self.groups is not None and self.chance.random() < 0.3 and self.finish_in_group(self.groups, block, kinds):
            return True
        if self.wide is not None and self.chance.random() < 0.6 and self.finish_widely(self.wide, block, kinds):
            return True
        exit_ = self.chance.choice(self.exits(kinds))
        kind = exit_.kind
        if kind == "return" and self.returns_none and "p" not in kinds:
            done = self.attempt(block, kinds, [Op("CONST", None)])
            if done is None:
                return False
            kinds = done
        if kind == "return" and "p" not in kinds and (not kinds or not is_value(kinds[-1])):
            done = self.attempt(block, kinds, [Op("LOAD_FAST", self.chance.choice(VARIABLES))])
            kinds = done if done is not None else kinds
        if kind in ("true", "false", "none", "not_none") and (not kinds or kinds[-1] not in "ob"):
            done = self.attempt(block, kinds, self.condition())
            kinds = done if done is not None else kinds
        try:
            ways = leave(self.program, block.region, kinds, exit_)
        except Invalid:
            return False
        targets = [self.target(block, way) for way in ways]
        if any(target is None for target in targets):
            return False
        block.exit = replace(exit_, targets=tuple(target for target in targets if target is not None))
        return True

    @property
    def returns_none(self) -> bool:
        """Return whether the program can return nothing but None."""
        return self.program.generator and self.program.mode == ASYNC_GENERATOR

    def finish_widely(self, wide: Wide, block: Block, kinds: Kinds) -> bool:
        """End a block by going to the body of a `with`, or by awaiting the next value of an iterator, if it can."""
        if len(self.program.blocks) > 3 * self.wanted:
            return False
        place = wide.exit_place(kinds)
        if place and len(self.program.regions) < 8:
            outer = block.region if self.may_protect(block.region, kinds[:place]) else -1
            handler_region = (
                wide.with_region(kinds[:place], outer, self.clean_up) if "p" not in kinds or outer >= 0 else None
            )
            if handler_region is not None:
                self.todo += handler_region[1]
                block.exit = Exit("goto", (self.new_block(kinds, handler_region[0]),))
                return True
        if kinds and kinds[-1] == "a" and self.may_protect(block.region, kinds[:-1]):
            target, todo = wide.awaiting_next(kinds, block.region)
            self.todo += todo
            block.exit = Exit("goto", (target,))
            return True
        return False

    def finish_in_group(self, groups: Groups, block: Block, kinds: Kinds) -> bool:
        """End a block by going to what is protected by a handler that parts groups, if it can."""
        lowest = max((place + 1 for place, kind in enumerate(kinds) if kind == "p"), default=0)
        kept = kinds[: self.chance.randint(lowest, len(kinds))]
        if {"m", "s"} & {*kept} or len(self.program.regions) > 4 or len(self.program.blocks) > 3 * self.wanted:
            return False
        outer = block.region if self.may_protect(block.region, kept) else -1
        handler_region = groups.region(kept, outer) if outer >= 0 or "p" not in kept else None
        if handler_region is None:
            return False
        self.todo += handler_region[1]
        block.exit = Exit("goto", (self.new_block(kinds, handler_region[0]),))
        return True

    def exits(self, kinds: Kinds) -> list[Exit]:
        """Return exits to choose from."""
        branches = ["true", "false"]
        if "POP_JUMP_IF_NONE" in self.opcodes or "POP_JUMP_FORWARD_IF_NONE" in self.opcodes:
            branches += ["none", "not_none"] if self.chance.random() < 0.4 else []
        if "JUMP_IF_TRUE_OR_POP" in self.opcodes and kinds and is_value(kinds[-1]):
            branches += ["true_or_pop", "false_or_pop"]
        exits = [Exit("goto"), *(Exit(self.chance.choice(branches)) for _ in range(3))]
        if kinds and kinds[-1] == "i":
            exits += [Exit("for")] * 4
        if len(self.program.blocks) >= self.wanted or self.chance.random() < 0.1:
            exits += [Exit("return")] * 3
        if kinds and kinds[-1] in "eX":
            exits += [Exit("raise", arg=1)]
        if kinds[-2:] == ("p", "e"):
            # What is not being handled cannot be raised again by any source, only raised.
            exits += [Exit("reraise")] * 4
            depths = [depth for depth, kind in enumerate(reversed(kinds[:-1]), 1) if kind == "l"]
            exits += [Exit("reraise", arg=depth) for depth in depths] * 3
        return exits

    def condition(self) -> list[Op]:
        """Return operations that push something to branch on."""
        name = Op("LOAD_GLOBAL", "g") if self.chance.random() < 0.3 else Op("LOAD_FAST", self.proposals.variable())
        if self.chance.random() < 0.3:
            return [Op("LOAD_FAST", FIXED), name, Op("COMPARE", self.chance.choice(("<", "==", ">=")))]
        if self.chance.random() < 0.3:
            return [Op("LOAD_FAST", FIXED), Op("CONST", None), Op("IS", self.chance.random() < 0.5)]
        return [name]

    def target(self, block: Block, kinds: Kinds) -> int | None:
        """Return a block to go to with this on the stack: one there is, a new one, or one that converts first."""
        blocks = self.program.blocks
        present = [number for number in range(1, len(blocks)) if self.may_enter(number)]
        if len(blocks) < self.wanted and (not present or self.chance.random() < 0.6):
            region = self.choose_region(block.region, kinds)
            if region is not None and ("p" not in kinds or self.chance.random() < 0.6):
                return self.new_block(kinds, region)
        matching = [number for number in present if self.matches(kinds, number)]
        if matching and self.chance.random() < 0.8:
            return self.chance.choice(matching[-3:] if self.chance.random() < self.locality else matching)
        convertible = [number for number in present if shared_part(kinds, blocks[number].entry)]
        self.chance.shuffle(convertible)
        for number in convertible[:5]:
            for region in dict.fromkeys((block.region, blocks[number].region, -1)):
                edge = self.convert(region, kinds, number)
                if edge is not None:
                    return edge
        return self.leave_handler(block.region, kinds) if "p" in kinds else self.end_here(kinds)

    def may_enter(self, number: int) -> bool:
        """Return whether jumps may lead to a block: to the entries of handlers only rarely."""
        regions = [region for region in self.program.regions if region.target == number]
        return not regions or (not regions[0].lasti and self.chance.random() < 0.1)

    def matches(self, kinds: Kinds, number: int) -> bool:
        """Return whether a block can be gone to as things are."""
        entry = self.program.blocks[number].entry
        return len(kinds) == len(entry) and all(map(fits, kinds, entry))

    def new_block(self, kinds: Kinds, region: int) -> int:
        """Describe another block, to be filled later."""
        entry = tuple("v" if self.chance.random() < 0.2 and is_value(kind) else kind for kind in kinds)
        kept = self.program.regions[region].kept if region >= 0 else ()
        if not all(map(fits, entry, kept)):
            entry = kinds
        self.program.blocks.append(Block(entry, region=region))
        self.todo.append(len(self.program.blocks) - 1)
        return len(self.program.blocks) - 1

    def convert(self, region: int, kinds: Kinds, number: int) -> int | None:
        """Return a block that makes the stack what another block expects, or None where that cannot be."""
        target = self.program.blocks[number]
        wanted = target.entry
        same = 0
        while same < min(len(kinds), len(wanted)) and fits(kinds[same], wanted[same]):
            same += 1
        between = Block(kinds, region=region)
        while len(kinds) > same:
            done = self.drop_top(between, kinds)
            if done is None:
                return None
            kinds = done
        for kind in wanted[same:]:
            done = self.attempt(between, kinds, self.supply(kind))
            if done is None:
                return None
            kinds = done
        if not self.matches(kinds, number):
            return None
        between.exit = Exit("goto", (number,))
        self.program.blocks.append(between)
        return len(self.program.blocks) - 1

    def drop_top(self, block: Block, kinds: Kinds) -> Kinds | None:
        """Take the top from the stack; a manager is left, if it can be."""
        if self.wide is not None and kinds[-1] in "xyz" and self.chance.random() < 0.8:
            done = self.attempt(block, kinds, self.wide.leave(kinds))
            if done is not None:
                return done
        return self.attempt(block, kinds, drop(kinds[-1]))

    def supply(self, kind: str) -> list[Op]:
        """Return operations that push a value of a kind."""
        name = Op("LOAD_FAST", FIXED)
        match kind:
            case "v":
                return [Op("LOAD_FAST", self.proposals.variable())]
            case "n" if "PUSH_NULL" in self.opcodes:
                return [Op("NULL")]
            case "i":
                return [name, Op("GET_ITER")]
            case "b":
                return [name, Op("NOT")]
            case "N":
                return [Op("CONST", None)]
            case "t":
                return [Op("CONST", "k")]
            case "T":
                return [Op("BUILD_TUPLE", 0)]
            case "L":
                return [Op("BUILD_LIST", 0)]
            case "c":
                return [Op("LOAD_CLOSURE", CELLS[0])]
            case _:
                return [name]

    def end_here(self, kinds: Kinds) -> int:
        """Return a new block that returns."""
        block = Block(kinds)
        if self.returns_none:
            block.ops = [Op("CONST", None)]
        elif not kinds or not is_value(kinds[-1]):
            block.ops = [Op("LOAD_FAST", self.proposals.variable())]
        self.program.blocks.append(block)
        return len(self.program.blocks) - 1

    # Regions

    def choose_region(self, region: int, kinds: Kinds) -> int | None:
        """Return the handler of a new block: the same, none, one there is, or a new one; None if none can be."""
        fitting = [number for number in range(len(self.program.regions)) if self.may_protect(number, kinds)]
        options = [number for number in fitting if number == region] * 3 + fitting
        if "p" not in kinds:
            options += [-1] * (2 + (region < 0) * 2)
        if self.exceptions and len(self.program.regions) < 6 and self.chance.random() < 0.3:
            new = self.new_region(region, kinds)
            if new is not None:
                return new
        return self.chance.choice(options) if options else None

    def may_protect(self, number: int, kinds: Kinds) -> bool:
        """Return whether a handler finds what it wants when a block with this on the stack raises."""
        kept = self.program.regions[number].kept if number >= 0 else ()
        return len(kept) <= len(kinds) and all(map(fits, kinds, kept)) and "p" not in kinds[len(kept) :]

    def new_region(self, outer: int, kinds: Kinds) -> int | None:
        """Add a handler that keeps a part of the stack, and return it; None if that cannot be here."""
        if self.program.regions and self.chance.random() < 0.1:
            twin = self.chance.choice(self.program.regions)
            self.program.regions.append(twin)
            return len(self.program.regions) - 1 if self.may_protect(len(self.program.regions) - 1, kinds) else None
        lowest = max((place + 1 for place, kind in enumerate(kinds) if kind == "p"), default=0)
        kept = kinds[: self.chance.randint(lowest, len(kinds))]
        if {"m", "s"} & {*kept}:
            return None
        kept = tuple("v" if is_value(kind) and self.chance.random() < 0.3 else kind for kind in kept)
        if "p" in kept and self.chance.random() < 0.3:
            return self.clean_up(outer, kept)
        region = Region(len(self.program.blocks), kept, self.chance.random() < 0.3)
        options = [other for other in range(len(self.program.regions)) if self.may_protect(other, region.entry)]
        if "p" in kept and not options:
            return None
        number = self.add_region(region, Block(region.entry))
        handler = self.program.blocks[region.target]
        if options and ("p" in kept or self.chance.random() < 0.3):
            handler.region = self.chance.choice(options)
        self.begin_handler(handler, region)
        return number

    def add_region(self, region: Region, handler: Block) -> int:
        """Add a handler with its first block."""
        self.program.regions.append(region)
        self.program.blocks.append(handler)
        return len(self.program.regions) - 1

    def begin_handler(self, handler: Block, region: Region) -> None:
        """Let a handler make its exception the one being handled, under another one that undoes that."""
        kinds = (*region.entry[:-1], "p", "e")
        cleanup = None if self.chance.random() < 0.2 else self.clean_up(handler.region, kinds[:-1])
        if cleanup is None:
            self.todo.append(region.target)
            return
        handler.ops = [Op("PUSH_EXC_INFO")]
        self.program.blocks.append(Block(kinds, region=cleanup))
        self.todo.append(len(self.program.blocks) - 1)
        handler.exit = Exit("goto", (len(self.program.blocks) - 1,))

    def clean_up(self, outer: int, kept: Kinds) -> int | None:
        """Add a handler that undoes the last that is being handled, and raises again; `outer` protects that."""
        region = Region(len(self.program.blocks), kept, self.chance.random() < 0.7)
        depth = region.entry[::-1].index("p") + 1
        after = (*region.entry[:-depth], "q", *region.entry[len(region.entry) - depth + 1 :])
        if not self.may_protect(outer, after):
            return None
        handler = Block(region.entry, [Op("RESTORE", depth)], Exit("reraise", arg=1 if region.lasti else 0), outer)
        return self.add_region(region, handler)

    def leave_handler(self, region: int, kinds: Kinds) -> int | None:
        """Return a block that undoes what is being handled last and goes on."""
        last = len(kinds) - 1 - kinds[::-1].index("p")
        rest = kinds[:last]
        options = [other for other in range(-1, len(self.program.regions)) if self.may_protect(other, rest)]
        if not options:
            return None
        block = Block(kinds, region=self.chance.choice(options))
        present = kinds
        while len(present) > last:
            done = self.drop_top(block, present)
            if done is None:
                return None
            present = done
        self.program.blocks.append(block)
        number = len(self.program.blocks) - 1
        following = self.choose_region(block.region, rest)
        block.exit = Exit("goto", (self.new_block(rest, block.region if following is None else following),))
        return number


def shared_part(kinds: Kinds, wanted: Kinds) -> bool:
    """Return whether a stack may be made into another: what is being handled must be the same."""
    mine = [place for place, kind in enumerate(kinds) if kind == "p"]
    its = [place for place, kind in enumerate(wanted) if kind == "p"]
    return its == mine[: len(its)] and not {"m", "s", "u", "l", "e"} & {*kinds[len(its) :], *wanted}
