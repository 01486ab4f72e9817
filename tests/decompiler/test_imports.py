"""Import statements: the operations of a block, and the statements that they become."""

from __future__ import annotations

import pytest

from depyf.errors import DecompilationError
from tests.decompiler.folding import statements
from tests.decompiler.test_forms import code_of

FUNCTION = code_of("def f(a, b): return 1")
MODULE = code_of("x = 1")
TWO = "('x', 'y')"


def imported(name: str, rest: str, names: str = "None", level: int = 0) -> str:
    """Return operations: the import of a module, which is value 9, and some more."""
    return f"v0 = CONST {level}; v1 = CONST {names}; v9 = IMPORT_NAME '{name}' v0 v1; {rest}"


def taken(*names: str) -> str:
    """Return operations: each name is taken from the module, and bound to a variable."""
    clauses = []
    for number, name in enumerate(names, 2):
        clauses += [f"v{number} = IMPORT_FROM '{name.split()[0]}' v9", f"STORE_FAST '{name.split()[-1]}' v{number}"]
    return "; ".join(clauses)


WRITTEN = {
    "import os": imported("os", "STORE_FAST 'os' v9"),
    "import os as a": imported("os", "STORE_FAST 'a' v9"),
    "import os.path": imported("os.path", "STORE_FAST 'os' v9"),
    "import os.path as a": imported("os.path", "v2 = IMPORT_FROM 'path' v9; STORE_FAST 'a' v2; POP v9"),
    "import __a.b": imported("__a.b", "STORE_FAST '_C__a' v9"),
    "import __a.b as c": imported("__a.b", "v2 = IMPORT_FROM 'b' v9; STORE_FAST 'c' v2; POP v9"),
    "lazy import os": imported("os", "STORE_FAST 'os' v9").replace("IMPORT_NAME", "IMPORT_LAZY"),
    "from os import x as a": imported("os", f"{taken('x as a')}; POP v9", "('x',)"),
    "from os import x as a, y": imported("os", f"{taken('x as a', 'y')}; POP v9", TWO),
    "from ..os import x as a, y": imported("os", f"{taken('x as a', 'y')}; POP v9", TWO, 2),
    "from os import *": imported("os", "IMPORT_STAR v9", "('*',)"),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_an_import_statement(text: str) -> None:
    code = code_of("def f(): return 1") if "*" not in text else MODULE
    assert statements(WRITTEN[text], code) == f"{text}\n"


OTHERWISE = {
    "a path that is bound to another name": (
        imported("os.path", "STORE_FAST 'a' v9"),
        "import os.path\nv9 = os\na = v9\n",
    ),
    "a path with a name that is mangled in another way": (
        imported("__a.b", "STORE_FAST '_C_a' v9"),
        "import __a.b\nv9 = __a\n_C_a = v9\n",
    ),
    "a path with a name that is not mangled": (
        imported("__a__.b", "STORE_FAST '_C__a__' v9"),
        "import __a__.b\nv9 = __a__\n_C__a__ = v9\n",
    ),
    "a path with a name that has no underscores": (
        imported("q.b", "STORE_FAST '_Cq' v9"),
        "import q.b\nv9 = q\n_Cq = v9\n",
    ),
    "a module that is used again": (imported("os", "STORE_FAST 'os' v9; return v9"), "import os\nos = v9\nreturn v9\n"),
    "a module that nobody binds": (imported("os", "return v9"), "import os\nreturn v9\n"),
    "a path that nobody binds": (imported("os.path", "return v9"), "import os.path\nv9 = os\nreturn v9\n"),
    "a path that is dropped": (imported("os.path", "POP v9"), "import os.path\n"),
    "a part of another path": (
        imported("os.path", "v2 = IMPORT_FROM 'x' v9; STORE_FAST 'a' v2; POP v9"),
        "a = <FromModule module=<Module name='os.path' level=0 is_lazy=False> name='x'>\n",
    ),
    "a relative import without names": (
        imported("os", "STORE_FAST 'os' v9", level=1),
        "os = <Module name='os' level=1 is_lazy=False>\n",
    ),
    "a part of a relative import without names": (
        imported("a.b", "v2 = IMPORT_FROM 'b' v9; STORE_FAST 'c' v2; POP v9", level=1),
        "c = <FromModule module=<Module name='a.b' level=1 is_lazy=False> name='b'>\n",
    ),
    "a level that is computed": (
        "v0 = LOAD_FAST 'a'; v1 = CONST None; v9 = IMPORT_NAME 'os' v0 v1; STORE_FAST 'os' v9",
        "os = <Object>('os', a, None)\n",
    ),
    "a negative level": (imported("os", "STORE_FAST 'os' v9", level=-1), "os = <Object>('os', -1, None)\n"),
    "names that are no tuple": (imported("os", "STORE_FAST 'os' v9", "'x'"), "os = <Object>('os', 0, 'x')\n"),
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_what_has_no_statement_of_its_own(what: str) -> None:
    rows, text = OTHERWISE[what]
    assert statements(rows, FUNCTION) == text


KEPT = {
    "names in another order": imported("os", f"{taken('y', 'x')}; POP v9", TWO),
    "a name too few": imported("os", f"{taken('x')}; POP v9", TWO),
    "a name too many": imported("os", f"{taken('x', 'y', 'z')}; POP v9", TWO),
    "another name": imported("os", f"{taken('z')}; POP v9", "('x',)"),
    "a module that is used again": imported("os", f"{taken('x', 'y')}; return v9", TWO),
    "a module that is dropped and used again": imported("os", f"{taken('x', 'y')}; POP v9; return v9", TWO),
    "a name that is used again": imported("os", f"{taken('x', 'y')}; POP v9; return v3", TWO),
    "a name that is bound twice": imported("os", f"{taken('x')}; STORE_FAST 'a' v2; POP v9", "('x',)"),
    "a name that is dropped": imported("os", "v2 = IMPORT_FROM 'x' v9; POP v2; POP v9", "('x',)"),
    "another value that is bound": imported("os", "v2 = IMPORT_FROM 'x' v9; STORE_FAST 'x' v7; POP v9", "('x',)"),
    "a name of another module": imported("os", "v2 = IMPORT_FROM 'x' v7; STORE_FAST 'x' v2; POP v9", "('x',)"),
    "a name that is an attribute": imported("os", "v2 = IMPORT_FROM 'x' v9; STORE_ATTR 'x' v2 v7; POP v9", "('x',)"),
    "a module that is not dropped": imported("os", f"{taken('x', 'y')}; v7 = LOAD_FAST 'a'; return v7", TWO),
    "no name": imported("os", "POP v9", "()"),
}


@pytest.mark.parametrize("what", KEPT)
def test_names_that_one_statement_does_not_bind(what: str) -> None:
    assert "from os import" not in statements(KEPT[what], FUNCTION)


PART = "v2 = IMPORT_FROM 'path' v9; "
PARTS = {
    "a part that is bound twice": imported("os.path", f"{PART}STORE_FAST 'a' v2; STORE_FAST 'b' v2; POP v9"),
    "a part that is used before": imported("os.path", f"{PART}v3 = BUILD_TUPLE v2; STORE_FAST 'a' v2; return v3"),
    "a part with a value behind it": imported("os.path", f"{PART}v3 = CALL () v7; STORE_FAST 'a' v2; return v3"),
    "a name of a module with the same name": imported("os.path", f"{PART}STORE_FAST 'a' v2", "('path',)"),
}


@pytest.mark.parametrize("what", PARTS)
def test_a_part_that_no_statement_binds(what: str) -> None:
    assert "import " not in statements(PARTS[what], FUNCTION)


def test_each_name_is_bound_where_no_statement_binds_them_all() -> None:
    rows = imported("os", f"{taken('x')}; v3 = IMPORT_FROM 'y' v9; POP v9; return v3", TWO)
    assert statements(rows, FUNCTION) == (
        "v9 = <Module name='os' level=0 is_lazy=False>\n"
        "x = <FromModule module=v9 name='x'>\nreturn <FromModule module=v9 name='y'>\n"
    )


def test_what_is_no_module_has_no_star() -> None:
    with pytest.raises(DecompilationError, match="not an imported module"):
        statements("v5 = LOAD_FAST 'b'; IMPORT_STAR v5", FUNCTION)


INNER = "def f():\n    os = 1\n    return lambda: lambda: os"
USED = ("def f(os): return 1", "def f(): return lambda: os", INNER, "x = 1")


@pytest.mark.parametrize("source", USED)
def test_a_variable_that_is_used_is_not_bound_for_a_path(source: str) -> None:
    assert "import" not in statements(imported("os.path", "return v9"), code_of(source))


@pytest.mark.parametrize(
    ("row", "is_bound"),
    [("STORE_GLOBAL 'os' v8", False), ("STORE_GLOBAL 'a' v8", True), ("v7 = LOAD_ATTR 'os' v8", True)],
)
def test_a_global_that_is_used_is_not_bound_for_a_path(row: str, is_bound: bool) -> None:
    text = statements(imported("os.path", f"{row}; return v9"), code_of("def f(): return 1"))
    assert text.startswith("import os.path") is is_bound
