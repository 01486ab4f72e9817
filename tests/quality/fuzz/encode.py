"""Instructions with labels to bytes, for the version of a table of opcodes."""

from __future__ import annotations

from dataclasses import dataclass

from depyf.bytecode.versions.facts import Facts


@dataclass(slots=True)
class Word:
    """One instruction.

    arg: its number; with a target, it is found when the places are known.
    target: label that it jumps to, or None.
    label: label that stands before it, or None.
    prefixes: how many needless EXTENDED_ARG to put before it.
    region: the handler, or -1.
    """

    name: str
    arg: int = 0
    target: int | None = None
    labels: tuple[int, ...] = ()
    prefixes: int = 0
    region: int = -1


class Backwards(Exception):
    """An instruction that can only jump forwards would have to jump back."""


def encode(words: list[Word], facts: Facts) -> tuple[bytes, dict[int, int], list[int]]:
    """Return the bytes, where each label is, and where each word begins (in code units).

    Raises Backwards if a jump goes the way that its instruction cannot.
    """
    numbers = {name: number for number, name in facts.table.opcodes.items()}
    extra = [word.prefixes for word in words]
    while True:
        starts = [0]
        for word, prefixes in zip(words, extra):
            starts.append(starts[-1] + prefixes + 1 + facts.table.caches.get(word.name, 0))
        labels = {label: start for word, start in zip(words, starts) for label in word.labels}
        args = [argument(word, starts[place + 1], labels, facts) for place, word in enumerate(words)]
        need = [max(present, prefixes_of(arg)) for present, arg in zip(extra, args)]
        if need == extra:
            break
        extra = need
    data = bytearray()
    for word, prefixes, arg in zip(words, extra, args):
        for place in range(prefixes, 0, -1):
            data += bytes((numbers["EXTENDED_ARG"], arg >> 8 * place & 255))
        data += bytes((numbers[word.name], arg & 255)) + bytes(2 * facts.table.caches.get(word.name, 0))
    return bytes(data), labels, starts


def argument(word: Word, end: int, labels: dict[int, int], facts: Facts) -> int:
    """Return the number of an instruction; a jump's argument counts from its end or from the start of the code."""
    if word.target is None:
        return word.arg
    there = labels[word.target]
    if word.name in facts.table.jump_absolute:
        return there
    distance = end - there if word.name in facts.backward else there - end
    if distance < 0:
        raise Backwards(word.name)
    return distance


def prefixes_of(arg: int) -> int:
    """Return how many EXTENDED_ARG a number needs."""
    return max(0, (arg.bit_length() - 1) // 8)


def exception_table(words: list[Word], starts: list[int], handlers: dict[int, tuple[int, int, bool]]) -> bytes:
    """Return the table of 3.11 and newer.

    handlers: by number, the place of each in code units, its depth, and whether it saves the offset.
    """
    table = bytearray()
    place = 0
    while place < len(words):
        region, first = words[place].region, place
        while place < len(words) and words[place].region == region:
            place += 1
        if region >= 0 and starts[place] > starts[first]:
            target, depth, lasti = handlers[region]
            numbers = (starts[first], starts[place] - starts[first], target, depth << 1 | lasti)
            for index, number in enumerate(numbers):
                table += digits(number, 128 if index == 0 else 0)
    return bytes(table)


def digits(number: int, mark: int) -> bytes:
    """Encode a number six bits a byte, high ones first; `mark` is set on the first byte."""
    groups = [number & 63]
    while number > 63:
        number >>= 6
        groups.append(number & 63 | 64)
    groups[-1] |= mark
    return bytes(reversed(groups))


def line_table(facts: Facts, units: int) -> bytes:
    """Return a table that says of no instruction what line it is from."""
    if facts.lines == "ranges":
        return bytes((min(254, 2 * units - done), 128)[side] for done in range(0, 2 * units, 254) for side in (0, 1))
    return bytes(0x80 | 15 << 3 | min(8, units - done) - 1 for done in range(0, units, 8))
