"""What is said about a recompile: what was looked at, what can be done, and what the entries ask for differently."""

from __future__ import annotations

import pytest

from depyf.findings.catalogue import advice, kind_of_recompile
from depyf.findings.catalogue.sentences import note_of, sentence_of
from depyf.findings.nearest import guard_failures, nearest
from depyf.model.guard_failure import Check, GuardFailure
from depyf.model.run import Guard, Recompile
from depyf.model.user_line import UserLine
from depyf.views.entry_table import NOTHING, entry_table
from tests.sentences import failed


def told(failure: GuardFailure) -> str:
    """Return the sentence about a guard failure, with its note."""
    kind = kind_of_recompile(failure)
    note = note_of(kind, failure)
    return f"{sentence_of(kind, failure)}; {note}" if note else sentence_of(kind, failure)


def test_a_text_that_nobody_knows_is_kept_whole_and_has_no_advice() -> None:
    (failure,) = guard_failures(failed("0/0", ("something new",)))
    assert (failure.text, failure.source, failure.expected) == ("something new", "", "")
    assert advice(failure) == ""


def test_an_explained_respect_is_taken_apart() -> None:
    text = 'size of L["x"]: expected (2, 8), got (2, 12)  (:134 return F.linear(input, self.bias))'
    (failure,) = guard_failures(failed("0/0", ("torch's own words",), (text,)))
    assert (failure.check, failure.source) == (Check.SIZE, 'L["x"]')
    assert (failure.expected, failure.actual) == ("(2, 8)", "(2, 12)")
    assert failure.line == UserLine("", 134, "return F.linear(input, self.bias)")


@pytest.mark.parametrize("where", ["linear.py:134 return F.linear(input, self.bias)", "/home/me/linear.py:134"])
def test_the_line_that_needs_it_may_be_in_another_file(where: str) -> None:
    (failure,) = guard_failures(failed("0/0", (), (f'size of L["x"]: expected (2, 8), got (2, 12)  ({where})',)))
    file, _, rest = where.partition(":")
    assert (failure.actual, failure.line) == ("(2, 12)", UserLine(file, 134, rest.removeprefix("134").strip()))


def test_torchs_own_words_are_taken_apart_where_there_are_no_others() -> None:
    (failure,) = guard_failures(failed("0/0", ("tensor 'x' size mismatch at index 1. expected 8, actual 12",)))
    assert (failure.source, failure.check, failure.dimension) == ("x", Check.SIZE, 1)
    assert (failure.expected, failure.actual) == ("8", "12")


def test_a_hint_of_torchs_is_no_part_of_the_size() -> None:
    hint = "Guard failed on a parameter, consider using torch._dynamo.config.force_parameter_static_shapes = False."
    text = f"tensor 'x' size mismatch at index 0. expected 18, actual 20. {hint}"
    (failure,) = guard_failures(failed("0/0", (text,)))
    assert (failure.expected, failure.actual) == ("18", "20")


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ('size of L["x"]: expected (2, 8), got (2, 12)', "tensor-size", "mark_dynamic(x, 1)"),
        ('size of L["x"]: expected (2, 8), got (2,)', "tensor-rank", "one number of dimensions"),
        ('dtype of L["x"]: expected torch.float32, got torch.float64', "tensor-dtype", "`x.to(torch.float32)`"),
        ('L["scale"]: expected 1.0, got 2.0', "argument-float", "`torch.tensor(...)` of the number"),
        ('L["self"].__dict__["n"]: expected 3, got 4', "module-int", "make `self.n` a tensor"),
        ('L["options"].n: expected 3, got 4', "object-int", "make `options.n` a tensor"),
        ('L["self"].__dict__["scale"].n: expected 3, got 4', "object-int", "make `self.scale.n` a tensor"),
        ('L["self"]._modules["0"].n: expected 3, got 4', "module-int", "make `self[0].n` a tensor"),
        ('L["options"]["n"]: expected 3, got 4', "element-int", 'make `options["n"]` a tensor'),
        ('G["N"]: expected 3, got 4', "global-int", "make `N` a tensor"),
        ('L["flag"]: expected True, got False', "argument-bool", "torch.where(flag, ..., ...)"),
        ("grad_mode: expected True, got False", "grad-mode", ""),
        ("GLOBAL_STATE changed: num_threads", "num-threads", "once, before the first call"),
        ("L[\"name\"]: expected 'a', got 'bc'", "argument-string", "before the call"),
        ('L["mask"]: expected None, got Tensor of torch.float32', "argument-none", "returns the same"),
        ('L["n"]: expected length 2, got 3', "argument-length", "mark_dynamic"),
        ('class of L["n"]: expected list, got tuple', "argument-type", "to one type"),
        ('L["g"].__code__: expected code of f (a.py:1), got code of f (a.py:2)', "argument-function", "define"),
        ("x (HINT: torch says so)", "recompile", "torch: torch says so"),
        ('x (HINT: guard on "mode".scale, torch says so)', "recompile", "torch: torch says so"),
    ],
)
def test_advice_is_by_what_was_not_as_expected(text: str, kind: str, says: str) -> None:
    (failure,) = guard_failures(failed("0/0", (), (text,)))
    assert kind_of_recompile(failure).name == kind
    assert says in advice(failure)


@pytest.mark.parametrize("hint", ['guard on "mode"', "guard on 'mode'.scale", "type Foo", 'guard on "m", type a.B'])
def test_a_hint_that_only_names_something_is_no_advice(hint: str) -> None:
    (failure,) = guard_failures(failed("0/0", (), (f"x (HINT: {hint})",)))
    assert advice(failure) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('L["n"] == 3', "the number `n` (an argument) was not 3"),
        ('len(L["n"]) == 7', "the length of `n` (an argument) was not 7"),
        ('not L["n"]  (:3 if n:)', "the length of `n` (an argument) was not 0"),
        ("GLOBAL_STATE changed: num_threads", "the number of threads was another one"),
        (
            'L["f"].__code__: expected code of <lambda> (a.py:3), got code of <lambda> (a.py:3)',
            "the function `f` (an argument) was another <lambda> (a.py:3) than before",
        ),
        (
            '2 <= L["x"].size()[1]: expected true, got {"L[\'x\'].size()[1]": 1}',
            "dimension 1 of `x` was 1; torch compiles a size of 0 or 1 separately",
        ),
    ],
)
def test_what_is_not_known_is_not_said(text: str, said: str) -> None:
    (failure,) = guard_failures(failed("0/0", (), (text,)))
    assert told(failure) == said


def test_no_tensor_stands_for_a_string_that_is_there_in_some_calls_alone() -> None:
    (failure,) = guard_failures(failed("0/0", (), ("G[\"kind\"]: expected None, got 'a'",)))
    assert kind_of_recompile(failure).name == "global-none"
    assert advice(failure) == ""


def test_a_name_that_is_no_parameter_is_of_the_enclosing_function() -> None:
    (failure,) = guard_failures(failed("0/0", (), ('L["k"]: expected 1, got 2',)))
    assert kind_of_recompile(failure, ("x",)).name == "closure-int"


def recompile(*explained: tuple[str, ...]) -> Recompile:
    return Recompile(tuple(failed(f"0/{number}", texts[:1], texts) for number, texts in enumerate(explained)))


@pytest.mark.parametrize(
    ("texts", "reasons"),
    [
        (('size of L["x"]: expected (2, 8), got (4, 8)', 'stride of L["x"]: expected (8, 1), got (9, 1)'), 1),
        (('size of L["x"]: expected (2, 8), got (4, 8)', 'length of L["x"]: expected 2, got 4'), 1),
        (('size of L["x"]: expected (2, 8), got (4, 8)', 'size of L["y"]: expected (2,), got (4,)'), 1),
        (('size of L["x"]: expected (2, 8), got (4, 8)', 'size of L["y"]: expected (2,), got (5,)'), 2),
        (('L["a"].training: expected True, got False', 'L["b"].training: expected True, got False'), 1),
        (("grad_mode: expected True, got False", 'requires_grad of L["x"]: expected True, got False'), 1),
        (('L["k"]: expected the keys "a", in this order, got []', 'L["k"]["a"]: expected to be there, got no'), 1),
        (('L["n"]: expected 1, got 2', 'L["m"]: expected 1, got 2'), 2),
    ],
)
def test_what_follows_from_another_refusal_is_folded(texts: tuple[str, ...], reasons: int) -> None:
    closest = nearest(recompile(texts))
    assert closest is not None
    assert (len(closest.reasons), closest.folded) == (reasons, len(texts) - reasons)


def test_the_nearest_entry_is_the_one_with_the_fewest_independent_reasons() -> None:
    far = ('L["n"]: expected 1, got 2', 'L["m"]: expected 1, got 2')
    near = ('size of L["x"]: expected (2, 8), got (4, 8)', 'stride of L["x"]: expected (8, 1), got (9, 1)')
    closest = nearest(recompile(near, far))
    assert closest is not None and (closest.entry, closest.reasons[0].check, closest.others) == ("0/0", Check.SIZE, 2)
    closest = nearest(recompile(near, far, near))
    assert closest is not None and closest.entry == "0/2"
    assert nearest(recompile()) is None


def guard(clause: str, source: str = 'L["x"]', kind: str = "TENSOR_MATCH") -> Guard:
    return Guard(kind, source, "", clause)


def test_entries_that_ask_for_the_same_have_no_rows() -> None:
    table = entry_table({"0/0": (guard("a"), guard("b")), "0/1": (guard("b"), guard("a"))})
    assert table.rows == () and table.shared == 2


def test_of_a_call_only_the_arguments_that_differ_are_shown() -> None:
    first = guard('tensor(L["x"], torch.Tensor, size=(2, 8), requires_grad=False)')
    other = guard('tensor(L["x"], torch.Tensor, size=(2, 12), requires_grad=False)')
    (row,) = entry_table({"0/0": (first,), "0/1": (other,)}).rows
    assert row.source == 'L["x"]'
    assert row.asked == {"0/0": "size=(2, 8)", "0/1": "size=(2, 12)"}


def test_what_one_entry_alone_asks_for_is_told_so() -> None:
    (row,) = entry_table({"0/0": (), "0/1": (guard("2 <= s0", "", "LAMBDA_GUARD"),)}).rows
    assert row.source == "2 <= s0" and row.asked == {"0/0": NOTHING, "0/1": "holds"}


def test_a_number_of_the_process_in_a_name_is_no_difference() -> None:
    entries = {f"0/{n}": (guard(f'G["__builtins_dict___{n}"] is iter', f'G["__builtins_dict___{n}"]'),) for n in (0, 6)}
    assert entry_table(entries).rows == ()


@pytest.mark.parametrize(
    ("text", "kind", "subject"),
    [
        ('L["f"].__defaults__[0]: expected 1, got 2', "argument-function", "f"),
        ('L["self"]: expected no attribute "cached", got a Net', "missing-attribute", "self.cached"),
        ('number of keys of L["batch"]: expected 1, got 2', "dict-keys", "batch"),
        ('L["stats"]: expected 0 items, got 2', "dict-keys", "stats"),
        ('L["d"]: expected has no key \'bias\', got ["bias"]', "dict-keys", "d"),
        ("L[\"flags\"]: expected has member 'relu', got set()", "argument-constant", "flags"),
        ('type of L["x"]: expected torch.Tensor, got numpy.ndarray', "argument-type", "x"),
        ('type of L["x"]: expected torch.Tensor, got torch.nn.Parameter', "tensor-type", "x"),
    ],
)
def test_a_refusal_is_of_the_value_that_the_user_can_change(text: str, kind: str, subject: str) -> None:
    (failure,) = guard_failures(failed("0/0", (), (text,)))
    assert kind_of_recompile(failure).name == kind
    assert f"`{subject}`" in told(failure)


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ('L["n"] <= 2: expected true, got {"L[\'n\']": 3}', "symbolic-shape", "`n <= 2` did not hold, with n = 3"),
        (
            'L["x"].size()[0] == L["n"]: expected true, got {"L[\'x\'].size()[0]": 4, "L[\'n\']": 5}',
            "symbolic-shape",
            "with x.size()[0] = 4 and n = 5",
        ),
        (
            'L["p"][7].a is L["p"][0].b: expected true, got {"L[\'p\'][7].a": array([0., 0.], dtype=f...',
            "object-identity",
            "`p[7].a is p[0].b` did not hold: they were one object",
        ),
        (
            'L["p"][0].a is L["p"][1].b: expected the same object, got [array([0.]), array([0.])]',
            "object-identity",
            "`p[0].a is p[1].b` did not hold: they were one object",
        ),
        ('size of L["x"]: expected (4, 1), got (4, 2)', "tensor-size-one", "compiles a size of 0 or 1 separately"),
        ('size of L["x"]: expected (4, any), got (4, 2)', "tensor-size", "was (4, 2)"),
        ('L["self"].param_groups[0]["lr"]: expected 0.1, got 0.01', "learning-rate", "the learning rate"),
    ],
)
def test_the_sentence_says_what_did_not_hold(text: str, kind: str, says: str) -> None:
    (failure,) = guard_failures(failed("0/0", (), (text,)))
    assert kind_of_recompile(failure).name == kind
    assert says in told(failure)


def test_of_two_dimensions_the_one_that_may_be_dynamic_is_marked() -> None:
    (failure,) = guard_failures(failed("0/0", (), ('size of L["x"]: expected (1, 8), got (4, 9)',)))
    assert (kind_of_recompile(failure).name, advice(failure)) == (
        "tensor-size",
        "call `torch._dynamo.mark_dynamic(x, 1)` before the first call",
    )


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def f(x, n):\n    if n < 3:\n        x = x + 1\n    return x\n", "number-in-condition"),
        ("def f(x, n):\n    return sum(x * i for i in range(n))\n", "number-in-condition"),
        ("def f(x, n):\n    if x.ndim > 2:\n        x = x * n\n    return x\n", "argument-int"),
        ("def f(x, n):  # not whole\n    if n", "argument-int"),
    ],
)
def test_no_tensor_stands_for_a_number_that_a_branch_or_a_loop_depends_on(source: str, kind: str) -> None:
    (failure,) = guard_failures(failed("0/0", (), ('L["n"]: expected 5, got 7',)))
    assert kind_of_recompile(failure, ("x", "n"), source).name == kind


@pytest.mark.parametrize(
    ("guard", "source", "kind"),
    [
        ('L["n"]: expected 5, got 7', "def f(x, n):\n    return x.topk(n)\n", "number-in-call"),
        ('L["n"]: expected 5, got 7', "def f(x, n):\n    return x[: -n]\n", "number-in-call"),
        ('L["n"]: expected 5, got 7', "def f(x, n):\n    return x.view((2 * n, -1))\n", "number-in-call"),
        ('L["n"]: expected 5, got 1', "def f(x, n):\n    return x.topk(n)\n", "number-of-one"),
        ('G["n"]: expected 5, got 7', "def f(x):\n    return torch.arange(n)\n", "held-number-in-call"),
        ('L["n"]: expected 5, got 7', "def f(x, n):\n    return torch.relu(x * n)\n", "argument-int"),
        ('L["n"]: expected 5, got 7', "def f(x, n):\n    return scaled(x, n)\n", "argument-int"),
        ('L["n"]: expected 5, got 7', "def f(x, n):\n    return x.topk(n) if n else x\n", "number-in-condition"),
        ('L["n"]: expected 5.0, got 7.0', "def f(x, n):\n    return x.mul(n)\n", "argument-float"),
    ],
)
def test_a_number_that_a_method_or_a_slice_takes_becomes_a_symbol(guard: str, source: str, kind: str) -> None:
    (failure,) = guard_failures(failed("0/0", (), (guard,)))
    assert kind_of_recompile(failure, ("x", "n") if guard.startswith("L") else ("x",), source).name == kind


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('L["d"]: expected 0 items, got 2', "the number of keys of `d` was 2, not 0"),
        ('L["d"]: expected has no key \'{}\', got ["{}"]', "`d` had the key '{}' in some calls only"),
        ('L["s"]: expected has member 3, got set()', "`s` had the member 3 in some calls only"),
    ],
)
def test_keys_and_members_are_told_as_such(text: str, said: str) -> None:
    (failure,) = guard_failures(failed("0/0", (), (text,)))
    assert told(failure) == said
