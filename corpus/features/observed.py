"""Tools that observe a program from inside: tracers, monitors, debuggers, allocators, counters of calls."""

from __future__ import annotations

import bdb
import cProfile
import dis
import faulthandler
import gc
import inspect
import linecache
import pstats
import sys
import threading
import trace
import traceback
import tracemalloc

import torch

from corpus.features import NotHere


def _step(x):
    y = x + 1
    return y * 2


def _own(code):
    return code.co_filename == __file__


def local_trace_function():
    lines = []

    def note(frame, event, _):
        if _own(frame.f_code):
            lines.append((event, frame.f_code.co_name, frame.f_lineno))
        return note

    compiled = torch.compile(_step, backend="eager")
    compiled(torch.ones(2))
    sys.settrace(note)
    try:
        compiled(torch.ones(2))
    finally:
        sys.settrace(None)
    return lines


def profile_function():
    calls = []

    def note(frame, event, _):
        if event == "call" and _own(frame.f_code):
            calls.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        torch.compile(_step, backend="eager")(torch.ones(2))
    finally:
        sys.setprofile(None)
    return calls


def trace_function_of_threads():
    seen = []
    threading.settrace(lambda frame, event, _: seen.append(frame.f_code.co_name) if _own(frame.f_code) else None)
    try:
        compiled = torch.compile(_step, backend="eager")
        worker = threading.Thread(target=compiled, args=(torch.ones(2),))
        worker.start()
        worker.join()
    finally:
        threading.settrace(None)
    return seen


def monitoring_of_calls():
    if not hasattr(sys, "monitoring"):
        raise NotHere("sys.monitoring")
    tools, seen = sys.monitoring, []

    def note(code, _):
        if _own(code):
            seen.append(code.co_name)

    tools.use_tool_id(4, "mine")
    try:
        tools.register_callback(4, tools.events.PY_START, note)
        tools.set_events(4, tools.events.PY_START)
        torch.compile(_step, backend="eager")(torch.ones(2))
    finally:
        tools.set_events(4, 0)
        tools.register_callback(4, tools.events.PY_START, None)
        tools.free_tool_id(4)
    return seen


def monitoring_that_takes_every_tool():
    if not hasattr(sys, "monitoring"):
        raise NotHere("sys.monitoring")
    taken = []
    for number in range(6):
        if sys.monitoring.get_tool(number) is None:
            sys.monitoring.use_tool_id(number, f"mine {number}")
            taken.append(number)
    try:
        result = torch.compile(_step, backend="eager")(torch.ones(2))
    finally:
        for number in taken:
            sys.monitoring.free_tool_id(number)
    return [result, taken]


def debugger_with_a_breakpoint():
    class Debugger(bdb.Bdb):
        def __init__(self):
            super().__init__()
            self.stops = []

        def user_line(self, frame):
            if _own(frame.f_code):
                self.stops.append((frame.f_code.co_name, frame.f_lineno))
            self.set_continue()

    compiled = torch.compile(_step, backend="eager")
    compiled(torch.ones(2))
    debugger = Debugger()
    debugger.set_break(__file__, inspect.getsourcelines(_step)[1] + 1)
    result = debugger.runcall(compiled, torch.ones(2))
    debugger.clear_all_breaks()
    sys.settrace(None)
    return [result, debugger.stops]


def tracer_of_the_library():
    tracer = trace.Trace(count=1, trace=0, ignoredirs=[sys.prefix, sys.exec_prefix])
    result = tracer.runfunc(torch.compile(_step, backend="eager"), torch.ones(2))
    counts = tracer.results().counts
    return [result, sorted(line for (name, line) in counts if name == __file__)]


def profile_of_python():
    profile = cProfile.Profile()
    compiled = torch.compile(_step, backend="eager")
    compiled(torch.ones(2))
    result = profile.runcall(compiled, torch.ones(2))
    stats = pstats.Stats(profile).stats
    return [result, sorted((name, count[0]) for (file, _, name), count in stats.items() if file == __file__)]


def allocations_that_are_traced():
    tracemalloc.start(5)
    try:
        result = torch.compile(_step, backend="eager")(torch.ones(2))
        return [result, tracemalloc.is_tracing(), tracemalloc.get_traceback_limit()]
    finally:
        tracemalloc.stop()


def fault_handler():
    return [faulthandler.is_enabled(), torch.compile(_step, backend="eager")(torch.ones(2)), faulthandler.is_enabled()]


def objects_that_are_frozen():
    gc.freeze()
    try:
        return [torch.compile(_step, backend="eager")(torch.ones(2)), gc.get_threshold()]
    finally:
        gc.unfreeze()


def debug_flags_of_the_collector():
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        result = torch.compile(_step, backend="eager")(torch.ones(2))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    return result


def lines_that_are_cached():
    name = "<made by the program>"
    text = "def f(x):\n    y = x + 1\n    return y * 2\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope: dict[str, object] = {}
    exec(compile(text, name, "exec"), scope)
    result = torch.compile(scope["f"], backend="eager")(torch.ones(2))
    return [result, linecache.getline(name, 2), inspect.getsource(scope["f"])]


def function_without_a_source():
    scope: dict[str, object] = {}
    exec(compile("def f(x):\n    print('no source')\n    return x + 1\n", "<string>", "exec"), scope)
    return torch.compile(scope["f"], backend="eager")(torch.ones(2))


def bytecode_of_the_function():
    torch.compile(_step, backend="eager")(torch.ones(2))
    return [instruction.opname for instruction in dis.get_instructions(_step)]


def stack_in_a_backend():
    names = []

    def backend(graph, inputs):
        names.extend(frame.f_code.co_name for frame, _ in traceback.walk_stack(None))
        return graph.forward

    torch.compile(_step, backend=backend)(torch.ones(2))
    return names


def stack_in_a_user_pass():
    names = []

    def leaf(x):
        names.extend(frame_info.filename.rpartition("/")[2] for frame_info in inspect.stack(0)[1:6])
        return x

    def f(x):
        y = x + 1
        torch._dynamo.graph_break()
        return leaf(y) * 2

    torch.compile(f, backend="eager")(torch.ones(2))
    return names


def hook_of_audits():
    seen = []
    is_on = [True]

    def note(event, arguments):
        if is_on[0] and event == "open" and str(arguments[0]).endswith("observed.py"):
            seen.append(event)

    sys.addaudithook(note)
    result = torch.compile(_step, backend="eager")(torch.ones(2))
    is_on[0] = False
    return result


def unraisable_hook():
    seen = []
    before = sys.unraisablehook
    sys.unraisablehook = lambda given: seen.append(type(given.exc_value).__name__)

    class Bad:
        def __del__(self):
            raise ValueError("in a finaliser")

    try:

        def f(x, bad):
            return x + 1

        result = torch.compile(f, backend="eager")(torch.ones(2), Bad())
        gc.collect()
    finally:
        sys.unraisablehook = before
    return [result, seen]


def display_and_exception_hooks():
    seen = []
    before = sys.excepthook
    sys.excepthook = lambda *given: seen.append(given[0].__name__)
    try:
        result = torch.compile(_step, backend="eager")(torch.ones(2))
    finally:
        same = sys.excepthook
        sys.excepthook = before
    return [result, same is not before, seen]


def depth_of_the_stack():
    compiled = torch.compile(_step, backend="eager")
    compiled(torch.ones(2))

    def deep(n):
        return compiled(torch.ones(2)) if n == 0 else deep(n - 1)

    return deep(sys.getrecursionlimit() // 2)


def references_of_arguments():
    x = torch.ones(2)
    before = sys.getrefcount(x)
    torch.compile(_step, backend="eager")(x)
    return sys.getrefcount(x) - before
