"""What stands for the operations of `except*` does what they do."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest

from depyf.bytecode.known import THROW
from depyf.bytecode.known_groups import GATHER, SPLIT, UNTRACE

if sys.version_info < (3, 11):
    pytest.skip("groups of exceptions came with Python 3.11", allow_module_level=True)

Group: Any = getattr(builtins, "ExceptionGroup", None)


def caught() -> Any:
    """Return a group that was raised and caught."""
    try:
        raise Group("several", [ValueError(1), KeyError(2)])
    except Group as error:
        return error


def test_a_group_is_parted_and_its_part_is_handled() -> None:
    try:
        raise caught()
    except Group as error:
        rest, match = SPLIT(error, ValueError)
        assert sys.exc_info()[1] is match
        assert (repr(match.exceptions), repr(rest.exceptions)) == ("(ValueError(1),)", "(KeyError(2),)")
    assert sys.exc_info()[1] is None


def test_what_nothing_matches_is_left_as_it_is() -> None:
    try:
        raise caught()
    except Group as error:
        assert SPLIT(error, OSError) == (error, None)
        assert sys.exc_info()[1] is error
        assert SPLIT(None, OSError) == (None, None)


@pytest.mark.parametrize("kind", [3, "text", Group], ids=["a number", "a text", "groups"])
def test_what_no_clause_may_name_is_refused(kind: object) -> None:
    with pytest.raises(TypeError, match="catching"):
        SPLIT(caught(), kind)


def test_parts_that_were_not_raised_anew_are_one_group_again() -> None:
    error = caught()
    match, rest = error.split(ValueError)
    assert GATHER(error, [match, None, rest]).exceptions == error.exceptions
    assert GATHER(error, []) is None


def test_a_part_that_was_thrown_counts_as_raised_until_its_traceback_is_what_it_was() -> None:
    error = caught()
    match, rest = error.split(ValueError)
    for undoes, parts in ((False, 2), (True, 2)):
        before = match.__traceback__
        try:
            THROW(match)
        except Group:
            if undoes:
                UNTRACE()
            else:
                assert [type(part) for part in GATHER(error, [match, rest]).exceptions] == [Group, Group]
                match.__traceback__ = before
        assert len(GATHER(error, [match, rest]).exceptions) == parts
    assert match.__traceback__ is error.__traceback__


def test_nothing_is_undone_where_nothing_is_handled() -> None:
    assert UNTRACE() is None
