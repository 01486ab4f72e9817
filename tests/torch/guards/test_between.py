"""What two entries of one function ask for differently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from depyf.model.run import Guard, GuardSet
from depyf.torch.adapters import lacking, seams
from depyf.torch.capture import live
from depyf.torch.guards.record import guard_set
from depyf.torch.guards.verdicts import agreement
from depyf.torch.guards.verdicts.between import contrasts
from tests.torch.needs import needs


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def scaled(x: torch.Tensor, n: Any, mode: str = "plain") -> torch.Tensor:
    return x * n if mode == "plain" else x + n


def guards(*calls: tuple[Any, ...]) -> list[GuardSet]:
    """Return the guards of the entries that these calls make, one each."""
    compiled = torch.compile(scaled, backend="eager", dynamic=False)
    guard_sets: list[GuardSet] = []
    known: set[str] = set()
    for x, n, mode in calls:
        compiled(x, n, mode)
        entries = {live.compile_id(entry): entry for entry in live.entries(scaled.__code__)}
        id = (entries.keys() - known).pop()
        known.add(id)
        tree, _ = agreement.read(seams.entry_guard_manager(entries[id]), {"x": x, "n": n, "mode": mode})
        guard_sets.append(guard_set(tree, id))
    return guard_sets


@needs(lacking.guard_trees())
def test_sizes_types_and_constants() -> None:
    x = torch.ones(4)
    first, second = guards((x, 7, "plain"), (torch.ones(5).double(), 8, "plain"))
    assert [contrast.words("0/0", "0/1") for contrast in contrasts(first, second)] == [
        'dtype of L["x"]: 0/0 asks for torch.float32, 0/1 for torch.float64',
        'size of L["x"]: 0/0 asks for (4,), 0/1 for (5,)',
        'constant of L["n"]: 0/0 asks for 7, 0/1 for 8',
    ]


def test_a_dynamic_size_is_any_number() -> None:
    clauses = [f'tensor(L["x"], torch.Tensor, size=({size},), requires_grad=False)' for size in (4, None)]
    first, second = (GuardSet((Guard("TENSOR_MATCH", 'L["x"]', "", clause),)) for clause in clauses)
    assert [contrast.words("0/0", "0/1") for contrast in contrasts(first, second)] == [
        'size of L["x"]: 0/0 asks for (4,), 0/1 for (any,)',
    ]


@needs(lacking.guard_trees())
def test_what_only_one_entry_asks() -> None:
    x = torch.ones(4)
    first, second = guards((x, 7, "plain"), (x, torch.ones(4), "plain"))
    said = [contrast.words("0/0", "0/1") for contrast in contrasts(first, second)]
    assert said[0] == '0/0 alone asks for equals(L["n"], 7)'
    assert any(line.startswith('0/1 alone asks for tensor(L["n"], ') for line in said)


@needs(lacking.described_state())
def test_the_state_around_the_call() -> None:
    x = torch.ones(4)
    compiled = torch.compile(scaled, backend="eager")
    compiled(x, 7)
    with torch.no_grad():
        compiled(x, 7)
    L = {"x": x, "n": 7, "mode": "plain"}
    by_id = sorted(live.entries(scaled.__code__), key=live.compile_id)
    trees = [agreement.read(seams.entry_guard_manager(entry), L)[0] for entry in by_id]
    first, second = (guard_set(tree, live.compile_id(entry)) for tree, entry in zip(trees, by_id, strict=True))
    said = [contrast.words("0/0", "0/1") for contrast in contrasts(first, second)]
    assert said == ["grad_mode: 0/0 asks for True, 0/1 for False"]


def test_a_number_of_the_process_in_a_name_is_no_difference() -> None:
    sources = (f'G["__builtins_dict___{number}"]' for number in (1, 7))
    first, second = (GuardSet((Guard("ID", source, "", f'dict_item({source}, "len") is len'),)) for source in sources)
    assert contrasts(first, second) == []


def test_an_entry_and_itself() -> None:
    (first,) = guards((torch.ones(4), 7, "plain"))
    assert contrasts(first, first) == []
