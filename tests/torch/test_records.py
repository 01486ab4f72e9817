"""What torch's records say, read from their texts as torch 2.13 writes them."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from depyf.model.guard_failure import Check, GuardFailure  # noqa: E402
from depyf.model.run import CompileId, FailedEntry, OtherEntries
from depyf.model.user_line import UserLine  # noqa: E402
from depyf.trace import records, refusals  # noqa: E402
from tests.sentences import failed

BREAK = """\
Graph break in user code at nowhere/toy.py:4
Graph Break Reason: Data-dependent branching
  Explanation: Detected data-dependent branching.
      The branch condition involves a tensor computed as follows:
        lt = lt(sum_1, 0)

  Hint: Use `torch.cond`
    to express dynamic control flow.
  Hint: Consider finding a workaround.

  Developer debug context: attempted to jump with TensorVariable()

 For more details about this graph break, please visit: https://example.org/gb/gb0170.html

User code traceback:
  File "nowhere/probe.py", line 24, in <module>
    y=f(torch.randn(10), torch.randn(10))
  File "nowhere/toy.py", line 4, in toy_example
    if b.sum() < 0:

Traceback (most recent call last):
  File "torch/_dynamo/symbolic_convert.py", line 1076, in wrapper
    return inner_fn(self, inst)
"""


def test_a_graph_break() -> None:
    graph_break = records.graph_break(BREAK, 0)
    assert (graph_break.reason, graph_break.code) == ("Data-dependent branching", "GB0170")
    assert graph_break.hints == ("Use `torch.cond` to express dynamic control flow.", "Consider finding a workaround.")
    assert graph_break.explanation.startswith("Detected data-dependent branching. The branch condition")
    assert graph_break.where is not None
    assert (graph_break.where.line, graph_break.where.function) == (4, "toy_example")
    assert [line.line for line in graph_break.stack] == [24, 4]
    assert "symbolic_convert" not in graph_break.text


def test_a_reason_that_only_names_an_instruction_is_looked_up_below() -> None:
    text = "Graph Break Reason: Encountered graph break when attempting to trace CALL:\n\nlogging is not supported\n"
    assert records.graph_break(text, 0).reason == "logging is not supported"


def test_below_a_reason_that_ends_in_a_colon_may_be_nothing_but_the_stack() -> None:
    text = "Graph Break Reason: SKIPPED INLINING <code object f>:\n\nUser code traceback:\n  File a.py\n"
    assert records.graph_break(text, 0).reason == "SKIPPED INLINING <code object f>"


@pytest.mark.parametrize("text", ["'its that'', and no more'", "'its that, and no more'", "its that, and no more"])
def test_a_reason_is_told_without_quotes(text: str) -> None:
    assert records.graph_break(f"Graph Break Reason: {text}\n", 0).reason == "its that, and no more"


def test_a_break_for_which_a_whole_frame_is_skipped_has_its_reason_below() -> None:
    text = (
        "Graph break: skip: from user code at:\n"
        '  File "nowhere/probe.py", line 24, in <module>\n    y = f(x)\n'
        '  File "nowhere/toy.py", line 4, in f\n    if x.sum() > 0:\n\n'
        "Traceback (most recent call last):\n"
        '  File "torch/_dynamo/symbolic_convert.py", line 1, in step\n'
        "torch._dynamo.exc.Unsupported: Data-dependent branching\n  Explanation: It is.\n  Hint: Use `torch.cond`.\n"
    )
    graph_break = records.graph_break(text, 0)
    assert (graph_break.reason, graph_break.explanation) == ("Data-dependent branching", "It is.")
    assert graph_break.hints == ("Use `torch.cond`.",)
    assert graph_break.where is not None and (graph_break.where.line, graph_break.where.function) == (4, "f")
    assert "symbolic_convert" not in graph_break.text


def test_a_text_of_another_form_is_kept() -> None:
    graph_break = records.graph_break("something new\nmore of it", 1)
    assert (graph_break.reason, graph_break.where, graph_break.hints, graph_break.attempt) == (
        "something new",
        None,
        (),
        1,
    )


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ("0/0: tensor 'a' size mismatch", (failed("0/0", ("tensor 'a' size mismatch",)),)),
        ('["0/1: x", "0/0: y"]', (failed("0/0", ("y",)), failed("0/1", ("x",)))),
        ("unheard of", (failed("?", ("unheard of",)),)),
        (
            "0/0: len(G['glob']) == 2       # glob.append(x)  # user/many.py:17 in f\nUser stack trace:\n  File",
            (failed("0/0", ("len(G['glob']) == 2  (:17 glob.append(x))",)),),
        ),
        ("0/0: L['s'] == 'a#b'", (failed("0/0", ("L['s'] == 'a#b'",)),)),
    ],
)
def test_why_entries_refused(payload: str, expected: tuple[FailedEntry, ...]) -> None:
    entries = refusals.recompile(payload).entries
    assert [(entry.entry, entry.clauses) for entry in entries] == [(entry.entry, entry.clauses) for entry in expected]


def test_a_failed_clause_is_parsed_with_its_line() -> None:
    payload = "0/0: len(G['glob']) == 2       # glob.append(x)  # user/many.py:17 in f\nUser stack trace:\n  File"
    (entry,) = refusals.recompile(payload).entries
    line = UserLine("user/many.py", 17, "glob.append(x)", "f")
    assert entry.failures == (GuardFailure("G['glob']", Check.LENGTH, "2", "", line, "len(G['glob']) == 2"),)
    assert not entry.is_complete


def test_ids() -> None:
    assert records.record_compile_id({"dynamo_start": {}, "frame_id": 2, "frame_compile_id": 1}) == CompileId(2, 1)
    assert records.record_compile_id({"str": ["a", 1]}) is None
    with_autograd = {"x": {}, "frame_id": 0, "frame_compile_id": 0, "compiled_autograd_id": 3}
    assert str(records.record_compile_id(with_autograd)) == "!3/0/0"


def test_kinds() -> None:
    assert records.record_kind({"artifact": {"name": "before_pre_grad_graph"}, "frame_id": 0})[0] == (
        "before_pre_grad_graph"
    )
    assert records.record_kind({"aot_joint_graph": {}}) == ("aot_joint_graph", {})
    assert records.record_kind({}) == ("", {})


def test_times_are_seconds_per_phase() -> None:
    metrics = {"entire_frame_compile_time_s": 2.0, "backend_compile_time_s": 1.5, "inductor_compile_time_s": None}
    assert records.seconds(metrics, has_triton=True) == {"total": 2.0, "backend": 1.5, "dynamo": 0.5}
    assert records.backward_seconds({"duration_us": 2_000_000}, has_triton=True) == {"backward total": 2.0}


def test_the_wait_for_kernels_is_that_for_the_compiler_that_ran() -> None:
    metrics = {"triton_compile_time_us": 3_000_000}
    assert records.seconds(metrics, has_triton=True) == {"Triton compiler": 3.0}
    assert records.seconds(metrics, has_triton=False) == {"C++ compiler": 3.0}
    assert records.backward_seconds(metrics, has_triton=False) == {"backward C++ compiler": 3.0}


def test_a_failure() -> None:
    metrics = {"fail_type": "BackendCompilerFailed", "fail_reason": "no", "fail_user_frame_lineno": None}
    failure = records.failure(metrics)
    assert failure is not None
    assert (failure.kind, failure.reason, failure.where) == ("BackendCompilerFailed", "no", None)
    assert records.failure({"fail_type": None}) is None
    assert records.failure_kind({"fail_type": "<class 'torch._dynamo.exc.Unsupported'>"}) == "Unsupported"


EFFECTS = """\
Mutating object of type list (source name: G['SEEN'])

      File "nowhere/probe.py", line 24, in <module>
        toy(torch.ones(3))
      File "nowhere/toy.py", line 4, in toy
        SEEN.append(x)

    ********

      File "nowhere/toy.py", line 6, in toy
        SEEN.append(x)
        ^^^^^^^^^^^^^^

    ********

      File "nowhere/probe.py", line 24, in <module>
        toy(torch.ones(3))


========================================

Mutating object of type list (source: created in torch.compile region)

      File "nowhere/toy.py", line 5, in toy
        other.append(x)


========================================

Mutating object of type cell (source: y) (unable to find user stacks for mutations)
"""


def test_a_graph_break_as_torch_2_6_tells_it() -> None:
    text = "Graph break in user code at nowhere/toy.py:4\nReason: Unsupported: call of print\nUser code traceback:\n"
    graph_break = records.graph_break(text, 0)
    assert graph_break.reason == "call of print"
    assert graph_break.where is not None and graph_break.where.line == 4


def test_side_effects() -> None:
    seen, cell = records.side_effects(EFFECTS)
    assert seen.source == "G['SEEN']"
    assert [(line.filename, line.line) for line in seen.lines] == [
        ("nowhere/toy.py", 4),
        ("nowhere/toy.py", 6),
        ("nowhere/probe.py", 24),
    ]
    assert (cell.source, cell.lines) == ("y", ())
    inside, _ = records.side_effects(EFFECTS, function=("nowhere/toy.py", "torch_dynamo_resume_in_toy_at_3"))
    assert inside.lines == seen.lines[:2]
    (again, _) = records.side_effects(EFFECTS, [seen, cell])
    assert again == seen


def test_a_side_effect_is_at_the_users_line_also_if_torch_runs_it() -> None:
    module = "/lib/site-packages/torch/nn/modules/module.py"
    setter = f'      File "{module}", line 9, in __setattr__\n        super().__setattr__(name, value)\n'
    seen, _ = records.side_effects(EFFECTS.replace("\n    ********", f"{setter}\n    ********", 1))
    assert [(line.filename, line.line) for line in seen.lines][0] == ("nowhere/toy.py", 4)


def test_of_many_entries_the_newest_refusals_are_told_and_the_others_together() -> None:
    texts = [f"0/{entry}: L['n'] == {entry}  # return x * n  # f.py:2 in f" for entry in reversed(range(300))]
    recompile = refusals.recompile(json.dumps(texts))
    assert [entry.entry for entry in recompile.entries] == [f"0/{entry}" for entry in range(292, 300)]
    assert recompile.others == OtherEntries(292, "0/0", "0/291", ("L['n'] == …  (:2 return x * n)",))
    strings = [f"0/{entry}: L['s'] == 'it\\'s {entry}'" for entry in range(10)]
    assert refusals.recompile(json.dumps(strings)).others == OtherEntries(2, "0/0", "0/1", ("L['s'] == …",))


def _as_torch_writes(texts: list[str]) -> str:
    return "[\n" + ",\n".join(map(json.dumps, texts)) + "\n]"


def test_a_record_that_holds_the_one_before_says_the_same_as_by_itself() -> None:
    texts = [f"0/{entry}: L['s'] == 'item, {entry}'\nUser stack trace:" for entry in range(30)]
    texts[20] = "0/20: len(L['s']) == 3"
    grown = [refusals.recompile(_as_torch_writes(texts[count::-1])) for count in range(30)]
    alone = [refusals.recompile(_as_torch_writes([*texts[count::-1], "9/9: x"])) for count in range(30)]
    assert grown == [refusals.recompile(refusals.Listed(texts[count::-1])) for count in range(30)]
    for count, (first, other) in enumerate(zip(grown, alone, strict=True)):
        newest = range(max(0, count - 7), count + 1)
        assert [entry.entry for entry in first.entries] == [f"0/{number}" for number in newest]
        assert first.entries[-7:] == other.entries[:-1]
    assert grown[29].others == OtherEntries(22, "0/0", "0/21", ("L['s'] == …", "len(L['s']) == …"))


def test_an_entry_that_is_told_again_before_the_others_is_read_with_them() -> None:
    texts = ["0/0: a", "0/1: b"]
    refusals.recompile(_as_torch_writes(texts))
    recompile = refusals.recompile(_as_torch_writes(["0/1: c", *texts]))
    assert recompile.entries == (failed("0/0", ("a",)), failed("0/1", ("c", "b")))


def test_a_backend_that_fails_is_one_break_at_the_line_of_the_node() -> None:
    frames = '  File "m.py", line 3, in g\n    y = h(x)\n  File "m.py", line 9, in h\n    return b[t]\n\n'
    node = f"Original traceback:\n{frames}"
    text = f"Backend compiler exception\n  Explanation: Backend compiler `b` failed with E\n{node}  Hint: none\n"
    graph_break = records.graph_break(f"Graph break in user code at m.py:1\nGraph Break Reason: left:\n\n{text}", 0)
    assert (graph_break.reason, graph_break.where.line, graph_break.where.function) == (
        "Backend compiler exception",
        9,
        "h",
    )
    assert not records.is_break("WON'T CONVERT f m.py line 2\n=== TorchDynamo Stack Trace ===")
    failure = records.failure({"fail_type": "Unsupported", "fail_reason": text})
    assert failure.where.line == 9
    older = 'Backend compiler failed with a fake tensor exception at \n  File "m.py", line 4, in f\n    b[t]\nAdding.'
    assert records.failure({"fail_type": "Unsupported", "fail_reason": older}).where.line == 4
    assert records.failure({"fail_type": "E", "fail_reason": "no\nsuch kernel"}).where is None
