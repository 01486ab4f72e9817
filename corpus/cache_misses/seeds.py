"""What is changed between two compiles of one program, and the cause that depyf should name for it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._inductor import config as inductor

Settings = Callable[[], contextlib.AbstractContextManager[Any]]


@dataclass(frozen=True, slots=True)
class Seed:
    """A program before and after a change, the kind of the cause, and a word that its text must have.

    settings: entered around the second compile. variable: an environment variable of the second process.
    cache: the cache that is to miss, as the report calls it in its data.
    """

    name: str
    kind: str
    word: str
    before: Callable[[], Any]
    after: Callable[[], Any]
    settings: Settings = contextlib.nullcontext
    variable: str = ""
    cache: str = "fx_graph"


def run(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """Return what compiles a function and calls it."""
    return lambda: torch.compile(function)(*arguments)


def base(x: torch.Tensor) -> torch.Tensor:
    """Return what most seeds compile."""
    return (x.sin() * 2 + 1).relu()


@contextlib.contextmanager
def setting(get: Callable[[], Any], put: Callable[[Any], Any], value: object) -> Iterator[None]:
    """Have a setting of torch's for a block."""
    before = get()
    put(value)
    try:
        yield
    finally:
        put(before)


def _patched(**values: object) -> Settings:
    return lambda: inductor.patch({name.replace("__", "."): value for name, value in values.items()})


def _configs() -> Iterator[Seed]:
    changed: list[tuple[str, str, object]] = [
        ("config", "max_autotune_pointwise", True),
        ("config", "epilogue_fusion", False),
        ("config", "realize_reads_threshold", 7),
        ("config", "pattern_matcher", False),
        ("config", "allow_buffer_reuse", False),
        ("config", "unroll_reductions_threshold", 4),
        ("config", "max_fusion_size", 5),
        ("config", "inplace_buffers", False),
        ("C++ flag", "cpp.min_chunk_size", 1024),
        ("C++ flag", "cpp.simdlen", 256),
        ("C++ flag", "cpp.enable_floating_point_contract_flag", "fast"),
        ("C++ flag", "cpp.enable_unsafe_math_opt_flag", True),
        ("C++ flag", "cpp.max_horizontal_fusion_size", 3),
        ("C++ flag", "cpp.fallback_scatter_reduce_sum", False),
    ]
    for kind, name, value in changed:
        if name in inductor._config:
            before = inductor._config[name].default
            new = value if type(value) is type(before) or before is None else (not before)
            patched = _patched(**{name.replace(".", "__"): new})
            yield Seed(f"config {name}", kind, name, run(base, torch.ones(4)), run(base, torch.ones(4)), patched)


def _constants() -> Iterator[Seed]:
    def made(value: Any, use: Callable[[torch.Tensor, Any], torch.Tensor]) -> Callable[[], Any]:
        def function(x: torch.Tensor) -> torch.Tensor:
            return use(x, value)

        return run(function, torch.ones(4, 4))

    cases: list[tuple[Any, Any, Callable[[torch.Tensor, Any], torch.Tensor]]] = [
        (2, 3, lambda x, k: (x.sin() * k).relu()),
        (0.5, 0.25, lambda x, k: x + k),
        (-1.5, 1.5, lambda x, k: x.clamp(min=k)),
        (0, 1, lambda x, k: x.softmax(k)),
        (2.5, 5.5, lambda x, k: x.pow(k)),
        (1e-5, 1e-6, lambda x, k: x * (x.mean() + k)),
    ]
    for number, (first, other, use) in enumerate(cases):
        yield Seed(f"constant {number}", "constant", str(other)[:3].lstrip("-"), made(first, use), made(other, use))


def _lines() -> Iterator[Seed]:
    pairs: list[tuple[str, Callable[..., Any], Callable[..., Any]]] = [
        ("cos", lambda x: x.sin() + 1, lambda x: x.cos() + 1),
        ("abs", lambda x: x.sin(), lambda x: x.sin().abs()),
        ("exp", lambda x: x.exp().sin(), lambda x: x.sin()),
        ("sub", lambda x: x + x.sin(), lambda x: x - x.sin()),
        ("tanh", lambda x: x.relu(), lambda x: x.tanh()),
        ("mean", lambda x: x.sum(), lambda x: x.mean()),
        ("clamp", lambda x: x * 2, lambda x: (x * 2).clamp(max=3)),
    ]
    for word, first, other in pairs:
        yield Seed(f"line {word}", "graph", word, run(first, torch.ones(8)), run(other, torch.ones(8)))


def _inputs() -> Iterator[Seed]:
    def pair(name: str, kind: str, word: str, function: Any, first: Any, other: Any) -> Seed:
        return Seed(f"{kind} {name}", kind, word, run(function, *first), run(function, *other))

    ones, mm = torch.ones, lambda x, y: (x @ y).relu()
    yield pair("double", "input dtype", "float64", base, [ones(4)], [ones(4).double()])
    yield pair("bfloat16", "input dtype", "bfloat16", base, [ones(4)], [ones(4).bfloat16()])
    yield pair("half", "input dtype", "float16", base, [ones(4)], [ones(4).half()])
    yield pair("int", "input dtype", "int64", lambda x: x + 1, [ones(4).int()], [ones(4).long()])
    yield pair("mm", "input dtype", "float64", mm, [ones(3, 3)] * 2, [ones(3, 3).double()] * 2)
    grad = [ones(4, requires_grad=True)]
    yield pair("grad", "input dtype", "float64", base, grad, [ones(4, dtype=torch.float64, requires_grad=True)])
    yield pair("longer", "input shape", "[5]", base, [ones(4)], [ones(5)])
    yield pair("wider", "input shape", "[3, 5]", base, [ones(3, 4)], [ones(3, 5)])
    yield pair("mm", "input shape", "[6, 3]", mm, [ones(4, 3), ones(3, 4)], [ones(6, 3), ones(3, 4)])
    yield pair("transposed", "input shape", "stride (1, 4)", base, [ones(4, 4)], [ones(4, 4).t()])
    yield pair("deeper", "input shape", "[2, 2, 2]", base, [ones(2, 2)], [ones(2, 2, 2)])
    yield pair("reduced", "input shape", "[9, 2]", lambda x: x.sum(0).sin(), [ones(8, 2)], [ones(9, 2)])


def _settings() -> Iterator[Seed]:
    def deterministic(on: object) -> None:
        torch.use_deterministic_algorithms(bool(on), warn_only=False)

    matmul = torch.backends.cuda.matmul
    sets: list[tuple[str, Callable[[], Any], Callable[[Any], Any], object]] = [
        ("deterministic", torch.are_deterministic_algorithms_enabled, deterministic, True),
        ("matmul", *_attribute(matmul, "allow_tf32"), True),
        ("matmul", *_attribute(matmul, "allow_fp16_reduced_precision_reduction"), False),
        ("matmul", *_attribute(matmul, "allow_bf16_reduced_precision_reduction"), False),
        ("fill memory", *_attribute(torch.utils.deterministic, "fill_uninitialized_memory"), False),
    ]
    for word, get, put, value in sets:
        compile_base = run(base, torch.ones(4))
        yield Seed(f"setting {word}", "torch setting", word, compile_base, compile_base, _bound(get, put, value))


def _bound(get: Callable[[], Any], put: Callable[[Any], Any], value: object) -> Settings:
    return lambda: setting(get, put, value)


def _attribute(owner: Any, name: str) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    return (lambda: getattr(owner, name)), (lambda value: setattr(owner, name, value))


@dataclass
class _Pass(torch._inductor.custom_graph_pass.CustomGraphPass):
    version: str = field(default="1")

    def __call__(self, graph: Any) -> None:
        """Change nothing."""

    def uuid(self) -> str:
        """Return what the pass is keyed by."""
        return self.version


def _passes() -> Iterator[Seed]:
    compile_base = run(base, torch.ones(4))
    for name in ("post_grad_custom_post_pass", "post_grad_custom_pre_pass", "joint_custom_pre_pass"):
        yield Seed(f"added {name}", "custom pass", name, compile_base, compile_base, _patched(**{name: _Pass()}))
    for name in ("post_grad_custom_post_pass", "post_grad_custom_pre_pass"):

        def before(name: str = name) -> Any:
            with inductor.patch({name: _Pass("1")}):
                return compile_base()

        yield Seed(f"changed {name}", "custom pass", name, before, compile_base, _patched(**{name: _Pass("2")}))


def _groups() -> Iterator[Seed]:
    from torch.testing._internal.distributed.fake_pg import FakeStore

    if not torch.distributed.is_initialized():
        torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    names = [torch.distributed.new_group([0, 1]).group_name for _ in range(5)]

    def reduced(group: str) -> Callable[[], Any]:
        def function(x: torch.Tensor) -> torch.Tensor:
            reduced = torch.ops._c10d_functional.all_reduce(x.sin(), "sum", group)
            return torch.ops._c10d_functional.wait_tensor(reduced) + 1

        return run(function, torch.ones(4))

    for first, other in zip(names, names[1:]):
        yield Seed(f"group {other}", "process group", f"'{other}'", reduced(first), reduced(other))


def _variables() -> Iterator[Seed]:
    compile_base = run(base, torch.ones(4))
    named = {
        "max_autotune_pointwise": "TORCHINDUCTOR_MAX_AUTOTUNE_POINTWISE=1",
        "shape_padding": "TORCHINDUCTOR_SHAPE_PADDING=0",
        "unique_kernel_names": "TORCHINDUCTOR_UNIQUE_KERNEL_NAMES=0",
        "comprehensive_padding": "TORCHINDUCTOR_COMPREHENSIVE_PADDING=0",
        "benchmark_kernel": "TORCHINDUCTOR_BENCHMARK_KERNEL=1",
        "layout_optimization": "TORCHINDUCTOR_LAYOUT_OPTIMIZATION=0",
    }
    for name, variable in named.items():
        yield Seed(f"variable {variable}", "config", name, compile_base, compile_base, variable=variable)


def seeds() -> list[Seed]:
    """Return every seed that this torch can have."""
    # Variables come first: their second compile is in a process that has none of the settings that others leave.
    all_seeds = [*_variables(), *_configs(), *_constants(), *_lines(), *_inputs(), *_settings(), *_passes()]
    return [*all_seeds, *_groups()]
