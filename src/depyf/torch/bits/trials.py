"""Settings that may give equal bits, each tried on the graph with the difference."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from statistics import median
from typing import Any
from unittest import mock

import torch
import torch.fx
from torch.fx.passes.split_module import split_module

from depyf.bytecode.records import dataclass
from depyf.torch.bits.report import Restored
from depyf.torch.bits.running import Backend, Compiled, Compiler, Setting, compiled_run, judged, whole
from depyf.torch.numerics.places import user_line
from depyf.torch.numerics.recording import GraphCall
from depyf.torch.numerics.report import one_line
from depyf.torch.numerics.watching import copy_of

_UNDO = "without "
_STEPS = 15
"""The steps whose median is the cost of a setting."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A setting to try, in the words in which the user sets it.

    replaces: whether it stands in place of the settings of the comparison, and not beside them.
    """

    name: str
    setting: Setting = nullcontext
    compiler: Compiler = whole
    replaces: bool = False


def setting_of(name: str, value: Any) -> Setting:
    """Return the context of one setting: `threads`, `mode`, an option of Inductor's, or an environment variable.

    A variable is set for what reads it from now on. torch reads most of them when it is imported: the commands set them
    for the whole process.

    Raises:
        ValueError: Inductor has no option, or no mode, with that name.
    """
    if name == "threads":
        return functools.partial(_threads, int(value))
    if name == "deterministic_algorithms":
        return functools.partial(_deterministic, bool(value))
    if name == "mode":
        return functools.partial(_options, _options_of_mode(str(value)))
    if name.isupper():
        return functools.partial(mock.patch.dict, os.environ, {name: str(value)})
    if not has_option(name):
        raise ValueError(f"Inductor has no option {name!r}, and an environment variable has capital letters")
    return functools.partial(_options, {name: value})


def all_of(settings: Mapping[str, Any]) -> Setting:
    """Return the context of several settings.

    Raises:
        ValueError: there is no such setting.
    """
    contexts = [setting_of(name, value) for name, value in settings.items()]

    @contextmanager
    def together() -> Iterator[None]:
        with ExitStack() as undo:
            for context in contexts:
                undo.enter_context(context())
            yield

    return together


def has_option(name: str) -> bool:
    """Return whether this Inductor has an option."""
    from torch._inductor import config

    return name in config.get_config_copy()


def _options_of_mode(mode: str) -> dict[str, Any]:
    """Return the options that a `mode` of `torch.compile` stands for. CUDA graphs do not change bits, and stay off.

    Raises:
        ValueError: there is no such mode.
    """
    from torch._inductor import list_mode_options

    modes = list_mode_options()
    if mode not in modes:
        raise ValueError(f"torch.compile has no mode {mode!r}, but {', '.join(modes)}")
    return {name: value for name, value in modes[mode].items() if name != "triton.cudagraphs"}


def _options(values: dict[str, Any]) -> AbstractContextManager[Any]:
    from torch._inductor import config

    patched: AbstractContextManager[Any] = config.patch(values)
    return patched


@contextmanager
def _threads(number: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        with ExitStack() as undo:
            if has_option("cpp.threads"):
                undo.enter_context(_options({"cpp.threads": number}))
            yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _deterministic(value: bool) -> Iterator[None]:
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(value, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


_OPTIONS: tuple[tuple[str, Any], ...] = (
    ("fallback_random", True),
    ("emulate_precision_casts", True),
    ("cpp.enable_floating_point_contract_flag", "off"),
    ("cpp.enable_unsafe_math_opt_flag", False),
    ("pattern_matcher", False),
    ("max_autotune", False),
    ("cpp.simdlen", 1),
    ("max_fusion_size", 1),
    ("split_reductions", False),
)
"""The options that are tried, each only if it is not set so already."""


_LIKELY: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("a random number", ("fallback_random",)),
    ("precision of an intermediate", ("emulate_precision_casts",)),
    ("decomposition", ("torch.compiler.disable",)),
    ("probably the order", ("torch.compiler.disable",)),
    ("another algorithm", ("pattern_matcher", "torch.compiler.disable")),
)
"""The settings that are tried first, by the beginning of the cause."""


def in_order(candidates: Iterable[Trial], cause: str) -> list[Trial]:
    """Return the settings with those first that undo the user's own, and then those that the cause suggests."""
    likely = next((names for begin, names in _LIKELY if cause.startswith(begin)), ())
    first = (_UNDO, *likely)
    places = {name: place for place, name in enumerate(first)}
    return sorted(
        candidates,
        key=lambda trial: min((place for name, place in places.items() if trial.name.startswith(name)), default=99),
    )


def undone(settings: Mapping[str, Any], together: Callable[[dict[str, Any]], Setting]) -> Iterator[Trial]:
    """Yield for each of the user's settings the trial without it. `together` returns the context of several."""
    for name, value in settings.items():
        rest = {other: kept for other, kept in settings.items() if other != name}
        yield Trial(f"{_UNDO}{name}={value!r}", together(rest), replaces=True)


def trials(call: GraphCall, filename: str, line: int) -> Iterator[Trial]:
    """Yield the settings to try for a difference at a user's line, the cheapest first.

    Args:
        call: the call of a captured graph.
        filename: the user's file.
        line: the line in it.
    """
    from torch._inductor import config

    current = config.get_config_copy()
    for name, value in _OPTIONS:
        if name in current and current[name] != value:
            yield Trial(f"{name}={value!r}", setting_of(name, value))
    if torch.get_num_threads() > 1:
        yield Trial("threads=1", setting_of("threads", 1))
    yield Trial("torch.use_deterministic_algorithms(True)", setting_of("deterministic_algorithms", True))
    nodes = [node.name for node in call.module.graph.nodes if _is_of(node, filename, line)]
    if nodes:
        compiler = functools.partial(_without_line, frozenset(nodes))
        yield Trial(f"torch.compiler.disable of line {line}", nullcontext, compiler)


def _is_of(node: torch.fx.Node, filename: str, line: int) -> bool:
    where = user_line(node)
    is_computed = node.op in ("call_function", "call_method", "call_module")
    return is_computed and where is not None and (where.filename, where.line) == (filename, line)


def _without_line(names: frozenset[str], call: GraphCall, backend: Backend) -> Callable[..., Any]:
    """Compile a graph in two parts, before and after some nodes, which run eagerly."""
    module = copy_of(call.module)
    nodes = [node for node in module.graph.nodes if node.op not in ("placeholder", "output")]
    places = [index for index, node in enumerate(nodes) if node.name in names]
    part = {node: 0 if index < places[0] else 1 if index <= places[-1] else 2 for index, node in enumerate(nodes)}
    parts: Any = split_module(module, None, part.__getitem__)
    for name in ("submod_0", "submod_2"):
        if hasattr(parts, name):
            setattr(parts, name, torch.compile(getattr(parts, name), backend=backend))
    run: Callable[..., Any] = parts
    return run


@dataclass(frozen=True, slots=True)
class Search:
    """Tries settings on one call of a graph: `right` has eager's results. `setting` is that of the comparison."""

    call: GraphCall
    backend: Backend
    right: Any
    backward: bool
    most: int
    setting: Setting = nullcontext

    def tried(self, candidates: Iterable[Trial], *, costs: bool) -> Iterator[Restored]:
        """Yield the outcome of each trial, until enough of them give equal bits."""
        restored = 0
        for trial in candidates:
            outcome = self._tried(trial, costs=costs and restored < self.most)
            restored += outcome.confirmed
            yield outcome
            if restored >= self.most:
                return

    def _tried(self, trial: Trial, *, costs: bool) -> Restored:
        try:
            if not self._is_equal(trial):
                return Restored(trial.name, confirmed=False, everywhere=False)
            torch._dynamo.reset()
            confirmed = self._is_equal(trial)
            cost = self._cost(trial) if costs and confirmed else None
            return Restored(trial.name, confirmed, confirmed, cost)
        except Exception as error:  # noqa: BLE001 - a setting may make torch fail in any way; that is its outcome
            return Restored(trial.name, confirmed=False, everywhere=False, failed=one_line(error))

    def _is_equal(self, trial: Trial) -> bool:
        judgement = judged(self._run(trial), self.right)
        return bool(judgement.compared) and not judgement.different and not judgement.left_out

    def _run(self, trial: Trial) -> Compiled:
        call, backend = self.call, self.backend
        return compiled_run(
            call, backend, backward=self.backward, setting=self._with(trial), compiler=trial.compiler, keep=id
        )

    def _with(self, trial: Trial) -> Setting:
        """Return the context of a trial: the settings of the comparison, and its own."""
        if trial.replaces:
            return trial.setting

        @contextmanager
        def together() -> Iterator[None]:
            with self.setting(), trial.setting():
                yield

        return together

    def _cost(self, trial: Trial) -> float:
        """Return the median of the ratios of steps with and without a setting, which alternate."""
        inputs = self.call.fresh_inputs()
        with torch.set_grad_enabled(self.call.grad_enabled):
            torch._dynamo.reset()
            with self.setting():
                before = whole(self.call, self.backend)
                before(*inputs)
            with self._with(trial)():
                after = trial.compiler(self.call, self.backend)
                after(*inputs)
            ratios = []
            for _ in range(_STEPS):
                with self.setting():
                    without = _time_of(before, inputs)
                with self._with(trial)():
                    ratios.append(_time_of(after, inputs) / without)
        return median(ratios)


def _time_of(run: Callable[..., Any], inputs: list[Any]) -> float:
    began = time.perf_counter()
    run(*inputs)
    return time.perf_counter() - began
