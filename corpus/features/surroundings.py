"""Threads, processes, signals, collectors, directories: what stands around a program."""

from __future__ import annotations

import concurrent.futures
import contextlib
import copy
import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import weakref

import torch


def _doubled(x):
    return x * 2


def _compiled_in_a_child(queue):
    queue.put(torch.compile(_doubled, backend="eager")(torch.ones(2)).tolist())


def threads():
    compiled = torch.compile(_doubled, backend="eager")
    results: list[object] = [None] * 4

    def work(place):
        results[place] = compiled(torch.full((2,), float(place)))

    workers = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return results


def thread_pool():
    compiled = torch.compile(_doubled, backend="aot_eager")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(compiled, [torch.ones(n) for n in (2, 3)]))


def compiles_in_a_thread_that_ends():
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(torch.compile(_doubled, backend="eager")(torch.ones(2))))
    thread.start()
    thread.join()
    return results


def exception_in_a_thread():
    def work():
        torch._dynamo.graph_break()
        raise ValueError("in a thread")

    thread = threading.Thread(target=torch.compile(work, backend="eager"), name="worker")
    thread.start()
    thread.join()


def fork():
    compiled = torch.compile(_doubled, backend="eager")
    compiled(torch.ones(2))
    child = os.fork()
    if child == 0:
        print("child", compiled(torch.ones(3)).tolist(), flush=True)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def process_that_is_forked():
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    process = context.Process(target=_compiled_in_a_child, args=(queue,))
    process.start()
    answer = queue.get()
    process.join()
    return [answer, process.exitcode]


def subprocess_of_python():
    command = [sys.executable, "-c", "import os; print(sorted(name for name in os.environ if 'DEPYF' in name))"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def workers_of_a_data_loader():
    data = torch.utils.data.TensorDataset(torch.arange(6.0))
    compiled = torch.compile(_doubled, backend="eager")
    return [compiled(batch) for (batch,) in torch.utils.data.DataLoader(data, batch_size=2, num_workers=1)]


def signal_handler():
    seen: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: seen.append(number))

    def f(x):
        y = x + 1
        torch._dynamo.graph_break()
        os.kill(os.getpid(), signal.SIGUSR1)
        return y

    try:
        return [torch.compile(f, backend="eager")(torch.ones(2)), seen]
    finally:
        signal.signal(signal.SIGUSR1, before)


def collector_is_off():
    gc.disable()
    try:
        result = torch.compile(_doubled, backend="eager")(torch.ones(2))
        return [result, gc.isenabled(), gc.get_threshold()]
    finally:
        gc.enable()


def collector_stays_on():
    torch.compile(_doubled, backend="eager")(torch.ones(2))
    return [gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()]


def callbacks_of_the_collector():
    seen: list[str] = []

    def told(phase, info):
        seen.append(phase)

    gc.callbacks.append(told)
    try:
        torch.compile(_doubled, backend="eager")(torch.ones(2))
    finally:
        gc.callbacks.remove(told)
    return gc.callbacks.count(told)


def module_dies():
    module = torch.nn.Linear(2, 2)
    reference = weakref.ref(module)
    torch.compile(module, backend="eager")(torch.ones(1, 2))
    del module
    gc.collect()
    return reference() is None


def tensor_in_a_closure_dies():
    def scaled_by(weight):
        return torch.compile(lambda x: x * weight, backend="aot_eager")

    held = [torch.ones(2)]
    reference = weakref.ref(held[0])
    scaled_by(held[0])(torch.ones(2))
    held.clear()
    gc.collect()
    return reference() is None


def argument_dies():
    x = torch.ones(2)
    reference = weakref.ref(x)
    torch.compile(lambda x: x * 2, backend="aot_eager")(x)
    del x
    gc.collect()
    return reference() is None


def function_dies_with_its_entries():
    def f(x, n):
        torch._dynamo.graph_break()
        return x * n

    reference = weakref.ref(f.__code__)
    compiled = torch.compile(f, backend="eager", dynamic=False)
    for n in (2, 3):
        compiled(torch.ones(2), n)
    del f, compiled
    gc.collect()
    return reference() is None


def constants_of_dynamos_code_die():
    class Held:
        pass

    def with_it(held):
        def f(x):
            y = x + 1
            torch._dynamo.graph_break()
            return y, held

        return torch.compile(f, backend="eager")

    objects = [Held()]
    reference = weakref.ref(objects[0])
    with_it(objects[0])(torch.ones(2))
    objects.clear()
    torch._dynamo.reset()
    gc.collect()
    return reference() is None


def directory_is_removed():
    here = os.getcwd()
    there = tempfile.mkdtemp()
    os.chdir(there)
    os.rmdir(there)
    try:
        return torch.compile(_doubled, backend="eager")(torch.ones(2))
    finally:
        os.chdir(here)


def directory_is_changed():
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as there, contextlib.ExitStack() as undo:
        undo.callback(os.chdir, here)
        os.chdir(there)
        return [torch.compile(_doubled, backend="eager")(torch.ones(2)), os.listdir(there)]


def stderr_is_closed():
    before, sys.stderr = sys.stderr, None
    try:
        return torch.compile(lambda x: (torch._dynamo.graph_break(), x)[1], backend="eager")(torch.ones(2))
    finally:
        sys.stderr = before


def copies_and_pickles():
    module = torch.nn.Linear(2, 2)
    module.compile(backend="eager")
    module(torch.ones(1, 2))
    return [copy.deepcopy(module)(torch.ones(1, 2)), pickle.loads(pickle.dumps(module))(torch.ones(1, 2))]


def recursion_limit():
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    try:
        return [torch.compile(_doubled, backend="eager")(torch.ones(2)), sys.getrecursionlimit()]
    finally:
        sys.setrecursionlimit(before)


def threads_of_torch():
    before = torch.get_num_threads()
    torch.compile(_doubled, backend="eager")(torch.ones(2))
    return [before, torch.get_num_threads(), torch.get_num_interop_threads()]


def deterministic_algorithms():
    torch.use_deterministic_algorithms(True)
    try:
        return torch.compile(lambda x: x.cumsum(0), backend="aot_eager")(torch.ones(4))
    finally:
        torch.use_deterministic_algorithms(False)


def default_dtype():
    torch.set_default_dtype(torch.float64)
    try:
        return torch.compile(lambda x: x + torch.ones(2), backend="aot_eager")(torch.ones(2))
    finally:
        torch.set_default_dtype(torch.float32)


def process_group_of_one():
    with tempfile.TemporaryDirectory() as there:
        torch.distributed.init_process_group("gloo", init_method=f"file://{there}/store", rank=0, world_size=1)
        try:
            module = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
            result = torch.compile(module, backend="aot_eager")(torch.ones(1, 2))
            result.sum().backward()
            return [result.detach(), *(parameter.grad for parameter in module.parameters())]
        finally:
            torch.distributed.destroy_process_group()


def collective_in_the_graph():
    with tempfile.TemporaryDirectory() as there:
        torch.distributed.init_process_group("gloo", init_method=f"file://{there}/store", rank=0, world_size=1)
        try:
            import torch.distributed._functional_collectives as collectives

            compiled = torch.compile(lambda x: collectives.all_reduce(x, "sum", [0]) + 1, backend="aot_eager")
            return compiled(torch.ones(2))
        finally:
            torch.distributed.destroy_process_group()


def fully_sharded_parameters():
    with tempfile.TemporaryDirectory() as there:
        torch.distributed.init_process_group("gloo", init_method=f"file://{there}/store", rank=0, world_size=1)
        try:
            from torch.distributed.fsdp import fully_shard

            module = fully_shard(torch.nn.Linear(2, 2))
            result = torch.compile(module, backend="aot_eager")(torch.ones(1, 2))
            return result.detach()
        finally:
            torch.distributed.destroy_process_group()
