"""Inductor's Triton kernels of thirty models, forward and backward, without a GPU: run, alone, and linked line by line.

    python -m benchmarks.kernels                 # needs triton; every model
    python -m benchmarks.kernels --only softmax,mlp

For each model: its results and gradients against eager; each kernel alone in its file, run and compared with its nodes;
the length of the file without the kernel; and the lines that are linked to nodes, judged by values: what a line gives,
in all programs of the grid and all lanes that count, against what the node gives eagerly.
"""

from __future__ import annotations

import argparse
import ast
import runpy
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import torch._inductor.config
from torch import Tensor, nn

import depyf
from benchmarks.bar import Bar, report
from depyf.links.documents import kernel_sources
from depyf.links.inductor.graph import read_graph
from depyf.links.inductor.line import Launched
from depyf.links.inductor.module import read_module
from depyf.model.index_reader import read_run
from depyf.model.syntax import names_in
from depyf.torch.kernels.interpreter import interpreting
from depyf.torch.kernels.standalone import NotAlone, Told, standalone

F: Any = nn.functional
MOST_LINES = 200
TOLERANCE = 1e-3
TOLERANCES = {"f16": 1e-2, "bf16": 4e-2}
"""Tolerances by the name of a dtype in the text of a graph."""

MODELS: dict[str, Callable[[Tensor], Tensor]] = {
    "pointwise": lambda x: torch.relu(x * x + 1).sin(),
    "softmax": lambda x: torch.softmax(x * 2, -1),
    "log_softmax": lambda x: F.log_softmax(x * 0.5, -1),
    "layer_norm": lambda x: F.layer_norm(x, (32,)),
    "gelu": lambda x: F.gelu(x) + x,
    "silu": lambda x: F.silu(x) * x,
    "mish": lambda x: F.mish(x),
    "elu": lambda x: F.elu(x * 2),
    "leaky": lambda x: F.leaky_relu(x, 0.1) - x,
    "hardswish": lambda x: F.hardswish(x * 3),
    "softplus": lambda x: F.softplus(x),
    "variance": lambda x: x.var(-1) + x.mean(-1),
    "deviation": lambda x: (x - x.mean(0)) / (x.std(0) + 1e-3),
    "norm": lambda x: x / x.norm(dim=-1, keepdim=True),
    "rms": lambda x: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6),
    "clamp": lambda x: x.clamp(-0.5, 0.5).exp(),
    "maximum": lambda x: torch.maximum(x, x.flip(0)).amax(-1),
    "where": lambda x: torch.where(x > 0, x.exp(), x.tanh()),
    "cumsum": lambda x: x.cumsum(-1) * 0.1,
    "wide": lambda x: x.repeat(1, 48).sum(-1).sigmoid(),
    "long": lambda x: torch.softmax(x.repeat(1, 48), -1).amax(-1),
    "mlp": lambda x: F.relu(x @ x.T) @ x,
    "attention": lambda x: torch.softmax(x @ x.T / 5.6, -1) @ x,
    "loss": lambda x: F.mse_loss(x.tanh(), x * 0.5),
    "cross_entropy": lambda x: F.cross_entropy(x, torch.arange(16, device=x.device) % 7),
    "huber": lambda x: F.smooth_l1_loss(x, x * 0.3 + 0.1),
    "concatenated": lambda x: torch.cat([x.sin(), x.cos()], -1) * 2,
    "shifted": lambda x: x[:, 1:] - x[:, :-1].exp(),
    "logsumexp": lambda x: x.logsumexp(-1) + x.sum(-1),
    "glu": lambda x: F.glu(x) + x[:, :16].erf(),
}


def run_model(function: Callable[[Tensor], Tensor], directory: Path) -> bool:
    """Compile a model, forward and backward, with Triton; return whether it gives what eager gives."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    given = torch.randn(16, 32)
    compiled_input, eager_input = given.clone().requires_grad_(), given.clone().requires_grad_()
    settings = torch._inductor.config.patch(cpu_backend="triton", force_disable_caches=True)
    with settings, interpreting(), depyf.prepare_debug(str(directory)):
        result = torch.compile(function)(compiled_input)
        result.square().sum().backward()
    expected = function(eager_input)
    expected.square().sum().backward()
    assert compiled_input.grad is not None and eager_input.grad is not None
    tolerance = _model_tolerance(directory)
    pairs = ((result, expected), (compiled_input.grad, eager_input.grad))
    return all(torch.allclose(ours, theirs, tolerance, tolerance) for ours, theirs in pairs)


def _model_tolerance(directory: Path) -> float:
    """Return the tolerance for a model's results. Inductor rounds to a small dtype less often than eager does."""
    text = "".join(path.read_text(encoding="utf-8") for path in directory.glob("*Forward_graph*"))
    return max([TOLERANCE, *(tolerance for dtype, tolerance in TOLERANCES.items() if f'"{dtype}[' in text)])


def alone(directory: Path) -> Iterator[tuple[Launched, Path, int]]:
    """Yield each launch with the file that is written for it, and the lines of that without the kernel."""
    run = read_run(directory)
    for _, compiled in run.session.compiles():
        for source in kernel_sources(run, compiled):
            graph = read_graph(source.graph.text if source.graph is not None else "")
            for number, launch in enumerate(source.launched()):
                path = directory / f"alone_{source.part}_{number}_{launch.kernel.name}.py"
                try:
                    text = standalone(launch, read_module(source.text), graph, Told("", {}))
                except NotAlone as error:
                    text = f"raise SystemExit({str(error)!r})\n"
                path.write_text(text, encoding="utf-8")
                yield launch, path, text.count("\n") - launch.kernel.text.strip("\n").count("\n")


def run_alone(path: Path, seen: dict[tuple[int, str], list[Any]]) -> tuple[list[str], dict[str, Any], float]:
    """Run a kernel's file. Return the results that differ from the nodes', the value of each node, and the tolerance.

    The tolerance is 0 if there is no result to compare.
    seen: gets the values that each line of the file assigns, program by program.
    """
    scope = runpy.run_path(str(path))
    torch.manual_seed(0)
    given = scope["inputs"]()
    nodes = _all_nodes(path, scope, given)
    expected = scope["eager"](given)
    with noting(seen):
        scope["launch"](given)
    wrong = []
    for name, right in expected.items():
        got = given[name].reshape(right.shape).to(right.dtype).double()
        tolerance = max(TOLERANCE, scope["EXPECTED"][name][1])
        if not torch.allclose(got, right.double(), tolerance, tolerance, equal_nan=True):
            wrong.append(f"{path.stem}: {name}")
    return wrong, nodes, max((max(TOLERANCE, tolerance) for _, tolerance in scope["EXPECTED"].values()), default=0.0)


def _all_nodes(path: Path, scope: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return what each node in the file's `eager` gives."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (function,) = (
        statement for statement in tree.body if isinstance(statement, ast.FunctionDef) and statement.name == "eager"
    )
    function.body[-1] = ast.parse("def f():\n    return dict(locals())").body[0].body[0]  # type: ignore[attr-defined]
    scope_of_eager = dict(scope)
    exec(compile(ast.fix_missing_locations(ast.Module([function], [])), str(path), "exec"), scope_of_eager)
    values: dict[str, Any] = scope_of_eager["eager"](given)
    return values


class noting:  # noqa: N801 - a context, named as a function
    """While it is entered, kernels that are interpreted note what each line sets, in the lanes that count."""

    def __init__(self, seen: dict[tuple[int, str], list[Any]]) -> None:
        self._seen = seen

    def __enter__(self) -> None:
        from triton.runtime import interpreter

        self._before = interpreter.FunctionRewriter.ast_transformer
        interpreter.FunctionRewriter.ast_transformer = _transformer(self._seen)

    def __exit__(self, *_: object) -> None:
        from triton.runtime import interpreter

        interpreter.FunctionRewriter.ast_transformer = self._before


def _transformer(seen: dict[tuple[int, str], list[Any]]) -> ast.NodeTransformer:
    import numpy
    from triton.runtime import interpreter

    def note(line: int, name: str, value: Any, *given: str) -> Any:  # noqa: ANN401 - a block of the interpreter
        frame = sys._getframe(1)
        data = getattr(getattr(value, "handle", None), "data", None)
        if data is not None and name.startswith("tmp"):
            kept = numpy.ones_like(data, dtype=bool)
            for mask in (
                value_of_mask for key, value_of_mask in frame.f_locals.items() if key.endswith("mask") or key in given
            ):
                lanes = mask.handle.data
                if lanes.ndim == data.ndim and all(a in (1, b) for a, b in zip(lanes.shape, data.shape)):
                    kept = kept & lanes
            first = frame.f_code.co_firstlineno
            if value.dtype.scalar.name == "bf16" and data.dtype == numpy.uint16:  # The interpreter stores bits.
                data = (data.astype(numpy.uint32) << 16).view(numpy.float32)
            seen.setdefault((line - 1 + first, name), []).append(data[kept].astype(float).ravel())
        return value

    masks: dict[str, set[str]] = {}

    class Noting(interpreter.ASTTransformer):
        def visit_Assign(self, node: ast.Assign) -> ast.Assign:
            conditions = _masks_of(node.value, masks)
            masks.update({target.id: conditions for target in node.targets if isinstance(target, ast.Name)})
            assignment: ast.Assign = super().visit_Assign(node)
            if isinstance(assignment.targets[0], ast.Name):
                arguments = [
                    ast.Constant(value=node.lineno),
                    ast.Constant(value=assignment.targets[0].id),
                    assignment.value,
                ]
                arguments += [ast.Constant(value=condition) for condition in sorted(conditions)]
                assignment.value = ast.Call(
                    func=ast.Name(id="_depyf_note", ctx=ast.Load()), args=arguments, keywords=[]
                )
            return assignment

    vars(interpreter)["_depyf_note"] = note
    transformer: ast.NodeTransformer = Noting()
    return transformer


def _masks_of(value: ast.expr, known: dict[str, set[str]]) -> set[str]:
    """Return the conditions on indices under which a value was loaded: the other lanes count only where it is placed.

    before: `tl.load(in_ptr0 + (x0), tmp3 & xmask)`, and `tl.where(tmp3, tmp8, 0.0)`, which fills the other lanes
    """
    match value:
        case ast.Call(func=ast.Attribute(attr="load"), args=[_, mask, *_]):
            return {name for name in names_in(mask) if name.startswith("tmp")}
        case ast.Call(func=ast.Attribute(attr="where"), args=[ast.Name(id=condition), *_]):
            return {mask for name in names_in(value) for mask in known.get(name, ())} - {condition}
    return {mask for name in names_in(value) for mask in known.get(name, ())}


def judged(
    launch: Launched, path: Path, seen: dict[tuple[int, str], list[Any]], nodes: dict[str, Any], tolerance: float
) -> Iterator[str]:
    """Yield for each linked line whether it gives what a node of its gives: `right`, `wrong: ...`, or `unjudged`."""
    tolerance = tolerance or TOLERANCE
    rows = path.read_text(encoding="utf-8").splitlines()
    head = next(number for number, row in enumerate(rows, start=1) if row.startswith("@triton_heuristics."))
    kernel_rows = launch.kernel.text.splitlines()
    first = next(number for number, row in enumerate(kernel_rows, start=1) if row.startswith("@triton_heuristics."))
    given = {
        id(line): seen.get((head + line.statement.line - first, line.statement.targets[0]))
        for line in launch.lines
        if line.computes and line.statement.targets
    }
    for line in launch.lines:
        if id(line) not in given:
            continue
        values = given[id(line)]
        known = [nodes[name] for name in line.computes if isinstance(nodes.get(name), Tensor)]
        # Each line of an unrolled reduction gives a part of the node's value.
        others = [given[id(other)] for other in launch.lines if id(other) in given and other.computes == line.computes]
        whole = [value for values_of_part in others for value in values_of_part or ()]
        # An input that holds a step inside of a node is random, beside others that it should follow from.
        if values is None or not known or not all(launch.before.values()):
            yield "unjudged"
        elif any(_same(_joined(values), _joined(whole), node_values, tolerance) for node_values in known):
            yield "right"
        else:
            yield f"wrong: {path.stem}: {kernel_rows[line.statement.line - 1].strip()} is not {line.computes}"


def _joined(values: list[Any]) -> Tensor:
    return torch.cat([torch.from_numpy(array) for array in values])


def _same(ours: Tensor, whole: Tensor, theirs: Tensor, tolerance: float) -> bool:
    """Return whether a node has all values of a line, and all lines of the node have all its values, in any order."""
    of_line, all_own, right = (
        torch.sort(values.double().flatten().nan_to_num(12345.0))[0] for values in (ours, whole, theirs)
    )
    return _is_in(of_line, right, tolerance) and _is_in(right, all_own, tolerance)


def _is_in(values: Tensor, among: Tensor, tolerance: float) -> bool:
    if not values.numel() or not among.numel():
        return values.numel() == among.numel()
    place = torch.searchsorted(among, values).clamp(max=among.numel() - 1)
    before = (place - 1).clamp(min=0)
    apart = torch.minimum((among[place] - values).abs(), (among[before] - values).abs())
    return bool((apart <= tolerance * (1 + values.abs())).all())


def main() -> None:
    """Print the bars."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(MODELS))
    names = parser.parse_args().only.split(",")
    warnings.simplefilter("ignore")
    agree = kernels = linked = lines = compared = 0
    problems, failed, long, verdicts, without = (list[str]() for _ in range(5))
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            directory = Path(folder) / name
            try:
                is_same = run_model(MODELS[name], directory)
            except Exception as error:  # noqa: BLE001 - a model that cannot be run is a result
                problems.append(f"{name}: {type(error).__name__}: {str(error)[:150]}")
                continue
            agree += is_same
            problems += [] if is_same else [f"{name}: not as eager"]
            for launch, path, length in alone(directory):
                kernels += 1
                seen: dict[tuple[int, str], list[Any]] = {}
                long += [path.stem] if length >= MOST_LINES else []
                kernel_lines = [
                    line for line in launch.lines if line.statement.targets or line.statement.place is not None
                ]
                linked, lines = linked + sum(bool(line.nodes) for line in kernel_lines), lines + len(kernel_lines)
                rows = launch.kernel.text.splitlines()
                without += [
                    f"{name}: {rows[line.statement.line - 1].strip()}" for line in kernel_lines if not line.nodes
                ]
                try:
                    wrong, nodes, tolerance = run_alone(path, seen)
                    failed, compared = failed + wrong, compared + bool(tolerance)
                    verdicts += judged(launch, path, seen, nodes, tolerance)
                except (Exception, SystemExit) as error:  # noqa: BLE001 - a kernel that cannot be run is a result
                    failed.append(f"{name}: {path.stem}: {type(error).__name__}: {str(error)[:150]}")
            print(f"  {name}: {kernels} kernels so far, {len(failed)} failed", file=sys.stderr, flush=True)
    false = [verdict for verdict in verdicts if verdict.startswith("wrong")]
    right = sum(verdict == "right" for verdict in verdicts)
    total = len(false) + right
    within = f"tolerance {TOLERANCE}, " + ", ".join(f"{dtype} {tolerance}" for dtype, tolerance in TOLERANCES.items())
    agreed = f"{agree} of {len(names)}"
    bars = [
        Bar("models with the results and gradients of eager", agreed, not problems, problems, within),
        Bar("kernels alone that run as their nodes do", f"{kernels - len(failed)} of {kernels}", not failed, failed),
        Bar("kernels alone that have a result to compare", f"{compared} of {kernels}", compared > 0),
        Bar("files with too many lines beside the kernel", f"{len(long)} of {kernels}", not long, long),
        Bar("linked lines with another value than their node", f"{len(false)} of {total}", not false, false),
        Bar("lines of bodies that are linked", f"{linked} of {lines}", linked > 0),
    ]
    print(f"{len(without)} lines without a link:", *without, sep="\n  ")
    report(bars)


if __name__ == "__main__":
    main()
