"""Strings of the program's that look like addresses stay as they are: in values and in keys."""

from __future__ import annotations

import pytest

from depyf.findings.catalogue.classify import kind_of_recompile
from depyf.findings.catalogue.sentences import sentence_of
from depyf.model.guard_failure import Check, GuardFailure
from depyf.torch.guards.held import hold_key
from depyf.torch.guards.verdicts.difference import brief

TEXTS = (" at 0x7f0012345678", "at ADDRESS", "graph id: 140212345678", "'\" at 0x7f0012345678")


@pytest.mark.parametrize("text", TEXTS)
def test_a_string_is_shown_as_it_is(text: str) -> None:
    assert brief(text) == repr(text)
    failure = GuardFailure("L['mode']", Check.VALUE, repr(text), repr(text + "!"), guard="EQUALS_MATCH")
    sentence = sentence_of(kind_of_recompile(failure), failure)
    assert repr(text) in sentence and repr(text + "!") in sentence


@pytest.mark.parametrize("text", TEXTS)
def test_a_key_of_the_program_is_shown_as_it_is(text: str) -> None:
    assert hold_key(text) is None


def test_a_name_of_dynamos_has_no_address() -> None:
    held = hold_key("__builtins_dict___140212345678")
    assert held is not None and held.name == "builtins_dict key"


def test_an_object_has_no_address() -> None:
    failure = GuardFailure("L['f']", Check.VALUE, "<A object at 0x7f0012345678>", "'at ADDRESS'", guard="EQUALS_MATCH")
    sentence = sentence_of(kind_of_recompile(failure), failure)
    assert "<A>" in sentence and "'at ADDRESS'" in sentence
