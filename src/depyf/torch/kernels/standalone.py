"""Write one file for one kernel. It makes inputs, launches the kernel, and compares it with the eager graph nodes.

The file needs torch, and triton for a Triton kernel, but not depyf. This module needs neither torch nor triton.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from depyf.bytecode.records import dataclass
from depyf.links.inductor.graph import Graph, Node
from depyf.links.inductor.line import Launched
from depyf.links.inductor.module import Buffer, Module
from depyf.links.inductor.statements import function_name, parameters

_TYPES = {
    **dict.fromkeys(("fp32", "float"), "float32"),
    **dict.fromkeys(("fp64", "double"), "float64"),
    **dict.fromkeys(("fp16", "half", "at::Half", "c10::Half"), "float16"),
    **dict.fromkeys(("bf16", "bfloat16", "at::BFloat16", "c10::BFloat16"), "bfloat16"),
    **dict.fromkeys(("i1", "bool"), "bool"),
    **dict.fromkeys(("i8", "int8_t"), "int8"),
    **dict.fromkeys(("u8", "uint8_t"), "uint8"),
    **dict.fromkeys(("i16", "int16_t"), "int16"),
    **dict.fromkeys(("i32", "int32_t"), "int32"),
    **dict.fromkeys(("i64", "int64_t"), "int64"),
}
"""torch's dtypes by their names in a signature."""

_TOLERANCE = 1e-4
_TOLERANCES = {"f64": 1e-7, "f16": 1e-2, "bf16": 4e-2, **dict.fromkeys(("i64", "i32", "i16", "i8", "u8", "b8"), 1e-7)}
"""Tolerances by the name of a dtype in a graph. Eager rounds to a small dtype after each node, Inductor does not."""
_SIGNATURE = re.compile(r"'signature': (?P<types>\{[^}]*\})")
_SCAN = re.compile(r"(?:_scan\w*|cumsum|cumprod)\(")
"""A call that scans: of Triton's, or of Inductor's helpers."""
_REDUCES = re.compile(r"\btl\.reduce\(|\btriton_helpers\.\w+\(|\btl\.(?:arg)?(?:max|min)\(")
"""A call of a reduction other than a sum."""
_CALLS = re.compile(r"\b(?:libdevice|tl_math|triton_helpers)\.\w+\(")
"""A call that may need a function of CUDA's libdevice."""
_DEVICE = re.compile(r"device\(type='\w+'(?:, index=\w+)?\)")


class NotAlone(ValueError):
    """The kernel cannot be written alone; the message says why."""


@dataclass(frozen=True, slots=True)
class Told:
    """The head of the file: where the kernel is from, and the user's lines by the line of its text."""

    origin: str
    places: Mapping[int, str]


def standalone(launched: Launched, module: Module, graph: Graph, context: Told) -> str:
    """Return the text of a file that runs a kernel alone.

    Args:
        launched: the launch of the kernel, with its nodes.
        module: Inductor's module.
        graph: the lowered graph.
        context: the user's lines of the kernel, and its origin in words.

    Raises:
        NotAlone: the size of an argument is not known.
    """
    arguments = list(_arguments(launched))
    expected, eager = _eager(launched, module, graph)
    is_triton = launched.kernel.language == "triton"
    parts = [
        _head(launched, context),
        _environment(launched) if is_triton else _PLAIN,
        _kernel(launched, context),
        "\n".join(["def inputs():", *(f"    {line}" for line in arguments), ""]),
        eager,
        _LAUNCH_TRITON.format(name=function_name(launched.kernel)) if is_triton else _LAUNCH_CPP,
        _MAIN.format(expected=repr(expected), name=repr(launched.kernel.name)),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _head(launched: Launched, origin: Told) -> str:
    what = "" if launched.kernel.language == "triton" else " It needs a C++ compiler."
    return (
        f'"""{launched.kernel.name}, a kernel of Inductor\'s, alone: {origin.origin}. Written by depyf.\n\n'
        "It makes inputs, runs the kernel, and compares with the nodes of the graph, run eagerly. Inputs are random,\n"
        "from a seed, unless a file beside this one with the same name and `.pt` holds a dict of them: by parameter.\n"
        f'{what.strip()}\n"""\n'
    ).replace('\n\n"""', '\n"""')


def _environment(launched: Launched) -> str:
    """Return the setup of Triton's interpreter, for use without a GPU or on request."""
    text = Path(__file__).with_name("interpreter.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    left_out = _left_out(launched)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        if isinstance(node, ast.With):
            node.body = [child for child in node.body if not left_out & set(_names(child))]
    tree.body = [
        statement
        for statement in tree.body
        if not isinstance(statement, ast.Expr) and not left_out & set(_defined(statement))
    ]
    is_of_cpu = "type='cpu'" in launched.kernel.text
    condition = "True" if is_of_cpu else '"--interpret" in sys.argv or not torch.cuda.is_available()'
    short = re.sub(r"\n\n+(?= |def |@|class )", "\n", ast.unparse(tree))
    return f"{short}\n" + _CHOICE.format(condition=condition)


def _left_out(launched: Launched) -> frozenset[str]:
    """Return the definitions of the interpreter that a kernel does not need, to keep its file short."""
    if launched.kernel.is_own:
        return frozenset()
    text, left_out = launched.kernel.text.partition("@triton.jit")[2], {"_take_own_kernels", "_with_constants"}
    scans, reduces = _SCAN.search(text), _REDUCES.search(text)
    left_out |= set() if scans else {"_scanned", "ScanOps"}
    left_out |= set() if reduces else {"_reduced", "ReduceOps"}
    left_out |= set() if scans or reduces else {"_combined"}
    return frozenset(left_out if _CALLS.search(text) else left_out | {"_on_blocks", "_SAME", "_OTHERS", "_FUNCTIONS"})


def _defined(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def _names(statement: ast.AST) -> Iterator[str]:
    return (node.id for node in ast.walk(statement) if isinstance(node, ast.Name))


def _kernel(launched: Launched, links: Told) -> str:
    """Return the kernel, each line with the user's lines that it is linked to."""
    rows = launched.kernel.text.splitlines()
    comment = "#" if launched.kernel.language == "triton" else "//"
    for number, place in links.places.items():
        if 0 < number <= len(rows) and rows[number - 1].strip():
            rows[number - 1] = f"{rows[number - 1].rstrip()}  {comment} {place}"
    text = "\n".join(rows).strip("\n")
    if launched.kernel.language == "triton":
        return text
    return f'KERNEL = r"""\n{text}\n"""\nTYPES = {list(launched.kernel.types)!r}'


def _arguments(launched: Launched) -> Iterator[str]:
    """Yield the lines that create the arguments of the launch."""
    names, dtypes = parameters(launched.kernel), _dtypes(launched)
    yield "made = {}"
    for name, text, value in zip(names, launched.launch.arguments, launched.launch.values):
        dtype = dtypes.get(name, "")
        if isinstance(value, Buffer):
            tensor = f"tensor({value.size}, {value.stride}, torch.{dtype or value.dtype or 'float32'}, {value.offset})"
            yield f"made[{name!r}] = {tensor}"
        elif value is not None:
            yield f"made[{name!r}] = {value!r}"
        elif text.endswith(".item()"):
            yield f"made[{name!r}] = 1.0"
        elif text == "None":
            yield f"made[{name!r}] = None"
        else:
            raise NotAlone(f"{launched.kernel.name}: Inductor's module does not give the size of {text}")
    # The grid of a template, or of a program's own kernel, follows the parameters.
    for number, value in enumerate(
        launched.launch.values[len(names) :] if launched.kernel.language == "triton" else ()
    ):
        yield f"made['grid {number}'] = {value!r}"
    yield "made.update(saved())"
    yield "return made"


def _dtypes(launched: Launched) -> dict[str, str]:
    """Return the dtypes of the pointers that a kernel takes."""
    names = parameters(launched.kernel)
    if launched.kernel.language != "triton":
        types = zip(names, launched.kernel.types)
        return {
            name: _TYPES.get(declared.replace("const", "").strip(" *&"), "")
            for name, declared in types
            if "*" in declared
        }
    signature = _SIGNATURE.search(launched.kernel.text)
    declared_types = ast.literal_eval(signature["types"]) if signature is not None else {}
    return {
        name: _TYPES.get(declared[1:], "") for name, declared in declared_types.items() if str(declared).startswith("*")
    }


def _eager(launched: Launched, module: Module, graph: Graph) -> tuple[dict[str, tuple[str, float]], str]:
    """Return the node and the tolerance of each result of the kernel, and the text of a function that computes them.

    A result that the graph's nodes cannot compute from the kernel's inputs is left out.
    """
    given = {node: name for name, node in reversed(launched.before.items()) if node and name in launched.reads}
    # An input may hold an intermediate step of a node. Then its relation to the other inputs is unknown.
    values = dict(zip(parameters(launched.kernel), launched.launch.values))
    is_known = all(launched.before.get(name) for name in launched.reads if isinstance(values.get(name), Buffer))
    wanted = {name: node for name, node in launched.after.items() if node and is_known}
    lines: dict[str, str] = {}
    expected = {}
    for name, node in wanted.items():
        needed = _needed(node, given, module, graph)
        if needed is not None:
            expected[name] = node, _tolerance([graph.nodes[node], *needed], graph)
            lines.update((operand.name, f"{operand.name} = {_text(operand)}") for operand in needed)
    order = [name for name in graph.nodes if name in lines]
    used = {name for computed in order for name in graph.nodes[computed].uses}
    yielded = [f"{node} = given[{name!r}]{_shaped(graph.nodes[node])}" for node, name in given.items() if node in used]
    yielded += [f"{name} = {value!r}" for name, value in module.numbers.items() if name in used and name not in given]
    result = ", ".join(f"{name!r}: {node}" for name, (node, _) in expected.items())
    body = [*yielded, *(lines[name] for name in order), f"return {{{result}}}"]
    return expected, "\n".join(["def eager(given):", *(f"    {line}" for line in body)])


def _tolerance(nodes: list[Node], graph: Graph) -> float:
    """Return the tolerance of a result: that of the least precise dtype among its nodes and their inputs."""
    taken = (graph.nodes[name] for node in nodes for name in node.uses if name in graph.nodes)
    return max(_TOLERANCES.get(node.dtype, _TOLERANCE) for node in (*nodes, *taken) if node.dtype or node in nodes)


def _needed(name: str, given: Mapping[str, str], module: Module, graph: Graph) -> list[Node] | None:
    """Return the nodes that a node is computed from, back to the kernel's inputs; None if these are not sufficient."""
    needed: dict[str, Node] = {}
    pending = [name]
    while pending:
        node = graph.nodes.get(pending.pop())
        if node is None or node.name in needed or (node.name in given and node.name != name):
            continue
        if not node.operation:
            if node.name in module.numbers:
                continue
            return None
        needed[node.name] = node
        pending += [use for use in node.uses if use in graph.nodes]
    return list(needed.values())


def _text(node: Node) -> str:
    return _DEVICE.sub("DEVICE", node.text)


def _shaped(node: Node) -> str:
    """Return an expression that gives a buffer the shape of a node."""
    return f".clone().reshape({node.sizes})" if node.sizes is not None else ".clone()"


_PLAIN = """
import pathlib
import sys

import torch
import torch._inductor.inductor_prims
from torch import device, inf, nan

DEVICE = torch.device("cpu")
"""

_CHOICE = """
import pathlib
import sys
try: import triton
except ImportError: sys.exit("this is a kernel of Triton's: it needs `pip install triton`")
import torch._inductor.inductor_prims
from torch import device, inf, nan
INTERPRETED = {condition}
DEVICE = torch.device("cpu" if INTERPRETED else "cuda")
if INTERPRETED:
    interpreter = interpreting()
    interpreter.__enter__()
"""

_LAUNCH_TRITON = """
def launch(arguments):
    stream = 0 if INTERPRETED else torch.cuda.current_stream().cuda_stream
    {name}.run(*arguments.values(), stream=stream)

def timed(arguments):
    if not INTERPRETED:
        import triton.testing
        microseconds = triton.testing.do_bench(lambda: launch(arguments)) * 1000
        print(f"{{microseconds:.2f}} us on {{torch.cuda.get_device_name()}}")
"""

_LAUNCH_CPP = """
def launch(arguments):
    from torch._inductor.async_compile import AsyncCompile
    AsyncCompile().cpp_pybinding(TYPES, KERNEL)(*arguments.values())

def timed(arguments):
    pass
"""

_MAIN = """
EXPECTED = {expected}
"The node of the graph for each result of the kernel, and its tolerance."

def tensor(size, stride, dtype, offset):
    length = offset + 1 + sum((each - 1) * step for each, step in zip(size, stride)) if 0 not in size else offset
    if dtype.is_floating_point:
        storage = torch.randn(length, dtype=torch.float32).to(dtype)
    else:
        storage = torch.randint(0, 2, (length,)).to(dtype)
    return storage.to(DEVICE).as_strided(size, stride, offset)

def saved():
    path = pathlib.Path(__file__).with_suffix(".pt")
    found = torch.load(path, weights_only=True) if path.exists() else {{}}
    return {{name: each.to(DEVICE) if isinstance(each, torch.Tensor) else each for name, each in found.items()}}

def main():
    torch.manual_seed(0)
    given = inputs()
    expected = eager(given)
    launch(given)
    wrong = 0
    for name, right in expected.items():
        node, tolerance = EXPECTED[name]
        got = given[name].reshape(right.shape).to(right.dtype)
        same = torch.allclose(got.double(), right.double(), tolerance, tolerance, equal_nan=True)
        most = (got.double() - right.double()).abs().nan_to_num().max().item() if got.numel() else 0.0
        wrong += not same
        verdict = f"{{'is' if same else 'IS NOT'}} {{node}} within {{tolerance}}"
        print(f"{{name}} {{verdict}}: at most {{most:.3g}} apart")
    if not expected:
        print({name} + " ran; none of its results can be computed by the graph's nodes from its inputs alone")
    timed(given)
    sys.exit(1 if wrong else 0)

if __name__ == "__main__":
    main()
"""
