"""Names in a dump are safe, bounded, and the same in every process."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from depyf.model.names import MAX_LENGTH, compiled_fn_number, file_part, stable_names, without_random_part

GRAPH = "__compiled_fn_12_c4ee0479_718e_4bf4_a799_f70a91727578"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("forward", "forward"),
        ("<lambda>", "lambda"),
        ("before split", "before_split"),
        ("a/../b", "a_.._b"),
        ("..", "unnamed"),
        ("", "unnamed"),
        ("__init__", "__init__"),
    ],
)
def test_a_part_of_a_file_name(name: str, expected: str) -> None:
    assert file_part(name) == expected


@given(st.text())
def test_a_part_is_one_safe_component(name: str) -> None:
    part = file_part(name)
    assert part
    assert len(part) <= MAX_LENGTH
    assert part.isascii()
    assert part not in (".", "..")
    assert "/" not in part and "\\" not in part and "\0" not in part


def test_long_names_that_differ_at_the_end_keep_differing() -> None:
    first, other = file_part("f" * 500 + "a"), file_part("f" * 500 + "b")
    assert first != other
    assert len(first) == len(other) == MAX_LENGTH


def test_the_random_part_of_a_graph_goes() -> None:
    assert without_random_part(GRAPH) == "__compiled_fn_12"
    assert compiled_fn_number(GRAPH) == 12
    assert without_random_part("my_function_1") == "my_function_1"


def test_names_that_are_stable_already_are_not_renamed() -> None:
    assert stable_names(["torch", "__resume_at_102_2", "x_1"]) == {}


def test_two_names_never_become_one() -> None:
    other = GRAPH.replace("c4ee", "d5ff")
    names = stable_names([GRAPH, other, "__compiled_fn_12", "__module_140095821484800_c2"])
    assert names["__module_140095821484800_c2"] == "__module_X_c2"
    assert len({*names.values(), "__compiled_fn_12"}) == 4


@given(st.lists(st.from_regex(r"[a-z_]{1,6}\d{0,12}(_[0-9a-f]{8}(_[0-9a-f]{4}){3}_[0-9a-f]{12})?", fullmatch=True)))
def test_renaming_can_be_turned_round(names: list[str]) -> None:
    renamed = stable_names(names)
    kept = {name for name in names if name not in renamed}
    assert len(set(renamed.values())) == len(renamed)
    assert kept.isdisjoint(renamed.values())
