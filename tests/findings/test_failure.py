"""Why a frame was given up, as torch says it: in one line, and what one can do about it."""

from __future__ import annotations

from depyf.findings.failures import reason_of
from depyf.model.failure import Failure

REASON = """Dynamo recompile limit exceeded
  Explanation: Dynamo attempted to recompile the code object too many times.
  Hint: To monitor recompilations, enable TORCH_LOGS=recompiles.
  Hint: See the documentation.

  Developer debug context: Limit type: recompile_limit"""


def test_a_reason_has_a_first_line_and_hints() -> None:
    failure = Failure("Unsupported", REASON, None)
    assert failure.summary == "Dynamo recompile limit exceeded"
    assert failure.hints == ["To monitor recompilations, enable TORCH_LOGS=recompiles.", "See the documentation."]


def test_a_reason_of_one_line_has_no_hints() -> None:
    assert (Failure("X", "no", None).summary, Failure("X", "no", None).hints) == ("no", [])


def test_torch_before_2_8_says_why_an_operation_failed_below_the_call() -> None:
    reason = "Failed running call_function lib.halve.default(*(FakeTensor(...),), **{}):\nno fake impl. Use x"
    assert reason_of(Failure("TorchRuntimeError", reason, None)) == "no fake impl"
