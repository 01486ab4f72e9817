"""Which entry came nearest, which causes are one, and where advice can be followed."""

from __future__ import annotations

from depyf.findings import findings
from depyf.model.run import Compile, CompileId, Guard, GuardSet, Recompile
from tests.findings.test_causes import CALL, function, run_of
from tests.sentences import failed


def guarded(*sources: str) -> GuardSet:
    """Return guards on some values; a source may have the kind of its guard in front."""
    pairs = (source.rpartition(" ") for source in sources)
    return GuardSet(tuple(Guard(kind or "EQUALS_MATCH", source, "", "") for kind, _, source in pairs), ())


def test_of_entries_that_are_equally_near_the_one_that_failed_for_a_new_value_is_the_cause() -> None:
    made = function(0, "f", "f.py", (CALL,), 10, "L[\"mode\"]: expected 'sample', got 'score'")
    last = Compile(CompileId(0, 2), "f", "f.py", 1, user_stack=(CALL,), order=11)
    number, mode = ('L["x"].n: expected 4, got 6',), ("L[\"mode\"]: expected 'score', got 'sample'",)
    last.trigger = Recompile((failed("0/0", number, number), failed("0/1", mode, mode)))
    made.compiles.append(last)
    made.compiles[0].guards = guarded('L["mode"]', 'L["x"].n')
    made.compiles[1].guards = guarded('L["mode"]')
    assert {each.compiles: each.kind for each in findings(run_of(made))} == {
        ("0/1",): "argument-string",
        ("0/2",): "object-int",
    }


def test_an_entry_whose_size_alone_differs_expects_a_tensor_there() -> None:
    first = 'L["mode"]: expected None, got Tensor of torch.float32, size (8,)'
    made = function(0, "attend", "f.py", (CALL,), 10, first)
    last = Compile(CompileId(0, 2), "attend", "f.py", 1, user_stack=(CALL,), order=11)
    none = ('L["mode"]: expected None, got Tensor of torch.float32, size (10,)',)
    sizes = ('size of L["x"]: expected (2, 8), got (2, 10)', 'size of L["mode"]: expected (8,), got (10,)')
    last.trigger = Recompile((failed("0/0", none, none), failed("0/1", sizes, sizes)))
    made.compiles.append(last)
    made.compiles[0].guards = guarded('L["x"]', 'L["mode"]')
    made.compiles[1].guards = guarded('L["x"]', 'L["mode"]')
    assert {finding.kind: finding.compiles for finding in findings(run_of(made))} == {
        "argument-none": ("0/1",),
        "tensor-size": ("0/2",),
    }


def test_only_tensors_are_stacked() -> None:
    made = function(0, "f", "f.py", (CALL,), 10, 'L["x"]: expected length 1, got 2')
    for kinds, is_stacked in (((), True), (("EQUALS_MATCH", "TENSOR_MATCH"), True), (("EQUALS_MATCH",), False)):
        made.compiles[1].guards = guarded(*(f'{kind} L["x"][0]' for kind in kinds))
        (found,) = findings(run_of(made))
        assert found.kind == "argument-length" and ("stacked" in found.fix) == is_stacked


def test_objects_of_the_programs_classes_do_not_convert() -> None:
    for text, is_converted in (
        ('class of L["x"]: expected int, got float', True),
        ('class of L["x"]: expected A, got B', False),
    ):
        (found,) = findings(run_of(function(0, "f", "f.py", (CALL,), 10, text)))
        assert (found.kind, bool(found.fix)) == ("argument-type", is_converted)
        assert found.severity == ("medium" if is_converted else "low")


def test_a_key_that_decides_is_known_whatever_its_quotes() -> None:
    made = function(0, "f", "f.py", (CALL,), 10, 'L["x"]["step"]: expected 0, got 1')
    made.source = "def f(self, x, mode):\n    return x['y'] if x['step'] % 2 else -x['y']\n"
    (found,) = findings(run_of(made))
    assert found.kind == "number-in-condition"


def test_a_sparse_tensor_has_another_layout_and_no_other_device() -> None:
    keys = "DispatchKeySet({}, BackendSelect)"
    text = f'dispatch keys of L["x"]: expected {keys.format("CPU")}, got {keys.format("SparseCPU")}'
    (found,) = findings(run_of(function(0, "f", "f.py", (CALL,), 10, text)))
    assert found.kind == "tensor-layout" and not found.fix


def test_flags_of_one_list_are_one_cause() -> None:
    line = " (f.py:3 y = x if mode[step] else y)"
    made = function(0, "f", "f.py", (CALL,), 10, f'L["mode"][0]: expected False, got True {line}')
    again = Compile(CompileId(0, 2), "f", "f.py", 1, user_stack=(CALL,), order=11)
    texts = (f'L["mode"][1]: expected False, got True {line}',)
    again.trigger = Recompile((failed("0/1", texts, texts),))
    made.compiles.append(again)
    assert [each.compiles for each in findings(run_of(made))] == [("0/1", "0/2")]


def test_the_line_that_hands_a_value_to_a_library_is_the_place() -> None:
    needed = " (site-packages/torch/nn/modules/container.py:9 return self._modules[key])"
    made = function(0, "f", "f.py", (CALL,), 10, f"L[\"mode\"]: expected 'a', got 'b' {needed}")
    made.source = "def f(self, x, mode):\n    x = x + 1\n    return self.heads[mode](x)\n"
    (found,) = findings(run_of(made))
    assert (found.where.file, found.where.line) == ("f.py", 3)
    assert found.fix == "" and found.cause.endswith("each value needs an entry of its own")


def test_a_counter_that_a_slice_needs_stays_a_number() -> None:
    made = function(0, "f", "f.py", (CALL,), 10, 'L["self"].__dict__["n"]: expected 1, got 2')
    for number in (2, 3):
        again = Compile(CompileId(0, number), "f", "f.py", 1, user_stack=(CALL,), order=10 + number)
        texts = (f'L["self"].__dict__["n"]: expected {number}, got {number + 1}',)
        again.trigger = Recompile((failed(f"0/{number - 1}", texts, texts),))
        made.compiles.append(again)
    made.source = "def f(self, x, mode):\n    return x[self.n : self.n + 2]\n"
    (found,) = findings(run_of(made))
    assert "it grows by 1 from one recompile to the next, and a call or a slice needs it" in found.cause
    assert "`register_buffer`" not in found.fix and "pass `self.n` as an argument" in found.fix
