"""Our guards say what torch's C++ guards say: for every program, entry and changed call."""

from __future__ import annotations

import warnings

import pytest
import torch

from benchmarks.guard_verdicts.verdicts import Guarded, NotAsked, Verdict, verdicts
from corpus.guards.program import Program
from corpus.guards.programs import PROGRAMS
from depyf.torch.adapters import cpp_guards, lacking
from depyf.torch.guards.kinds import CALLED_THROUGH, KINDS, RELATIONS
from tests.torch.needs import needs

ASKED_AT_LEAST = 150
GUARDED_BY_IDENTITY = frozenset({"callable", "module", "module_lists", "builtin_module"})
"""Programs of which 2.4 (of the first one 2.6, too) guards on which object an argument is, and here it is made anew."""


pytestmark = needs(lacking.guard_trees())


def asked(program: Program) -> list[tuple[Guarded, Verdict]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return list(verdicts(program))
        except NotAsked as reason:
            pytest.skip(f"this torch cannot be asked: {reason}")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_verdict_is_that_of_torch(program: Program) -> None:
    checks = asked(program)
    wrong = [verdict for _, verdict in checks if not verdict.agree]
    assert not wrong
    assert not any(guarded.differs for guarded, _ in checks)
    same = checks[0][1]
    by_identity = bool(same.failures) and all(failure.guard == "ID_MATCH" for failure in same.failures)
    may_refuse = by_identity and program.name in GUARDED_BY_IDENTITY
    assert same.torch or may_refuse, "torch's guards refuse the very call that was compiled"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_what_torch_names_first_is_among_the_reasons(program: Program) -> None:
    failing = [verdict for _, verdict in asked(program) if verdict.torch is False]
    silent = [verdict for verdict in failing if not verdict.names_what_torch_names]
    assert not silent


def test_there_are_enough_pairs() -> None:
    pairs = sum(1 + len(program.changes) for program in PROGRAMS)
    assert pairs >= ASKED_AT_LEAST
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)


def test_every_kind_of_guard_is_known() -> None:
    assert cpp_guards.leaf_kinds() <= {*KINDS, *RELATIONS, *CALLED_THROUGH}


def teardown_module() -> None:
    torch._dynamo.reset()
