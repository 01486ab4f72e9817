"""The house rules, checked over the project; and each rule checked over a seeded offender."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from benchmarks.function_sizes import too_large
from tests.architecture_rules import (
    FILE_CAP,
    FUNCTION_CAP,
    LAYERS,
    PYTHON_RULES,
    ROOMS,
    TEXT_RULES,
    Rule,
    Source,
    file_cap,
    function_cap,
    generated_say_so,
    import_circles,
    import_direction,
    is_python,
    machine_paths,
    package,
    project_files,
    recursion,
    third_party,
    vague_names,
    version_tests,
    yard_direction,
)

FILES = project_files()
GRAPH = "src/depyf/decompiler/graph/a.py"


@pytest.mark.parametrize("rule", PYTHON_RULES, ids=lambda rule: rule.__name__)
def test_python_files_keep_the_rule(rule: Rule) -> None:
    offences = [str(offence) for source in FILES if is_python(source) for offence in rule(source)]
    assert not offences, "\n" + "\n".join(offences)


@pytest.mark.parametrize("rule", TEXT_RULES, ids=lambda rule: rule.__name__)
def test_all_files_keep_the_rule(rule: Rule) -> None:
    offences = [str(offence) for source in FILES for offence in rule(source)]
    assert not offences, "\n" + "\n".join(offences)


def test_functions_of_the_package_are_short_and_branch_little() -> None:
    assert [str(function) for function in too_large(lines=40, branches=15)] == []


def test_the_rules_see_the_package() -> None:
    parts = {source.part for source in FILES if package(source)}
    known = {part for layer in LAYERS for part in layer}
    assert {"bytecode", "torch", "cli"} <= parts <= known | {""}


def test_the_top_of_the_package_is_a_house_of_few_rooms() -> None:
    rooms = {source.room for source in FILES if package(source) and source.room not in ("", "version", "errors")}
    assert len(rooms) <= ROOMS, sorted(rooms)


def test_each_package_says_what_it_is() -> None:
    heads = [source for source in FILES if package(source) and source.path.endswith("/__init__.py")]
    assert len(heads) > ROOMS
    assert [source.path for source in heads if not ast.get_docstring(source.tree)] == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert import_circles(FILES) == []


def test_a_circle_is_found_also_through_imports_in_functions_and_for_types() -> None:
    lazy = "def f():\n    from depyf.report import b\n"
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from depyf.report.c import C\n"
    files = {"a": lazy, "b": typed, "c": "import depyf.report.a\n", "d": "from depyf.report.a import f\n"}
    sources = [Source(f"src/depyf/report/{name}.py", text) for name, text in files.items()]
    assert import_circles(sources) == [("depyf.report.a", "depyf.report.b", "depyf.report.c")]
    assert import_circles([*sources[:2], sources[3]]) == []


LONG_FUNCTION = "def f():\n" + "    x = 1\n" * FUNCTION_CAP
TABLE = "TABLE = {\n" + "".join(f"    {n}: 'x',\n" for n in range(200)) + "}\n"
PATH_OF_A_MACHINE = "/".join(["", "root", "x"])

OFFENDERS = [
    (import_direction, GRAPH, "from depyf.decompiler.lift import stack\n"),
    (import_direction, GRAPH, "from depyf.decompiler import lift\n"),
    (import_direction, GRAPH, "import depyf\n"),
    (import_direction, GRAPH, "def f():\n    from depyf.decompiler.emit.lines import emit\n"),
    (import_direction, "src/depyf/verify/a.py", "import importlib\nimportlib.import_module('depyf.api')\n"),
    (import_direction, "src/depyf/decompiler/lift/a.py", "from ..emit import lines\n"),
    (import_direction, "src/depyf/errors.py", "from depyf.version import __version__\n"),
    (import_direction, "src/depyf/somewhere/a.py", "x = 1\n"),
    (yard_direction, "corpus/a.py", "from benchmarks.bar import Bar\n"),
    (yard_direction, "benchmarks/a.py", "def f():\n    from scripts import golden\n"),
    (yard_direction, "scripts/a.py", "import importlib\nimportlib.import_module('tests.oracles')\n"),
    (yard_direction, "src/depyf/api.py", "import corpus.small_models\n"),
    (yard_direction, "tools/a.py", "x = 1\n"),
    (third_party, "src/depyf/report/a.py", "import torch\n"),
    (third_party, "src/depyf/decompiler/api.py", "def f():\n    from torch._dynamo import config\n"),
    (third_party, "src/depyf/__init__.py", "import importlib\nimportlib.import_module('torch')\n"),
    (third_party, "src/depyf/decompiler/api.py", "import torch.fx as fx\n"),
    (third_party, "src/depyf/decompiler/emit/a.py", "import rich\n"),
    (version_tests, GRAPH, "import sys\nif sys.version_info >= (3, 11): pass\n"),
    (version_tests, GRAPH, "import sys\nNEW = sys.version_info[1]\n"),
    (version_tests, GRAPH, "from sys import version_info\n"),
    (version_tests, GRAPH, "def f(code): return code.version < (3, 12)\n"),
    (version_tests, GRAPH, "def f(minor): return minor in ((3, 9), (3, 10))\n"),
    (version_tests, "src/depyf/decompiler/lift/a.py", "def f(a, b): return a.version == b\n"),
    (version_tests, "src/depyf/decompiler/lift/a.py", "def f(a):\n    match a.version:\n        case _: pass\n"),
    (version_tests, "src/depyf/torch/a.py", "import torch\nprint(torch.__version__)\n"),
    (version_tests, "src/depyf/torch/a.py", "import torch\nprint(torch.version.cuda)\n"),
    (version_tests, "src/depyf/decompiler/api.py", "import sys\nprint(sys.hexversion)\n"),
    (file_cap, GRAPH, "x = 1\n" * (FILE_CAP + 1)),
    (function_cap, GRAPH, LONG_FUNCTION),
    (function_cap, "tests/a.py", "class A:\n    async " + LONG_FUNCTION.replace("\n", "\n    ") + "\n"),
    (recursion, GRAPH, "def walk(node):\n    for n in node: walk(n)\n"),
    (recursion, GRAPH, "class A:\n    def walk(self, n):\n        return [self.walk(m) for m in n]\n"),
    (vague_names, "src/depyf/decompiler/graph/utils.py", "x = 1\n"),
    (vague_names, "src/depyf/misc/a.py", "x = 1\n"),
    (vague_names, GRAPH, "class GraphManager: pass\n"),
    (vague_names, GRAPH, "def parse_helper(): pass\n"),
    (generated_say_so, "src/depyf/bytecode/versions/a.py", TABLE),
    (generated_say_so, "src/depyf/bytecode/versions/a.py", '"""Opcodes."""\n# generated by hand\n' + TABLE),
    (machine_paths, "README.md", f"cd {PATH_OF_A_MACHINE}\n"),
    (machine_paths, "tests/a.py", f"A = '{PATH_OF_A_MACHINE[:5]}'\n"),
]


@pytest.mark.parametrize(("rule", "path", "text"), OFFENDERS)
def test_the_rule_catches_its_offender(rule: Rule, path: str, text: str) -> None:
    assert rule(Source(path, text))


INNOCENTS = [
    (
        import_direction,
        "src/depyf/decompiler/lift/a.py",
        "from depyf.decompiler.graph import tac\nfrom depyf.decompiler.lift.stack import Stack\n",
    ),
    (import_direction, "src/depyf/torch/a.py", "from depyf.model.run import Compile\n"),
    (import_direction, "src/depyf/__init__.py", "from depyf.api import decompile\n"),
    (import_direction, "tests/a.py", "import depyf\n"),
    (yard_direction, "scripts/a.py", "from benchmarks.bar import Bar\nimport corpus.small_models\n"),
    (yard_direction, "tests/quality/a.py", "from tests.oracles import proven\n"),
    (third_party, "src/depyf/torch/a.py", "import torch\n"),
    (third_party, "src/depyf/cli/a.py", "import click\nimport ast\n"),
    (version_tests, "src/depyf/bytecode/versions/a.py", "import sys\nNEW = sys.version_info >= (3, 11)\n"),
    (version_tests, "src/depyf/torch/adapters/a.py", "import torch\nNEW = torch.__version__ >= '2.9'\n"),
    (version_tests, GRAPH, "def f(shape): return shape == (10, 3)\n"),
    (version_tests, "src/depyf/report/a.py", "def f(code): return f'Python {code.version}'\n"),
    (version_tests, "src/depyf/verify/a.py", "def f(a, b): return a.version != b.version\n"),
    (version_tests, "src/depyf/decompiler/emit/a.py", "def f(conversion): return conversion == 'r'\n"),
    (file_cap, GRAPH, "x = 1\n" * FILE_CAP),
    (file_cap, "src/depyf/bytecode/versions/a.py", "# Generated by tools/x.py\n" + "x = 1\n" * 600),
    (function_cap, GRAPH, LONG_FUNCTION.removesuffix("    x = 1\n")),
    (recursion, GRAPH, "class A:\n    def verify(self, n):\n        return verify(n)\n"),
    (recursion, GRAPH, "def walk(node):\n    return node.walk()\n"),
    (vague_names, "src/depyf/torch/a.py", "from torch._dynamo import utils\nclass ContextManaged: pass\n"),
    (generated_say_so, "src/depyf/bytecode/versions/a.py", "# Generated by tools/x.py\n" + TABLE),
    (machine_paths, "README.md", "rooted in /workspace, at the root/ of it\n"),
]


@pytest.mark.parametrize(("rule", "path", "text"), INNOCENTS)
def test_the_rule_lets_the_innocent_go(rule: Rule, path: str, text: str) -> None:
    assert rule(Source(path, text)) == []


def test_every_rule_has_an_offender_and_an_innocent() -> None:
    rules = {*PYTHON_RULES, *TEXT_RULES}
    assert {rule for rule, _, _ in OFFENDERS} == rules == {rule for rule, _, _ in INNOCENTS}


@pytest.mark.parametrize("module", ["depyf", "depyf.version", "depyf.cli"])
def test_importing_does_not_import_torch(module: str) -> None:
    program = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
