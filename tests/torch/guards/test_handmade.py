"""Guards and accessors that few programs have, on trees made by hand."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from typing import Any

import pytest
import torch

_GUARDS = getattr(torch._C._dynamo, "guards", None)
_MANAGER = getattr(_GUARDS, "GuardManager", None)
# Each guard is added with its words and the user's stack.
_WITH_STACK = "arg1" in str(getattr(_MANAGER, "add_not_none_guard", None).__doc__)
if not (hasattr(_GUARDS, "SYMBOLIC_SHAPE_GUARD") and _WITH_STACK):
    pytest.skip("the trees of this torch are built in another way", allow_module_level=True)

from torch._C._dynamo.guards import (  # noqa: E402 - after the check that this torch has them
    install_no_tensor_aliasing_guard,
    install_object_aliasing_guard,
    install_storage_overlapping_guard,
)
from torch._library.fake_class_registry import FakeScriptObject  # noqa: E402

from tests.torch.guards.handmade import kind, local, make  # noqa: E402


class Thing:
    """An object with a weak reference, a method and attributes."""

    size = 3

    def __init__(self, value: int = 1) -> None:
        self.value = value

    def __call__(self) -> int:
        return self.value


OWN = (["x"], None)


def equals(manager: Any, value: object, source: str) -> None:
    manager.add_equals_match_guard(value, [f"{source} == {value!r}"], None)


@pytest.mark.parametrize("with_locals", [True, False])
def test_dict_version_calls_torch(with_locals: bool) -> None:
    table = {"a": 1}

    def build(root: Any) -> None:
        local(root, "d", table).add_dict_version_guard(table, ["___dict_version(L['d']) == 5"], None)

    handmade = make(build, {"d": table}, with_locals=with_locals)
    assert handmade.verdict({"d": table})
    assert not handmade.verdict({"d": {"a": 1}})
    assert "torch_dict_version(" in handmade.text and "(the version of a dict" in handmade.text
    table["b"] = 2
    assert not handmade.verdict({"d": table})


def test_dispatch_key_set() -> None:
    keys = torch._C._dispatch_keys(torch.ones(1))

    def build(root: Any) -> None:
        manager = local(root, "k", keys)
        manager.add_dispatch_key_set_guard(keys, ["L['k'].raw_repr() == ..."], None)
        # Torch looks at the thread's own keys only in a tree with a guard on a tensor, or one like this.
        assert manager.get_leaf_guards()

    handmade = make(build, {"k": keys})
    assert handmade.verdict({"k": keys})
    assert handmade.verdict({"k": torch._C._dispatch_keys(torch.zeros(5))})
    assert not handmade.verdict({"k": torch._C._dispatch_keys(torch.ones(1, device="meta"))})
    assert "dispatch_key_names(" in handmade.text


@pytest.mark.skipif(
    not hasattr(torch._C._dynamo.guards.GuardManager, "add_fake_script_type_match_guard"),
    reason="this torch has no guard on the type of a fake script object",
)
def test_fake_script_type_calls_torch() -> None:
    def build(root: Any) -> None:
        words = [f"___check_fake_script_type(L['t'], {id(Thing)}), type=<class 'Thing'>"]
        local(root, "t", Thing()).add_fake_script_type_match_guard(FakeScriptObject, id(Thing), words, None)

    handmade = make(build, {"t": Thing()})
    assert handmade.verdict({"t": Thing()})
    assert not handmade.verdict({"t": 3})
    assert "torch_fake_script_type_match(" in handmade.text


def test_not_none() -> None:
    handmade = make(lambda root: local(root, "x", 1).add_not_none_guard(["L['x'] is not None"], None), {"x": 1})
    assert handmade.verdict({"x": 0})
    assert not handmade.verdict({"x": None})
    assert not handmade.verdict({})


def test_objects_that_must_be_the_same() -> None:
    def build(root: Any) -> None:
        install_object_aliasing_guard(local(root, "x", 1), local(root, "y", 1), ["L['y'] is L['x']"], None)

    first, second = Thing(), Thing()
    handmade = make(build, {"x": first, "y": first})
    assert handmade.verdict({"x": second, "y": second})
    assert not handmade.verdict({"x": first, "y": second})
    assert 'L["x"] is L["y"]' in handmade.text


def test_tensors_that_must_differ() -> None:
    def build(root: Any) -> None:
        managers = [local(root, name, torch.ones(1)) for name in "xyz"]
        install_no_tensor_aliasing_guard(managers, list("xyz"), ["check_no_aliasing(x, y, z)"], None)

    first, second, third = torch.ones(1), torch.ones(1), torch.ones(1)
    handmade = make(build, {"x": first, "y": second, "z": third})
    assert handmade.verdict({"x": third, "y": second, "z": first})
    assert not handmade.verdict({"x": first, "y": second, "z": first})
    assert not handmade.verdict({"x": first, "y": second})


def test_memory_that_overlaps() -> None:
    memory = torch.ones(8)
    x, y, z = memory[:4], memory[2:6], memory[6:]
    names = ("x", "y"), ("z",)
    words = "check_overlapping(overlapping=[L['x'], L['y']], non_overlapping=[L['z']])"

    def build(root: Any) -> None:
        shared, apart = ([local(root, name, x) for name in group] for group in names)
        install_storage_overlapping_guard(shared, apart, [words], None)

    handmade = make(build, {"x": x, "y": y, "z": z})
    assert handmade.verdict({"x": x, "y": y, "z": z})
    assert not handmade.verdict({"x": x, "y": z, "z": y})
    assert not handmade.verdict({"x": x, "y": memory[4:6], "z": z})
    assert 'overlapping([L["x"], L["y"]], [L["z"]])' in handmade.text


def test_a_lambda_whose_words_are_no_expression_calls_torch() -> None:
    def build(root: Any) -> None:
        words = ["___check_metadata_140 is what it says"]
        local(root, "x", 4).add_lambda_guard(lambda value: value % 2 == 0, words, None)

    handmade = make(build, {"x": 4})
    assert handmade.verdict({"x": 6})
    assert not handmade.verdict({"x": 5})
    assert not handmade.verdict({"x": "text"})


def test_words_that_are_not_understood_call_torch() -> None:
    def build(root: Any) -> None:
        local(root, "x", [1]).add_length_check_guard(1, ["the length is as it was"], None)

    handmade = make(build, {"x": [1]})
    assert handmade.verdict({"x": [2]})
    assert not handmade.verdict({"x": [1, 2]})
    assert "torch_length_check(" in handmade.text


def test_types_and_what_is_in_them() -> None:
    def build(root: Any) -> None:
        manager = local(root, "t", Thing()).type_manager("type(L['t'])", Thing, kind())
        table = manager.type_dict_manager("type(L['t']).__dict__", Thing.__dict__, kind())
        equals(table.dict_getitem_manager("size", "type(L['t']).__dict__['size']", 3, kind()), 3, "size")
        table.add_dict_contains_guard(False, "colour", ["not ___dict_contains('colour', type(L['t']).__dict__)"], None)
        mro = manager.type_mro_manager("type(L['t']).__mro__", Thing.__mro__, kind())
        mro.add_length_check_guard(2, ["len(type(L['t']).__mro__) == 2"], None)

    handmade = make(build, {"t": Thing()})
    assert handmade.verdict({"t": Thing(2)})
    assert not handmade.verdict({"t": type("Small", (), {"size": 1})()})
    assert not handmade.verdict({"t": type("Derived", (Thing,), {"size": 3})()})
    assert not handmade.verdict({"t": type("Coloured", (), {"size": 3, "colour": 1})()})
    assert not handmade.verdict({"t": 5})


def test_references_calls_and_attributes() -> None:
    thing = Thing(7)

    def build(root: Any) -> None:
        target = local(root, "r", weakref.ref(thing)).weakref_call_manager("L['r']()", thing, kind())
        equals(target.getattr_manager("value", "L['r']().value", 7, kind()), 7, "L['r']().value")
        equals(target.call_function_no_args_manager("L['r']()()", 7, kind()), 7, "L['r']()()")
        plain = target.generic_getattr_manager("value", "object.__getattribute__(L['r'](), 'value')", 7, kind())
        equals(plain, 7, "value")

    handmade = make(build, {"r": weakref.ref(thing)})
    assert handmade.verdict({"r": weakref.ref(thing)})
    other = Thing(8)
    assert not handmade.verdict({"r": weakref.ref(other)})
    assert not handmade.verdict({"r": thing})
    assert not handmade.verdict({"r": weakref.ref(Thing(7))})


def test_items_of_sets_and_iterators() -> None:
    def build(root: Any) -> None:
        inside = local(root, "s", {5}).set_getitem_manager(0, "list(L['s'])[0]", 5, kind())
        equals(inside, 5, "list(L['s'])[0]")
        iterator = local(root, "i", iter((1, 2)))
        iterator.add_tuple_iterator_length_guard(2, id(type(iter(()))), ["___tuple_iterator_len(L['i']) == 2"], None)
        first = iterator.tuple_iterator_getitem_manager(0, "___tuple_iterator_getitem(L['i'], 0)", 1, kind())
        equals(first, 1, "item")

    handmade = make(build, {"s": {5}, "i": iter((1, 2))})
    assert handmade.verdict({"s": {5}, "i": iter((1, 3))})
    assert not handmade.verdict({"s": {6}, "i": iter((1, 2))})
    assert not handmade.verdict({"s": {5}, "i": iter((2, 2))})
    assert not handmade.verdict({"s": {5}, "i": iter((1, 2, 3))})
    assert not handmade.verdict({"s": {5}, "i": iter([1, 2])})


def test_properties_of_a_tensor() -> None:
    x = torch.ones(4, 3)[1:]

    def build(root: Any) -> None:
        manager = local(root, "x", x)
        equals(manager.tensor_property_size_manager(1, "L['x'].size()[1]", 3, kind()), 3, "size")
        equals(manager.tensor_property_stride_manager(0, "L['x'].stride()[0]", 3, kind()), 3, "stride")
        offset = manager.tensor_property_storage_offset_manager(None, "L['x'].storage_offset()", 3, kind())
        equals(offset, 3, "offset")
        manager.grad_manager("L['x'].grad", None, kind()).add_none_match_guard(["L['x'].grad is None"], None)

    handmade = make(build, {"x": x})
    assert handmade.verdict({"x": torch.zeros(9, 3)[1:]})
    assert not handmade.verdict({"x": torch.ones(3, 3)})
    assert not handmade.verdict({"x": torch.ones(4, 5)[1:]})
    assert not handmade.verdict({"x": torch.ones(12)[3:]})
    assert not handmade.verdict({"x": None})
    assert not handmade.verdict({"x": 3})


@pytest.mark.parametrize("with_locals", [True, False])
def test_a_dict_with_known_positions(with_locals: bool) -> None:
    table = OrderedDict(a=1, b=2, c=3)

    def build(root: Any) -> None:
        manager = local(root, "d", table, as_dict=True)
        equals(manager.get_value_manager(1, "L['d']['b']", 2, kind()), 2, "L['d']['b']")

    handmade = make(build, {"d": table}, with_locals=with_locals)
    assert handmade.verdict({"d": OrderedDict(a=9, x=2, c=9)})
    assert not handmade.verdict({"d": OrderedDict(a=1, b=3, c=3)})
    assert not handmade.verdict({"d": OrderedDict(a=1, b=2)})
    assert not handmade.verdict({"d": dict(table)})
    assert ("torch_guards(L)" in handmade.text) is not with_locals


def test_an_empty_dict_is_all_that_torch_looks_at() -> None:
    class Attributed(dict[str, int]):
        pass

    def build(root: Any) -> None:
        manager = local(root, "d", Attributed(), as_dict=True)
        manager.add_no_hasattr_guard("colour", ["not hasattr(L['d'], 'colour')"], None)

    handmade = make(build, {"d": Attributed()})
    coloured = Attributed()
    coloured.colour = 1  # type: ignore[attr-defined]
    assert handmade.verdict({"d": Attributed()})
    assert handmade.verdict({"d": coloured})
    assert not handmade.verdict({"d": {}})


def test_a_function_of_torch_s_is_followed_by_its_words() -> None:
    def build(root: Any) -> None:
        manager = local(root, "a", torch.ones(2))
        inside = manager.lambda_manager(lambda x: x.item(), "L['a'].item()", 1.0, kind())
        equals(inside, 1.0, "L['a'].item()")

    handmade = make(build, {"a": torch.ones(1)})
    assert handmade.verdict({"a": torch.ones(1)})
    assert not handmade.verdict({"a": torch.zeros(1)})
    assert not handmade.verdict({"a": 1.0})


def test_what_cannot_be_reached_asks_all_of_torch_s_guards() -> None:
    def build(root: Any) -> None:
        inside = local(root, "x", 4).lambda_manager(lambda x: x // 2, "half of it", 2, kind())
        equals(inside, 2, "half of it")

    handmade = make(build, {"x": 4})
    assert handmade.tree.beyond == ["half of it"]
    assert handmade.verdict({"x": 5})
    assert not handmade.verdict({"x": 6})


def test_no_text_shows_an_address() -> None:
    thing = Thing(7)
    key = f"__optimizer_{id(thing)}_{id(Thing)}_c2"

    def build(root: Any) -> None:
        table = local(root, "d", {key: 1})
        table.add_type_match_guard(id(dict), [f"___check_type_id(L['d'], {id(dict)}), type=<class 'dict'>"], None)
        equals(table.dict_getitem_manager(key, f"L['d'][{key!r}]", 1, kind()), 1, f"L['d'][{key!r}]")
        root.add_epilogue_lambda_guard(lambda L: L["d"][key] == 1, [f"L['d'][{key!r}] == 1"], None)

    handmade = make(build, {"d": {key: 1}})
    assert handmade.verdict({"d": {key: 1}})
    assert not handmade.verdict({"d": {key: 2}})
    assert str(id(thing)) not in handmade.text
    assert 'equals(L["d"][optimizer_c2_key], 1)' in handmade.text
    assert 'L["d"][optimizer_c2_key] == 1' in handmade.text
