"""A value is written as the user would write it; what its keys look like does not matter."""

from __future__ import annotations

import pytest

from depyf.model.spelling import spelled, without_strings


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("""L["d"]["L['x']"]""", """d["L['x']"]"""),
        ("""L["d"]["a.__dict__['b']"]""", """d["a.__dict__['b']"]"""),
        ("""L['d']['it\\'s, G["x"]'].n""", """d['it\\'s, G["x"]'].n"""),
        ("""L["d"]["dict_item(a, b)"]""", """d["dict_item(a, b)"]"""),
        ("""___dict_getitem(dict_item(L["d"], "a, (b"), "c)")""", """d["a, (b"]["c)"]"""),
        ("""dict_item(L["d"], ("a", 1))""", """d[("a", 1)]"""),
        ("""G["__import_a_dot_b"].c["__import___main__"]""", """a.b.c["__import___main__"]"""),
        ("""L["self"].__dict__["_modules"]["a b"].n""", """self._modules["a b"].n"""),
        ("""L["self"].__dict__["a-b"]""", """self.__dict__["a-b"]"""),
        ("""L["d"][b"L"].x""", """d[b"L"].x"""),
        ("it isn't L['x']", "it isn't x"),
        ("""___from_numpy(L["values"])""", "values"),
        ("""from_numpy(L["d"]["from_numpy(a)"])""", """d["from_numpy(a)"]"""),
    ],
)
def test_only_the_expression_is_rewritten(source: str, written: str) -> None:
    assert spelled(source) == written


def test_an_expression_without_its_strings() -> None:
    assert without_strings("""L["d"]['x.size()'].n""") == "L[''][''].n"
