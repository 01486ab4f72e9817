"""What the reader of a guard sees."""

from __future__ import annotations

import ast
import gc
import re
import textwrap
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from depyf.findings.nearest import independent
from depyf.model.guard_failure import PRESENT, Check
from depyf.torch.adapters import cpp_guards, lacking, seams
from depyf.torch.capture import live
from depyf.torch.guards.names import Names
from depyf.torch.guards.record import guard_set
from depyf.torch.guards.render import render
from depyf.torch.guards.tree import Tree
from depyf.torch.guards.verdicts import agreement, ambient
from depyf.torch.guards.verdicts.explain import explain
from examples.toy_example import toy_example
from tests.torch.needs import needs

pytestmark = needs(lacking.guard_trees())

SCALE = 2
ITEMS_BY_KEY = cpp_guards.DictSubclassGuardManager is not cpp_guards.Absent
"""Whether torch finds the items of an `OrderedDict` by its own keys, and compares each key alone."""


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def read(function: Any, L: dict[str, Any], *, with_locals: bool = True) -> Tree:
    """Compile `function` for the arguments `L` and return the guards of its first entry."""
    torch.compile(function, backend="eager")(**L)
    (entry,) = live.entries(live.root_function(function)[0].__code__)
    owner = live.root_function(function)[1]
    values = L if owner is None else {"self": owner, **L}
    filename = live.root_function(function)[0].__code__.co_filename
    tree, differs = agreement.read(seams.entry_guard_manager(entry), values if with_locals else None, filename)
    assert not differs
    return tree


def text(tree: Tree, filename: str = __file__) -> str:
    """Return the clauses of a guard, one a line, without comments."""
    lines = render(tree, "0/0", Names(), filename)
    assert ast.parse("\n".join(lines))
    clauses = (line.strip().removeprefix("and ").partition("  # ")[0] for line in lines[4:-1])
    # Some releases also ask that a method of a tensor's is there, which its exact type says already.
    return "\n".join(clause for clause in clauses if not clause.startswith('exists(L["b"]'))


def dedent(expected: str) -> str:
    return textwrap.dedent(expected).strip()


def scaled(x: torch.Tensor, n: int, table: OrderedDict[str, int]) -> torch.Tensor:
    for value in table.values():
        x = x + value
    return torch.sin(x) * n * SCALE


def test_the_toy_example() -> None:
    x = torch.ones(10)
    tree = read(toy_example, {"a": x, "b": torch.ones(10)})
    threads = torch.get_num_threads()
    assert text(tree) == dedent(
        f"""
        global_state(default_dtype=torch.float32, num_threads={threads})
        tensor(L["a"], torch.Tensor, torch.float32, "cpu", size=(10,), stride=(1,), requires_grad=False)
        tensor(L["b"], torch.Tensor, torch.float32, "cpu", size=(10,), stride=(1,), requires_grad=False)
        G["torch"] is torch
        G["torch"].abs is torch_abs
        no_aliasing(L["a"], L["b"])
        """
    )


def test_the_user_s_line_stands_beside_each_clause() -> None:
    tree = read(toy_example, {"a": torch.ones(10), "b": torch.ones(10)})
    if not any(" in toy_example" in clause.torch_text for clause in tree.clauses):
        pytest.skip("this torch does not tell which line of the user's a guard is for")
    lines = render(tree, "0/0", Names(), toy_example.__code__.co_filename)
    first = toy_example.__code__.co_firstlineno
    comment = {clause: rest for clause, _, rest in (line.strip().partition("  # ") for line in lines)}
    by_start = {clause.removeprefix("and ").split(",")[0].split(" is ")[0]: rest for clause, rest in comment.items()}
    assert by_start['tensor(L["a"]'].endswith(f":{first + 1} x = a / (torch.abs(a) + 1)")
    assert by_start['tensor(L["b"]'].endswith(f":{first + 2} if b.sum() < 0:")
    assert by_start['G["torch"].abs'].endswith(f":{first + 1}"), "a line that was shown is not shown again"
    assert by_start['no_aliasing(L["a"]'] == ""


def test_constants_dicts_and_globals() -> None:
    tree = read(scaled, {"x": torch.ones(2), "n": 7, "table": OrderedDict(z=1, y=2)})
    by_position = [
        'keys_are(L["table"], "z", "y")',
        'equals(dict.__getitem__(L["table"], "z"), 1)',
        'equals(dict.__getitem__(L["table"], "y"), 2)',
    ]
    by_key = [
        'equals(list(L["table"].keys())[0], "z")',
        'equals(dict_item(L["table"], list(L["table"].keys())[0]), 1)',
        'equals(list(L["table"].keys())[1], "y")',
        'equals(dict_item(L["table"], list(L["table"].keys())[1]), 2)',
    ]
    assert text(tree).splitlines()[1:] == [
        'tensor(L["x"], torch.Tensor, torch.float32, "cpu", size=(2,), stride=(1,), requires_grad=False)',
        'equals(L["n"], 7)',
        'dictionary(L["table"], OrderedDict, 2)',
        *(by_key if ITEMS_BY_KEY else by_position),
        'equals(G["SCALE"], 2)',
        'G["torch"] is torch',
        'G["torch"].sin is torch_sin',
    ]


def test_a_long_way_to_a_value_is_written_once() -> None:
    model = torch.nn.Sequential(torch.nn.Sequential(torch.nn.Linear(2, 2)))

    def through(model: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
        return model(x)

    shown = text(read(through, {"model": model, "x": torch.ones(2)}))
    if 'L["model"] is ' in shown:
        pytest.skip("this torch guards on which object a module is, and looks at no parameter")
    assert shown.count('L["model"].__dict__["_modules"]') <= 3
    for name in ("weight", "bias"):
        assert re.search(rf'parameters\["{name}"\]|dict_item\(parameters, "{name}"\)', shown)


def test_no_address_and_the_same_text_every_time() -> None:
    texts = []
    for _ in range(2):
        torch._dynamo.reset()
        texts.append(text(read(scaled, {"x": torch.ones(2), "n": 7, "table": OrderedDict(z=1, y=2)})))
    assert texts[0] == texts[1]
    assert "0x" not in texts[0]


def test_objects_of_one_name_keep_apart() -> None:
    first, second = (type("Options", (), {"scale": scale}) for scale in (2, 3))

    def both(x: torch.Tensor, o: Any, p: Any) -> torch.Tensor:
        return x * o.scale + p.scale

    shown = text(read(both, {"x": torch.ones(2), "o": first(), "p": second()}))
    assert 'type(L["o"]) is Options' in shown
    assert 'type(L["p"]) is Options_2' in shown or 'type(L["p"]) is tests_torch_guards_test_text_Options' in shown


def test_a_local_of_the_guard_hides_no_object() -> None:
    class weight:  # noqa: N801  named as the parameter is
        scale = 2

    def through(layer: torch.nn.Module, x: torch.Tensor, o: Any) -> torch.Tensor:
        return layer(x) * o.scale

    L = {"layer": torch.nn.Linear(2, 2), "x": torch.ones(2), "o": weight()}
    tree = read(through, L)
    assert not explain(tree, L, through.__globals__)


def test_guards_as_data() -> None:
    tree = read(toy_example, {"a": torch.ones(10), "b": torch.ones(10)})
    data = guard_set(tree)
    by_kind_and_source = {(guard.kind, guard.source): guard for guard in data.guards if guard.kind != "EXISTS"}
    assert list(by_kind_and_source) == [
        ("GLOBAL_STATE", ""),
        ("TENSOR_MATCH", 'L["a"]'),
        ("TENSOR_MATCH", 'L["b"]'),
        ("ID_MATCH", 'G["torch"]'),
        ("ID_MATCH", 'G["torch"].abs'),
        ("NO_TENSOR_ALIASING", ""),
    ]
    identity = by_kind_and_source["ID_MATCH", 'G["torch"].abs']
    assert identity.clause == 'G["torch"].abs is torch_abs'
    assert identity.text.startswith("___check_obj_id(G['torch'].abs, ")
    line = by_kind_and_source["TENSOR_MATCH", 'L["a"]'].where
    assert line is None or line.text == "x = a / (torch.abs(a) + 1)"


def scaling_model() -> torch.nn.Module:
    """Return a module of a class of its own."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)

        def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
            return self.linear(x) * n

    return Model()


def torch_keeps_classes() -> bool:
    """Return whether torch alone keeps the class of a module that it has compiled."""
    model = scaling_model()
    torch.compile(model.forward, backend="eager")(torch.ones(2), 3)
    kept = weakref.ref(type(model))
    del model
    torch._dynamo.reset()
    gc.collect()
    return kept() is not None


def test_what_was_read_keeps_nothing_alive() -> None:
    model, x = scaling_model(), torch.ones(2)
    tree = read(model.forward, {"x": x, "n": 3})
    gone = [weakref.ref(referent) for referent in (model, model.linear, model.linear.weight, x)]
    if not torch_keeps_classes():
        gone.append(weakref.ref(type(model)))
    del model, x
    torch._dynamo.reset()
    gc.collect()
    assert [reference() for reference in gone] == [None] * len(gone)
    assert "is Model" not in text(tree) or explain(tree, {"self": None, "x": None, "n": 3}, {})


def test_every_clause_that_fails_is_named() -> None:
    L: dict[str, Any] = {"x": torch.ones(2), "n": 7, "table": OrderedDict(z=1, y=2)}
    tree = read(scaled, L)
    wrong = {"x": torch.ones(3).double(), "n": 7.0, "table": {"z": 1}}
    failures = [
        (failure.source, failure.check, failure.expected, failure.actual) for failure in explain(tree, wrong, globals())
    ]
    missing = Check.PRESENCE, PRESENT, "IndexError: list index out of range"
    by_key = [
        ('list(L["table"].keys())[1]', *missing),
        ('dict_item(L["table"], list(L["table"].keys())[1])', *missing),
    ]
    by_position = [
        ('L["table"]', Check.KEYS, "['z', 'y']", "['z']"),
        ('dict.__getitem__(L["table"], "y")', Check.PRESENCE, PRESENT, "KeyError: 'y'"),
    ]
    assert failures == [
        ('L["x"]', Check.DTYPE, "torch.float32", "torch.float64"),
        ('L["x"]', Check.SIZE, "(2,)", "(3,)"),
        ('L["n"]', Check.VALUE, "7", "7.0"),
        ('L["table"]', Check.CLASS, "collections.OrderedDict", "dict"),
        *(by_key if ITEMS_BY_KEY else by_position),
    ]


def test_a_key_that_is_another_is_named() -> None:
    tree = read(scaled, {"x": torch.ones(2), "n": 7, "table": OrderedDict(z=1, y=2)})
    failures = explain(tree, {"x": torch.ones(2), "n": 7, "table": OrderedDict(z=1, k=2)}, globals())
    by_key = [('list(L["table"].keys())[1]', Check.VALUE, "'y'", "'k'")]
    by_position = [
        ('L["table"]', Check.KEYS, "['z', 'y']", "['z', 'k']"),
        ('dict.__getitem__(L["table"], "y")', Check.PRESENCE, PRESENT, "KeyError: 'y'"),
    ]
    named = [(failure.source, failure.check, failure.expected, failure.actual) for failure in failures]
    assert named == (by_key if ITEMS_BY_KEY else by_position)
    assert ITEMS_BY_KEY or [failure.check for failure in independent(failures)] == [Check.KEYS]


def test_a_value_that_is_missing_is_named_once() -> None:
    tree = read(scaled, {"x": torch.ones(2), "n": 7, "table": OrderedDict(z=1, y=2)})
    failures = explain(tree, {"x": torch.ones(2), "n": 7}, globals())
    assert [(failure.source, failure.expected, failure.actual) for failure in failures] == [
        ('L["table"]', PRESENT, "KeyError: 'table'")
    ]


def test_the_flag_of_the_global_state_is_named() -> None:
    L: dict[str, Any] = {"x": torch.ones(2), "n": 7, "table": OrderedDict(z=1, y=2)}
    tree = read(scaled, L)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        failures = explain(tree, L, globals())
    autocast = ["autocast: expected None, got {'cpu': torch.bfloat16}"] if "autocast" in ambient.own_flags() else []
    assert [str(failure) for failure in failures if failure.guard == "GLOBAL_STATE"] == [
        *autocast,
        "grad_mode: expected True, got False",
    ]


def test_a_guard_that_raises_refuses() -> None:
    class Hostile:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

    def attribute(x: torch.Tensor, o: Any) -> torch.Tensor:
        return x * o.scale

    tree = read(attribute, {"x": torch.ones(2), "o": SimpleNamespace(scale=2)})
    failures = explain(tree, {"x": torch.ones(2), "o": Hostile()}, globals())
    assert any(failure.actual == "RuntimeError: scale" for failure in failures)
