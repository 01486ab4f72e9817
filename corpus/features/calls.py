"""Ways to call what is compiled: arguments, shapes, closures, breaks, recompiles, stances."""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import functools
from collections import OrderedDict, defaultdict, namedtuple
from enum import Enum

import torch

Pair = namedtuple("Pair", "first second")


class _Colour(Enum):
    RED = 1


@dataclasses.dataclass
class _Box:
    width: torch.Tensor
    depth: int = 2


def _on(function, *calls, backend="eager", **options):
    compiled = torch.compile(function, backend=backend, **options)
    return [compiled(*call) for call in calls]


def straight():
    return _on(lambda x: torch.relu(x) * 2, (torch.randn(4),))


def graph_break_by_print():
    def f(x):
        y = x + 1
        print("in the middle", y.shape)
        return y * 2

    return _on(f, (torch.ones(3),))


def branch_on_data():
    def f(x):
        if x.sum() > 0:
            return x + 1
        return x - 1

    return _on(f, (torch.ones(3),), (-torch.ones(3),))


def explicit_break_in_a_loop():
    def f(x):
        for _ in range(3):
            x = x + 1
            torch._dynamo.graph_break()
        return x

    return _on(f, (torch.ones(3),))


def break_in_a_with_block():
    def f(x):
        with torch.no_grad():
            y = x * 2
            torch._dynamo.graph_break()
            return y + 1, torch.is_grad_enabled()

    return _on(f, (torch.ones(3, requires_grad=True),))


def break_in_a_try_block():
    def f(x):
        try:
            y = x * 2
            torch._dynamo.graph_break()
            return y + 1
        finally:
            x.add_(1)

    return _on(f, (torch.ones(3),))


def dynamic_shapes():
    return _on(lambda x: x.reshape(-1).sum() * x.shape[0], *((torch.ones(n, 2),) for n in (2, 3, 5)))


def marked_dynamic():
    x = torch.ones(4, 2)
    torch._dynamo.mark_dynamic(x, 0)
    return _on(lambda x: x * x.shape[0], (x,), (torch.ones(6, 2),))


def recompiles_by_int():
    return _on(lambda x, n: x * n, *((torch.ones(2), n) for n in range(4)), dynamic=False)


def recompiles_by_string():
    return _on(lambda x, s: x * len(s) if s != "b" else x, *((torch.ones(2), s) for s in "abc"))


def recompile_limit():
    with torch._dynamo.config.patch(recompile_limit=2):
        return _on(lambda x, n: x * n, *((torch.ones(2), n) for n in range(5)), dynamic=False)


def keyword_and_default_arguments():
    def f(x, *rest, scale=2, **others):
        return x * scale + sum(rest) + sum(others.values())

    compiled = torch.compile(f, backend="eager")
    return [compiled(torch.ones(2)), compiled(torch.ones(2), 1, 2, scale=3, shift=4)]


def closure_that_changes():
    count = 0

    def f(x):
        nonlocal count
        count += 1
        return x + count

    return [_on(f, (torch.ones(2),), (torch.ones(2),)), count]


def side_effects_on_containers():
    log: list[int] = []
    table: dict[str, object] = {}

    def f(x):
        log.append(x.shape[0])
        table["last"] = x.shape
        return x + len(log)

    return [_on(f, (torch.ones(2),), (torch.ones(3),)), log, sorted(table)]


def named_tuples_and_data_classes():
    def f(pair, box):
        return Pair(pair.first + box.width, _Box(pair.second * box.depth))

    return [repr(output) for output in _on(f, (Pair(torch.ones(2), torch.ones(2)), _Box(torch.ones(2))))]


def ordered_and_default_dicts():
    def f(first, other):
        other["new"] = first["a"] * 2
        return OrderedDict(b=other["new"], a=first["a"])

    return _on(f, (OrderedDict(a=torch.ones(2)), defaultdict(int)))


def enum_and_none_arguments():
    def f(x, colour, other):
        return x + 1 if colour is _Colour.RED and other is None else x

    return _on(f, (torch.ones(2), _Colour.RED, None), (torch.ones(2), None, 3))


def partial_and_lambda():
    return _on(functools.partial(lambda a, x: x * a, 3), (torch.ones(2),))


def generator_function():
    def pieces(x):
        for n in range(3):
            yield x * n

    return _on(lambda x: sum(pieces(x)), (torch.ones(2),))


def method_of_an_object():
    class Scaled:
        def __init__(self) -> None:
            self.factor = 3

        def run(self, x):
            return x * self.factor

    return _on(Scaled().run, (torch.ones(2),))


def nested_functions():
    def outer(x):
        def inner(y):
            return y + x

        return inner(x * 2)

    return _on(outer, (torch.ones(2),))


def disabled_function():
    @torch._dynamo.disable
    def hidden(x):
        return x * 3

    return _on(lambda x: hidden(x + 1) - 1, (torch.ones(2),))


def fullgraph():
    return _on(lambda x: torch.sin(x).sum(), (torch.ones(3),), fullgraph=True)


def reset_between_calls():
    def f(x):
        return x + 1

    first = _on(f, (torch.ones(2),))
    torch._dynamo.reset()
    return [first, _on(f, (torch.ones(3),))]


def stance_force_eager():
    compiled = torch.compile(lambda x: x + 1, backend="eager")
    with torch.compiler.set_stance("force_eager"):
        return compiled(torch.ones(2))


def stance_eager_on_recompile():
    compiled = torch.compile(lambda x, n: x * n, backend="eager", dynamic=False)
    first = compiled(torch.ones(2), 2)
    with torch.compiler.set_stance("eager_on_recompile"):
        return [first, compiled(torch.ones(2), 3)]


def stance_fail_on_recompile():
    compiled = torch.compile(lambda x, n: x * n, backend="eager", dynamic=False)
    compiled(torch.ones(2), 2)
    with torch.compiler.set_stance("fail_on_recompile"):
        return compiled(torch.ones(2), 3)


def two_backends_of_one_function():
    def f(x):
        return torch.cos(x)

    return [_on(f, (torch.ones(2),)), _on(f, (torch.ones(2),), backend="aot_eager")]


def asyncio_tasks():
    compiled = torch.compile(lambda x: x * 2, backend="eager")

    async def work(n):
        await asyncio.sleep(0)
        return compiled(torch.full((2,), float(n)))

    async def together():
        return await asyncio.gather(*(work(n) for n in range(4)))

    return asyncio.run(together())


def context_variables():
    chosen = contextvars.ContextVar("chosen", default=1)
    compiled = torch.compile(lambda x: x + 1, backend="eager")
    chosen.set(2)
    return [compiled(torch.ones(2)), chosen.get()]


def compiled_module():
    module = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
    return torch.compile(module, backend="eager")(torch.ones(2, 3))


def compiled_in_place():
    module = torch.nn.Linear(3, 3)
    module.compile(backend="eager")
    return module(torch.ones(2, 3))


def regions_compiled_one_by_one():
    module = torch.nn.Sequential(*(torch.nn.Linear(3, 3) for _ in range(3)))
    for layer in module:
        layer.compile(backend="eager")
    return module(torch.ones(2, 3))
