"""What a program reads about itself: places in logs, warnings, tracebacks and hooks, settings, frames, sources."""

from __future__ import annotations

import inspect
import linecache
import logging
import sys
import traceback
import types
import warnings

import torch

LOG = logging.getLogger("unnoticed")


def _run(function, *args, **options):
    return torch.compile(function, backend="eager", **options)(*args)


def place_of_a_log_record():
    def f(x):
        y = x + 1
        LOG.warning("in compiled code %s", y.shape)
        return y

    return _run(f, torch.ones(2))


def place_of_a_warning():
    def f(x):
        y = x + 1
        warnings.warn("from compiled code", UserWarning, stacklevel=1)
        return y

    return [_run(f, torch.ones(2)), _run(f, torch.ones(2))]


def place_of_a_warning_about_the_caller():
    def deeper():
        warnings.warn("about the caller", UserWarning, stacklevel=2)

    def f(x):
        deeper()
        return x + 1

    return _run(f, torch.ones(2))


def own_stack():
    def where():
        return [
            (frame_summary.filename, frame_summary.lineno, frame_summary.name)
            for frame_summary in traceback.extract_stack()
        ]

    def f(x):
        torch._dynamo.graph_break()
        return x + 1, torch._dynamo.disable(where)()

    return _run(f, torch.ones(2))


def own_frame():
    def f(x):
        y = x * 2
        frame = sys._getframe()
        return y, frame.f_code.co_filename, frame.f_lineno, sorted(frame.f_locals)

    return _run(f, torch.ones(2))


def frames_of_a_callback():
    seen: list[object] = []

    def called():
        frame = sys._getframe(1)
        seen.append((frame.f_code.co_filename, frame.f_code.co_name, frame.f_lineno))

    def f(x):
        y = x + 1
        called()
        return y

    return [_run(f, torch.ones(2)), seen]


def code_in_a_hook():
    seen: list[object] = []

    def hook(code: types.CodeType, new_code: types.CodeType) -> None:
        seen.append((new_code.co_filename, new_code.co_name, new_code.co_firstlineno, new_code.co_flags))

    handle = torch._dynamo.convert_frame.register_bytecode_hook(hook)
    try:
        return [_run(lambda x: x + 1, torch.ones(2)), seen]
    finally:
        handle.remove()


def code_that_a_hook_replaces():
    def hook(code: types.CodeType, new_code: types.CodeType) -> types.CodeType:
        return new_code.replace(co_name="renamed")

    handle = torch._dynamo.convert_frame.register_bytecode_hook(hook)
    try:
        return _run(lambda x: x + 1, torch.ones(2))
    finally:
        handle.remove()


def cache_entries():
    def f(x):
        return x + 1

    _run(f, torch.ones(2))
    entries = torch._dynamo.eval_frame._debug_get_cache_entry_list(f.__code__)
    return [
        (cache_entry.code.co_filename, cache_entry.code.co_name, cache_entry.code.co_firstlineno)
        for cache_entry in entries
    ]


def settings_while_it_runs():
    names = ("record_runtime_overhead", "recompile_limit", "verbose", "suppress_errors", "log_file_name")
    seen = [getattr(torch._dynamo.config, name, None) for name in names]
    _run(lambda x: x + 1, torch.ones(2))
    return [seen, [getattr(torch._dynamo.config, name, None) for name in names]]


def levels_of_loggers():
    names = ("torch", "torch._dynamo", "torch._dynamo.convert_frame", "torch._inductor", "torch.fx")
    _run(lambda x: x + 1, torch.ones(2))
    return [(name, logging.getLogger(name).level, logging.getLogger(name).isEnabledFor(10)) for name in names]


def counters_of_torch():
    torch._dynamo.utils.counters.clear()
    _run(lambda x: (torch._dynamo.graph_break(), x + 1)[1], torch.ones(2))
    return {key: dict(value) for key, value in torch._dynamo.utils.counters.items()}


def explanation_of_dynamo():
    def f(x):
        torch._dynamo.graph_break()
        return x + 1

    explanation = torch._dynamo.explain(f)(torch.ones(2))
    return [explanation.graph_count, explanation.graph_break_count, explanation.op_count]


def source_of_a_compiled_function():
    def f(x):
        return x + 1

    compiled = torch.compile(f, backend="eager")
    compiled(torch.ones(2))
    return [inspect.getsource(compiled), inspect.signature(compiled), compiled.__name__, len(linecache.cache) > 0]


def logs_of_graph_breaks():
    torch._logging.set_logs(graph_breaks=True)
    return _run(lambda x: (torch._dynamo.graph_break(), x + 1)[1], torch.ones(2))


def logs_of_recompiles():
    torch._logging.set_logs(recompiles=True, guards=False)
    compiled = torch.compile(lambda x, n: x * n, backend="eager", dynamic=False)
    return [compiled(torch.ones(2), n) for n in (1, 2, 3)]


def logs_of_guards():
    torch._logging.set_logs(guards=True)
    return _run(lambda x, n: x * n, torch.ones(2), 3)


def logs_of_bytecode():
    torch._logging.set_logs(bytecode=True)
    return _run(lambda x: x + 1, torch.ones(2))


def logs_of_graphs():
    torch._logging.set_logs(graph_code=True, aot_graphs=True)
    return torch.compile(lambda x: x * 2, backend="aot_eager")(torch.ones(2))


def logs_of_dynamo_at_debug():
    torch._logging.set_logs(dynamo=logging.DEBUG)
    return _run(lambda x: (torch._dynamo.graph_break(), x + 1)[1], torch.ones(2))


def logs_of_everything_at_info():
    torch._logging.set_logs(all=logging.INFO)
    return _run(lambda x: (torch._dynamo.graph_break(), x + 1)[1], torch.ones(2))


def record_factory():
    before = logging.getLogRecordFactory()
    function_names: list[str] = []

    def factory(*args, **kwargs):
        record = before(*args, **kwargs)
        if record.name.startswith("unnoticed"):
            function_names.append(record.funcName)
        return record

    logging.setLogRecordFactory(factory)
    try:
        return [place_of_a_log_record(), function_names]
    finally:
        logging.setLogRecordFactory(before)


def trace_function():
    seen: set[tuple[str, str]] = set()

    def traced(frame, event, argument):
        if frame.f_code.co_filename == __file__:
            seen.add((frame.f_code.co_name, event))

    def f(x):
        y = x + 1
        return y * 2

    compiled = torch.compile(f, backend="eager")
    compiled(torch.ones(2))
    sys.settrace(traced)
    try:
        compiled(torch.ones(2))
    finally:
        sys.settrace(None)
    return sorted(seen)


def profile_of_torch():
    compiled = torch.compile(lambda x: x * 2, backend="eager")
    compiled(torch.ones(2))
    with torch.profiler.profile() as profiler:
        compiled(torch.ones(2))
    return sorted({average.key for average in profiler.key_averages() if "aten::" in average.key})
