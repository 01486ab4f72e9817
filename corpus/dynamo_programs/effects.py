"""Side effects, and the order of reads and writes: on lists, dicts, attributes, globals, cells and tensors."""

from __future__ import annotations

import collections
from typing import Any

import torch
from torch import Tensor
from torch._dynamo import graph_break

from corpus.dynamo_programs.program import Programs

program = Programs()

SEEN: list[Any] = []
TABLE: dict[str, Any] = {"old": 1}
COUNT = 0
LAST: Tensor | None = None


class Box:
    def __init__(self) -> None:
        self.value = 0
        self.items: list[Any] = []
        self.gone = "here"


BOX = Box()


@program(effects=lambda: SEEN)
def appends(x: Tensor) -> Tensor:
    SEEN.append(1)
    y = x + len(SEEN)
    graph_break()
    SEEN.append(y)
    return y * 2


@program(effects=lambda: TABLE)
def sets_items(x: Tensor) -> Tensor:
    TABLE["new"] = x + 1
    y = x * TABLE["old"]
    graph_break()
    TABLE["old"] += 1
    TABLE.pop("new")
    return y


@program(effects=lambda: vars(BOX))
def sets_attributes(x: Tensor) -> Tensor:
    BOX.value += 1
    BOX.items.append(x)
    y = x + BOX.value
    graph_break()
    BOX.value = BOX.value * 2
    return y + BOX.value


@program(effects=lambda: COUNT)
def counts_in_a_global(x: Tensor) -> Tensor:
    global COUNT
    COUNT += 1
    y = x + COUNT
    graph_break()
    COUNT = COUNT * 2
    return y + COUNT


@program(effects=lambda: LAST)
def keeps_a_tensor_in_a_global(x: Tensor) -> Tensor:
    global LAST
    before = x if LAST is None else LAST
    LAST = x + 1
    graph_break()
    return before * 2


@program(effects=lambda: (SEEN, TABLE, vars(BOX), COUNT))
def many_effects_at_once(x: Tensor) -> Tensor:
    global COUNT
    y = x + 1
    SEEN.append(y)
    TABLE["y"] = y
    BOX.value = COUNT
    COUNT = len(SEEN)
    BOX.items.extend([1, 2])
    return y * 2


@program(lambda: [(torch.ones(3), [1, 2, 3]), (torch.ones(3), [4])])
def changes_an_argument(x: Tensor, items: list[int]) -> tuple[Tensor, list[int]]:
    items.append(7)
    y = x + items[0]
    graph_break()
    items[0] = 9
    del items[-1]
    return y + items[0], items


@program(lambda: [(torch.ones(3), {"a": 1, "b": 2})])
def changes_a_dict_argument(x: Tensor, table: dict[str, Any]) -> tuple[Tensor, dict[str, Any]]:
    table["c"] = x
    del table["a"]
    y = x + table["b"]
    graph_break()
    table.update(b=5, d=6)
    return y, table


@program(lambda: [(torch.ones(3), {"a": 1, "b": 2})])
def clears_what_it_has_read(x: Tensor, table: dict[str, Any]) -> tuple[Tensor, int]:
    first = table["a"]
    size = len(table)
    table.clear()
    graph_break()
    return x + first, size + len(table)


@program(lambda: [(torch.ones(3), [1, 2, 3])])
def reads_before_and_after_a_change(x: Tensor, items: list[int]) -> tuple[Tensor, int, int, int]:
    before = items[0]
    items[0] = 10
    after = items[0]
    graph_break()
    items[0] = 20
    return x + before + after, before, after, items[0]


@program(lambda: [(torch.ones(3), [1, 2, 3])])
def swaps(x: Tensor, items: list[int]) -> tuple[Tensor, list[int]]:
    items[0], items[1] = items[1], items[0]
    graph_break()
    items[1], items[2] = items[2], items[1]
    return x * items[0], items


@program(lambda: [(torch.ones(3), [3, 1, 2])])
def list_methods(x: Tensor, items: list[int]) -> tuple[Tensor, list[int]]:
    items.insert(0, 5)
    items.reverse()
    last = items.pop()
    graph_break()
    items.sort()
    items += [last]
    return x + last, items


@program()
def changes_in_place(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.clone()
    y.add_(1)
    graph_break()
    y[0] = 5
    y.mul_(2)
    return y, x


@program()
def changes_the_argument_in_place(x: Tensor) -> Tensor:
    before = x + 0
    x.add_(1)
    graph_break()
    x.mul_(2)
    return before + x


@program()
def an_alias(x: Tensor) -> tuple[Any, ...]:
    items = [x]
    same = items
    same.append(x + 1)
    graph_break()
    items.append(x + 2)
    return items is same, len(same), same[2]


@program()
def a_list_in_itself(x: Tensor) -> tuple[Any, ...]:
    inner = [x + 1]
    outer = [inner, inner]
    graph_break()
    outer[0].append(x)
    return outer[1][1] + 1, outer[0] is outer[1]


@program()
def new_objects(x: Tensor) -> tuple[Any, ...]:
    box = Box()
    box.value = 3
    box.items.append(x + 1)
    graph_break()
    box.value += 1
    return box.items[0] * box.value, box.value, box.gone


@program()
def deletes_an_attribute(x: Tensor) -> tuple[Tensor, bool]:
    box = Box()
    del box.gone
    graph_break()
    return x + 1, hasattr(box, "gone")


@program()
def collections_of_all_kinds(x: Tensor) -> tuple[Any, ...]:
    ordered = collections.OrderedDict(a=x, b=x + 1)
    queue = collections.deque([1, 2], maxlen=3)
    counted = collections.defaultdict(list)
    counted["k"].append(x)
    queue.append(5)
    ordered.move_to_end("a")
    graph_break()
    return list(ordered), list(queue), counted["k"][0] + len(counted)


@program()
def sets(x: Tensor) -> tuple[Tensor, list[int]]:
    found = {1, 2}
    found.add(3)
    graph_break()
    found.discard(1)
    return x + len(found), sorted(found)


Pair = collections.namedtuple("Pair", "left right")


@program()
def a_named_tuple(x: Tensor) -> Any:
    pair = Pair(x + 1, x * 2)
    graph_break()
    return pair._replace(left=pair.right), pair.left


@program()
def a_tuple_of_tuples(x: Tensor) -> Any:
    nested = ((x, x + 1), [x * 2, {"k": (x - 1,)}])
    graph_break()
    return nested[1][1]["k"][0] + nested[0][1], nested


@program()
def a_size_and_a_range(x: Tensor) -> Any:
    size, numbers = x.size(), range(2, 8, 2)
    graph_break()
    return x.new_ones(size) + numbers[1], list(numbers), slice(0, 2)
