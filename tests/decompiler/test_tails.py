from __future__ import annotations

from depyf.decompiler.graph.tac import Block, Goto, Inst, Return
from depyf.decompiler.graph.tails import Renaming, lead_to, makes, numbered


def ends(*temps: int) -> list[Inst]:
    load, call, earlier = temps
    return [
        Inst("LOAD_FAST", "a", [], [load], 1, 0),
        Inst("CALL", 1, [earlier, load], [call], 1, 2),
        Inst("POP", None, [call], [], 1, 4),
    ]


def test_copies_are_the_same_up_to_the_names_of_their_values() -> None:
    assert Renaming().same_operations(ends(1, 2, 0), ends(3, 4, 0))


def test_copies_that_use_other_earlier_values_differ() -> None:
    assert not Renaming().same_operations(ends(1, 2, 0), ends(3, 4, 9))


def test_one_of_two_copies_with_an_operation_more_differs() -> None:
    assert not Renaming().same_operations(ends(1, 2, 0), ends(3, 4, 0)[:2])


def test_numbers_are_those_of_every_copy_and_earlier_values_keep_theirs() -> None:
    uses, numbers = numbered(ends(1, 2, 0))
    assert uses == numbered(ends(3, 4, 0))[0] != numbered(ends(3, 4, 9))[0]
    assert uses[1][0] == 0 and set(numbers) == {1, 2} and all(number < 0 for number in numbers.values())


def test_a_block_is_led_to_another_from_a_place_on() -> None:
    block, shared = Block(0, ends(1, 2, 0), Return(-1), -1), Block(7, [], Return(-1), -1, [5])
    assert makes(block, 2) and makes(shared, 5) and not makes(block, 0)
    lead_to(block, 1, shared, [1])
    assert len(block.insts) == 1 and isinstance(block.exit, Goto)
    assert (block.exit.edge.target, block.exit.edge.args) == (7, [1])
