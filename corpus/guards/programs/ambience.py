"""The state around a call: gradients, autocast, dtypes, threads, devices, modes, transforms, determinism."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import torch
from torch.overrides import TorchFunctionMode

from corpus.guards.program import Change, Program, Value, set_and_back


class Quiet(TorchFunctionMode):
    def __torch_function__(self, func: Value, types: Value, args: Value = (), kwargs: Value = None) -> Value:
        return func(*args, **(kwargs or {}))


class Loud(Quiet):
    pass


def x() -> torch.Tensor:
    return torch.ones(3)


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def makes(x: torch.Tensor) -> torch.Tensor:
    return x + torch.ones(3)


@contextlib.contextmanager
def transformed(x: Callable[[], torch.Tensor]) -> Iterator[None]:
    """Be inside of `torch.func.grad` at one level."""
    level = torch._C._functorch._grad_increment_nesting()
    try:
        yield
    finally:
        assert level
        torch._C._functorch._grad_decrement_nesting()


def setting(setter: Callable[[Value], object], value: object, before: object) -> Callable[[], Value]:
    return lambda: set_and_back(setter, value, before)


@contextlib.contextmanager
def _deterministic_warnings() -> Iterator[None]:
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


@contextlib.contextmanager
def _flag(owner: Value, name: str) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, not before)
    try:
        yield
    finally:
        setattr(owner, name, before)


THREADS = torch.get_num_threads()
STATES: dict[str, Callable[[], Value]] = {
    "no gradients": torch.no_grad,
    "inference mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "autocast to half": lambda: torch.autocast("cpu", torch.float16),
    "autocast off": lambda: torch.autocast("cpu", enabled=False),
    "autocast without cache": lambda: torch.autocast("cpu", torch.bfloat16, cache_enabled=False),
    "autocast cache off": setting(torch.set_autocast_cache_enabled, False, True),
    "default dtype": setting(torch.set_default_dtype, torch.float64, torch.float32),
    "threads": setting(torch.set_num_threads, THREADS + 1, THREADS),
    "default device": lambda: torch.device("cpu"),
    "default device meta": lambda: torch.device("meta"),
    "deterministic": setting(torch.use_deterministic_algorithms, True, False),
    "deterministic, warnings": _deterministic_warnings,
    "tf32": setting(torch.set_float32_matmul_precision, "high", "highest"),
    "fp16 reduction": lambda: _flag(torch.backends.cuda.matmul, "allow_fp16_reduced_precision_reduction"),
    "a mode": Quiet,
    "torch function off": torch._C.DisableTorchFunction,
    "torch function off for subclasses": torch._C.DisableTorchFunctionSubclass,
    "forward gradients": torch.autograd.forward_ad.dual_level,
    "a transform": lambda: transformed(x),
    "saved tensors hooks": lambda: torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    "anomaly": lambda: torch.autograd.set_detect_anomaly(True),
    "as it was": contextlib.nullcontext,
}


def all_but(*names: str) -> tuple[Change, ...]:
    """Return a change for each state but those that cannot be nested in the program's own."""
    return tuple(Change(name, None, state) for name, state in STATES.items() if name not in names)


def plain(*names: str) -> tuple[Change, ...]:
    return tuple(Change(name, None, STATES[name]) for name in names)


@contextlib.contextmanager
def hooked() -> Iterator[None]:
    """Have saved-tensors hooks that Dynamo traces into the graph."""
    with torch.autograd.graph.saved_tensors_hooks(PACK, PACK):
        yield


PACK = torch.fx.symbolic_trace(lambda t: t * 1)

PROGRAMS = (
    Program("ambient", double, lambda: (x(),), all_but()),
    Program("ambient_makes", makes, lambda: (x(),), plain("default dtype", "default device", "default device meta")),
    Program(
        "without_gradients",
        double,
        lambda: (x(),),
        (Change("with gradients", None, torch.enable_grad), *plain("autocast", "as it was")),
        around=torch.no_grad,
    ),
    Program(
        "under_autocast",
        double,
        lambda: (x(),),
        plain("autocast to half", "autocast off", "no gradients", "as it was"),
        around=STATES["autocast"],
    ),
    Program(
        "under_float64",
        makes,
        lambda: (x(),),
        (Change("float32", None, setting(torch.set_default_dtype, torch.float32, torch.float64)),),
        around=STATES["default dtype"],
    ),
    Program(
        "under_device",
        makes,
        lambda: (x(),),
        plain("default device meta", "no gradients", "as it was"),
        around=STATES["default device"],
    ),
    Program(
        "under_mode",
        double,
        lambda: (x(),),
        (Change("two modes", None, Loud), *plain("no gradients", "as it was", "torch function off")),
        around=Quiet,
    ),
    Program("under_inference", double, lambda: (x(),), plain("no gradients", "as it was"), around=torch.inference_mode),
    Program(
        "deterministic",
        double,
        lambda: (x(),),
        plain("deterministic, warnings", "as it was"),
        around=STATES["deterministic"],
    ),
    Program(
        "under_dual_level",
        double,
        lambda: (x(),),
        plain("no gradients", "as it was"),
        around=torch.autograd.forward_ad.dual_level,
    ),
    Program(
        "saved_tensors_hooks",
        double,
        lambda: (x(),),
        plain("no gradients", "as it was", "saved tensors hooks"),
        around=hooked,
    ),
)
