"""The house rules that a machine can check: each takes a source file and returns its offences.

`tests/test_architecture.py` runs every rule over the project, and over a seeded offender.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

ROOMS = 16
FILE_CAP = 500
FUNCTION_CAP = 60

# A part of depyf may import itself and what stands above it in this list; a dotted part is a package inside another.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("version", "errors"),
    ("bytecode",),
    ("verify",),
    ("decompiler.steps",),
    ("decompiler.graph",),
    ("decompiler.lift",),
    ("decompiler.structure",),
    ("decompiler.passes",),
    ("decompiler.emit",),
    ("decompiler.pipeline",),
    ("decompiler.show",),
    ("decompiler.live",),
    ("decompiler",),
    ("api",),
    ("model",),
    ("trace",),
    ("findings",),
    ("links",),
    ("views",),
    ("trace.job",),
    ("torch",),
    ("compat",),
    ("fix",),
    ("integrations",),
    ("notebook",),
    ("pytest_plugin",),
    ("cli",),
)
RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}

# The only files that ask which Python or which torch this is.
VERSION_AWARE = ("src/depyf/bytecode/versions/", "src/depyf/torch/adapters/")

# The rooms beside the package, and those of them that each may import; only tests import tests.
YARD: dict[str, frozenset[str]] = {
    "src": frozenset(),
    "examples": frozenset({"examples"}),
    "corpus": frozenset({"corpus"}),
    "benchmarks": frozenset({"corpus", "benchmarks", "examples"}),
    "scripts": frozenset({"corpus", "benchmarks", "scripts", "examples"}),
    "docs": frozenset({"scripts"}),
    "tests": frozenset({"corpus", "benchmarks", "scripts", "tests", "examples"}),
}

# What a part may import from outside the standard library.
THIRD_PARTY = {
    "torch": {"torch", "sympy", "numpy", "triton", "prometheus_client", "opentelemetry"},
    "notebook": {"IPython", "torch"},
    "views": {"jinja2", "markupsafe", "rich"},
    "trace": {"fsspec", "zstandard"},
    "cli": {"click", "rich", "distributed", "mcp", "anyio", "pydantic"},
    "fix": {"torch", "libcst"},
    "integrations": {"transformers", "lightning", "pytorch_lightning", "accelerate"},
    "pytest_plugin": {"pytest"},
}

# Written for Python 3.7 to 3.15 and measured as it is; it is no part of the package.
FOREIGN = ("benchmarks/roundtrip/",)

# Programs as users write them, with the names that they give.
OF_USERS = ("corpus/guards/programs/", "tests/bytecode/programs/")

# A name that clients of earlier releases import.
NAMED_BY_CLIENTS = ("src/depyf/compat/explain/utils.py",)

STDLIB = sys.stdlib_module_names | {"annotationlib"}
"""Modules of every standard library: the last are those that only newer Pythons have."""


def part_of(module: str) -> str:
    """Return the most specific part of `LAYERS` that holds a module below `depyf`, or the module's first name."""
    names = module.split(".")
    for count in range(len(names), 0, -1):
        if ".".join(names[:count]) in RANK:
            return ".".join(names[:count])
    return names[0]


@dataclass(frozen=True)
class Source:
    """A file of the project: its path relative to the root, with `/`, and its text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(ast.walk(self.tree))

    @property
    def module(self) -> str:
        """The dotted name below `depyf`, or '' outside of the package and for `depyf` itself."""
        if not self.path.startswith("src/depyf/"):
            return ""
        dotted = self.path.removeprefix("src/depyf/").removesuffix(".py").replace("/", ".")
        name = dotted.removesuffix("__init__").removesuffix(".")
        return "" if name == "__main__" else name

    @property
    def part(self) -> str:
        """The part of `LAYERS` that the module belongs to, or its first name where it belongs to none."""
        return part_of(self.module)

    @property
    def room(self) -> str:
        """The name directly under `src/depyf`, or '' outside of it and for `depyf` itself."""
        return self.module.partition(".")[0]

    @property
    def generated(self) -> bool:
        return "generated" in self.text.partition("\n")[0].lower()


@dataclass(frozen=True)
class Offence:
    """What is wrong, and where."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


Rule = Callable[[Source], list[Offence]]


def package(source: Source) -> bool:
    """Return whether `source` belongs to the package."""
    return source.path.startswith("src/depyf/")


def _imports(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the line and the dotted name of everything imported, lazily or by name too."""
    for node in source.nodes:
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), level=0, names=names):
                yield from ((node.lineno, f"{module}.{alias.name}") for alias in names)
            case ast.ImportFrom(level=level) if level:
                yield node.lineno, "."
            case ast.Call(
                func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node.lineno, name


def import_direction(source: Source) -> list[Offence]:
    """Imports go downwards only, in the order of `LAYERS`."""
    if not package(source) or not source.part:
        return []
    if source.part not in RANK:
        return [Offence(source.path, 1, f"'{source.part}' has no place in LAYERS")]
    offences = []
    for line, name in _imports(source):
        if name == ".":
            offences.append(Offence(source.path, line, "a relative import hides its direction"))
        if name.split(".")[0] != "depyf":
            continue
        part = part_of(name.partition(".")[2])
        if RANK.get(part, len(LAYERS)) > RANK[source.part]:
            offences.append(Offence(source.path, line, f"'{source.part}' imports {name}, which stands above it"))
        elif part != source.part and RANK[part] == RANK[source.part]:
            offences.append(Offence(source.path, line, f"'{source.part}' imports {name}, which stands beside it"))
    return offences


def yard_direction(source: Source) -> list[Offence]:
    """Imports between the package and the rooms beside it go one way, in the order of `YARD`."""
    room = source.path.partition("/")[0]
    if room not in YARD:
        return [Offence(source.path, 1, f"'{room}' has no place in YARD")]
    return [
        Offence(source.path, line, f"'{room}' imports {name}")
        for line, name in _imports(source)
        if name.partition(".")[0] in YARD and name.partition(".")[0] not in YARD[room]
    ]


def third_party(source: Source) -> list[Offence]:
    """The decompiler has no dependencies, and only `depyf/torch/` imports torch."""
    if not package(source):
        return []
    allowed = THIRD_PARTY.get(source.room, set()) | {"depyf", "", "__future__"} | STDLIB
    return [
        Offence(source.path, line, f"imports {name}")
        for line, name in _imports(source)
        if name.split(".")[0] not in allowed
    ]


_VERSION_SOURCES = re.compile(
    r"\bsys\.(version|version_info|hexversion|implementation)\b"
    r"|\bplatform\.python_version(_tuple)?\b|\bget_python_version\b|\bpy_version\w*"
    r"|\btorch\.(__version__|version|torch_version)\b|\bTorchVersion\b"
)
_PYTHON_OR_TORCH = (2, 3)


def _is_version_tuple(node: ast.AST) -> bool:
    match node:
        case ast.Tuple(elts=[ast.Constant(value=int(major)), *rest]):
            return major in _PYTHON_OR_TORCH and 1 <= len(rest) <= 2 and all(isinstance(x, ast.Constant) for x in rest)
        case ast.Tuple(elts=[_, *_] as parts) | ast.Set(elts=parts) | ast.List(elts=[_, *_] as parts):
            return all(_is_version_tuple(part) for part in parts)
    return False


def _names_a_version(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.lower().strip("_").split("_")[-1] == "version"
        case ast.Subscript(value=value):
            return _names_a_version(value)
    return False


def version_tests(source: Source) -> list[Offence]:
    """Nobody outside `VERSION_AWARE` asks for a version of Python or torch."""
    if not package(source) or source.path.startswith(VERSION_AWARE):
        return []
    offences = []
    for node in source.nodes:
        match node:
            case ast.Attribute() | ast.Name() if _VERSION_SOURCES.search(ast.unparse(node)):
                offences.append(Offence(source.path, node.lineno, f"asks for {ast.unparse(node)}"))
            case ast.ImportFrom(module="sys" | "platform" | "torch" | "sysconfig", names=names):
                asked = [a.name for a in names if _VERSION_SOURCES.search(f"{node.module}.{a.name}")]
                offences.extend(Offence(source.path, node.lineno, f"imports {name}") for name in asked)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                parts = [left, *comparators]
                # Whether two versions are the same is no question about which they are.
                if all(isinstance(op, ast.Eq | ast.NotEq) for op in ops) and all(map(_names_a_version, parts)):
                    continue
                if any(_is_version_tuple(part) for part in parts) or any(_names_a_version(part) for part in parts):
                    offences.append(Offence(source.path, node.lineno, f"compares a version: {ast.unparse(node)}"))
            case ast.Match(subject=subject) if _names_a_version(subject):
                offences.append(Offence(source.path, node.lineno, "matches a version"))
    return offences


def file_cap(source: Source) -> list[Offence]:
    """No file is longer than `FILE_CAP` lines, unless it is generated."""
    lines = source.text.count("\n")
    if lines <= FILE_CAP or source.generated:
        return []
    return [Offence(source.path, lines, f"{lines} lines, {FILE_CAP} at most")]


def function_cap(source: Source) -> list[Offence]:
    """No function is longer than `FUNCTION_CAP` lines."""
    offences = []
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_CAP:
                what = f"{node.name} has {lines} lines, {FUNCTION_CAP} at most"
                offences.append(Offence(source.path, node.lineno, what))
    return offences


def recursion(source: Source) -> list[Offence]:
    """Nothing calls itself: programs are deeper than Python's stack."""
    if not package(source):
        return []
    offences = []
    for function in source.nodes:
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name)):
                    if name == function.name and not _is_shadowed(node.func, function):
                        offences.append(Offence(source.path, node.lineno, f"{name} calls itself"))
    return offences


def _is_shadowed(called: ast.expr, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether `called` is a plain name inside a method, where the method's own name is not in scope."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    is_method = bool(arguments) and arguments[0].arg in ("self", "cls")
    return isinstance(called, ast.Name) and is_method


_VAGUE = re.compile(r"(^|_)(utils?|helpers?|misc)(_|$)")
_VAGUE_CLASS = re.compile(r"(Manager|Helpers?|Utils?)$")


def vague_names(source: Source) -> list[Offence]:
    """Nothing is named for what it is used for: no `utils`, no `helpers`, no `Manager`."""
    if source.path.startswith((*OF_USERS, *NAMED_BY_CLIENTS)):
        return []
    offences = []
    if any(_VAGUE.search(name.removesuffix(".py").lower()) for name in source.path.split("/")):
        offences.append(Offence(source.path, 1, "the file's name says nothing"))
    for node in source.nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if _VAGUE.search(name):
                offences.append(Offence(source.path, node.lineno, f"'{name}' says nothing"))
            case ast.ClassDef(name=name) if _VAGUE_CLASS.search(name) or _VAGUE.search(name):
                offences.append(Offence(source.path, node.lineno, f"'{name}' says nothing"))
    return offences


_TABLE_ENTRIES = 150


def generated_say_so(source: Source) -> list[Offence]:
    """A table too large to be written by hand says in line 1 that it is generated."""
    if source.generated:
        return []
    offences = []
    for node in source.nodes:
        match node:
            case ast.Dict(keys=entries) | ast.List(elts=entries) | ast.Tuple(elts=entries) | ast.Set(elts=entries):
                if len(entries) >= _TABLE_ENTRIES:
                    what = f"a table of {len(entries)} entries; line 1 does not say 'generated'"
                    offences.append(Offence(source.path, node.lineno, what))
    return offences


# In pieces, so that this file does not offend itself.
_HOMES = "|".join(["ro" + "ot", "wo" + "rk", "tmp" + "/w", "opt" + "/wheels", "opt" + "/pypi"])
_MACHINE = re.compile(f"/({_HOMES})[/ \"'`)]")


def machine_paths(source: Source) -> list[Offence]:
    """No path of the machine that this was written on is in the tree."""
    return [
        Offence(source.path, number, f"a path of one machine: {line.strip()[:80]}")
        for number, line in enumerate(source.text.splitlines(), 1)
        if _MACHINE.search(line)
    ]


PYTHON_RULES: tuple[Rule, ...] = (
    import_direction,
    yard_direction,
    third_party,
    version_tests,
    file_cap,
    function_cap,
    recursion,
    vague_names,
    generated_say_so,
)
TEXT_RULES: tuple[Rule, ...] = (machine_paths,)

_TEXT_SUFFIXES = {"", ".py", ".pyi", ".md", ".toml", ".txt", ".json", ".sh", ".yml", ".yaml", ".cfg", ".html", ".js"}
_NOT_OURS = {"build", "dist", "depyf_output", "__pycache__", "node_modules", "torch_compile_debug"}


def project_files(root: Path = ROOT) -> list[Source]:
    """Read every text file of the project, in the order of their paths."""
    sources = []
    directories = [root]
    while directories:
        for path in directories.pop().iterdir():
            ours = not path.name.startswith(".") or path.name in {".ci", ".github", ".gitignore"}
            if path.is_symlink() or not ours or path.name in _NOT_OURS or path.name.endswith(".egg-info"):
                continue
            if path.is_dir():
                directories.append(path)
            elif path.suffix in _TEXT_SUFFIXES:
                sources.append(Source(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")))
    return sorted(sources, key=lambda source: source.path)


def is_python(source: Source) -> bool:
    """Return whether the rules for Python files apply to `source`."""
    return source.path.endswith(".py") and not source.path.startswith(FOREIGN)


def import_circles(sources: Sequence[Source]) -> list[tuple[str, ...]]:
    """Return the modules that import each other in a circle; imports in functions and for types alone count too."""
    modules = {_dotted(source): source for source in sources if is_python(source)}
    graph = {name: sorted(_imported_modules(source, modules)) for name, source in modules.items()}
    return [circle for circle in strong_components(graph) if len(circle) > 1]


def _dotted(source: Source) -> str:
    path = source.path.removeprefix("src/").removesuffix(".py").replace("/", ".")
    return path.removesuffix(".__init__")


def _imported_modules(source: Source, known: Collection[str]) -> set[str]:
    """Return the modules that a file imports, or imports names from; the packages around them do not count."""
    imported = set()
    for _, name in _imports(source):
        imported.update(module for module in (name, name.rpartition(".")[0]) if module in known)
        if name in known:
            imported.discard(name.rpartition(".")[0])
    return imported - {_dotted(source)}


def strong_components(graph: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the strongly connected components of a graph (Tarjan 1972, with an explicit stack)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    waiting: list[str] = []
    components = []
    for root in graph:
        work = [(root, iter(graph[root]))] if root not in number else []
        for node, _ in work:
            number[node] = lowest[node] = len(number)
            waiting.append(node)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in number:
                    number[successor] = lowest[successor] = len(number)
                    waiting.append(successor)
                    work.append((successor, iter(graph[successor])))
                    break
                if successor in waiting:
                    lowest[node] = min(lowest[node], number[successor])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[node])
                if lowest[node] == number[node]:
                    cut = waiting.index(node)
                    components.append(tuple(sorted(waiting[cut:])))
                    del waiting[cut:]
    return components
