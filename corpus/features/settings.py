"""Settings of the compiler that programs use: passes of their own, modes, freezing, debug directories, caches."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import pathlib
import tempfile

import torch

from corpus.features import NotHere


def _config():
    import torch._inductor.config as config

    return config


def _on(function, *calls, **options):
    compiled = torch.compile(function, **options)
    return [compiled(*call) for call in calls]


def pass_of_the_program():
    seen = []

    def note(graph):
        seen.append(sorted(str(node.target) for node in graph.nodes if node.op == "call_function"))

    with _config().patch(post_grad_custom_post_pass=note, force_disable_caches=True):
        return [*_on(lambda x: (x + 1).sin(), (torch.ones(4),)), seen]


def pass_that_fails():
    def fail(graph):
        raise ValueError("of the pass")

    with _config().patch(post_grad_custom_post_pass=fail, force_disable_caches=True):
        return _on(lambda x: x + 1, (torch.ones(4),))


def autotuned_mode():
    return _on(lambda x, y: x @ y, (torch.ones(8, 8), torch.ones(8, 8)), mode="max-autotune-no-cudagraphs")


def unknown_mode():
    return _on(lambda x: x + 1, (torch.ones(2),), mode="fastest")


def unknown_option():
    return _on(lambda x: x + 1, (torch.ones(2),), options={"no_such_setting": True})


def options_of_inductor():
    return _on(lambda x: x + 1, (torch.ones(4),), options={"max_fusion_size": 8, "fallback_random": True})


def frozen_weights():
    torch.manual_seed(0)
    module = torch.nn.Linear(4, 4).eval()
    with _config().patch(freezing=True), torch.no_grad():
        return _on(module, (torch.ones(2, 4),))


def budget_of_activations():
    import torch._functorch.config as config

    if not hasattr(config, "activation_memory_budget"):
        raise NotHere("a budget of activations")
    x = torch.ones(4, 4, requires_grad=True)
    with config.patch(activation_memory_budget=0.5):
        _on(lambda x: ((x @ x).sin() @ x).sum(), (x,), backend="aot_eager")[0].backward()
    return x.grad


def cache_of_aot():
    import torch._functorch.config as config

    if not hasattr(config, "enable_autograd_cache"):
        raise NotHere("a cache of AOTAutograd")

    def f(x):
        return (x * 3).cos()

    results = []
    with config.patch(enable_autograd_cache=True):
        for _ in range(2):
            torch._dynamo.reset()
            results += _on(f, (torch.ones(4),))
    return results


def caches_are_off():
    with _config().patch(force_disable_caches=True):
        return _on(lambda x: x * 5, (torch.ones(4),))


def directory_for_debugging():
    import torch._dynamo.config as config

    with tempfile.TemporaryDirectory() as there:
        with config.patch(debug_dir_root=there), _config().patch("trace.enabled", True):
            results = _on(lambda x: x * 7, (torch.ones(4),))
        names = sorted({path.name for path in pathlib.Path(there).rglob("*") if path.is_file()})
    return [*results, [name for name in names if not name.endswith(".svg")]]


def listener_of_the_program():
    kinds: list[object] = []

    class Keep(logging.Handler):
        def emit(self, record):
            kinds.append(sorted(getattr(record, "metadata", {}))[:1])

    log, keep = logging.getLogger("torch.__trace"), Keep()
    # torch's own handler goes with the first record, which the handler behind it does not get.
    _on(lambda x: x - 2, (torch.ones(3),), backend="eager")
    log.addHandler(keep)
    try:
        results = _on(lambda x: x * 2, (torch.ones(3),), backend="aot_eager")
    finally:
        log.removeHandler(keep)
    return [*results, json.dumps(kinds)]


def repro_after_a_failure():
    import torch._dynamo.config as config

    def backend(graph, inputs):
        raise RuntimeError("of the backend")

    with tempfile.TemporaryDirectory() as there, config.patch(repro_after="dynamo", debug_dir_root=there):
        return _on(lambda x: x + 1, (torch.ones(2),), backend=backend)


def deterministic_order_of_sets():
    def f(x, names):
        return [x * len(name) for name in sorted(names)]

    return _on(f, (torch.ones(2), {"a", "bb", "ccc"}), backend="eager")


def environment_of_the_program():
    before = dict(os.environ)
    _on(lambda x: x + 1, (torch.ones(2),))
    return sorted(set(os.environ) ^ set(before))


def working_directory_stays():
    before = os.getcwd()
    _on(lambda x: x + 2, (torch.ones(2),), backend="eager")
    return [os.getcwd() == before, sorted(os.listdir("."))[:3] == sorted(os.listdir(before))[:3]]


def numbers_are_emulated():
    with _config().patch(emulate_precision_casts=True):
        return _on(lambda x: (x * 1.1).to(torch.bfloat16).float(), (torch.ones(4),))


def size_assertions_are_off():
    with _config().patch(size_asserts=False, nan_asserts=True):
        return _on(lambda x: x / 2, (torch.ones(4),))


def nothing_is_compiled():
    with contextlib.suppress(AttributeError), torch._dynamo.config.patch(disable=True):
        return _on(lambda x: x - 1, (torch.ones(2),), backend="eager")
    raise NotHere("a setting that disables Dynamo")


def compile_that_is_disabled_by_an_argument():
    return _on(lambda x: x - 1, (torch.ones(2),), backend="eager", disable=True)


def inlined_modules():
    torch.manual_seed(0)
    with torch._dynamo.config.patch(inline_inbuilt_nn_modules=not torch._dynamo.config.inline_inbuilt_nn_modules):
        return _on(torch.nn.Linear(2, 2), (torch.ones(1, 2),), backend="eager")


def outputs_of_scalars_are_captured():
    with torch._dynamo.config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True):
        return _on(lambda x: x * x.sum().item() + x.nonzero().shape[0], (torch.ones(3),), backend="eager")
