"""Attributes that each object has for itself, and items of one container."""

from __future__ import annotations

from pathlib import Path

import pytest

from depyf.findings import findings
from depyf.findings.changed_objects import is_changed_in, is_of
from depyf.findings.fixed import is_replaced
from depyf.model.guard_failure import Check, GuardFailure
from depyf.model.run import Compile, CompileId, FailedEntry, Function, Guard, GuardSet, Recompile
from depyf.model.user_line import UserLine
from tests.findings.test_causes import CALL, function, run_of
from tests.sentences import failed

LAYER = """
class Layer(torch.nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number
"""


def layers(path: Path, more: str, count: int) -> Function:
    """Return the `forward` of some layers, each with another number, in a file with more code."""
    file = path / "layers.py"
    file.write_text(LAYER + more)
    made = function(0, "forward", str(file), (CALL,), 10, 'L["self"].__dict__["number"]: expected 0, got 1')
    for number in range(2, count):
        again = Compile(CompileId(0, number), "forward", str(file), 7, user_stack=(CALL,), order=10 + number)
        texts = (f'L["self"].__dict__["number"]: expected {number - 1}, got {number}',)
        again.trigger = Recompile((failed(f"0/{number - 1}", texts, texts),))
        made.compiles.append(again)
    return made


def test_a_number_that_only_init_sets_is_that_of_another_object(tmp_path: Path) -> None:
    (finding,) = findings(run_of(layers(tmp_path, "", 6)))
    assert (finding.kind, finding.severity) == ("attribute-of-each-object", "high")
    assert "grows" not in finding.cause and "in `__init__`" in finding.fix and "add_" not in finding.fix


def test_few_objects_need_an_entry_each(tmp_path: Path) -> None:
    (finding,) = findings(run_of(layers(tmp_path, "", 3)))
    assert finding.severity == "low" and not finding.fix
    assert finding.cause.endswith("; expected: each object with another `self.number` needs an entry of its own")


@pytest.mark.parametrize(
    "more",
    [
        "\nlayer = Layer(0)\nlayer.number = 3\n",
        "\nlayer = Layer(0)\nlayer.number += 1\n",
        "\nsetattr(Layer(0), 'number', 3)\n",
        "\nfor key in options:\n    setattr(Layer(0), key, 3)\n",
        "\nclass Other(Layer):\n    def reset(self):\n        self.number = 0\n",
    ],
)
def test_a_number_that_other_code_sets_may_change(tmp_path: Path, more: str) -> None:
    (finding,) = findings(run_of(layers(tmp_path, more, 6)))
    assert finding.kind == "counter" and "grows by 1 from one recompile to the next" in finding.cause


def test_items_of_one_container_are_named_together() -> None:
    line = UserLine("f.py", 2, "return [text.split() for text in texts]", "f")
    made = Function("0", "f", "f.py", 1, "", "0", compiles=[Compile(CompileId(0, 0), "f", "f.py", 1)])
    for number, item in enumerate((1, 0, 1), 1):
        failure = GuardFailure(f'L["texts"][{item}]', Check.VALUE, f"'a{number - 1}'", f"'a{number}'", line)
        trigger = Recompile((FailedEntry(f"0/{number - 1}", (failure.source,), (failure,), True),))
        again = Compile(CompileId(0, number), "f", "f.py", 1, trigger=trigger, user_stack=(CALL,), order=number)
        made.compiles.append(again)
    (finding,) = findings(run_of(made))
    assert "and `texts[0]` changed in other calls" in finding.cause
    assert "values that depend on `texts` before the call" in finding.fix


def test_a_changed_item_has_the_name_of_its_key() -> None:
    keys = Guard("EQUALS_MATCH", 'G["table"]', "", 'keys_are(G["table"], "a", "b")')
    made = Function("0", "f", "f.py", 1, "", "0", compiles=[Compile(CompileId(0, 0), "f", "f.py", 1)])
    made.compiles[0].guards = GuardSet((keys,), ())
    changed = "dict.__getitem__(G['table'], list(dict.keys(G['table']))[1])"
    for key, is_changed in (("a", False), ("b", True)):
        failure = GuardFailure(f'dict.__getitem__(G["table"], "{key}").n', Check.VALUE, "1", "2")
        assert is_of(changed, failure, made) is is_changed


def test_an_attribute_that_hides_that_of_the_class_is_one_of_the_object() -> None:
    made = function(0, "f", "f.py", (CALL,), 10, "x")
    failure = GuardFailure('L["x"].__dict__', Check.KEY, "absent", "['n']", guard="DICT_CONTAINS", item="'n'")
    made.compiles[1].trigger = Recompile((FailedEntry("0/0", (failure.source,), (failure,), True),))
    (finding,) = findings(run_of(made))
    assert finding.kind == "own-attribute" and "`x.n` was an attribute of the object itself" in finding.cause


@pytest.mark.parametrize(
    ("line", "is_changed"),
    [
        ("self.seen.append(x)", True),
        ("self.seen[0] = x", True),
        ("self.seen = []", True),
        ("del self.seen[0]", True),
        ("y = self.seen.index(x)", False),
        ("other.seen.append(x)", False),
    ],
)
def test_a_container_that_the_source_changes_is_changed_inside(line: str, is_changed: bool) -> None:
    assert is_changed_in(f"def f(self, x):\n    {line}\n", "self.seen") is is_changed


def test_a_parameter_that_a_method_assigns_is_replaced(tmp_path: Path) -> None:
    made = layers(tmp_path, "\ndef grow(layer, weight):\n    layer.weight = weight\n", 2)
    assert is_replaced(made, "self.embed.weight") and not is_replaced(made, "self.embed.number")


def test_a_value_beside_a_size_has_a_finding_of_its_own() -> None:
    made = function(0, "f", "f.py", (CALL,), 10, 'size of L["x"]: expected (4, 8), got (6, 8)')
    texts = ('size of L["x"]: expected (6, 8), got (9, 8)', "L[\"mode\"]: expected 'low', got 'high'")
    last = Compile(CompileId(0, 2), "f", "f.py", 1, user_stack=(CALL,), order=11)
    last.trigger = Recompile((failed("0/0", texts, texts), failed("0/1", texts, texts)))
    made.compiles.append(last)
    assert {finding.kind: finding.compiles for finding in findings(run_of(made))} == {
        "tensor-size": ("0/1",),
        "argument-string": ("0/2",),
    }
