"""Fixes that fit the line that needs a value, and recompiles that no fix avoids."""

from __future__ import annotations

import pytest

from depyf.findings import findings
from depyf.findings.catalogue import advice, kind_of_recompile
from depyf.findings.catalogue.recompiles import CAPTURED, EACH_FUNCTION, EACH_VALUE
from depyf.findings.nearest import guard_failures
from depyf.findings.reasons import place_words
from depyf.model.finding import Finding
from depyf.model.guard_failure import Check, GuardFailure
from depyf.model.run import Compile, CompileId, FailedEntry, Recompile
from depyf.model.user_line import UserLine
from tests.findings.test_causes import CALL, function, run_of
from tests.findings.test_recompile_words import told
from tests.sentences import failed


def found(source: str, *texts: tuple[str, ...], parameters: tuple[str, ...] = ()) -> Finding:
    """Return the only finding of a function whose recompiles failed for some guards each."""
    made = function(0, "f", "f.py", (CALL,), 10, *texts[0])
    for number, others in enumerate(texts[1:], 2):
        again = Compile(CompileId(0, number), "f", "f.py", 1, user_stack=(CALL,), order=10 + number)
        again.trigger = Recompile((failed(f"0/{number - 1}", others, others),))
        made.compiles.append(again)
    made.source, made.parameters = source, parameters
    (finding,) = findings(run_of(made))
    return finding


def test_a_caller_computes_the_only_condition_on_a_number() -> None:
    source = "def f(x, step):\n    if step % 2 == 0:\n        x = x * 2\n    return x\n"
    first, second = ('L["step"]: expected 0, got 1',), ('L["step"]: expected 1, got 2',)
    assert found(source, first, second).fix == (
        "compute `step % 2 == 0` before the call, and pass it as a flag: it has two values"
    )
    assert found(source, first).fix == "move the branch that depends on `step` out of the compiled function"


def test_a_number_that_is_used_as_such_is_no_flag() -> None:
    source = "def f(x, step):\n    return x * step if step % 2 == 0 else x\n"
    line = "  (f.py:2 return x * step if step % 2 == 0 else x)"
    texts = ((f'L["step"]: expected 0, got 1{line}',), (f'L["step"]: expected 1, got 8{line}',))
    assert found(source, *texts).fix == "move the branch that depends on `step` out of the compiled function"


def test_a_string_that_selects_code_needs_an_entry_for_each_value() -> None:
    source = "def f(x, mode):\n    return LOSSES[mode](x)\n"
    finding = found(source, ("L[\"mode\"]: expected 'relu', got 'tanh'",))
    assert (finding.severity, finding.fix) == ("medium", "") and finding.cause.endswith(EACH_VALUE)
    source = "def f(x, mode):\n    return x.relu() if mode == 'relu' else x.tanh()\n"
    finding = found(source, ("G[\"mode\"]: expected 'relu', got 'tanh'",))
    assert (finding.severity, finding.fix) == ("medium", "") and finding.cause.endswith(EACH_VALUE)


def test_a_string_that_chooses_a_number_is_looked_up_before_the_call() -> None:
    source = "def f(x, mode):\n    return x * (2.0 if mode == 'twice' else 3.0)\n"
    assert found(source, ("L[\"mode\"]: expected 'a', got 'b'",)).fix.startswith("look up values that depend on `mode`")


def test_the_functions_of_one_decorator_need_an_entry_each() -> None:
    source = "def wrapper(*args, **kwargs):\n    return function(*args, **kwargs)\n"
    other = 'L["function"].__code__: expected code of rotate (f.py:15), got code of scale (f.py:21)'
    finding = found(source, ('len(L["args"]) == 2', other))
    assert (finding.severity, finding.fix) == ("low", "") and "decorated functions" in finding.cause
    assert "the function `function` (a variable of the enclosing function)" in finding.cause


@pytest.mark.parametrize(
    ("expected", "actual", "is_other"),
    [("relu (f.py:1)", "tanh (f.py:5)", True), ("<lambda> (f.py:1)", "<lambda> (f.py:1)", False)],
)
def test_another_function_is_not_the_same_one_defined_again(expected: str, actual: str, is_other: bool) -> None:
    text = f'L["g"].__code__: expected code of {expected}, got code of {actual}'
    finding = found("def f(x, g):\n    return g(x)\n", (text,), parameters=("x", "g"))
    assert (EACH_FUNCTION in finding.cause, "define the function once" in finding.fix) == (is_other, not is_other)


@pytest.mark.parametrize(
    ("source", "values", "fix"),
    [
        ('L["f"].__closure__[0].cell_contents', ("'a'", "'bb'"), CAPTURED["__closure__", str]),
        ('L["f"].__closure__[0].cell_contents', ("1", "2"), CAPTURED["__closure__", int]),
        ('L["f"].__defaults__[0]', ("1", "2"), CAPTURED["__defaults__", int]),
        ('L["f"].__closure__[0].cell_contents', ("True", "False"), ""),
        ('L["f"].__closure__[0].cell_contents', ("<A>", "<B>"), "define the function once"),
    ],
)
def test_a_captured_value_that_differs_is_captured_as_a_tensor(source: str, values: tuple[str, str], fix: str) -> None:
    failure = failed("0/0", (), (f"{source}: expected {values[0]}, got {values[1]}",)).failures[0]
    assert kind_of_recompile(failure).name == "argument-function"
    assert advice(failure).startswith(fix) and bool(advice(failure)) == bool(fix)


def test_a_number_of_modules_is_about_the_container() -> None:
    source = 'L["self"].__dict__["_modules"]["layers"].__dict__["_modules"]'
    failure = GuardFailure(source, Check.NUMBER_OF_KEYS, "2", "3")
    assert told(failure) == (
        "the number of modules in `self.layers` was 3, not 2; each number of modules needs an entry of its own"
    )


def test_no_fix_that_avoids_nothing_is_offered() -> None:
    source = "def f(x, names, mode):\n    return x.relu() if mode == 'relu' else x.tanh()\n"
    texts = ("L[\"names\"]: expected 'a', got 'b'", "G[\"mode\"]: expected 'relu', got 'tanh'")
    finding = found(source, texts)
    assert finding.fix == "" and "avoids 0" not in finding.cause


def test_dispatch_keys_show_autocast_by_the_key_that_they_lack() -> None:
    keys = "DispatchKeySet(CPU, BackendSelect{})"
    text = f'dispatch keys of L["x"]: expected {keys.format(", AutocastCPU")}, got {keys.format("")}'
    failure = failed("0/0", (), (text,)).failures[0]
    assert told(failure) == "it was called without autocast: the dispatch keys of its tensors lacked AutocastCPU"


def test_a_condition_on_none_is_no_failure_of_its_own() -> None:
    error = "AttributeError: 'NoneType' object has no attribute 'size'"
    none = GuardFailure('L["mask"]', Check.CLASS, "torch.Tensor", "NoneType")
    condition = GuardFailure('L["mask"].size()[0] == L["x"].size()[0]', Check.CONDITION, "true", error)
    assert guard_failures(FailedEntry("0/0", (), (none, condition), True)) == [none]
    assert guard_failures(FailedEntry("0/0", (), (condition,), True)) == [condition]


def test_a_statement_of_several_lines_is_cut_within_its_brackets() -> None:
    line = UserLine("sparse.py", 189, "return F.embedding(")
    made = function(0, "f", "f.py", (CALL,), 10, 'L["n"]: expected 1, got 2')
    assert place_words(line, made) == "sparse.py:189 return F.embedding(...)"


def test_a_condition_of_a_branch_on_a_name_says_which_branch() -> None:
    text = '(L["x"].size()[1] % 8) != 0: expected true, got {"L[\'x\'].size()[1]": 16}  (:7 if missing:)'
    failure = failed("0/0", (), (text,)).failures[0]
    assert told(failure) == "`if missing:` took the other branch, with x.size()[1] = 16"
