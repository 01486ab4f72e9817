"""`expect`: what breaks a contract, what keeps it, and what the error says."""

from __future__ import annotations

import logging
import os

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.findings.contract.facts import facts  # noqa: E402
from depyf.torch.adapters import lacking, seams  # noqa: E402
from tests.torch.needs import needs  # noqa: E402

pytestmark = [needs(lacking.structured_trace()), needs(lacking.refusals())]


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()


def straight(x, scale=2):
    return (x.sin() * scale).relu()


def breaks(x):
    y = x.sin()
    if y.sum() > 10:
        y = y + 1
    return y.cos()


def stops(x):
    for _ in range(2):
        x = x + 1
        torch._dynamo.graph_break()
    return x


def eager(function):
    return torch.compile(function, backend="eager")


def test_a_program_that_keeps_its_contract() -> None:
    with depyf.expect(graphs=1, breaks=0, recompiles=0, eager_calls=0) as contract:
        eager(straight)(torch.ones(3))
    assert [fact.text for fact in facts(contract.session)] == ["straight"]
    assert contract.session.problems == []


def test_the_place_of_a_module_of_torchs_is_the_call() -> None:
    with depyf.expect() as contract:
        eager(torch.nn.Linear(3, 3))(torch.ones(3))
    contract_facts = facts(contract.session)
    line = test_the_place_of_a_module_of_torchs_is_the_call.__code__.co_firstlineno + 2
    assert [fact.aspect for fact in contract_facts] == ["graphs"]
    assert contract_facts[0].place.endswith(f"test_expect.py:{line}")


def test_a_break_is_told_with_its_line_and_a_hint() -> None:
    with pytest.raises(depyf.CompileContractError) as raised, depyf.expect(graphs=1, breaks=0):
        eager(breaks)(torch.ones(3))
    text = str(raised.value)
    assert "2 graphs, the contract says 1" in text
    assert "1 graph break, the contract says 0" in text
    line = breaks.__code__.co_firstlineno + 2
    assert f"test_expect.py:{line}: breaks: `if y.sum() > 10:`: Data-dependent" in text
    assert raised.value.findings
    assert [violation.aspect for violation in raised.value.violations] == ["graphs", "breaks"]


def test_a_recompile_is_told_with_the_guard_and_both_values() -> None:
    compiled = eager(straight)
    with pytest.raises(depyf.CompileContractError, match="1 recompile, the contract says 0") as raised:
        with depyf.expect(recompiles=0):
            compiled(torch.ones(3))
            compiled(torch.ones(3, dtype=torch.float64))
    assert 'straight: dtype of L["x"]: expected torch.float32, got torch.float64' in str(raised.value)


def test_a_frame_that_runs_eager_is_told() -> None:
    with pytest.raises(depyf.CompileContractError, match="1 frame left to run eager, the contract says 0"):
        with depyf.expect(eager_calls=0):
            eager(stops)(torch.ones(3))


def test_code_without_tensors_is_nothing_that_runs_eager() -> None:
    with depyf.expect(graphs=0, breaks=0, recompiles=0, eager_calls=0):
        eager(lambda n: n + 1)(3)


def test_nothing_compiled_breaks_a_contract_of_one_graph() -> None:
    with pytest.raises(depyf.CompileContractError, match="0 graphs, the contract says 1\n  nothing was compiled"):
        with depyf.expect(graphs=1):
            pass


def test_breaks_are_allowed_in_modules_that_are_named() -> None:
    with depyf.expect(breaks=0, recompiles=0, allow=["tests.contract.*", __name__.rpartition(".")[2]]):
        eager(breaks)(torch.ones(3))
    torch._dynamo.reset()
    with pytest.raises(depyf.CompileContractError), depyf.expect(breaks=0, allow=["transformers"]):
        eager(breaks)(torch.ones(3))


def test_the_most_is_no_number_that_has_to_be_met() -> None:
    with depyf.expect(breaks=3, recompiles=2, eager_calls=1):
        eager(straight)(torch.ones(3))


def test_a_decorator_counts_all_calls_together() -> None:
    compiled = eager(straight)

    @depyf.expect(graphs=1, recompiles=0)
    def step(x):
        """Take a step."""
        return compiled(x)

    assert step(torch.ones(3)).shape == (3,)
    step(torch.ones(3))
    assert step.__doc__ == "Take a step."
    with pytest.raises(depyf.CompileContractError, match="1 recompile"):
        step(torch.ones(4))


def test_an_exception_of_the_block_goes_its_way() -> None:
    with pytest.raises(ZeroDivisionError), depyf.expect(graphs=7):
        raise ZeroDivisionError


def test_contracts_nest_and_see_the_same() -> None:
    with depyf.expect(graphs=2), depyf.expect(graphs=2):
        eager(breaks)(torch.ones(3))


def test_it_sees_through_a_capture(tmp_path) -> None:
    with depyf.expect(graphs=2, breaks=1) as outer, depyf.prepare_debug(tmp_path):
        with depyf.expect(graphs=2, breaks=1):
            eager(breaks)(torch.ones(3))
    assert outer.session.problems == []
    assert (tmp_path / "index.json").exists()


def test_nothing_is_left_behind_and_nothing_is_written(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    logger = logging.getLogger(seams.TRACE_LOGGER)
    before = list(logger.handlers), vars(logging.getLogger("torch._dynamo.convert_frame")).copy()
    with depyf.expect():
        eager(straight)(torch.ones(3))
    assert before == (list(logger.handlers), vars(logging.getLogger("torch._dynamo.convert_frame")))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("wrong", [{"graphs": "1"}, {"breaks": -1}, {"recompiles": True}, {"allow": "transformers"}])
def test_a_count_that_is_none_is_a_type_error(wrong) -> None:
    with pytest.raises(TypeError):
        depyf.expect(**wrong)


def test_skipped_frames_are_heard_through_a_capture_that_began_later(tmp_path) -> None:
    with depyf.expect() as outer:
        eager(lambda n: n + 1)(3)
        seen = dict(outer.session.skipped)
        with depyf.prepare_debug(tmp_path):
            eager(lambda n: n + 2)(3)
    assert seen
    assert sum(outer.session.skipped.values()) > sum(seen.values())
