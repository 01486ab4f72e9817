"""What a program asks of the compiler: decorators of `torch.compiler`, options, filters, contexts, callbacks."""

from __future__ import annotations

import contextlib
import io
import warnings

import torch

from corpus.features import NotHere


def _of(place, name):
    if not hasattr(place, name):
        raise NotHere(name)
    return getattr(place, name)


def is_compiling_in_a_function():
    def f(x):
        return x + 1 if torch.compiler.is_compiling() else x - 1

    return [f(torch.ones(2)), torch.compile(f, backend="eager")(torch.ones(2))]


def result_that_is_assumed_constant():
    @torch.compiler.assume_constant_result
    def wide():
        return 3

    return torch.compile(lambda x: x * wide(), backend="eager")(torch.ones(2))


def disabled_without_its_callees():
    def inner(x):
        return x.sin()

    @torch.compiler.disable(recursive=False)
    def outer(x):
        return inner(x) + 1

    return torch.compile(lambda x: outer(x) * 2, backend="eager")(torch.ones(2))


def polyfill_of_a_builtin():
    substitute = _of(torch.compiler, "substitute_in_graph")

    @substitute(len, can_constant_fold_through=False, skip_signature_check=True)
    def _length(of):
        return of.__len__()

    return torch.compile(lambda x, values: x * len(values), backend="eager")(torch.ones(2), [1, 2])


def guards_that_are_filtered():
    if torch.__version__ < "2.7":
        raise NotHere("guard_filter_fn")

    def keep(entries):
        return [entry.guard_type != "GLOBAL_STATE" for entry in entries]

    compiled = torch.compile(lambda x: x + 1, backend="eager", options={"guard_filter_fn": keep})
    first = compiled(torch.ones(2))
    with torch.no_grad():
        return [first, compiled(torch.ones(2))]


def error_on_recompile():
    compiled = torch.compile(lambda x, n: x + n, backend="eager", dynamic=False)
    with torch._dynamo.config.patch(error_on_recompile=True):
        compiled(torch.ones(2), 1)
        return compiled(torch.ones(2), 2)


def settings_patched_by_a_decorator():
    @torch._dynamo.config.patch(specialize_float=True)
    def run():
        compiled = torch.compile(lambda x, n: x * n, backend="eager")
        return [compiled(torch.ones(2), n) for n in (0.5, 1.5, 2.5)]

    return run()


def callbacks_of_compiles():
    said = []
    handler = torch._dynamo.callback.callback_handler
    start, end = (lambda *_: said.append("start")), (lambda *_: said.append("end"))
    handler.register_start_callback(start)
    handler.register_end_callback(end)
    try:
        torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
    finally:
        handler.remove_start_callback(start)
        handler.remove_end_callback(end)
    return said


def old_export_of_dynamo():
    exported = torch._dynamo.export(lambda x: (x + 1).relu(), aten_graph=False)(torch.ones(2))
    return [exported.graph_module.code, sorted(map(str, exported.guards))[:1] != []]


def optimised_by_its_old_name():
    return torch._dynamo.optimize("eager")(lambda x: x.cos())(torch.ones(2))


def dynamic_with_integers():
    compiled = torch.compile(lambda x, n: x.repeat(n) + n, backend="eager", dynamic=True)
    return [compiled(torch.ones(n), n) for n in (2, 3, 5)]


def symbol_that_is_printed():
    def f(x):
        n = x.shape[0]
        return x + n, str(n), f"{n}"

    compiled = torch.compile(f, backend="eager")
    return [compiled(torch.ones(n)) for n in (2, 3, 4)]


def unbacked_mark():
    mark = _of(torch._dynamo.decorators, "mark_unbacked")
    x = torch.ones(4, 3)
    mark(x, 0)
    return torch.compile(lambda x: x * 2, backend="eager")(x)


def statically_marked_address():
    x = torch.ones(3)
    torch._dynamo.mark_static_address(x)
    return torch.compile(lambda x: x + 1, backend="eager")(x)


def cudagraph_step_is_marked():
    compiled = torch.compile(lambda x: x + 1, backend="eager")
    results = []
    for _ in range(2):
        torch.compiler.cudagraph_mark_step_begin()
        results.append(compiled(torch.ones(2)).clone())
    return results


def graphs_of_a_counter():
    from torch._dynamo.testing import CompileCounterWithBackend

    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(lambda x: (x + 1).sin(), backend=counter)
    return [compiled(torch.ones(2)), counter.frame_count, counter.op_count, [graph.code for graph in counter.graphs]]


def named_backends():
    return sorted(torch.compiler.list_backends())


def backend_with_options():
    seen = []

    def backend(graph, inputs, **options):
        seen.append((graph.code, len(inputs), sorted(options)))
        return graph.forward

    compiled = torch.compile(lambda x: x + 1, backend=backend, options={"mine": 1})
    return [compiled(torch.ones(2)), seen]


def backend_that_compiles_again():
    def backend(graph, inputs):
        return torch.compile(graph, backend="eager")

    return torch.compile(lambda x: x.sin() + 1, backend=backend)(torch.ones(2))


def backend_that_is_a_class():
    class Backend:
        compiler_name = "mine"

        def __call__(self, graph, inputs):
            return graph.forward

    return torch.compile(lambda x: x + 1, backend=Backend())(torch.ones(2))


def backend_that_warns():
    def backend(graph, inputs):
        warnings.warn("of the backend", UserWarning, stacklevel=1)
        warnings.warn("of what calls it", UserWarning, stacklevel=2)
        return graph.forward

    return torch.compile(lambda x: x + 1, backend=backend)(torch.ones(2))


def context_managers_of_the_user():
    log = []

    @contextlib.contextmanager
    def noting(name):
        log.append(f"enter {name}")
        try:
            yield name
        finally:
            log.append(f"exit {name}")

    def f(x):
        with noting("a"):
            y = x + 1
        return y * 2

    return [torch.compile(f, backend="eager")(torch.ones(2)), log]


def output_that_is_redirected():
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):

        def f(x):
            print("inside")
            return x + 1

        result = torch.compile(f, backend="eager")(torch.ones(2))
    return [result, out.getvalue()]


def print_that_is_reordered():
    with torch._dynamo.config.patch(reorderable_logging_functions={print}):

        def f(x):
            y = x + 1
            print("moved", y.sum())
            return y * 2

        return torch.compile(f, backend="eager")(torch.ones(2))


def warning_in_compiled_code():
    def f(x):
        warnings.warn("in the middle", UserWarning, stacklevel=1)
        return x + 1

    return torch.compile(f, backend="eager")(torch.ones(2))


def function_compiled_twice():
    once = torch.compile(lambda x: x + 1, backend="eager")
    twice = torch.compile(once, backend="eager")
    return [twice(torch.ones(2)), hasattr(twice, "_torchdynamo_orig_callable")]


def method_compiled_by_a_decorator():
    class Scale:
        def __init__(self, by):
            self.by = by

        @torch.compile(backend="eager")
        def __call__(self, x):
            return x * self.by

        @classmethod
        @torch.compile(backend="eager")
        def make(cls, x):
            return x + 1

        @staticmethod
        @torch.compile(backend="eager")
        def plain(x):
            return x - 1

    return [Scale(2)(torch.ones(2)), Scale(3)(torch.ones(2)), Scale.make(torch.ones(2)), Scale.plain(torch.ones(2))]


def property_and_descriptor():
    class Held:
        def __init__(self):
            self._x = torch.ones(2)

        @property
        def doubled(self):
            return self._x * 2

    held = Held()
    return torch.compile(lambda of: of.doubled + 1, backend="eager")(held)


def generator_that_is_consumed():
    def pieces(x):
        for k in range(3):
            yield x * k

    def f(x):
        return sum(pieces(x))

    return torch.compile(f, backend="eager")(torch.ones(2))


def match_and_walrus():
    def f(x, how):
        match how:
            case {"scale": by}:
                return x * by
            case [first, *_]:
                return x + first
            case _ if (n := x.shape[0]) > 1:
                return x - n
        return x

    compiled = torch.compile(f, backend="eager")
    return [compiled(torch.ones(2), how) for how in ({"scale": 2}, [1, 2], "other")]


def generator_under_a_compiled_frame():
    compiled = torch.compile(lambda x: x + 1, backend="eager")

    def several():
        for k in range(3):
            yield compiled(torch.full((2,), float(k)))

    return list(several())


def saved_and_restored_config():
    before = torch._dynamo.config.save_config()
    torch._dynamo.config.load_config(before)
    return torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))


def times_of_compiles():
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
    names, _ = torch._dynamo.utils.compile_times(repr="csv", aggregate=True)
    return sorted(names)


def metrics_of_compiles():
    torch._dynamo.utils.clear_compilation_metrics()
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
    compilation_metrics = torch._dynamo.utils.get_compilation_metrics()
    return [
        (metrics.co_name, metrics.graph_op_count, metrics.guard_count, metrics.fail_type)
        for metrics in compilation_metrics
    ]


def report_of_guards_that_fail():
    compiled = torch.compile(lambda x, n: x + n, backend="eager", dynamic=False)
    for n in (1, 2, 3):
        compiled(torch.ones(2), n)
    return len(torch._dynamo.utils.guard_failures)
