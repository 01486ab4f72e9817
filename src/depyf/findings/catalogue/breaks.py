"""Kinds of graph breaks, recognised by torch's reason, whose wording depends on the release, and by the user's line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from depyf.bytecode.records import dataclass
from depyf.findings.catalogue.kind import Kind
from depyf.model.reproducible import without_addresses
from depyf.model.run import GraphBreak
from depyf.model.user_source import short_path


@dataclass(frozen=True, slots=True)
class Sign:
    """Patterns that identify a kind of graph break in torch's reason, the user's line, and torch's explanation."""

    kind: Kind
    reason: str
    line: str = ""
    explanation: str = ""


def _sign(name: str, cause: str, fix: str, reason: str, line: str = "", explanation: str = "") -> Sign:
    return Sign(Kind(f"break-{name}", f"Graph break: {cause}", fix), reason, line, explanation)


_CALL = "builtin|skip|time function|SKIPPED|repr"
_DATA = "Data-dependent (branching|jump)|Dynamic control flow is not supported"
_SHAPE = "ynamic shape operator"
_BRANCH = (
    "data-dependent-branch",
    "a branch depends on the values of a tensor",
    "compute both results and choose with `torch.where(condition, one, other)`; `torch.cond` runs one alone",
)

SIGNS = (
    _sign(
        "data-dependent-assert",
        "an assertion depends on the values of a tensor",
        "write `torch._assert_async(condition)`, which stays in the graph",
        _DATA,
        r"^assert\b",
    ),
    _sign(
        "loop-over-data",
        "the number of iterations of a loop depends on the values of a tensor",
        "write the loop as one operation on tensors; or run it a fixed number of times, with `torch.where` inside",
        rf"Tensor\.item|{_DATA}",
        r"^(for|while)\b",
    ),
    _sign(*_BRANCH, _DATA),
    _sign(*_BRANCH, r"Tensor\.item|[Dd]ata dependent operator", r"^(el)?if\b"),
    _sign(
        "tolist",
        "`.tolist()` takes numbers out of a tensor",
        "index the tensor instead, without `.tolist()`",
        "[Dd]ata dependent operator|tolist",
        r"tolist\(",
    ),
    _sign(
        "numpy-random",
        "a random number of NumPy is drawn",
        "draw it with `torch.rand` or another function of torch, which stays in the graph; or draw it before the call, "
        "and pass it as a tensor",
        f"Tensor\\.item|[Dd]ata dependent operator|{_CALL}",
        r"\b(np|numpy)\.random\.\w+",
    ),
    _sign(
        "numpy-random",
        "a random number of NumPy is drawn",
        "draw it with `torch.rand` or another function of torch, which stays in the graph; or draw it before the call, "
        "and pass it as a tensor",
        "Unsupported method call",
        "",
        r"method `(integers|random|normal|standard_normal|uniform|choice|permutation|beta)` of class "
        "`(Generator|RandomState)`",
    ),
    _sign(
        "item",
        "a bound of a slice is a number that is taken out of a tensor",
        "keep the whole width, and mask what is beyond the bound",
        r"Tensor\.item|[Dd]ata dependent operator",
        r"^(?!.*\b(item|tolist|int|float|bool)\().*\[[^\]]*:",
        r"Tensor\.item|_local_scalar_dense",
    ),
    _sign(
        "item",
        "`.item()`, `int()` or `float()` takes a number out of a tensor",
        "keep the number as a tensor of one element, without `.item()`, `int()` or `float()`",
        r"Tensor\.item|[Dd]ata dependent operator",
        explanation=r"Tensor\.item|_local_scalar_dense",
    ),
    _sign(
        "text-of-tensor",
        "a tensor is turned into text",
        "call `str` and `repr` of tensors outside of the compiled function",
        _CALL,
        r"\b(str|repr|format)\(",
    ),
    _sign("print", "`print` is called", "move `print` out of the compiled function", _CALL, r"\bprint\("),
    _sign(
        "debugger", "`breakpoint()` is called", "take it out, and step with `depyf.debug()`", _CALL, r"\bbreakpoint\("
    ),
    _sign(
        "file",
        "a file is opened",
        "read the file before the call, and pass its contents as a tensor",
        f"{_CALL}|context manager|SETUP_WITH",
        r"\bopen\(",
    ),
    _sign("logging", "a logger is called", "log outside of the compiled function", "[Ll]ogger"),
    _sign(
        "warning", "`warnings.warn` is called", "warn outside of the compiled function", _CALL, r"\bwarnings\.warn\("
    ),
    _sign(
        "time",
        "a function of `time` is called",
        "measure time around the call of the compiled function",
        _CALL,
        r"\btime\.\w+\(|\b(perf_counter|monotonic)\(",
    ),
    _sign(
        "random",
        "Python's random numbers are seeded or drawn",
        "do so before the call, and pass the drawn values",
        _CALL,
        r"\brandom\.\w+\(",
    ),
    _sign(
        "backend",
        "the backend failed with {error}",
        "",
        "Backend compiler (exception|failed)",
    ),
    _sign(
        "explicit",
        "`torch._dynamo.graph_break()` is called",
        "remove the call of `torch._dynamo.graph_break()`",
        "graph_break",
    ),
    _sign(
        "disabled",
        "{called} is called, which `torch.compiler.disable` leaves out",
        "take `torch.compiler.disable` off that function",
        r"disable\(\)",
    ),
    _sign(
        "boolean-mask",
        "the size of `x[mask]` depends on the values of a tensor",
        "write `torch.where(mask, x, 0)`, which keeps the size",
        _SHAPE,
        r"\[[^\]]*[<>=]=?[^\]]*\]",
    ),
    _sign(
        "dynamic-shape",
        "the size of a result depends on the values of a tensor",
        "write it with masks, which keep the size; or set `torch._dynamo.config.capture_dynamic_output_shape_ops`",
        _SHAPE,
    ),
    _sign(
        "saved-tensor-hooks",
        "hooks for saved tensors are entered",
        "enter them around the call of the compiled function",
        "context manager|SETUP_WITH|SKIPPED|marked as skipped|skip function|saved_tensors_hooks",
        r"\b(saved_tensors_hooks|save_on_cpu|disable_saved_tensors_hooks)\(",
    ),
    _sign(
        "module-backward-hook",
        "a module has a backward hook",
        "set `torch._dynamo.config.compiled_autograd = True`",
        "[Mm]odule-level backwards hooks",
    ),
    _sign(
        "generator",
        "it is inside of a generator, whose state Dynamo cannot keep",
        "move the code that breaks the graph out of the generator",
        "Read uninitialized cell",
        r"\byield\b",
    ),
    _sign(
        "requires-grad-of-result",
        "`requires_grad_()` is called",
        "call `requires_grad_()` outside of the compiled function: on its inputs or its results",
        r"requires_grad_\(\) intermediate leaked|Tensor\.requires_grad_",
    ),
    _sign(
        "requires-grad-attribute",
        "`requires_grad` of a tensor is set",
        "set it outside of the compiled function, before the call",
        r"setattr\(\) on Tensor\.requires_grad",
    ),
    _sign(
        "data-attribute",
        "`.data` of a tensor is set",
        "write `copy_`, which changes the tensor in place",
        "mutate tensor data attribute|STORE_ATTR",
        r"\bdata\b",
    ),
    _sign(
        "deepcopy",
        "`copy.deepcopy` copies a tensor",
        "write `.clone()`",
        r"copy\.deepcopy",
    ),
    _sign(
        "distributed-data-parallel",
        "`DistributedDataParallel` is compiled, whose own code breaks the graph",
        "compile the module before it is wrapped: `DistributedDataParallel(torch.compile(module))`",
        "",
        r"\blogger\.set_runtime_stats_and_log\(",
    ),
    _sign(
        "unknown-method",
        "{text}",
        "call it outside of the compiled function, and pass the result",
        "Unsupported method call",
        "",
        "does not know how to trace method",
    ),
    _sign(
        "context-manager",
        "Dynamo does not know the context manager that is entered",
        "enter it around the call of the compiled function",
        "context manager|SETUP_WITH|SKIPPED INLINING|skip function",
        r"^(async )?with\b",
    ),
    _sign(
        "backward",
        "`backward` is called",
        "call `backward` on the result of the compiled function",
        r"Tensor\.backward",
    ),
    _sign(
        "resize",
        "`resize_` changes the size of a tensor in place",
        "write `reshape`, which gives a new tensor",
        r"Tensor\.resize_",
    ),
    _sign(
        "sparse",
        "torch.compile does not trace sparse tensors",
        "pass a dense tensor, `.to_dense()`; or keep the operations on the sparse one out of the compiled function",
        r"wrap sparse Tensor",
    ),
    _sign(
        "inplace-view",
        "an input is reshaped in place",
        "call the operation without the `_` at the end of its name: it gives a view; use that instead of the input",
        r"function call \(delayed\)|DelayGraphBreakVariable|Inplace op on input",
        r"\.(t|transpose|swapaxes|swapdims|squeeze|unsqueeze|as_strided)_\(",
    ),
    _sign(
        "autograd-function",
        "a custom `torch.autograd.Function` has a `jvp` or a `vjp` of its own",
        "remove `jvp` and `vjp` from the class: Dynamo traces `forward` and `backward`",
        r"custom [jv]vp|User defin\w+ [jv]vp",
    ),
    _sign(
        "c-extension",
        "{called} is called, which is written in C: a builtin or a function of an extension",
        "call it outside of the compiled function",
        f"{_CALL}|unsupported builtin",
        r"",
        r"third-party C/C\+\+",
    ),
    _sign(
        "skipped-function",
        "{called} is called, which Dynamo does not trace",
        "call it outside of the compiled function",
        "skipped|skip function|unsupported builtin|Python builtin|SKIPPED",
    ),
)
GENERIC = Kind("graph-break", "Graph break: {text}", "")
IN_TRY = Kind(
    "break-in-try",
    "Graph break inside of `try`, which Dynamo cannot resume: {text}",
    "move the `try` and its body out of the compiled function",
)

OPTIMIZER = Kind(
    "break-optimizer",
    "Graph break: `step()` of an optimizer is called; torch breaks here on purpose, and the step is a graph of its own",
    "call the optimizer's `step()` outside of the compiled function",
)
_OPTIMIZERS = "torch/optim/"
_STEP = re.compile(r"`\w+\.step` in file `[^`]*\btorch[/\\]optim[/\\]")
BREAKS: tuple[Kind, ...] = (*(sign.kind for sign in SIGNS), IN_TRY, GENERIC, OPTIMIZER)
_UNNAMED = frozenset(("break-c-extension", "break-skipped-function", GENERIC.name))
"""Kinds that say little about the callee. If they end a frame, it helps more to say that the call is inside `try`."""


MOST_EXPLAINED = 120
"""The longest explanation of torch's that is shown beside its reason, in characters."""
_ERROR = re.compile(r"failed with (?P<error>.*?)(?: While executing | Original traceback:| at File | at$|$)")
_NODE = re.compile(r"While executing %\w+ : .*?\[target=(?P<target>[\w.]+)\]")
_NO_ADVICE = re.compile(
    r"\b([Ff]ile|[Rr]eport) an issue\b|is fundamental|\bmay be possible\b|^Note\b|double check"
    r"|Consider using fullgraph=False"
)
_CALLED = re.compile(r"(?:function|builtin|method) `(?P<name>[^`<]+?|<unknown module>[^`]+?)\.?`")
_CALLED_OBJECT = re.compile(r"function `?<(?:function|bound method) (?P<name>\S+) (?:at|of) ")
_CALLED_BEFORE = re.compile(r"unsupported builtin (?P<name>[\w.]+?)\.? ")
"""torch before 2.7: Graph break due to unsupported builtin zlib.crc32. This function is either a Python builtin ..."""
_HOOK = re.compile(r"\bhook\(")
_MODULES = "torch/nn/modules/module.py"


def called_in(graph_break: GraphBreak) -> str:
    """Return the function whose call ended a graph, by torch's explanation, or "a function"."""
    name = _CALLED_OBJECT.search(f"{graph_break.explanation} {graph_break.reason}") or _CALLED.search(
        graph_break.explanation
    )
    name = name or _CALLED_BEFORE.search(graph_break.reason)
    if name is None:
        return "a function"
    place = graph_break.where.filename.replace("\\", "/") if graph_break.where is not None else ""
    is_hook = place.endswith(_MODULES) and graph_break.where is not None and _HOOK.search(graph_break.where.text)
    defined = (
        f" ({short_path(graph_break.called.filename)}:{graph_break.called.line})"
        if graph_break.called is not None
        else ""
    )
    plain = without_addresses(name["name"]).removeprefix("<unknown module>.").rpartition("<locals>.")[2]
    return f"{'the hook ' if is_hook else ''}`{plain}`{defined}"


def error_in(graph_break: GraphBreak) -> str:
    """Return the error of a backend and its node, from torch's explanation."""
    text = " ".join((graph_break.explanation or graph_break.reason).split())
    error, node = _ERROR.search(text), _NODE.search(text)
    said = error["error"].rstrip(". ") if error is not None else "an exception"
    said = without_addresses(said)
    return f"{said} at `{node['target']}`" if node is not None else said


def said_by_torch(graph_break: GraphBreak) -> str:
    """Return torch's reason for a graph break, with its explanation if that is a short sentence with a name in it.

    The reason, such as `Unsupported method call`, does not name the object.
    """
    reason, explanation = (" ".join(text.split()).rstrip(".") for text in (graph_break.reason, graph_break.explanation))
    is_told = "`" in explanation and len(explanation) <= MOST_EXPLAINED and explanation not in reason
    return without_addresses(f"{reason}: {explanation}" if is_told else reason)


def advised(hints: Sequence[str]) -> str:
    """Return the first of torch's hints for a change of the program, or ""."""
    return next((hint for hint in hints if not _NO_ADVICE.search(hint)), "")


_WITHOUT_FAKE = (
    re.compile(r"no fake impl\w* registered for <CustomOpDef\((?P<space>\w+)::(?P<name>\w+)\)>"),
    re.compile(r"\b(?P<space>\w+)::(?P<name>\w+): attempted to run this operator with Meta tensors"),
    re.compile(r"unsupported operator: (?P<space>\w+)\.(?P<name>\w+)"),
)
_OF_TORCH = frozenset(("aten", "prim", "prims"))


def fake_kernel(text: str) -> str:
    """Return the advice for a custom operator without a fake kernel, by torch's text about it, or ""."""
    operator_match = next((match for sign in _WITHOUT_FAKE if (match := sign.search(text)) is not None), None)
    if operator_match is None or operator_match["space"] in _OF_TORCH:
        return ""
    operator = f"{operator_match['space']}::{operator_match['name']}"
    return (
        f'register a fake kernel: decorate with `@torch.library.register_fake("{operator}")` a function with the '
        "arguments of the operator that returns an empty tensor with the size and the dtype of its result"
    )


def _is_of_optimizer(graph_break: GraphBreak, line: str) -> bool:
    """Return whether a graph ends at an optimizer's `step`: at its call, or at torch's own break there."""
    filename = graph_break.where.filename.replace("\\", "/") if graph_break.where is not None else ""
    return bool(_STEP.search(graph_break.explanation)) or (_OPTIMIZERS in filename and "graph_break" in line)


def kind_of_break(graph_break: GraphBreak, *, ends_in_try: bool = False) -> Kind:
    """Return the kind of a graph break; `ends_in_try` says whether Dynamo gave the frame up for it, inside a `try`."""
    line = graph_break.where.text if graph_break.where is not None else ""
    if _is_of_optimizer(graph_break, line):
        return OPTIMIZER
    for sign in SIGNS:
        text = f"{graph_break.explanation} {graph_break.reason}"
        if (
            re.search(sign.reason, graph_break.reason)
            and re.search(sign.line, line)
            and re.search(sign.explanation, text)
        ):
            return IN_TRY if ends_in_try and sign.kind.name in _UNNAMED else sign.kind
    return IN_TRY if ends_in_try else GENERIC
