"""Render `full_code_for_<fn>_<n>.py`: a function as torch runs it, with its guards, code and resume functions.

The file is a module. Every process can parse and compile it; only `torch.replica` in the original process can run it.
"""

from __future__ import annotations

import ast
import re
import textwrap
import types
from collections.abc import Mapping, Sequence
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.model.user_source import window
from depyf.torch.guards.held import Held, identifier
from depyf.torch.guards.names import Names
from depyf.torch.guards.render import IMPORTS, entry_suffix, guard_name, render
from depyf.torch.guards.tree import Tree
from depyf.torch.replica.dispatch import parameters, signature

MOST_RESUMED_LINES = 18
"""The most lines of the user's function above each resume function."""

_RULE = 108


@dataclass(frozen=True, slots=True)
class CompiledEntry:
    """One entry of torch's cache: the guards that select it, and its code.

    `source` is the transformed code as text that stands alone in a file, with the function `source_name`. It is "" if
    Dynamo's own bytecode runs; then `proof` says why. `graphs` maps each graph function that the code calls to its
    file. `differs` says where `guards` disagreed with torch at capture. `placeholders` maps names in the source to
    constants without a literal. `names` maps names in the source to the process's global names.
    """

    compile_id: str
    guards: Tree
    source: str = ""
    source_name: str = ""
    proof: str = ""
    differs: str = ""
    graphs: Mapping[str, str] = field(default_factory=dict)
    placeholders: Mapping[str, object] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CompiledFunction:
    """A function that torch compiled: the user's function or a resume function.

    `code` is its own code, before any transformation. `source` is the user's text from `first_line` on; for a resume
    function, that of its function, which continues at line `resumes_at`. `resume_name` is the global name in the code
    of the caller, for example `__resume_at_102_2`; other callers may use `other_names`.
    """

    name: str
    code: types.CodeType
    filename: str
    first_line: int
    source: str
    entries: Sequence[CompiledEntry]
    resume_name: str = ""
    resumes_at: int | None = None
    other_names: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FullCode:
    """The text of a file and the objects that the process must provide.

    `objects` are those that guards compare with, by their names in the text. `functions` is the name of each function
    in the text, in the given order.
    """

    text: str
    objects: Mapping[str, Held]
    functions: tuple[str, ...]


def render_full_code(functions: Sequence[CompiledFunction]) -> FullCode:
    """Return the text for `functions`: a root function first, then its resume functions, each once."""
    names = Names(IMPORTS)
    called = [names.reserve(_speakable(function.name)) for function in functions]
    for function, name in zip(functions, called, strict=True):
        names.taken |= {f"original_{name}", f"{name}_entries"}
        for entry in function.entries:
            suffix = entry_suffix(entry.compile_id)
            names.taken |= {f"guard_{suffix}", f"code_{suffix}"}
    body: list[str] = []
    for function, name in zip(functions, called, strict=True):
        body += _function(function, name, names)
    root, *resumes = functions
    text_of_body = "\n".join(body)
    imports = [name for name in IMPORTS if _is_word_of(name, text_of_body)]
    text = "\n".join([*_head(root, resumes, (called[0], imports), names), text_of_body]) + "\n"
    return FullCode(text, dict(names.bound), tuple(called))


def _is_word_of(name: str, text: str) -> bool:
    """Return whether a name occurs in a text as a whole word."""
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if not any(
            character.isalnum() or character == "_"
            for character in text[max(start - 1, 0) : start] + text[end : end + 1]
        ):
            return True
        start = text.find(name, end)
    return False


def _speakable(name: str) -> str:
    """Return an identifier for the name of a code object, which may be `<lambda>`."""
    return identifier(name)


def _head(
    root: CompiledFunction, resumes: Sequence[CompiledFunction], said: tuple[str, list[str]], names: Names
) -> list[str]:
    name, imports = said
    count = f"{len(root.entries)} {'entry' if len(root.entries) == 1 else 'entries'}"
    more = f", {len(resumes)} resume function{'s' if len(resumes) != 1 else ''}" if resumes else ""
    quoted = root.filename.replace("\\", "/").rsplit("/", 1)[-1]
    lines = [
        f'"""{name}, {quoted}:{root.first_line}, as torch runs it: {count}{more}.',
        "",
        "It runs in the process that made it, which has the graphs and the objects that guards compare with:",
        f"`depyf.torch.replica.Replica({name})` picks the entry that torch picks, and says why it refuses others.",
        '"""',
        "from __future__ import annotations",
        "",
        "import torch",
        "",
        "from depyf.torch.replica.runtime import (",
        *textwrap.wrap(", ".join(imports) + ",", width=_RULE, initial_indent="    ", subsequent_indent="    "),
        ")",
    ]
    bound = [(name, held.name) for name, held in names.bound.items() if name != "torch"]
    if bound:
        lines += ["", "# Names that only the live process can give:"]
        lines += [f"#   {name}{'' if name == said else f' = {said}'}" for name, said in sorted(bound)]
    return lines


def _function(function: CompiledFunction, name: str, names: Names) -> list[str]:
    title = f"# ---- {name}, {function.filename}:{function.first_line} "
    lines = ["", "", title + "-" * max(4, _RULE - len(title))]
    lines += _resumption(function) if function.resumes_at is not None else []
    for entry in function.entries:
        lines += ["", "", *_banner(entry), *render(entry.guards, entry.compile_id, names, function.filename)]
        lines += ["", "", *_code(entry, function)]
    lines += ["", "", *_original(function, name)]
    return [*lines, "", "", *_dispatch(function, name)]


def _banner(entry: CompiledEntry) -> list[str]:
    return [f"# WARNING: {entry.differs}"] if entry.differs else []


def _code(entry: CompiledEntry, function: CompiledFunction) -> list[str]:
    """Return the transformed code of an entry under the name `code_0_0`, or a comment if there is none."""
    name = f"code_{entry_suffix(entry.compile_id)}"
    lines = [f"# {graph}: {file}" for graph, file in entry.graphs.items()]
    proof = entry.proof or "not compared with Dynamo's"
    if not entry.source:
        return [*lines, f"# {name}: Dynamo's own bytecode runs, which has no source here ({proof})."]
    lines += [f"# {proof}"] if entry.proof else []
    source = _renamed(entry.source.strip("\n"), entry.source_name, name)
    lines += source.splitlines()
    if f"def __closure_of_{name}(" in source:
        cells = ", ".join("None" for _ in function.code.co_freevars)
        lines += ["", "", f"{name} = __closure_of_{name}({cells})  # the cells of the live function take their place"]
    return lines


def _renamed(source: str, before: str, after: str) -> str:
    """Return `source` with the function `before`, and the function that creates its cells, renamed to `after`."""
    lines = source.splitlines()
    inside = next((number for number, line in enumerate(lines) if line.startswith(f"def __closure_of_{before}(")), None)
    head = re.compile(
        rf"^({'' if inside is None else '    '}(?:(?:async )?def )?){re.escape(before)}(?=\(| = lambda\b)"
    )
    head_line = next((number for number, line in enumerate(lines) if head.match(line)), None)
    if head_line is not None:
        lines[head_line] = head.sub(rf"\g<1>{after}", lines[head_line])
    if inside is not None:
        lines[inside] = lines[inside].replace(f"__closure_of_{before}(", f"__closure_of_{after}(", 1)
        lines[-1] = f"    return {after}"
    return "\n".join(lines)


def _original(function: CompiledFunction, name: str) -> list[str]:
    """Return the user's function: as code if it can be defined here, otherwise as a comment."""
    source = textwrap.dedent(function.source).strip("\n")
    if function.resumes_at is None and _stands_alone(source, function):
        head = rf"def original_{name}("
        return ["# Your source.", *re.sub(rf"def {re.escape(function.name)}\s*\(", head, source, count=1).splitlines()]
    shown = [] if function.resumes_at is not None else [f"#   {line}".rstrip() for line in source.splitlines()]
    if shown:
        shown.insert(0, "# Your source:")
    return [*shown, f"# original_{name} is the function itself, not compiled."]


def _stands_alone(source: str, function: CompiledFunction) -> bool:
    """Return whether executing `source` only defines the function, without a decorator, default or closure."""
    try:
        statements = ast.parse(source).body
    except SyntaxError:
        return False
    match statements:
        case [ast.FunctionDef(decorator_list=[], args=arguments)]:
            plain = not arguments.defaults and not any(arguments.kw_defaults)
            return plain and not function.code.co_freevars
    return False


def _resumption(function: CompiledFunction) -> list[str]:
    """Return the user's function with marks on the lines where this resume function continues."""
    lines = textwrap.dedent(function.source).strip("\n").splitlines()
    at = function.resumes_at or 0
    shown = [
        f"# {'>' if number >= at else ' '} {number:5}  {line}".rstrip()
        for number, line in enumerate(lines, function.first_line)
    ]
    # The whole function is above. Repeating it for each resume function would make the file quadratic.
    shown = window(shown, at - function.first_line, MOST_RESUMED_LINES)
    return ["# The rest of your function after a graph break, with its variables as they were.", *shown]


def _dispatch(function: CompiledFunction, name: str) -> list[str]:
    rows = [
        f'        Entry("{entry.compile_id}", {guard_name(entry.compile_id)}, code_{entry_suffix(entry.compile_id)}),'
        for entry in function.entries
    ]
    rename = {given: identifier(given) for given in parameters(function.code) if not given.isidentifier()}
    given = [function.resume_name, *function.other_names] if function.resume_name else []
    alias = [f"{resume_name} = {name}" for resume_name in given]
    return [
        f"{name}_entries = Dispatch(",
        f'    "{name}",',
        *(["    [", *rows, "    ],"] if rows else ["    [],"]),
        f"    otherwise=original_{name},  # torch would compile a new entry here",
        ")",
        "",
        "",
        f"def {name}({signature(function.code, rename)}):",
        f"    return {name}_entries(locals())",
        *(["", "", *alias] if alias else []),
    ]
