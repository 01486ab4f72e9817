"""Our guards say what torch's C++ guards say: for every program, entry and changed call."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch._C._dynamo import guards as cpp

from depyf.torch.guards.kinds import CALLED_THROUGH, KINDS, RELATIONS
from tools.guard_verdicts.program import Program
from tools.guard_verdicts.programs import PROGRAMS
from tools.guard_verdicts.verdicts import verdicts

ASKED_AT_LEAST = 150


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_verdict_is_that_of_torch(program: Program) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(verdicts(program))
    wrong = [verdict for _, verdict in found if not verdict.agree]
    assert not wrong
    assert not any(guarded.differs for guarded, _ in found)
    assert found[0][1].torch, "torch's guards refuse the very call that was compiled"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_what_torch_names_first_is_among_the_reasons(program: Program) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [verdict for _, verdict in verdicts(program) if verdict.torch is False]
    silent = [verdict for verdict in found if not verdict.names_what_torch_names]
    assert not silent


def test_there_are_enough_pairs() -> None:
    asked = sum(1 + len(program.changes) for program in PROGRAMS)
    assert asked >= ASKED_AT_LEAST
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)


def test_every_kind_of_guard_is_known() -> None:
    bases = {"LeafGuard", "RelationalGuard"}
    types = {name: found for name, found in vars(cpp).items() if isinstance(found, type)}
    classes = {name for name, found in types.items() if issubclass(found, cpp.LeafGuard)}
    assert classes - bases == {*KINDS, *RELATIONS, *CALLED_THROUGH} & classes


def teardown_module() -> None:
    torch._dynamo.reset()
