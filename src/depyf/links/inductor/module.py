"""Parse Inductor's module: its kernels, their launches, and the sizes of their arguments.

before:
    triton_poi_fused_add_0 = async_compile.triton('triton_poi_fused_add_0', '''...''', device_str='cuda')
    buf0 = empty_strided_cuda((8, ), (1, ), torch.float32)
    # [Provenance debug handles] triton_poi_fused_add_0:1
    triton_poi_fused_add_0.run(arg0_1, buf0, 8, stream=stream0)
after: a kernel, and a launch of it with `arg0_1`, `buf0` of eight elements, and 8
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TypeAlias

from depyf.bytecode.records import dataclass
from depyf.model.syntax import nodes_below

_HANDLE = re.compile(r"^\s*(?:#|//) \[Provenance debug handles\] (?P<handle>\S+:\d+)\s*$", re.MULTILINE)
_COMPUTED = re.compile(r"#\s+%(?P<name>\w+) :.* = call_\w+\[")
_WRITTEN = re.compile(r"#\s+return (?P<names>%\w+(?:, ?%\w+)*)\s*$")
_MAKES = ("rand_strided", "empty_strided")
_PARTITION = "partition_"
"""The prefix of the functions for parts of a graph. With CUDA graphs, Inductor splits graphs where recording stops."""
_ARITHMETIC = (
    *(ast.Expression, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Constant, ast.Name, ast.expr_context),
    *(ast.Call, ast.Compare, ast.cmpop, ast.IfExp),
)
_FUNCTIONS = {"max": max, "min": min, "int": int, "abs": abs}


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel: `language` is `triton` or `cpp`, `first` the line of the module on which its text begins.

    types: the C++ types of its arguments. A Triton kernel has them in its text.
    computes: the nodes of the graph that Inductor lists in the comment above the kernel.
    returns: the nodes or buffers that this comment says the kernel writes.
    """

    name: str
    language: str
    text: str
    first: int
    types: tuple[str, ...] = ()
    computes: tuple[str, ...] = ()
    returns: tuple[str, ...] = ()

    @property
    def is_own(self) -> bool:
        """Whether it is the program's own kernel."""
        return "custom_kernel=True" in self.text


@dataclass(frozen=True, slots=True)
class Buffer:
    """A tensor in Inductor's layout; `dtype` is "" if the module does not show it."""

    name: str
    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int = 0
    dtype: str = ""


Value: TypeAlias = Buffer | int | float | None


@dataclass(frozen=True, slots=True)
class Launch:
    """A call of `kernel`, or of a library's kernel: its arguments as text and, if known, as values."""

    kernel: str
    handle: str
    line: int
    arguments: tuple[str, ...]
    values: tuple[Value, ...]
    out: str = ""
    """The name of the buffer that a library's kernel returns or writes to."""


@dataclass(slots=True)
class Module:
    """The kernels of a module by name, and in order its launches and its renamings of buffers.

    A renaming has no kernel: its first argument gets the new name `out`. A second argument is an index: then `out` is
    one of several results. `numbers` are the example sizes. `returned` are the buffers that the module returns, in
    order, with "" for other values.
    """

    kernels: dict[str, Kernel] = field(default_factory=dict)
    launches: list[Launch] = field(default_factory=list)
    numbers: dict[str, int | float] = field(default_factory=dict)
    returned: tuple[str, ...] = ()

    def launches_of(self, name: str) -> list[Launch]:
        """Return the launches of a kernel."""
        return [launch for launch in self.launches if launch.kernel == name]


def read_module(text: str) -> Module:
    """Return the content of the text of Inductor's module; an empty module for other text."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return Module()
    module = Module({kernel.name: kernel for kernel in _kernels(tree, text.splitlines())})
    _Reader(module, text, _examples(tree)).read(tree)
    return module


def _kernels(tree: ast.Module, rows: list[str]) -> Iterator[Kernel]:
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr=kind), args=args)):
                texts = [arg for arg in args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
                if kind.startswith(("triton", "cpp")) and texts:
                    types = args[0].elts if isinstance(args[0], ast.List) else []
                    argument_types = tuple(
                        str(argument.value) for argument in types if isinstance(argument, ast.Constant)
                    )
                    language = "triton" if kind == "triton" else "cpp"
                    nodes = _fragment(rows, node.lineno - 1)
                    yield Kernel(name, language, str(texts[-1].value), texts[-1].lineno, argument_types, *nodes)


def _fragment(rows: list[str], end: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the nodes in the comment above a kernel: the nodes that it computes, and the nodes that it writes.

    before: `#   %mul : Tensor "f32[8]"[num_users=1] = call_function[target=...](args = ...)` and `#   return %mul`
    """
    begin = end
    while begin and rows[begin - 1].startswith("#"):
        begin -= 1
    computed = [match["name"] for match in map(_COMPUTED.match, rows[begin:end]) if match is not None]
    written = [match["names"] for match in map(_WRITTEN.match, rows[begin:end]) if match is not None]
    return tuple(computed), tuple(name.strip(" %") for names in written for name in names.split(","))


def _examples(tree: ast.Module) -> dict[str, Value]:
    """Return the example inputs at the end of a module."""
    examples: dict[str, Value] = {}
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.name in ("get_args", "benchmark_compiled_module"):
            for node in nodes_below(function):
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    name = node.targets[0].id
                    value = _made(name, node.value, examples)
                    examples[name] = value if value is not None else number(node.value, examples)
    return examples


def number(node: ast.expr, known: Mapping[str, Value]) -> int | float | None:
    """Return the value of an expression of numbers and names of numbers, or None."""
    if isinstance(node, ast.Constant):  # The common case, without Python's compiler.
        return node.value if isinstance(node.value, (int, float)) else None
    names = {name: value for name, value in known.items() if isinstance(value, (int, float))}
    for child in nodes_below(node):
        is_known = not isinstance(child, ast.Name) or child.id in names or child.id in _FUNCTIONS
        is_number = not isinstance(child, ast.Constant) or isinstance(child.value, (int, float))
        if not isinstance(child, _ARITHMETIC) or not is_known or not is_number:
            return None
    code = compile(ast.Expression(node), "<size>", "eval")
    try:
        computed = eval(code, {"__builtins__": {}, **_FUNCTIONS}, names)
    except (ArithmeticError, TypeError, ValueError):
        return None
    return computed if isinstance(computed, (int, float)) else None


def _numbers(node: ast.expr, known: Mapping[str, Value]) -> tuple[int, ...] | None:
    if not isinstance(node, (ast.Tuple, ast.List)):
        return None
    elements = [number(elt, known) for elt in node.elts]
    return None if None in elements else tuple(int(element) for element in elements if element is not None)


def _made(name: str, node: ast.expr, known: Mapping[str, Value]) -> Buffer | None:
    """Return the buffer that an expression allocates, or None.

    before: `empty_strided_cuda((8, ), (1, ), torch.float32)`, or `rand_strided((8, ), (1, ), ..., dtype=torch.float32)`
    """
    match node:
        case ast.Call(func=ast.Name(id=function), args=[size, stride, *rest]) if function.startswith(_MAKES):
            sizes, strides = _numbers(size, known), _numbers(stride, known)
            dtypes = [keyword.value for keyword in node.keywords if keyword.arg == "dtype"] or rest[:1]
            dtype = ast.unparse(dtypes[0]).removeprefix("torch.") if dtypes else ""
            return None if sizes is None or strides is None else Buffer(name, sizes, strides, 0, dtype)
    return None


class _Reader:
    """Walks the function that runs a graph."""

    def __init__(self, module: Module, text: str, examples: Mapping[str, Value]) -> None:
        self._module = module
        self._known = dict(examples)
        self._parts: dict[str, ast.FunctionDef] = {}
        self._read: set[str] = set()
        self._handles = {text.count("\n", 0, match.start()) + 1: match["handle"] for match in _HANDLE.finditer(text)}

    def read(self, tree: ast.Module) -> None:
        self._module.numbers = {
            name: example for name, example in self._known.items() if isinstance(example, (int, float))
        }
        calls = [node for node in nodes_below(tree) if isinstance(node, ast.FunctionDef) and _takes_args(node)]
        self._parts = {call.name: call for call in calls if call.name.startswith(_PARTITION)}
        # Read a part at its call, with the buffers' contents at that point; read uncalled parts last.
        for call in (*(call for call in calls if call.name not in self._parts), *self._parts.values()):
            self._function(call)

    def _function(self, function: ast.FunctionDef) -> None:
        if function.name in self._read:
            return
        self._read.add(function.name)
        simple = (node for node in nodes_below(function) if isinstance(node, (ast.Assign, ast.Expr)))
        for statement in sorted(simple, key=lambda node: (node.lineno, node.col_offset)):
            self._statement(statement)
        returns = [node for node in nodes_below(function) if isinstance(node, ast.Return)]
        if function.name not in self._parts and returns and isinstance(returns[-1].value, ast.Tuple):
            self._module.returned = tuple(map(_returned, returns[-1].value.elts))

    def _statement(self, statement: ast.Assign | ast.Expr) -> None:
        value = statement.value
        if isinstance(value, ast.Call) and self._is_launch(value):
            self._module.launches.append(self._launch(value, statement))
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]):
                self._assign(name, value)
            case ast.Assign(value=ast.Call(ast.Subscript(ast.Attribute(attr="partitions"), ast.Constant(int(index))))):
                part = self._parts.get(f"{_PARTITION}{index}")
                if part is not None:
                    self._function(part)
            case ast.Expr(value=ast.Call(ast.Attribute(ast.Name(name), "copy_"), [ast.Name(source), *_])):
                # From here on a buffer of this device holds data from another device or the host.
                held = self._known.get(source)
                self._module.launches.append(Launch("", "", statement.lineno, (source,), (held,), name))
            case ast.Expr(value=ast.Call(func=ast.Name(id="assert_size_stride"), args=[ast.Name(id=name), *shape])):
                sizes = [_numbers(argument, self._known) for argument in shape[:2]]
                if not isinstance(self._known.get(name), Buffer) and len(sizes) == 2 and None not in sizes:
                    self._known[name] = Buffer(name, sizes[0] or (), sizes[1] or ())

    def _is_launch(self, call: ast.Call) -> bool:
        match call.func:
            case ast.Attribute(value=ast.Name(id=name), attr="run") | ast.Name(id=name):
                return name in self._module.kernels
        return ast.unparse(call.func).startswith(("extern_kernels.", "torch.ops.", "aten."))

    def _launch(self, call: ast.Call, statement: ast.Assign | ast.Expr) -> Launch:
        kernel = ast.unparse(call.func)
        kernel = kernel.removesuffix(".run") if kernel.removesuffix(".run") in self._module.kernels else kernel
        above = max((line for line in self._handles if line < statement.lineno), default=0)
        handle = self._handles.get(above, "")
        handle = handle if handle.rpartition(":")[0].rpartition(".")[2] == kernel.rpartition(".")[2] else ""
        outs = [keyword.value for keyword in call.keywords if keyword.arg == "out"]
        if not outs and isinstance(statement, ast.Assign):
            outs = statement.targets[:1]
        return Launch(
            kernel,
            handle,
            statement.lineno,
            tuple(ast.unparse(arg) for arg in call.args),
            tuple(self._value(arg) for arg in call.args),
            ast.unparse(outs[0]) if outs else "",
        )

    def _value(self, node: ast.expr) -> Value:
        """Return the value of an argument: a buffer, a view of one, or a number."""
        match node:
            case ast.Name(id=name) if name in self._known:
                return self._known[name]
            case ast.Call(func=ast.Name(id="copy_if_misaligned"), args=[ast.Name(id=name)]):
                return self._known.get(name)
            case ast.Call(func=ast.Name(id="reinterpret_tensor"), args=[ast.Name(id=name), size, stride, *rest]):
                base = self._known.get(name)
                sizes, strides = _numbers(size, self._known), _numbers(stride, self._known)
                offset = number(rest[0], self._known) if rest else 0
                if sizes is None or strides is None or offset is None:
                    return None
                return Buffer(name, sizes, strides, int(offset), base.dtype if isinstance(base, Buffer) else "")
        return number(node, self._known)

    def _assign(self, name: str, node: ast.expr) -> None:
        buffer = _made(name, node, self._known)
        value = buffer if buffer is not None else self._value(node)
        source = getattr(value, "name", "") if buffer is None else ""
        source = node.id if isinstance(node, ast.Name) else source
        self._known.pop(name, None)
        match node:
            case ast.Subscript(value=ast.Name(id=whole), slice=ast.Constant(value=int(index))):
                self._module.launches.append(Launch("", "", node.lineno, (whole, str(index)), (None, index), name))
        if source and source != name:
            self._module.launches.append(Launch("", "", node.lineno, (source,), (value,), name))
        if value is not None:
            self._known[name] = value


def _returned(node: ast.expr) -> str:
    """Return the buffer that is returned, possibly in another shape."""
    match node:
        case ast.Name(id=name) | ast.Call(func=ast.Name(id="reinterpret_tensor"), args=[ast.Name(id=name), *_]):
            return name
    return ""


def _takes_args(function: ast.FunctionDef) -> bool:
    """Return whether a function runs the graph, or a part of it."""
    names = [arg.arg for arg in function.args.args]
    is_call = function.name == "call" or function.name.startswith(_PARTITION)
    return is_call and names[-1:] == ["args"]
